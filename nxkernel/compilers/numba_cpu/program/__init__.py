"""The program of a graph on a processor: one native function that runs kernels in order, with branches and loops."""
