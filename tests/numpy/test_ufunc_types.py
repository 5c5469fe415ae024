"""Types and values of all element-wise functions × types × ways of calling them, beside NumPy's."""

import contextlib
import itertools
import operator
import warnings

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError

KINDS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
FUNCTIONS = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc) and hasattr(nnp, name))
FIRST, SECOND = [1, 0, 2, 3], [2, 1, 3, 1]
#: Nothing is divided by 0, where NumPy gives what the processor does.
WITHOUT_ZERO = [1, 5, 2, 3]
OPERATORS = {
    "a ** b": operator.pow, "a + b": operator.add, "a - b": operator.sub, "a * b": operator.mul,
    "a @ b": operator.matmul, "a / b": operator.truediv, "a // b": operator.floordiv, "a % b": operator.mod,
    "a & b": operator.and_, "a | b": operator.or_, "a ^ b": operator.xor, "a << b": operator.lshift,
    "a >> b": operator.rshift, "a < b": operator.lt, "a == b": operator.eq,
}  # fmt: skip
NUMBERS = [2, 3, 1, 0, -1, -2, True, False, 2.0, 3.0, 1.0, 0.0, 0.5, -1.0, 0.25, 2j, 200, 70000]


def _values(kind, values):
    return np.array(values).astype(kind)


def _ways(name, one, other):
    """Ways of calling a function of NumPy, or of ours, with arrays of two types: each gets the module and arrays."""
    function = getattr(np, name)
    if function.nin == 1:
        yield "call", lambda m, a, b: getattr(m, name)(a)
        yield "scalar", lambda m, a, b: getattr(m, name)(a[0])
        return
    yield "call", lambda m, a, b: getattr(m, name)(a, b)
    if not hasattr(getattr(nnp, name), "outer"):
        return
    yield "outer", lambda m, a, b: getattr(m, name).outer(a, b)
    if function.nout == 1 and one == other:
        yield "reduce", lambda m, a, b: getattr(m, name).reduce(a)
        yield "accumulate", lambda m, a, b: getattr(m, name).accumulate(a)
        yield "with 2", lambda m, a, b: getattr(m, name)(a, 2)
        yield "with True", lambda m, a, b: getattr(m, name)(a, True)
        yield "with 2.0", lambda m, a, b: getattr(m, name)(a, 2.0)
        yield "2 with", lambda m, a, b: getattr(m, name)(2, a)
    if function.nout == 1:
        yield "at", lambda m, a, b: _at(getattr(m, name), a + a + a, m.array([3, 3, 0]), b[:3])


def _at(function, a, places, b):
    function.at(a, places, b)
    return a


def _leaves(value):
    return value if isinstance(value, tuple) else (value,)


def _differences(name, one, other, ways=_ways):
    found = []
    for way, call in ways(name, one, other):
        arrays = _values(one, WITHOUT_ZERO if name == "reciprocal" else FIRST), _values(other, SECOND)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                wanted = _leaves(call(np, *[array.copy() for array in arrays]))
            except (TypeError, ValueError, RuntimeError, OverflowError):
                continue
            with types.promotion("numpy"), contextlib.suppress(NxTypeError, NxValueError):
                ours = _leaves(call(nnp, *[nnp.Array.of(nx.tensor(array)) for array in arrays]))
                ours = [np.asarray(value.__nx_operand__()) for value in ours]
                found += [
                    f"{name} {way} {one} {other}: {problem}"
                    for mine, theirs in zip(ours, wanted, strict=True)
                    if (problem := _problem(mine, np.asarray(theirs)))
                ]
    return found


def _problem(mine, theirs):
    if mine.dtype != theirs.dtype:
        return f"{mine.dtype}, NumPy {theirs.dtype}"
    if mine.shape != theirs.shape:
        return f"{mine.shape}, NumPy {theirs.shape}"
    exact = theirs.dtype.kind in "biu"
    rtol = (
        0
        if exact
        else {2: 4e-3, 4: 1e-5, 8: 1e-5 if theirs.dtype.kind == "c" else 1e-12}.get(theirs.dtype.itemsize, 1e-12)
    )
    if not np.allclose(mine, theirs, rtol=rtol, atol=rtol, equal_nan=True):
        return f"{mine.ravel()[:4]}, NumPy {theirs.ravel()[:4]}"
    return ""


@pytest.mark.sampled(every=20)
@pytest.mark.sampled(every=2, lane="fuzz")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_and_values(name):
    pairs = [(kind, kind) for kind in KINDS]
    if getattr(np, name).nin == 2:
        pairs += itertools.combinations(KINDS, 2)
    assert not [line for one, other in pairs for line in _differences(name, one, other)]


def _with_numbers(sign, one, other):
    """An operator with an array or a scalar on one side, and a number of Python's on the other."""
    apply = OPERATORS[sign]
    for number in NUMBERS:
        yield f"with {number!r}", lambda m, a, b, number=number: apply(a, number)
        yield f"of {number!r} and", lambda m, a, b, number=number: apply(number, a[::2])
        yield f"of a scalar and {number!r}", lambda m, a, b, number=number: apply(a[2], number)


def _with_arrays(sign, one, other):
    apply = OPERATORS[sign]
    yield "of arrays", lambda m, a, b: apply(a, b)
    yield "of an array and a scalar", lambda m, a, b: apply(a, b[0])
    yield "of an array and one without axes", lambda m, a, b: apply(a, m.array(b[0]))
    yield "of scalars", lambda m, a, b: apply(a[0], b[0])
    yield "in place", lambda m, a, b: _in_place(sign, m, a, b)


def _in_place(sign, m, a, b):
    names = {"a": a, "b": b}
    exec(sign.replace(" b", "= b") if sign not in ("a < b", "a == b") else "a = a", names)
    return names["a"]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("sign", OPERATORS)
def test_operators(sign):
    assert not [line for kind in KINDS for line in _differences(sign, kind, kind, _with_numbers)]
    assert not [
        line for one, other in itertools.combinations(KINDS, 2) for line in _differences(sign, one, other, _with_arrays)
    ]


BEYOND = [-1, 0, 5, 127, 128, 255, 256, 300, -128, -129, 65536, 2**31, 2**32, -(2**31) - 1, 2**63 - 1, -(2**63)]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers_are_compared_with_numbers_that_their_type_does_not_hold(kind):
    def compared(x, n):
        around = [x < n, x <= n, x > n, x >= n, x == n, x != n, n < x, n <= x, n > x, n >= x, n == x, n != x]
        return [*around, x[0] < n, n == x[2], np.where(x <= n, 1, 0), n in x, np.clip(x, 0, max(n, 0))]

    limits = np.iinfo(kind)
    values = np.array([limits.min, limits.max // 3, limits.max], kind)
    definition = nx.defn(compared, promotion="numpy")
    for number in BEYOND:
        for found, wanted in zip(definition(values, number), compared(values, number), strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=str(number))


def test_signed_integers_are_compared_with_unsigned_ones():
    def compared(x, y):
        return x < y, x <= y, x > y, x >= y, x == y, x != y, y < x, y >= x, y == x

    signed = np.array([-1, 2**53 + 1, 5, 2**63 - 1, -(2**63)])
    unsigned = np.array([1, 2**53, 2**64 - 1, 2**63 - 1, 2**63], np.uint64)
    for one in (signed, signed.clip(-128, 127).astype(np.int8)):
        for found, wanted in zip(
            nx.defn(compared, promotion="numpy")(one, unsigned), compared(one, unsigned), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
