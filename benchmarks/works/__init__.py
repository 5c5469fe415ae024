"""What is measured: one module a family of works, each with its programs and its goal."""
