"""What arrays of every kind have, how they are shown, and by which rules of types what runs at once computes."""
