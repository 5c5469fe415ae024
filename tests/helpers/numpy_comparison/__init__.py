"""What NumPy gives of functions, of source text and of calls, and what nxkernel gives."""
