"""The functions of the array API standard 2024.12: their parameters, as its text has them, and what they give, at once
and in definitions, beside what NumPy gives.
"""

import inspect
import zlib

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxTypeError, NxValueError

#: What the text of the standard has between the brackets; NumPy's names of parameters by position may be others.
SIGNATURES = """
arange(start, /, stop, step, *, dtype, device) asarray(obj, /, *, dtype, device, copy)
empty(shape, *, dtype, device) empty_like(x, /, *, dtype, device) eye(n_rows, n_cols, /, *, k, dtype, device)
from_dlpack(x, /, *, device, copy) full(shape, fill_value, *, dtype, device)
full_like(x, /, fill_value, *, dtype, device) linspace(start, stop, /, num, *, dtype, device, endpoint)
meshgrid(*arrays, indexing) ones(shape, *, dtype, device) ones_like(x, /, *, dtype, device) tril(x, /, *, k)
triu(x, /, *, k) zeros(shape, *, dtype, device) zeros_like(x, /, *, dtype, device)
astype(x, dtype, /, *, copy, device) broadcast_arrays(*arrays) broadcast_to(x, /, shape) can_cast(from_, to, /)
finfo(type, /) iinfo(type, /) isdtype(dtype, kind) result_type(*arrays_and_dtypes) clip(x, /, min, max)
round(x, /) take(x, indices, /, *, axis) take_along_axis(x, indices, /, *, axis)
matmul(x1, x2, /) matrix_transpose(x, /) tensordot(x1, x2, /, *, axes) vecdot(x1, x2, /, *, axis)
concat(arrays, /, *, axis) expand_dims(x, /, *, axis) flip(x, /, *, axis) moveaxis(x, source, destination, /)
permute_dims(x, /, axes) repeat(x, repeats, /, *, axis) reshape(x, /, shape, *, copy) roll(x, /, shift, *, axis)
squeeze(x, /, axis) stack(arrays, /, *, axis) tile(x, repetitions, /) unstack(x, /, *, axis)
argmax(x, /, *, axis, keepdims) argmin(x, /, *, axis, keepdims) count_nonzero(x, /, *, axis, keepdims) nonzero(x, /)
searchsorted(x1, x2, /, *, side, sorter) where(condition, x1, x2, /) unique_all(x, /) unique_counts(x, /)
unique_inverse(x, /) unique_values(x, /) argsort(x, /, *, axis, descending, stable)
sort(x, /, *, axis, descending, stable) cumulative_sum(x, /, *, axis, dtype, include_initial)
cumulative_prod(x, /, *, axis, dtype, include_initial) max(x, /, *, axis, keepdims) mean(x, /, *, axis, keepdims)
min(x, /, *, axis, keepdims) prod(x, /, *, axis, dtype, keepdims) std(x, /, *, axis, correction, keepdims)
sum(x, /, *, axis, dtype, keepdims) var(x, /, *, axis, correction, keepdims) all(x, /, *, axis, keepdims)
any(x, /, *, axis, keepdims) diff(x, /, *, axis, n, prepend, append)
linalg.cholesky(x, /, *, upper) linalg.cross(x1, x2, /, *, axis) linalg.det(x, /) linalg.diagonal(x, /, *, offset)
linalg.eigh(x, /) linalg.eigvalsh(x, /) linalg.inv(x, /) linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims, ord) linalg.matrix_power(x, n, /) linalg.matrix_rank(x, /, *, rtol)
linalg.matrix_transpose(x, /) linalg.outer(x1, x2, /) linalg.pinv(x, /, *, rtol) linalg.qr(x, /, *, mode)
linalg.slogdet(x, /) linalg.solve(x1, x2, /) linalg.svd(x, /, *, full_matrices) linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes) linalg.trace(x, /, *, offset, dtype) linalg.vecdot(x1, x2, /, *, axis)
linalg.vector_norm(x, /, *, axis, keepdims, ord)
fft.fft(x, /, *, n, axis, norm) fft.ifft(x, /, *, n, axis, norm) fft.fftn(x, /, *, s, axes, norm)
fft.ifftn(x, /, *, s, axes, norm) fft.rfft(x, /, *, n, axis, norm) fft.irfft(x, /, *, n, axis, norm)
fft.rfftn(x, /, *, s, axes, norm) fft.irfftn(x, /, *, s, axes, norm) fft.hfft(x, /, *, n, axis, norm)
fft.ihfft(x, /, *, n, axis, norm) fft.fftfreq(n, /, *, d, dtype, device) fft.rfftfreq(n, /, *, d, dtype, device)
fft.fftshift(x, /, *, axes) fft.ifftshift(x, /, *, axes)
"""
PARTS = [text.strip() + ")" for text in SIGNATURES.replace("\n", " ").split(")") if text.strip()]


