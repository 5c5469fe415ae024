"""What native code runs with: threads, memory, libraries, and the code itself as it is loaded and kept."""
