"""The compiler for CPUs: loop nests become LLVM IR, compiled through Numba's code library and run on its threads."""
