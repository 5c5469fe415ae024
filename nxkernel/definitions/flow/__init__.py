"""The runtime of rewritten definitions: control flow, operators, assignment and builtins on traced values."""
