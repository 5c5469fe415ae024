"""Native code of `numba_cpu`, watched: in guarded memory, on other processors, on many threads."""
