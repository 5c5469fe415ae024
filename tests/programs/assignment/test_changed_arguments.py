"""Arguments that a function assigns into, of one another and in loops: what the caller's arrays have at the end."""

import random
import time

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxError, TracedValueError

STATEMENTS = [
    "a[:] = b", "b[:] = a", "a += 1", "b *= 2", "c[:] = a", "a[:] = c", "a[0] = b[1]", "for k in range(3): b += a",
    "while a[0] < 5: a += 1", "for k in range(2): c[k] = a[k] + b[k]", "a[::2] = b[::2]", "c[...] = c[::-1].copy()",
    "a[:] = a[::-1].copy()", "b, c = c, b", "a[:] = b + c", "d = a; d[1:] = b[1:]", "np.copyto(b, a)", "c.fill(2)",
    "a[:], b[:] = b.copy(), a.copy()", "b[:] = np.sort(a)", "if a[0] > 2: b[:] = a", "c[:2] = a[:2]",
    "for k in range(3): a[:], b[:] = b + 0, a + 0", "b.sort()", "c[:] = np.cumsum(b)", "b[:] = a.astype(b.dtype)",
]  # fmt: skip
RESULTS = ["a", "a, b", "c.sum()", "b", "(a, a)", "a, b, c", "1.5"]
FEW = 120


def is_right(body, result, kind):
    """Whether results and arguments are NumPy's; False where one of the two refuses it."""
    lines = "".join(f"    {line}\n" for line in body)
    names = module_of(f"def f(a, b, c):\n{lines}    return {result}\n")
    theirs = [np.array(values).astype(kind) for values in ([1, 2, 3, 4], [5, 7, 6, 8], [0, 3, 1, 2])]
    ours = [values.copy() for values in theirs]
    try:
        wanted = names["f"](*theirs)
        found = nx.defn(names["f"], promotion="numpy")(*ours)
    except (ValueError, NxError, TracedValueError):
        return False
    finally:
        forget(names)
    pairs = zip(*[value if isinstance(value, tuple) else (value,) for value in (wanted, found)], strict=True)
    for one, other in [*pairs, *zip(theirs, ours, strict=True)]:
        np.testing.assert_array_equal(np.asarray(other), one, f"{body}, {result}")
    return True


@pytest.mark.slow
def test_random_assignments():
    seed = time.time_ns() % 2**32
    print(f"seed {seed}")
    choose = random.Random(seed)
    right = 0
    for _ in range(FEW):
        body = [choose.choice(STATEMENTS) for _ in range(choose.randint(1, 5))]
        right += is_right(body, choose.choice(RESULTS), choose.choice(["f8", "f4", "i8"]))
    assert right > FEW // 2


BOTH = ["while b[0] < 9: b += 1", "a[:] = b"], ["for k in range(3): a += b", "c[:] = a", "b[:] = a"]


@pytest.mark.parametrize("body", BOTH)
def test_a_value_that_goes_to_several_arguments(body):
    """It is in the memory of one of them, and copied to the others, all of it and no more."""
    assert is_right(body, "a", "f8")
    assert is_right(body, "c.sum()", "f4")
