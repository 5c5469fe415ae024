"""Python's operators, builtins and printing on traced values."""
