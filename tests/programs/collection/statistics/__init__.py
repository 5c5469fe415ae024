"""Statistics, finance, and small networks."""
