"""Graph to something that runs: the evaluator, and the compiler for CPUs."""
