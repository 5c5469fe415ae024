from collections import namedtuple

import numpy as np
import pytest

from nxkernel.ops.machinery import known_parts

Pair = namedtuple("Pair", "x order")


def test_arrays_are_taken_out_and_put_back():
    arrays, x, y = [], np.zeros(2), np.ones(3)
    value = (Pair(x, 3), {"y": [y, "text"]}, [1, 2])
    known = known_parts.taken_out(value, arrays)
    assert known == (Pair(known_parts.Slot(0), 3), {"y": [known_parts.Slot(1), "text"]}, [1, 2])
    assert known[2] is value[2]
    assert known_parts.filled(known, ["X", "Y"]) == (Pair("X", 3), {"y": ["Y", "text"]}, [1, 2])


def test_copies_are_the_functions_own():
    x = np.zeros(2)
    x.flags.writeable = False
    copy, number = known_parts.given_copies([x, np.array(2.0)])
    copy[0] = 1.0
    assert (x[0], type(number)) == (0.0, np.float64)


@pytest.mark.parametrize(("a", "b", "equal"), [
    ((1, {"k": [2]}), (1, {"k": [2]}), True), ((1,), (1.0,), False), ((set(),), (set(),), False),
])  # fmt: skip
def test_what_is_known_is_compared(a, b, equal):
    assert (known_parts.frozen(a) == known_parts.frozen(b)) is equal
