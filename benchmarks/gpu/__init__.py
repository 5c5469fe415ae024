"""The GPU's table: its works, programs, contenders and clock, and the process that measures."""
