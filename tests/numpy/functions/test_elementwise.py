"""NumPy's element-wise functions: values and types as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from numpy_comparison.traced_functions import check, traced
from nxkernel.errors import NxTypeError

REAL = np.array([-2.5, -0.0, 0.5, 1.0, 3.25])
ANY = [
    np.array([True, False, True, True, False]),
    np.array([-3, 0, 1, 7, 2], np.int8),
    np.array([-3, 0, 1, 7, 2], np.int64),
    np.array([3, 0, 1, 7, 2], np.uint16),
    REAL.astype(np.float32),
    REAL,
    np.array([1 + 2j, -1j, 0.5, 2 - 1j, -3]),
]
UNARY = [
    "sqrt", "cbrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "exp2", "deg2rad", "rad2deg", "degrees",
    "radians", "fabs", "absolute", "abs", "negative", "positive", "sign", "square", "reciprocal", "conjugate",
    "conj", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "signbit", "invert", "logical_not",
    "bitwise_count", "modf",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod", "fmod", "power",
    "float_power", "maximum", "minimum", "fmax", "fmin", "arctan2", "hypot", "copysign", "heaviside", "logaddexp",
    "logaddexp2", "equal", "not_equal", "greater", "less", "greater_equal", "less_equal", "logical_and",
    "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "divmod",
]  # fmt: skip


def _takes(name, *arrays):
    """Whether NumPy's function takes arrays of these types."""
    try:
        with np.errstate(all="ignore"):
            getattr(np, name)(*arrays)
    except (TypeError, ValueError):
        return False
    if any(array.dtype.kind == "c" for array in arrays):
        return name not in ("maximum", "minimum", "fmax", "fmin", "greater", "less", "greater_equal", "less_equal")
    return True


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    for array in ANY:
        if not _takes(name, array) or (name == "reciprocal" and array.dtype.kind in "biu"):
            continue
        if name == "cbrt" and array.dtype.kind == "c":
            continue
        check(lambda np, x: getattr(np, name)(x), array, rtol=1e-9)


@pytest.mark.sampled(every=24)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for left in ANY:
        for right in ANY:
            if name in ("left_shift", "right_shift", "power", "float_power") and right.dtype.kind in "iuc":
                right = abs(right).astype(right.dtype) if right.dtype.kind != "c" else right
            if _takes(name, left, right):
                check(lambda np, x, y: getattr(np, name)(x, y), left, right, rtol=1e-9)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("number", [2, 2.5, True, 1j])
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "subtract", "power", "maximum", "equal", "floor_divide"])
def test_numbers_are_weak(name, number):
    for array in ANY:
        if _takes(name, array, np.array(number)) and not (name == "floor_divide" and number is True):
            check(lambda np, x: getattr(np, name)(x, number), array)
            check(lambda np, x: getattr(np, name)(abs(number) if name == "power" else number, x), abs(array))


ROWS = {
    "out": lambda np, x: np.add(x, 1, out=np.zeros(5)),
    "out and where": lambda np, x: np.sqrt(x, out=np.full(5, -1.0), where=x > 0),
    "reduce": lambda np, x: np.add.reduce(np.stack([x, x]), axis=1),
    "reduce keeps": lambda np, x: np.maximum.reduce(np.stack([x, x]), keepdims=True),
    "reduce multiply": lambda np, x: np.multiply.reduce(x[2:]),
    "reduce subtract": lambda np, x: np.subtract.reduce(x),
    "reduce hypot": lambda np, x: np.hypot.reduce(x),
    "reduce or": lambda np, x: np.bitwise_or.reduce((x * 4).astype(np.int64)),
    "accumulate": lambda np, x: (np.add.accumulate(x), np.maximum.accumulate(x)),
    "outer": lambda np, x: np.subtract.outer(x, x[:2]),
    "in place": lambda np, x: _added_at(np, x),
}


def _added_at(np, x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 2, 0, 1]), x)
    np.subtract.at(y, [1, 1], 0.5)
    return y


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_ufunc_methods(row):
    check(row, REAL)


def test_numpys_own_functions_dispatch():
    def f(ours, x):
        return np.exp(x), np.float64(2) * x, np.ones(5) + x, np.add.reduce(x), np.where(x > 0, x, 0), np.sum(x)

    check(f, REAL)


def test_truth_values_do_not_subtract():
    with pytest.raises(
        NxTypeError, match=r"subtract of truth values is not defined, as in NumPy.\n[^\n]*\n.*logical_xor"
    ):
        traced(lambda np, x: (x > 0) - (x > 1), REAL)


def test_large_numbers_do_not_fit_narrow_types():
    with pytest.raises(NxTypeError, match="the Python integer 300 is outside of s8"):
        traced(lambda np, x: x.astype(np.int8) + 300, REAL)


def test_sums_of_powers_have_slopes_and_curvatures_where_both_sides_are_equal():
    @nx.defn
    def loss(z):
        return np.sum(np.logaddexp(0, z))

    z = np.array([0.0, 1.0, -800.0, 800.0])
    slopes = 1 / (1 + np.exp(-z.clip(-700)))
    np.testing.assert_allclose(nx.grad(loss)(z), slopes, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(np.diag(nx.hessian(loss)(z)), slopes * (1 - slopes), rtol=1e-12, atol=1e-300)

    @nx.defn
    def of_two(a, b):
        return np.sum(np.logaddexp(a, b) + np.logaddexp2(a, b))

    for side in nx.grad(of_two, argnums=(0, 1))(np.ones(1), np.ones(1)):
        np.testing.assert_allclose(side, [1.0], rtol=1e-12)
    infinite = np.array([np.inf, -np.inf])
    np.testing.assert_array_equal(nx.defn(lambda a, b: np.logaddexp(a, b))(infinite, infinite), infinite)


HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
HALVES = HALVES[np.isfinite(HALVES)]
OF_ONE = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal"
)
OF_TWO = "power hypot arctan2 logaddexp logaddexp2 floor_divide remainder fmod copysign"


def places(values):
    """Numbers of f16 values in their order, so that neighbours are one apart."""
    bits = values.view(np.int16).astype(np.int32)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", [*OF_ONE.split(), *OF_TWO.split()])
def test_every_half_is_within_a_unit_of_numpys(name):
    random = np.random.default_rng(7)
    others = random.permutation(HALVES)
    near = random.normal(size=(2, 20_000)).astype(np.float16) * np.float16(5)
    given = [HALVES] if name in OF_ONE.split() else [np.append(HALVES, near[0]), np.append(others, near[1])]
    names = module_of(f"def f(*x):\n    return np.{name}(*x)\n")
    with np.errstate(all="ignore"):
        wanted = names["f"](*given)
    found = np.asarray(nx.defn(names["f"])(*given))
    forget(names)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    numbers = ~np.isnan(wanted)
    assert np.abs(places(found[numbers]) - places(wanted[numbers])).max() <= 1


@pytest.mark.parametrize("use", [lambda z: z * 1.0, lambda z: 1 * z, lambda z: z / 1, lambda z: np.arctan(z) * 1.0 + 2])
def test_one_times_an_infinite_complex_number(use):
    z = np.array([complex(np.inf, 0), complex(0, np.inf), 1j, -1j, complex(-0.0, -1.0), complex(np.inf, np.nan)])
    with np.errstate(all="ignore"):
        expected = use(z)
    found = nx.jit(use, promotion="numpy")(z)
    np.testing.assert_array_equal(found, expected)
