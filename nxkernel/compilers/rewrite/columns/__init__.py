"""Loop interchange: an outer loop over columns instead of inner loops over planes."""