def function_of(name, xp=nnp):
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("signature", PARTS, ids=[part.partition("(")[0] for part in PARTS])
def test_parameters(signature):
    name, _, inside = signature[:-1].partition("(")
    if name == "can_cast":
        return  # It is NumPy's own, which tells no parameters.
    found = inspect.signature(function_of(name)).parameters
    order = list(found)
    wanted = inside.split(", ")
    only_by_position = wanted.index("/") if "/" in wanted else 0
    by_name_alone = next((place for place, text in enumerate(wanted) if text.startswith("*")), len(wanted))
    for position, parameter in enumerate(wanted):
        if parameter in "/*" or parameter.startswith("*"):
            continue
        if position >= only_by_position:
            assert parameter in found
        if position < by_name_alone:
            place = position - ("/" in wanted and position > only_by_position)
            assert found[order[place]].kind is not inspect.Parameter.KEYWORD_ONLY


KINDS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMERIC, REAL, INTEGERS = KINDS[1:], KINDS[1:11], KINDS[1:9]
FLOATS, FLOATING = KINDS[9:11], KINDS[9:]
#: By what the standard says their arguments are.
OF_ONE = {
    "abs": NUMERIC, "acos": FLOATING, "acosh": FLOATING, "asin": FLOATING, "asinh": FLOATING, "atan": FLOATING,
    "atanh": FLOATING, "bitwise_invert": KINDS[:9], "ceil": REAL, "conj": NUMERIC, "cos": FLOATING, "cosh": FLOATING,
    "exp": FLOATING, "expm1": FLOATING, "floor": REAL, "imag": FLOATING[2:], "isfinite": NUMERIC, "isinf": NUMERIC,
    "isnan": NUMERIC, "log": FLOATING, "log10": FLOATING, "log1p": FLOATING, "log2": FLOATING, "logical_not": KINDS[:1],
    "negative": NUMERIC, "positive": NUMERIC, "real": NUMERIC, "reciprocal": FLOATING, "round": NUMERIC,
    "sign": NUMERIC, "signbit": FLOATS, "sin": FLOATING, "sinh": FLOATING, "sqrt": FLOATING, "square": NUMERIC,
    "tan": FLOATING, "tanh": FLOATING, "trunc": REAL, "sum": NUMERIC, "prod": NUMERIC, "mean": FLOATING, "max": REAL,
    "min": REAL, "std": FLOATS, "var": FLOATS, "all": KINDS, "any": KINDS, "argmax": REAL, "argmin": REAL, "sort": REAL,
    "argsort": REAL, "cumulative_sum": NUMERIC, "cumulative_prod": NUMERIC, "count_nonzero": KINDS, "flip": KINDS,
    "squeeze": KINDS, "unstack": KINDS, "diff": NUMERIC,
}  # fmt: skip
OF_TWO = {
    "add": NUMERIC, "atan2": FLOATS, "bitwise_and": KINDS[:9], "bitwise_left_shift": INTEGERS, "bitwise_or": KINDS[:9],
    "bitwise_right_shift": INTEGERS, "bitwise_xor": KINDS[:9], "copysign": FLOATS, "divide": FLOATING, "equal": KINDS,
    "floor_divide": REAL, "greater": REAL, "greater_equal": REAL, "hypot": FLOATS, "less": REAL, "less_equal": REAL,
    "logaddexp": FLOATS, "logical_and": KINDS[:1], "logical_or": KINDS[:1], "logical_xor": KINDS[:1], "maximum": REAL,
    "minimum": REAL, "multiply": NUMERIC, "nextafter": FLOATS, "not_equal": KINDS, "pow": NUMERIC, "remainder": REAL,
    "subtract": NUMERIC, "matmul": NUMERIC, "vecdot": NUMERIC,
}  # fmt: skip
NAMES = {**OF_ONE, **OF_TWO}


def values(kind, count, which=0):
    """Numbers of a type, which overflow nothing."""
    spread = np.array([1, 2, 3, 1, 0, 2] if which == 0 else [2, 1, 3, 1, 2, 1])[:count]
    if kind in FLOATING:
        spread = spread / 4 + (0.25j if kind.startswith("complex") else 0)
    return spread.astype(kind)


