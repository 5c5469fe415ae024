"""The source of a kernel to machine code: Python to LLVM, LLVM to PTX, PTX to a cubin, by several processes."""
