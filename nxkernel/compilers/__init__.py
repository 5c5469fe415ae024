"""From a graph to an executable: the evaluator, and the compilers for CPUs and GPUs."""
