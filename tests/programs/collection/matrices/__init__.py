"""Linear algebra by loops and slices."""
