"""The functions of math on traced values, compared with Python's on numbers."""

import math

import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators.python_math import _TRACED
from nxkernel.definitions.tracing.syntax_runtime import fn
from nxkernel.errors import NxTypeError

ONE = [
    "acos", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "degrees", "erf", "erfc", "exp", "exp2",
    "expm1", "fabs", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "radians", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
TWO = ["atan2", "copysign", "fmod", "hypot", "isclose", "log", "pow"]


def traced(name, *args):
    return float(nx.jit(lambda *values: fn(getattr(math, name))(*values))(*map(nx.f64, args)))


@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name):
    assert traced(name, 0.7) == pytest.approx(float(getattr(math, name)(0.7)), rel=1e-12)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "fabs", "cbrt"])
def test_of_a_negative_number(name):
    assert traced(name, -2.4) == pytest.approx(getattr(math, name)(-2.4), rel=1e-12)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("args", [(0.7, 2.5), (3.0, 0.25)])
def test_of_two_numbers(name, args):
    assert traced(name, *args) == pytest.approx(float(getattr(math, name)(*args)), rel=1e-12)


def test_whole_numbers():
    assert nx.jit(lambda x: fn(math.floor)(x))(2.5).type == "s64"
    assert nx.jit(lambda x: fn(math.ldexp)(x, 3))(1.5).to_list() == 12.0
    assert traced("acosh", 2.0) == pytest.approx(math.acosh(2.0))


@pytest.mark.parametrize(("name", "args"), [("pow", (2, -2)), ("fabs", (-3,)), ("fmod", (7, 4)), ("copysign", (3, -1))])
def test_whole_numbers_are_floats_first(name, args):
    found = nx.defn(lambda *values: fn(getattr(math, name))(*values), promotion="numpy")(*args)
    assert found.dtype == "f8"
    assert found == getattr(math, name)(*args)


def test_hypot_neither_overflows_nor_vanishes():
    assert traced("hypot", 3e200, 4e200) == pytest.approx(5e200)
    assert traced("hypot", 3e-200, 4e-200) == pytest.approx(5e-200)
    assert traced("hypot", 0.0, 0.0) == 0.0
    assert traced("hypot", math.inf, 1.0) == math.inf


def test_of_sequences():
    x = nx.f64([1.0, 2.0, 4.0])
    assert nx.jit(lambda t: fn(math.prod)(t))(x).to_list() == 8.0
    assert nx.jit(lambda t: fn(math.fsum)(t))(x).to_list() == 7.0
    assert nx.jit(lambda t: fn(math.dist)([t[0], t[1]], [4.0, 6.0]))(x).to_list() == 5.0
    assert nx.jit(lambda t: fn(math.prod)([t[1], 3], start=2))(x).to_list() == 12.0


def test_static_numbers_go_to_the_real_functions():
    assert fn(math.gcd)(12, 18) == 6
    assert fn(math.sqrt)(2.0) == math.sqrt(2.0)
    assert set(_TRACED) <= set(dir(math))


def test_functions_without_counterpart(run):
    f = run("import math\n\n@nx.defn\ndef f(n):\n    return math.gcd(n, 6)\n")["f"]
    with pytest.raises(NxTypeError) as raised:
        f(4)
    assert str(raised.value) == (
        "math.gcd works on Python numbers, and has no counterpart for traced values.\n"
        "  cell.py, line 5:  return math.gcd(n, 6)\n"
        "  Compute it before the definition is called, or write it with functions of nx."
    )


def test_complex_numbers_are_refused():
    with pytest.raises(NxTypeError, match="the functions of math take real numbers, got c64"):
        nx.jit(lambda x: fn(math.floor)(x))(1j)
