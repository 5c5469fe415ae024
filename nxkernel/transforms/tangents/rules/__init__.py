"""The tangent of each primitive that has a rule of its own, one module a family."""
