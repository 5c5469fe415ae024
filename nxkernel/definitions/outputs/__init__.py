"""Side outputs of a program: values for hooks and for printing."""
