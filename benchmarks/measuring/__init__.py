"""How works are measured and told: clocks, processes, memory, the machine, tables and pictures."""
