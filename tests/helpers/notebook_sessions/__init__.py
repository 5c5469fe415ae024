"""Sessions of notebooks: kernels that are spoken to, outputs compared, random cells."""
