"""vmap: axes, containers, control flow, libraries, random numbers, and what it refuses."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

ROWS = np.array([[0.1, 2.0, 3.0], [0.2, -0.1, 0.4], [1.0, 1.0, 0.0], [-3.0, 0.5, 0.25]])
X = np.array([0.5, -1.0, 2.0])
SQUARES = np.random.default_rng(3).normal(size=(5, 3, 3))
Pair = namedtuple("Pair", "a b")


@dataclass
class Model:
    """Two arrays."""

    weights: object
    bias: object


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@nx.defn
def doubled(x):
    turns = 0
    while nx.sum(x) < 4 and turns < 9:
        x = x * 2 + 1
        turns += 1
    return x, turns


@nx.defn
def chosen(x):
    if nx.sum(x) > 1:
        y = nx.sin(x)
    else:
        y = x * x
    for i in range(3):
        if y[0] > 2:
            break
        y = y + x * i
    return y


def test_entries_along_the_first_axis():
    same(nx.vmap(lambda row: nx.sum(row * row))(ROWS), (ROWS**2).sum(1))
    same(nx.vmap(lambda row, by: row * by)(ROWS, np.arange(4.0)), ROWS * np.arange(4.0)[:, None])


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "args"),
    [
        ((1, -1), 0, (ROWS, ROWS)), ((1, -1), 1, (ROWS, ROWS)), ((0, None), 2, (ROWS, X)), ((None, 0), -1, (X, ROWS)),
        ([0, 0], -3, (ROWS, ROWS)), (-1, 0, (ROWS, ROWS)),
    ],
)  # fmt: skip
def test_other_axes(in_axes, out_axes, args):
    found = nx.vmap(nx.outer, in_axes=in_axes, out_axes=out_axes)(*args)
    axes = in_axes if isinstance(in_axes, tuple | list) else [in_axes] * 2
    moved = [a if k is None else np.moveaxis(a, k, 0) for a, k in zip(args, axes, strict=True)]
    count = next(a.shape[0] for a, k in zip(moved, axes, strict=True) if k is not None)
    parts = [np.outer(*[a if k is None else a[i] for a, k in zip(moved, axes, strict=True)]) for i in range(count)]
    same(found, np.stack(parts, axis=out_axes))


def test_axes_of_containers():
    found = nx.vmap(lambda p, m: {"s": nx.sum(p["a"] * m.weights), "t": p["b"]}, in_axes=({"a": 0, "b": None}, 0))(
        {"a": ROWS, "b": X}, Model(ROWS, ROWS)
    )
    same(found["s"], (ROWS * ROWS).sum(1))
    same(found["t"], np.stack([X] * 4))
    found = nx.vmap(lambda p: p.a + p.b, in_axes=(Pair(0, None),))(Pair(ROWS, X))
    same(found, ROWS + X)
    found = nx.vmap(lambda m: m.weights * m.bias, in_axes=(Model(1, None),), out_axes=1)(Model(ROWS, 2.0))
    same(found, ROWS * 2)
    found = nx.vmap(lambda row: [row, (nx.sum(row), row)], out_axes=[1, (0, -1)])(ROWS)
    same(found[0], ROWS.T)
    same(found[1][0], ROWS.sum(1))
    same(found[1][1], ROWS.T)


def test_what_is_the_same_for_all():
    assert nx.vmap(lambda row: 7)(ROWS).tolist() == [7, 7, 7, 7]
    by = nx.tensor(X)
    row, total = nx.vmap(lambda row: (row * by, nx.sum(by)), out_axes=(0, None))(ROWS)
    same(row, ROWS * X)
    assert float(total) == 1.5
    same(nx.vmap(lambda row, *, scale: row * scale)(ROWS, scale=3), ROWS * 3)


def test_defaults_are_left_to_the_function():
    def scaled(row, by=2.0, more=None, power=1):
        return (row * by) ** power if more is None else row * more

    same(nx.vmap(scaled)(ROWS), 2 * ROWS)
    same(nx.vmap(scaled)(ROWS, ROWS), ROWS**2)
    same(nx.vmap(scaled, in_axes=(0, 0, None, None))(ROWS, power=2), 4 * ROWS**2)
    same(nx.jit(lambda t: nx.vmap(scaled)(t, more=t))(ROWS), ROWS**2)


def test_names_stay():
    named = nx.tensor(ROWS, names=["batch", "x"])
    assert nx.vmap(lambda row: row * 2)(named).names == ("batch", "x")
    assert nx.vmap(lambda row: nx.sum(row, axes=["x"]))(named).names == ("batch",)
    assert nx.vmap(lambda column: column, in_axes=1)(named).names == ("x", "batch")
    assert nx.vmap(lambda row, other: row + other)(named, ROWS).names == ("batch", "x")
    other = nx.tensor(ROWS, names=["rows", "x"])
    assert nx.vmap(lambda row, other: row + other)(named, other).names == (None, "x")
    assert nx.vmap(lambda row: nx.tensor([[1.0]], names=["batch", None]) * row[0])(named).names == (None, "batch", None)


def test_control_flow_goes_entry_by_entry():
    values, turns = nx.vmap(doubled)(ROWS)
    alone = [doubled(row) for row in ROWS]
    same(values, [value for value, _ in alone])
    assert turns.to_list() == [turn.to_number() for _, turn in alone] == [0, 1, 1, 4]
    same(nx.vmap(chosen)(ROWS), [chosen(row) for row in ROWS])
    same(nx.vmap(nx.grad(lambda row: nx.sum(chosen(row))))(ROWS), [nx.grad(chosen)(row) for row in ROWS])


def test_libraries():
    spd = SQUARES @ SQUARES.transpose(0, 2, 1) + 3 * np.eye(3)
    same(nx.vmap(nx.linalg.cholesky)(spd), np.linalg.cholesky(spd))
    same(nx.vmap(nx.linalg.solve, in_axes=(0, None))(spd, X), np.linalg.solve(spd, X))
    same(nx.vmap(nx.linalg.determinant)(SQUARES), np.linalg.det(SQUARES))
    same(nx.vmap(nx.fft)(ROWS), np.fft.fft(ROWS))
    same(nx.vmap(nx.sort)(ROWS), np.sort(ROWS))


def test_every_entry_has_random_numbers_of_its_own_key():
    keys = nx.random.split(nx.random.key(3), parts=4)
    found = nx.vmap(lambda key: nx.random.normal(key, shape=(2,))[0])(keys)
    same(found, [nx.random.normal(keys[k], shape=(2,))[0] for k in range(4)])


def test_within_each_other():
    products = nx.vmap(nx.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))
    same(products(X, ROWS[:, 0]), np.outer(X, ROWS[:, 0]))
    same(nx.jit(lambda t: nx.vmap(nx.vmap(nx.sin))(t) + 1)(ROWS), np.sin(ROWS) + 1)
    same(nx.vmap(nx.hessian(lambda row: nx.sum(row**3)))(ROWS), [np.diag(6 * row) for row in ROWS])
    same(nx.grad(lambda t: nx.sum(nx.vmap(chosen)(t)))(ROWS), [nx.grad(chosen)(row) for row in ROWS])


def test_it_is_what_vectorized_axes_are():
    def function(row):
        return nx.log1p(nx.exp(row)) * nx.cumulative_sum(row)

    rows = nx.vectorize(nx.tensor(ROWS), "row")
    same(nx.vmap(function)(ROWS), nx.devectorize(function(rows)))
    both = nx.vmap(lambda a, b: nx.sum(a) * b, in_axes=(0, None))(ROWS, rows)
    assert both.vectorized_axes == (("row", 4),)
    same(nx.devectorize(both), ROWS[:, None, :] * ROWS.sum(1)[None, :, None])
    inner = nx.vmap(nx.sin)(rows)
    assert inner.vectorized_axes == (("row", 4),)
    same(nx.devectorize(inner), np.sin(ROWS))


def test_numpy_programs():
    def running(a):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * np.sin(a[i])
        return a

    given = ROWS.copy()
    same(nx.vmap(nx.defn(running))(given), [running(row.copy()) for row in ROWS])
    assert (given == ROWS).all()


def test_calling_twice_compiles_once():
    def function(row):
        return nx.sum(row) * 11

    nx.vmap(function)(ROWS)
    before = len(nx.events())
    nx.vmap(function)(ROWS + 1)
    assert [event for event in nx.events()[before:] if event.kind == "miss"] == []


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nx.vmap(3), NxTypeError, "nx.vmap takes a function, got 3"),
        (
            lambda: nx.vmap(lambda x, y: x)(ROWS, {"a": X}), NxValueError,
            r"different numbers of entries: x has 4 along axis 0, y\['a'\] has 3 along axis 0",
        ),
        (lambda: nx.vmap(nx.add, in_axes=None)(X, X), NxValueError, "vmap of add: no argument has an axis of entries"),
        (lambda: nx.vmap(lambda *a: a[0])(), NxValueError, "no argument has an axis of entries"),
        (lambda: nx.vmap(nx.add, in_axes=(0,))(X, X), NxValueError, "in_axes is for 1 argument, and there are 2 posit"),
        (lambda: nx.vmap(nx.add, in_axes="0")(X, X), NxTypeError, "in_axes is an axis, None, or a tuple with one for"),
        (lambda: nx.vmap(nx.sin, in_axes=2)(ROWS), NxValueError, r"tensor has no axis 2, it is f64\[4\]\[3\]"),
        (lambda: nx.vmap(nx.sin)(1.0), NxValueError, "no axis 0, it is f32.\n  in_axes and out_axes say along"),
        (lambda: nx.vmap(nx.sin, out_axes=3)(ROWS), NxValueError, r"the result has no axis 3, it is f64\[4\]\[3\]"),
        (lambda: nx.vmap(nx.sin, out_axes=None)(X), NxValueError, "out_axes=None is for a result that is the same for"),
        (
            lambda: nx.vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": X}), NxTypeError,
            r"in_axes of p: an axis, None, or a container of them like the value, \{'a': ·\}, got \{'b': 0\}",
        ),
        (lambda: nx.vmap(nx.sin, in_axes=((0, 0),))(X), NxTypeError, r"in_axes of tensor: .* ·, got \(0, 0\)"),
        (lambda: nx.vmap(nx.sin, in_axes=(True,))(X), NxTypeError, "in_axes of tensor: .* got True"),
        (lambda: nx.vmap(nx.sin, out_axes=[0])(X), NxTypeError, r"out_axes: .* like the value, ·, got \[0\]"),
        (lambda: nx.vmap(lambda x: None)(X), NxTypeError, "the function gives no tensor: the result is None"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()
