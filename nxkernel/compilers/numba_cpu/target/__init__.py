"""The target processor, and the LLVM type of each element type."""
