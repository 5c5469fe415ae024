"""Loop nests to LLVM IR, and LLVM IR to object code."""
