"""Element by element: arithmetic, comparisons, elementary functions, types."""