def alike(found, wanted, name=""):
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(found, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        tolerance = 1e-5 if other.dtype.itemsize <= 4 or other.dtype == np.complex64 else 1e-12
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def arguments(name, kind):
    return [values(kind, 6)] if name in OF_ONE else [values(kind, 6), values(kind, 6, 1)]


def wanted_of(name, *arrays):
    with np.errstate(all="ignore"):
        return function_of(name, np)(*arrays)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", NAMES)
def test_at_once(name):
    for kind in NAMES[name]:
        arrays = arguments(name, kind)
        found = function_of(name)(*map(nnp.asarray, arrays))
        alike(found, wanted_of(name, *arrays))


def test_tensordot():
    x = np.arange(6.0).reshape(2, 3)
    for axes in (0, 1, ((1,), (0,))):
        alike(nnp.tensordot(nnp.asarray(x), nnp.asarray(x.T), axes=axes), np.tensordot(x, x.T, axes))


def in_a_definition(name, kind, compiler):
    arrays = arguments(name, kind)
    function = nx.jit(lambda *given: function_of(name)(*given), promotion="numpy", compiler=compiler)
    alike(function(*arrays), wanted_of(name, *arrays))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", NAMES)
def test_in_a_definition(name):
    kinds = NAMES[name]
    in_a_definition(name, kinds[zlib.crc32(name.encode()) % len(kinds)], "evaluator")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_type_in_a_definition(name):
    for kind in NAMES[name]:
        in_a_definition(name, kind, "evaluator")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_compiled(name):
    in_a_definition(name, NAMES[name][-1], "numba_cpu")


@pytest.mark.parametrize("one", KINDS)
def test_promotion_follows_the_standards_tables(one):
    for other in KINDS:
        found = nnp.result_type(getattr(nnp, one), getattr(nnp, other))
        assert found == np.result_type(getattr(np, one), getattr(np, other))
        if "bool" not in (one, other):
            assert (nnp.ones(1, dtype=one) * nnp.ones(1, dtype=other)).dtype == found


#: Operators with a number of Python's take the type of the array.
@pytest.mark.parametrize("kind", NUMERIC)
def test_operators_with_numbers(kind):
    x = nnp.asarray(values(kind, 4))
    number = 2 if kind in INTEGERS else 2.0 if kind in FLOATS else 2j
    for result in (x + number, number - x, x * number, +x, -x):
        assert result.dtype == x.dtype
    assert (x == number).dtype == (x != number).dtype == nnp.bool


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: nnp.reshape(x, (4,)), NxValueError, "3 elements do not fit the shape"),
        (lambda x: nnp.nonzero(x[0]), NxValueError, "nonzero takes an array with axes, got a number"),
        (lambda x: nnp.linalg.inv(x), NxValueError, "square matrices in the last two axes"),
        (lambda x: nnp.matmul(x, x[0]), NxTypeError, "multiplies matrices and vectors, not scalars"),
        (lambda x: nnp.bitwise_and(x, x), NxTypeError, "takes integers, got f64"),
        (lambda x: nnp.concat([x, x[None]]), NxValueError, "do not fit together"),
        (lambda x: nnp.cumulative_sum(x[None]), NxValueError, "needs axis="),
    ],
)
def test_errors(function, error, text):
    with pytest.raises(error, match=text):
        function(nnp.asarray([1.0, 2.0, 3.0]))


def test_sorts_from_the_greatest_and_stably():
    x = np.array([[2.0, 1.0, 2.0], [0.0, 3.0, 0.0]])
    for function in (lambda f: f, lambda f: nx.jit(f, promotion="numpy")):
        assert np.asarray(function(lambda x: nnp.sort(x, descending=True))(x)).tolist() == [[2, 2, 1], [3, 0, 0]]
        order = function(lambda x: nnp.argsort(x, axis=1, descending=True))(x)
        assert np.asarray(order).tolist() == [[0, 2, 1], [1, 0, 2]]


def test_searchsorted():
    x, v = np.array([1.0, 2.0, 2.0, 4.0]), np.array([0.0, 2.0, 5.0])
    for side in ("left", "right"):
        assert (
            nnp.searchsorted(nnp.asarray(x), nnp.asarray(v), side=side).tolist() == np.searchsorted(x, v, side).tolist()
        )
    order = nnp.asarray([3, 1, 2, 0])
    assert nnp.searchsorted(nnp.asarray(x[::-1].copy()), nnp.asarray(v), sorter=order).tolist() == [0, 1, 4]


def test_take_along_axis():
    x = np.arange(6.0).reshape(2, 3)
    order = np.array([[2, 0], [1, 1]])
    alike(nnp.take_along_axis(nnp.asarray(x), nnp.asarray(order)), np.take_along_axis(x, order, -1))


def test_tolerances_of_each_matrix():
    x = np.stack([np.diag([1.0, 0.2]), np.diag([1.0, 0.2])])
    rtol = nnp.asarray([0.1, 0.5])
    assert nnp.linalg.matrix_rank(nnp.asarray(x), rtol=rtol).tolist() == [2, 1]
    alike(nnp.linalg.pinv(nnp.asarray(x), rtol=rtol), np.linalg.pinv(x, rtol=np.array([0.1, 0.5])))


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_nextafter(kind):
    x = np.array([0.0, -0.0, 1.0, -1.0, 1.0, np.inf, np.nan, 0.0, -0.0, 5.0, np.finfo(kind).max], dtype=kind)
    y = np.array([1.0, -1.0, 2.0, 2.0, -2.0, 0.0, 1.0, -0.0, 0.0, np.nan, np.inf], dtype=kind)
    with np.errstate(over="ignore"):
        wanted = np.nextafter(x, y)
    for function in (nnp.nextafter, nx.jit(lambda x, y: nnp.nextafter(x, y), promotion="numpy")):
        found = np.asarray(function(nnp.asarray(x), nnp.asarray(y)))
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[7:9]), [True, False])
