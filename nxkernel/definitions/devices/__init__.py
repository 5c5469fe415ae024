"""Programs and tensors on devices."""
