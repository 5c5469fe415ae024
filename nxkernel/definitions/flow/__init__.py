"""What control flow, assignment and builtins in definitions do while they are traced."""
