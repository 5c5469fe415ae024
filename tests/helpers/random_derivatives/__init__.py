"""Random programs of smooth functions, transformations of them and control flow, in several libraries at once."""
