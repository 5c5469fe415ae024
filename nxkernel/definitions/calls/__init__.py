"""A call of a definition: its arguments, its key, the graph cache, and why it compiled again."""
