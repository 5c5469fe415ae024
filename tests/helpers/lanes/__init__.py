"""Which tests run when, for how long, and in which processes."""
