"""Functions whose source is rewritten: their twins, what these run on, and random ones."""
