"""Functions under the names that NumPy has for them, with its arguments, by Nx's rules of types."""
