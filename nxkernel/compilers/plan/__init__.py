"""Planning a program: its steps in order, the buffer of each value, in-place updates and aliasing."""
