"""What makes a call trace again: what is read, what changes, and what is told of it."""
