"""Gradients, linear derivatives and vmap: definitions that are made of a person's function."""
