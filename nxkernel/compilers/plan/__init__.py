"""Where every value of a program lives in memory, and in which order its steps run."""
