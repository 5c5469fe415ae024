"""Signals and images."""
