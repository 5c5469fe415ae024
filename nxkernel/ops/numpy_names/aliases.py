"""Functions that NumPy has under another name, and that are the same otherwise: one object under two names."""

from __future__ import annotations

#: By NumPy's name, the documented one.
ALIASES = {
    "asarray": "array", "astype": "as_type", "conj": "conjugate", "prod": "product", "ravel": "flatten",
    "std": "standard_deviation", "var": "variance",
}  # fmt: skip
