"""Creating, converting and inspecting tensors, and their vectorized axes."""
