"""Complex numbers as LLVM IR: pairs of real values, and arithmetic with them."""
