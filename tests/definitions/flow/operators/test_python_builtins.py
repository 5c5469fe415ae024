"""Builtins of traced values, compared with Python's."""

import builtins
import numbers

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.tracing.syntax_runtime import fn
from nxkernel.errors import NxTypeError

NUMBERS = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.75]


def traced(function, *args):
    """What a definition gives, as Python values."""
    found = nx.jit(lambda *values: fn(function)(*values))(*args)
    return [v.to_list() for v in found] if isinstance(found, tuple | list) else found.to_list()


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("function", [abs, round, int, bool, float])
def test_of_one_number(function, number):
    assert traced(function, number) == function(number)


def test_round_to_digits():
    assert traced(lambda x: fn(round)(x, 1), 2.25) == pytest.approx(2.2)
    assert traced(lambda x: fn(round)(x, -2), 1250.0) == 1200.0
    assert traced(lambda x: fn(round)(x, 2), 7) == 7


@pytest.mark.parametrize(("left", "right"), [(7, 3), (-7, 3), (7, -3), (2, 5)])
@pytest.mark.parametrize("function", [divmod, pow, min, max])
def test_of_two_numbers(function, left, right):
    if function is pow:
        right = abs(right)
    expected = function(left, right)
    assert traced(function, left, right) == (list(expected) if function is divmod else expected)


def test_min_and_max_of_many():
    x = nx.tensor([3.0, 1.0, 2.0])
    assert (traced(min, x), traced(max, x), traced(min, 3.0, 1.0, 2.0)) == (1.0, 3.0, 1.0)
    assert traced(lambda a: fn(max)([a, 5, 2]), 3) == 5
    assert fn(max)([1, 5, 2], key=lambda n: -n) == 1


def test_sums():
    assert traced(sum, nx.tensor([[1, 2], [3, 4]])) == [4, 6]
    assert traced(lambda a, b: fn(sum)([a, b, 3], 10), 1, 2) == 16
    assert fn(sum)([1, 2]) == 3


def test_any_and_all():
    x = nx.tensor([0.0, 1.0])
    assert (traced(any, x), traced(all, x)) == (1, 0)
    assert traced(lambda a, b: (fn(any)([a > 1, b > 1]), fn(all)([a > 1, b > 1, True])), 0.0, 2.0) == [1, 0]
    assert (fn(any)([]), fn(all)([]), fn(any)([0, "x"]), fn(all)([1, 0])) == (False, True, True, False)


def test_numbers_of_other_kinds():
    assert nx.jit(lambda x: fn(int)(x))(nx.f64(2.9)).type == "s64"
    assert nx.jit(lambda x: fn(float)(x))(3).type == "f32"
    assert nx.jit(lambda x: fn(float)(x))(nx.f64(3)).type == "f64"
    assert traced(complex, 1.0, 2.0) == 1 + 2j
    assert nx.jit(lambda x, n: x * fn(int)(n))(nx.s8(3), 2.5).type == "s8"


def test_sequences():
    @nx.defn
    def f(x):
        pairs = [a * b for a, b in zip(x, [1, 2, 3])]  # noqa: B905
        places = [place for place, _ in enumerate(x, 1)]
        doubled = list(map(lambda v: v * 2, x))  # noqa: C417
        odd = list(filter(lambda n: n % 2, range(5)))
        return pairs, places, doubled, odd, len(x), sorted(x, reverse=True), [v for v in reversed(x)]  # noqa: C416

    pairs, places, doubled, odd, length, ordered, backward = f(nx.tensor([5.0, 4.0, 6.0]))
    assert [float(v) for v in pairs] == [5.0, 8.0, 18.0]
    assert [int(v) for v in places] == [1, 2, 3]
    assert [float(v) for v in doubled] == [10.0, 8.0, 12.0]
    assert [int(v) for v in odd] == [1, 3]
    assert int(length) == 3
    assert ordered.to_list() == [6.0, 5.0, 4.0]
    assert [float(v) for v in backward] == [6.0, 4.0, 5.0]


def test_sorted_numbers():
    @nx.defn
    def f(a, b, c):
        return tuple(sorted([a, b, c]))

    assert [float(v) for v in f(3.0, 1.0, 2.0)] == [1.0, 2.0, 3.0]
    assert fn(sorted)([3, 1, 2], key=lambda n: -n) == [3, 2, 1]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("pow(x, 2, 7)", "pow() of traced values takes no modulus."),
        ("int(nx.stack([x, x]))", "int() takes one number, got f32[2]."),
        ("float(nx.complex(x, x))", "float() takes no complex number, got c64."),
        ("max(nx.iota((2, 2)) + x)", "max() goes over the rows of a tensor f32[2][2], which are no numbers."),
    ],
)
def test_what_is_refused(run, code, text):
    f = run(f"@nx.defn\ndef f(x):\n    return {code}\n")["f"]
    with pytest.raises(NxTypeError) as raised:
        f(1.0)
    assert str(raised.value).split("\n")[:2] == [text, f"  cell.py, line 3:  return {code}"]


