"""The host program of a graph for a GPU: its steps, and which loops run in one kernel."""
