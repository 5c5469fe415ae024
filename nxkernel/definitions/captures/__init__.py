"""What a function reads besides its arguments: found, compared at each call, and never stale."""
