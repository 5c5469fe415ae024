"""Graph to something that runs: the evaluator, and the compilers for processors and for GPUs."""
