"""What primitives do to data."""
