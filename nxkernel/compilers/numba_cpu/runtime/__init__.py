"""The runtime of native code: threads, memory, libraries, and loading of code."""
