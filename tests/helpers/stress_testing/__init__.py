"""Faults, interrupts, forks, threads and long work that stress tests put nxkernel through."""
