"""The implementation of public functions: dispatch to eager or traced execution, vectorized axes, batching rules."""
