"""Texts for people: wrong calls, names of other libraries, checks of numbers, grammar."""
