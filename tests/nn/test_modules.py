"""Modules: what init creates, what calls take, and what is shared."""
