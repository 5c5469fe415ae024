"""Tensors made, converted, asked about, and their vectorized axes."""
