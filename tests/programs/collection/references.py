"""What a program of the collection does to its arguments under plain NumPy."""

import numpy as np

from collection.catalogue import PROGRAMS

BY_NAME = {program.name: program for program in PROGRAMS}


def run(name, size=None):
    """The arguments of a program as they were, as they are after it, and its result."""
    program = BY_NAME[name]
    size = program.sizes[1] if size is None else size
    after = program.arguments(size)
    result = program.function(*after)
    return program.arguments(size), after, result


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * float(np.max(np.abs(expected))))
