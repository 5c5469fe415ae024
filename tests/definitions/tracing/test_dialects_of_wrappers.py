"""Whoever wraps a function, its rules are the same; and arrays that come in come out as arrays."""

import ast
import itertools
import linecache
import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls.notebook_cell import CompiledCell

COUNT = itertools.count()
SPACE = {"np": np, "nx": nx, "math": math}
#: Functions of one array: those that name no library, those by NumPy's functions, by Nx's, and by both.
TEXTS = [
    "x / 3", "x * 2.5", "x + 1", "x // 2", "x % 2", "-x", "x ** 2", "x ** 0.5", "x @ x", "x[0] / 2", "x[1:] * 0.1",
    "x * x.shape[0] / 7", "x * np.pi", "x * math.pi", "abs(x) / 3", "(x > 1) * x / 4", "x * np.float32(3)",
    "np.sin(x)", "np.sum(x) / 3", "np.mean(x)", "np.sqrt(x) * 2", "np.exp(x / 9)", "np.cumsum(x) / 2", "x.mean()",
    "np.where(x > 1, x, 0.5)", "np.sort(x)[::-1] / 2", "np.linalg.norm(x)", "np.dot(x, x) / 3", "np.arange(3) / 4 + x",
    "x.sum() / 3", "x.T * 0.5", "x.cumsum() / 3", "nx.sin(x)", "nx.sum(x) / 3", "nx.mean(x)", "nx.sqrt(x) * 2",
    "nx.exp(x / 9) * np.pi", "nx.dot(x, x) / 3", "nx.sum(x) / np.sum(x)", "nx.as_type(x, 'f64') / 3",
    "nx.hook(np.sum(x), 'total') / 3", "nx.stop_grad(x) / 3",
]  # fmt: skip


def made(expression):
    file, text = f"wrapped-{next(COUNT)}.py", f"def f(x):\n    return {expression}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(SPACE)
    exec(compile(text, file, "exec"), space)
    return space["f"]


def by_cell(expression, x):
    """What a cell under `%%jit` gives."""
    names, file = {**SPACE, "x": x}, f"wrapped-{next(COUNT)}"
    linecache.cache[file] = (len(expression), None, [expression], file)
    cell = CompiledCell(ast.parse(expression).body, file, names)
    return cell.finish(cell.definition(*cell.args, **cell.options))


def by_vmap(function, x):
    return nx.vmap(function)(np.stack([x, x]) if isinstance(x, np.ndarray) else nx.stack([x, x]))[0]


def by_vmap_of_definition(function, x):
    return by_vmap(nx.jit(function), x)


#: Ways to run a function.
WRAPPERS = {
    "defn": lambda f, x: nx.defn(f)(x),
    "jit": lambda f, x: nx.jit(f)(x),
    "jit_apply": lambda f, x: nx.jit_apply(f, [x]),
    "compile": lambda f, x: nx.compile(f, [x])(x),
    "jit of defn": lambda f, x: nx.jit(nx.defn(f))(x),
    "compile of defn": lambda f, x: nx.compile(nx.defn(f), [x])(x),
    "vmap": by_vmap,
    "vmap of jit": by_vmap_of_definition,
    "checkpoint": lambda f, x: nx.jit(nx.checkpoint(f))(x),
}


