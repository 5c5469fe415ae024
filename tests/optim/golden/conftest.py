"""Optax, which makes the golden numbers, is not among the packages that tests need."""

collect_ignore = ["make_trajectories.py"]
