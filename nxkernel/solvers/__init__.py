"""What solvers have in common: how they call a person's function, and results."""
