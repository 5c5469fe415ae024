"""Texts of messages: call errors, hints for names of other libraries, argument checks, grammar, units."""
