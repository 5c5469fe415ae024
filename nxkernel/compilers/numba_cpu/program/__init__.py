"""The program of a graph for processors: one native function that runs kernels in order, with branches and loops."""
