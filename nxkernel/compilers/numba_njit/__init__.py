"""Programs as one Python source for Numba: for reading, for handing on, and for ``numba.njit`` to compile."""
