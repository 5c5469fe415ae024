"""Programs as people write them for NumPy, by subject, and how they are compared."""
