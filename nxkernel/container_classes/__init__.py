"""Objects as containers: what classes declare of them, and how they are taken apart and made."""
