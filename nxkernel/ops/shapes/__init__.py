"""Elements moved, taken, put, sorted and padded."""
