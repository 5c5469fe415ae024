"""What a call is looked up by: containers, leaves, static values, options, the identity of code and arguments."""