def test_assertions(run):
    f = run('@nx.defn\ndef f(x, *, n):\n    assert n > 1, f"n is {n}"\n    assert x > 0\n    return x\n')["f"]
    with pytest.raises(AssertionError, match="n is 1"):
        f(1.0, n=1)
    assert f(1.0, n=2) == 1
    with pytest.raises(AssertionError) as raised:
        f(-1.0, n=2)
    assert raised.value.args == ()


def test_other_builtins_stay_themselves():
    assert fn(callable) is builtins.callable
    assert fn(fn(len)) is fn(len)


NAN = float("nan")


@pytest.mark.parametrize("numbers", [(1.0, NAN), (NAN, 1.0), (2.0, NAN, 3.0), (NAN, NAN), (0.0, -0.0), (-0.0, 0.0)])
@pytest.mark.parametrize("function", [min, max])
def test_extremes_beside_what_is_no_number(function, numbers):
    """The first stays unless another one is more extreme."""
    expected = function(*numbers)
    assert repr(traced(function, *numbers)) == repr(expected)
    np.testing.assert_equal(abs(traced(function, nx.f64(list(numbers)))), abs(expected))


def test_extremes_of_numbers_are_numbers():
    @nx.defn(promotion="numpy")
    def f(x, t):
        return max(x, 1) * t, min(x, 1.5) * t, max(t[0], 1)

    wide, narrow, strong = f(2.5, np.ones(2, np.float32))
    assert wide.dtype == narrow.dtype == strong.dtype == np.float32
    assert (wide.tolist(), narrow.tolist()) == ([2.5, 2.5], [1.5, 1.5])


def _classes(a, n, x, s, zero):
    found = []
    values = (a, n, x, s, zero, a[0], a[1:], n + 1, x * 2, a.sum(), len(a), n > 2, a > 0, a[a > 0], np.sqrt(x), (a, n))
    for value in values:
        found += [isinstance(value, np.ndarray), isinstance(value, (int, float)), isinstance(value, int | complex)]
        found += [type(value) is int, type(value) is np.ndarray, isinstance(value, np.floating), type(value) is float]
        found += [isinstance(value, tuple), isinstance(value, bool | np.bool_), isinstance(value, numbers.Number)]
        found += [hasattr(value, "shape"), hasattr(value, "__len__"), hasattr(value, "nothing")]
    for i in range(n):
        if isinstance(i, int) and type(i) is int:
            a[0] += i
    return [int(answer) for answer in found], a[0]


def test_classes_are_those_that_numpy_programs_have():
    args = [(np.ones(3), 4, 2.5, np.float32(3), np.array(2.0)) for _ in range(2)]
    found, total = nx.defn(_classes)(*args[0])
    expected, other = _classes(*args[1])
    assert [int(answer) for answer in found] == expected
    assert float(total) == other


def test_classes_in_definitions_are_their_own():
    @nx.defn(promotion="nx")
    def f(x):
        return x + isinstance(x, np.ndarray) + 2 * (type(x).__name__ == "Expr") + 4 * hasattr(x, "shape")

    assert int(f(1)) == 7


@pytest.mark.parametrize(
    ("code", "text", "hint"),
    [
        ("max(m)", "max() goes over the rows of an array f64[2][2], which are no numbers.", "np.max(x) takes all"),
        (
            "sorted(m)",
            "sorted() goes over the rows of an array f64[2][2], which are no numbers.",
            "np.sort(x) takes all",
        ),
        ("min(m[0], default=abs)", "min() of traced values takes no 'default'.", "np.argmin and np.argmax find places"),
        ("float(m)", "float() takes one number, got f64[2][2].", "x.astype(type) converts all elements."),
        ("int(m[0, 0] * 1j)", "int() takes no complex number, got c128.", "Take x.real first."),
        ("range(m[0, 0])", "the bounds of a range are whole numbers, got f64.", "int(x) cuts fractions off."),
        (
            "math.sin(m[0, 0] * 1j)",
            "the functions of math take real numbers, got c128.",
            "Those of np take complex ones.",
        ),
        ("math.gamma(m[0, 0])", "math.gamma works on Python numbers, and has no counterpart", "functions of np."),
    ],
)
def test_hints_in_numpy_programs_name_numpys_functions(run, code, text, hint):
    f = run(f"import math\ndef f(m):\n    return {code}\n", {"np": np})["f"]
    with pytest.raises(NxTypeError) as raised:
        nx.defn(f, promotion="numpy")(np.ones((2, 2)))
    said = str(raised.value)
    assert said.startswith(text)
    assert hint in said
    assert "nx." not in said
