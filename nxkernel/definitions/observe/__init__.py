"""What is told of compilation: events, reports, graphs at each stage, times of kernels."""
