"""The toolchain: kernel source in Python to LLVM, PTX and a cubin, in several processes."""
