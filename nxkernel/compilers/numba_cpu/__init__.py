"""The compiler for CPUs: loop nests become LLVM IR, which llvmlite compiles, and run on all processors."""
