"""In which order NumPy has elements in memory, and so what is a view and what a copy, beside NumPy itself."""

import contextlib
import warnings

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from numpy_comparison.source_text import assert_same, forget, module_of
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError
from nxkernel.numpy.arrays import memory_order

#: Of an array `b`, or of `b` and whole numbers `i` and `j`.
EXPRESSIONS = """
np.copy(b)
b.copy()
b.copy("K")
b.copy("F")
b.astype("f4")
np.array(b)
np.array(b, order="C")
np.array(b, order="F")
np.array(b, copy=False) if False else np.asanyarray(b)
np.zeros_like(b) + b
np.ones_like(b, order="C")
np.full_like(b, 2, order="F")
np.where(b > 3, b, 0)
np.sort(b)
np.sort(b, 0)
np.partition(b, 0)
np.argsort(b)
np.argmax(b, 0)
b.sum(0)
b.mean(1)
b.max(axis=-1, keepdims=True)
np.var(b, 0)
np.linalg.norm(b, axis=0)
np.cumsum(b, 0)
np.cumprod(b, -1)
b[[0, 1]]
b[:, [0, 1]]
b[..., [0, 1]]
b[[0, 1], [1, 0]]
b[[True, False], ...] if len(b) == 2 else b[[0]]
np.take(b, [0, 1], 0)
np.take(b, [0, 1], 1)
np.take_along_axis(b, np.zeros(b.shape, int), 0)
np.concatenate([b, b])
np.concatenate([b, b], 1)
np.stack([b, b])
np.stack([b, b], -1)
np.vstack([b, b])
np.dstack([b, b])
np.column_stack([b, b])
np.append(b, b, axis=0)
np.delete(b, 0, axis=0)
np.insert(b, 0, 5, axis=0)
np.tile(b, 2)
np.repeat(b, 2, 0)
np.repeat(b, 2)
np.resize(b, (3,))
np.pad(b, 1)
np.roll(b, 1)
np.roll(b, 1, 0)
np.round(b)
np.clip(b, 0, 1)
np.diff(b)
np.diff(b, axis=0)
np.gradient(b)[0]
np.unwrap(b)
np.nan_to_num(b)
np.fft.fft(b)
np.triu(b)
np.tril(b)
np.select([b > 3], [b], 0)
np.choose(np.zeros(b.shape, int), [b, b])
np.isin(b, [3])
np.isclose(b, b)
np.searchsorted([1, 2], b)
np.outer(b, b)
np.modf(b)[0]
np.divmod(b, 2)[1]
np.positive(b)
np.maximum(b, 3)
-b
abs(b)
~(b > 3)
b > 3
b * 2
b ** 2
b + b.sum(0)
b * np.arange(b.shape[-1])
b[..., ::2] * 2
b[0] * 2
np.broadcast_to(b, (2,) + b.shape) + 1
(b + 0j).conj()
(b + 0j).real
(b + 0j).imag
b.real
b.conj()
b.conjugate()
np.conj(b)
np.real(b)
np.ravel(b)
b.ravel("F")
b.ravel("K")
b.ravel("A")
b.flatten()
b.flatten("F")
b.flatten("K")
b.reshape(-1)
b.reshape(b.shape[::-1])
b.reshape(b.shape[::-1], order="F")
np.reshape(b, (-1,), order="A")
b.reshape(b.shape)
b.T.ravel()
b.T.copy()
np.transpose(b)
np.swapaxes(b, 0, 1)
np.moveaxis(b, 0, -1)
np.rollaxis(b, 1)
np.flip(b)
np.flipud(b)
np.rot90(b)
np.expand_dims(b, 1)
np.squeeze(b)
b[None]
b[...]
b[()]
b[0]
b[i]
b[i:j]
b[::-1]
b[-1:]
b[..., 0]
b[..., None]
b.view()
b.diagonal()
np.diagonal(b, 1)
np.diag(b)
np.einsum("...->...", b)
np.einsum("i...->i...", b)
np.einsum("i...->...i", b)
np.einsum("ii...->i...", b)
np.split(b, 1)[0]
np.array_split(b, 2)[1]
np.hsplit(b, 1)[0]
np.atleast_1d(b)
np.atleast_2d(b)
np.atleast_3d(b)
np.broadcast_to(b, (2,) + b.shape)
np.broadcast_arrays(b, b[:1])[1]
np.meshgrid(b, b)[0]
np.asarray(b)
np.asarray(b, order="F")
np.asarray(b, order="C")
np.asarray(b, dtype=b.dtype)
np.asarray(b, dtype="f4")
np.astype(b, b.dtype, copy=False)
b.astype(b.dtype)
b.astype(b.dtype, copy=False)
np.ascontiguousarray(b)
np.ascontiguousarray(b.T)
np.asfortranarray(b)
np.require(b, requirements="C")
np.require(b, requirements=["F"])
np.require(b)
np.lib.stride_tricks.sliding_window_view(b, 1, axis=0)
np.nan_to_num(b, copy=True)
np.median(b, axis=0)
np.extract(b > 3, b)
b[b > 3]
np.compress(b.ravel() > 3, b)
""".strip().splitlines()

VIEWS = ["a", "a.T", "a[::-1]", "a[..., ::2]", "a[::-1].T", "np.moveaxis(a, -1, 0)[..., ::-1]", "a[:0]", "a[:, :1]"]
SHAPES = [(3, 4), (2, 3, 4), (1, 3), (4,), (2, 2, 3), ()]


