"""The table of what primitives mean by somebody else's word, and how its functions look at results."""

import math

import numpy as np

from nxkernel import types
from random_primitives.cases import compare

#: For each primitive a function of a case and of what the evaluator computes of it; it asserts that this is right.
REFERENCES = {}


def reference_of(*primitives):
    """Register a function of a case and of its results."""

    def register(function):
        REFERENCES.update(dict.fromkeys(primitives, function))
        return function

    return register


def sample(count, most):
    """At most so many different numbers below `count`, always the same ones, with the first and the last."""
    if count <= most:
        return range(count)
    inner = np.random.default_rng(count).choice(np.arange(1, count - 1), most - 2, replace=False)
    return [0, *sorted(inner.tolist()), count - 1]


def numbers_of(x):
    """Python's numbers in an array, in a list."""
    x = x.reshape(-1)
    return (x.astype("f8") if types.normalize(x.dtype).is_float else x).tolist()


def wide(x):
    """An array in f64, c128 or Python's whole numbers."""
    return x.astype("c16" if x.dtype.kind == "c" else object if x.dtype.kind in "iub" else "f8")


def held(numbers, dtype):
    """Python's numbers in an array of a type: whole numbers wrap, others are rounded."""
    type_ = types.normalize(dtype)
    if type_ is not types.bool_ and type_.is_integer:
        low, _ = types.limits(type_)
        return np.array([(int(n) - low) % 2**type_.bits + low for n in numbers], dtype)
    with np.errstate(all="ignore"):
        made = np.array([*numbers], "c16" if type_.is_complex else "f8")
        return (made.astype("f4") if type_ is types.bf16 else made).astype(dtype)


def rows_of(x, axes):
    """The elements along some axes, in order, for every place on the others."""
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    count = math.prod(x.shape[axis] for axis in rest)
    return x.transpose(*rest, *sorted(axes)).reshape(count, math.prod(x.shape[axis] for axis in axes))


def compare_rows(case, found, expected, axes=None, most=8):
    """Compare rows of results with what a function makes of each row of the first operand.

    The function takes and gives a list of Python's numbers, or gives one, where a row becomes one number.
    """
    rows = rows_of(case.arrays[0], axes)
    found = rows_of(found, axes) if found.shape == case.arrays[0].shape else found.reshape(len(rows), 1)
    for number in sample(len(rows), most):
        want = expected(numbers_of(rows[number]))
        want = want if isinstance(want, list) else [want]
        compare(found[number], held(want, found.dtype), case)


def compare_places(found, expected, most=100):
    """Compare the bits of elements with those that a function of their places gives."""
    for number in sample(found.size, most):
        place = tuple(map(int, np.unravel_index(number, found.shape)))
        want = expected(place)
        assert want.dtype == found.dtype
        assert found[place].tobytes() == want.tobytes(), f"{found[place]} instead of {want} at {place}"
