"""The parts of a cache key: containers, leaves, static values, options, the identity of code and arguments."""
