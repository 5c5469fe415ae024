"""JAX, which the oracle asks, is not among the packages that tests need."""

collect_ignore = ["theirs.py"]
