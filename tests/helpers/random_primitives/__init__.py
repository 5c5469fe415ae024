"""Random cases of every primitive, each with what its results may be compared with."""

from random_primitives import definitions, elementwise, libraries, moving, reducing
from random_primitives.cases import CASES, Case, compare
from random_primitives.references import REFERENCES
from random_primitives.surroundings import Surroundings
from random_primitives.values import Drawn

__all__ = [
    "CASES",
    "REFERENCES",
    "Case",
    "Drawn",
    "Surroundings",
    "compare",
    "definitions",
    "elementwise",
    "libraries",
    "moving",
    "reducing",
]
