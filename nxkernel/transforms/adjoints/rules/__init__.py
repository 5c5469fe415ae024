"""The gradient of each primitive, one module a family."""
