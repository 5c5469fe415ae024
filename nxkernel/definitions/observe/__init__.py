"""Observing compilation: events, history, reports, graphs at each stage, kernel times."""