def kind(value):
    """The type of a value's elements, its shape, and whether it is a tensor."""
    return np.dtype(value.dtype), value.shape, isinstance(value, nx.Tensor)


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("wrapped", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("expression", TEXTS)
@pytest.mark.filterwarnings("ignore::nxkernel.errors.PromotionWarning")
def test_all_wrappers_give_the_same_types(expression, wrapped):
    function = made(expression)
    x = np.array([1, 2, 3])
    found = wrapped(function, x)
    is_nx = "nx." in expression and "nx.hook" not in expression and "stop_grad" not in expression
    assert isinstance(found, nx.Tensor) == is_nx
    expected = by_cell(expression, x) if "nx." in expression else function(x)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("expression", TEXTS)
@pytest.mark.filterwarnings("ignore::nxkernel.errors.PromotionWarning")
def test_a_cell_gives_the_types_of_a_definition(expression):
    x = np.array([1, 2, 3])
    assert kind(by_cell(expression, x)) == kind(nx.defn(made(expression))(x))


@pytest.mark.parametrize("wrap", [nx.value_and_grad, lambda f: nx.jit(nx.value_and_grad(f))], ids=["plain", "jit"])
@pytest.mark.parametrize(
    ("expression", "type_"),
    [("(x / 3).sum()", "f8"), ("np.sum(x * 0.1)", "f8"), ("nx.sum(x * 0.1)", "f8"), ("(x * x)[0]", "f8"),
     ("np.sum(nx.stop_grad(x) * 0 + x * 0.1)", "f8"), ("x.sum() * np.pi", "f8")],
)  # fmt: skip
def test_gradients_have_the_rules_of_their_function(expression, type_, wrap):
    x = np.array([1.0, 2.0, 3.0])
    found = wrap(made(expression))(x)
    is_nx = expression.startswith("nx.")
    for part in (*found, nx.grad(made(expression))(x)):
        assert (part.dtype, isinstance(part, nx.Tensor)) == (np.dtype(type_), is_nx)
    assert isinstance(found[0], nx.Tensor if is_nx else np.generic)
    assert isinstance(found[1], nx.Tensor if is_nx else np.ndarray)
    narrow = wrap(made(expression))(np.float32([1, 2, 3]))
    assert [np.asarray(part).dtype for part in narrow] == [np.dtype("f4")] * 2


#: Functions of an array whose results are to be arrays with memory of their own.
RESULTS = {
    "a new array": lambda x: x + 1,
    "the argument": lambda x: x,
    "a view of it": lambda x: x[::-1],
    "a part of it": lambda x: x[1:],
    "its transpose": lambda x: x.T,
    "another shape": lambda x: x.reshape(3, 1),
    "a scalar": lambda x: x.sum(),
    "an element": lambda x: x[0],
    "a number": lambda x: 7,
    "a truth value": lambda x: True,
    "a constant of NumPy's": lambda x: np.float32(2),
    "a new array of numbers": lambda x: np.zeros(3),
    "a captured array": lambda x: KEPT,
    "a view of a captured array": lambda x: KEPT[1:],
    "a broadcast array": lambda x: np.broadcast_to(x, (2, 3)),
    "one broadcast number": lambda x: np.broadcast_to(x[0], (2,)),
    "an empty array": lambda x: x[3:],
    "the same twice": lambda x: (x, x),
    "a new array twice": lambda x: [y := x + 1, y],
    "an array and its view": lambda x: (y := x + 1, y[::-1]),
    "a dict": lambda x: {"a": x, "b": (x.sum(), [x * 2, 1.5])},
    "nothing in it": lambda x: (x + 1, ()),
}
KEPT = np.arange(3.0)


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
@pytest.mark.parametrize("function", RESULTS.values(), ids=RESULTS)
def test_arrays_come_out_where_arrays_come_in(function, wrap, compiler):
    definition = wrap(function, promotion="numpy", compiler=compiler)
    x = np.array([1.0, 2.0, 3.0])
    expected = function(x)
    for _ in range(3):
        found = definition(x)
        assert type(found) is type(expected) or not isinstance(expected, tuple | list | dict)
        arrays = []
        for one, other in zip(leaves(found), leaves(expected), strict=True):
            assert one.dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(one, other)
            if not np.ndim(other):
                assert isinstance(one, np.generic)
                continue
            assert type(one) is np.ndarray
            assert one.flags.writeable
            assert one.flags.owndata
            assert not np.may_share_memory(one, x)
            assert not np.may_share_memory(one, KEPT)
            arrays.append(one)
        for one in arrays:
            one[...] = 99
        assert (x.tolist(), KEPT.tolist()) == ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("function", RESULTS.values(), ids=RESULTS)
def test_tensors_come_out_where_a_tensor_comes_in(function):
    definition = nx.jit(function, promotion="numpy")
    two = nx.jit(lambda x, t: function(x), promotion="numpy")
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        for found in (definition(nx.tensor(x)), two(x, {"t": [nx.tensor(1.0)]})):
            for one, other in zip(leaves(found), leaves(function(x)), strict=True):
                assert isinstance(one, nx.Tensor)
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_without_arguments(wrap):
    assert isinstance(wrap(lambda: np.float64(1.5) + 1)(), nx.Tensor)
    zeros = wrap(lambda: np.zeros(2))
    for _ in range(2):
        found = zeros()
        assert (type(found), found.tolist(), found.flags.writeable) == (np.ndarray, [0.0, 0.0], True)
        found[0] = 5
    assert isinstance(wrap(lambda: np.sum(KEPT))(), np.float64)
    assert isinstance(wrap(lambda: nx.sum(KEPT))(), nx.Tensor)
    assert isinstance(wrap(lambda: 1)(), nx.Tensor)


def test_numbers_alone_give_numpys_scalars_by_numpys_rules():
    f = nx.jit(lambda a: np.sqrt(a))
    for _ in range(2):
        assert repr(f(4.0)) == "np.float64(2.0)"
        assert repr(f(4)) == "np.float64(2.0)"
        assert repr(f(np.float32(4))) == "np.float32(2.0)"


def test_sums_are_numpys():
    total = nx.jit(lambda n: n.sum() / 1)
    assert total(np.array([2**24, 1])) == 16777217.0
    decay = nx.defn(lambda s, n: _added(s, n))
    assert decay(np.float64(0), 1000) == pytest.approx(100.0)


def _added(s, n):
    for _ in range(n):
        s = s + 0.1
    return s
