"""Captures: what a function reads besides its arguments, found in its code and compared at each call."""