def _evaluated(text, names):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(text, names)
        except (ValueError, IndexError, TypeError, ZeroDivisionError):
            return None


class _WithTricks:
    """Our functions, with those that NumPy has in modules of its own."""

    lib = type("lib", (), {"stride_tricks": nnp})

    def __getattr__(self, name):
        return getattr(nnp, name)


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_strides_are_those_of_numpy(expression):
    compared = 0
    for shape in SHAPES:
        for view in VIEWS:
            array = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
            text = f"(lambda b: {expression})({view})"
            wanted = _evaluated(text, {"np": np, "a": array, "i": 1, "j": 2})
            if not isinstance(wanted, np.ndarray) or not wanted.size:
                continue
            with types.promotion("numpy"):
                found = _evaluated(text, {"np": _WithTricks(), "a": nnp.Array.of(nx.tensor(array)), "i": 1, "j": 2})
            if not isinstance(found, nnp.Array):
                continue
            compared += 1
            strides = [stride // wanted.itemsize for stride in wanted.strides]
            ours = zip(wanted.shape, strides, found.strides_in_memory, strict=True)
            assert found.shape == wanted.shape
            assert all(size == 1 or one == other for size, one, other in ours), (text, shape, found.strides_in_memory)
    assert compared or "> 3" in expression or expression in ("b.flat", "np.require(b)")


def _changed(expression, view, is_static):
    """Programs that change the result of an expression, and its source, and look at both."""
    bounds = "" if is_static else ", i, j"
    known = "    i, j = 1, 2\n" if is_static else ""
    seen = "np.sum(r)" if "> 3" in expression or "b[i" in expression else "r * 1"
    return f"""
def result(a{bounds}):
{known}    b = {view}
    r = {expression}
    r[...] = 77
    return b * 1, {seen}

def source(a{bounds}):
{known}    b = {view}
    r = {expression}
    b[...] = 55
    return b * 1, {seen}

def part(a{bounds}):
{known}    b = {view}
    r = {expression}
    r[0] = 33
    b[-1] = 44
    r += 1
    return b * 1, {seen}
"""


#: What an argument is beside an array in C order: programs that see such in another shape and change it are refused.
ORDERS = {"C": lambda a: a.copy(), "F": lambda a: a.copy(order="F"), "strided": lambda a: np.repeat(a, 2, -1)[..., ::2]}


@pytest.mark.sampled(every=30)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_changed_is_what_numpy_changes(expression):
    compared = 0
    for shape, view in _samples(expression):
        names = module_of(_changed(expression, view, "b[i" not in expression))
        for change in ("result", "source", "part"):
            for order in ("C", "F", "strided") if view in ("a", "a.T") else ("C",):
                compared += _agrees(names[change], shape, ORDERS[order], "b[i" not in expression)
        forget(names)
    assert compared


def _samples(expression):
    """Two of the shapes and views for each expression, others for each of them."""
    start = EXPRESSIONS.index(expression)
    shapes = [(3, 4), (2, 3, 4), (2, 2)]
    yield shapes[start % 3], "a"
    yield (2, 2), "a.T"
    yield shapes[start % 2], VIEWS[1 + start % 5]
    yield (4,), "a" if start % 2 else "a[::-1]"


def _agrees(function, shape, order, is_static):
    """Whether a program agrees with NumPy; not where NumPy raises, or the program is refused."""
    array = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    ours, theirs = order(array), order(array)
    bounds = () if is_static else (np.int64(0), np.int64(2))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = function(theirs, *bounds)
        except (ValueError, IndexError, TypeError):
            return False
    with contextlib.suppress(NxTypeError, NxValueError, TracedValueError):
        found = nx.defn(function, promotion="numpy", compiler="evaluator")(ours, *bounds)
        assert_same(found, wanted)
        np.testing.assert_array_equal(ours, theirs)
        return True
    return False


def test_arrays_without_axes_are_seen_by_views():
    def f(a):
        one = np.array(2.0)
        seen = [np.atleast_1d(one), np.atleast_2d(one), one.reshape(1, 1), np.ascontiguousarray(one), one[None]]
        one[...] = 5
        seen[1][0, 0] += a[0]
        return [np.array(each) for each in seen], one

    a = np.array([1.0])
    assert_same(nx.defn(f)(a), f(a))


def test_diagonals_of_einsum_are_assigned():
    def f(a):
        np.einsum("ii->i", a)[...] = 7
        np.einsum("ij->ji", a)[0] += 1
        return a

    ours, theirs = np.ones((3, 3)), np.ones((3, 3))
    assert_same(nx.defn(f)(ours), f(theirs))
    np.testing.assert_array_equal(ours, theirs)


def test_orders():
    assert memory_order.c_order((2, 3, 4)) == (12, 4, 1)
    assert memory_order.of_copy((3, 4), (1, 3)) == (1, 3)
    assert memory_order.of_copy((3, 4), (-4, 1)) is None
    assert memory_order.of_result((3, 4), [((3, 4), (1, 3)), ((4,), (1,))]) == (1, 3)
    assert memory_order.of_order((2, 3), "F", None) == (1, 2)
    assert memory_order.reshaped((3, 4), (4, 1), (12,)) == (1,)
    assert memory_order.reshaped((3, 4), (1, 3), (12,)) is None
