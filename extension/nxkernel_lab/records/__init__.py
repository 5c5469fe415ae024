"""What happened and what the caches hold, as plain data, followed as it changes."""
