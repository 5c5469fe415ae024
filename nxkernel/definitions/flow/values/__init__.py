"""Variables and arrays that traced code assigns to, and what of them the program changes."""
