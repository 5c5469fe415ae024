"""How a function of the vocabulary meets its operands: dispatch, vectorized axes, batching rules."""
