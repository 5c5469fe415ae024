"""The program of a graph for a GPU: what the host does step by step, and which loops are one kernel."""
