"""What a program gives besides its result: values for hooks and for printing, and new values of its arguments."""
