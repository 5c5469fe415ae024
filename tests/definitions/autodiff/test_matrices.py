"""jacobian, jacfwd, jacrev and hessian: containers, loops, types, which direction they go, and what they refuse."""

from collections import namedtuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -2.0])
ROWS = np.array([[0.1, 2.0, 3.0], [0.2, -0.1, 0.4]])
Pair = namedtuple("Pair", "a b")


def wave(x):
    return nx.sum(nx.sin(x) * x)


def curve(x):
    return 2 * np.cos(x) - np.sin(x) * x


@nx.defn
def stops(x):
    for _ in range(10):
        if nx.sum(x) > 5:
            break
        x = x * 1.5
    return x


def same(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-12)


def test_a_matrix_of_derivatives():
    same(nx.jacobian(lambda x: x**2 + x[0])(X), np.diag(2 * X) + np.eye(3)[[0, 0, 0]])
    found = nx.jacobian(lambda x, y: nx.dot(x, y), argnums=1)(ROWS, X)
    same(found, ROWS)
    assert nx.jacobian(lambda x: nx.outer(x, x))(X).shape == (3, 3, 3)


def test_containers_within_containers():
    def function(p, y):
        return Pair({"u": p["a"] * y}, (nx.sum(p["b"]),))

    found = nx.jacobian(function, argnums=(0, 1))({"a": X, "b": ROWS}, V)
    assert isinstance(found, Pair)
    of_p, of_y = found.a["u"]
    same(of_p["a"], np.diag(V))
    same(of_p["b"], np.zeros((3, 2, 3)))
    same(of_y, np.diag(X))
    same(found.b[0][0]["b"], np.ones((2, 3)))


def test_second_derivatives():
    same(nx.hessian(wave)(X), np.diag(curve(X)))
    found = nx.hessian(lambda p: nx.sum(p["a"] ** 2 * p["b"]))({"a": X, "b": V})
    same(found["a"]["a"], np.diag(2 * V))
    same(found["a"]["b"], np.diag(2 * X))
    same(found["b"]["b"], np.zeros((3, 3)))
    (aa, ab), (ba, _) = nx.hessian(lambda x, y: nx.sum(x * x * y), argnums=(0, 1))(X, V)
    same(aa, np.diag(2 * V))
    same(ab, np.diag(2 * X))
    same(ba, np.diag(2 * X))
    assert nx.hessian(lambda x: x**3)(X).shape == (3, 3, 3)


def test_matrices_of_loops_and_of_each_entry():
    same(nx.jacobian(stops)(X), np.eye(3) * 1.5**3)
    found = nx.vmap(nx.jacobian(stops))(ROWS)
    same(found, [np.eye(3), np.eye(3) * 1.5**6])
    rows = nx.vectorize(nx.tensor(ROWS), "row")
    assert nx.jacobian(stops)(rows).vectorized_axes == (("row", 2),)
    same(nx.devectorize(nx.jacobian(stops)(rows)), found)
    same(nx.devectorize(nx.hessian(wave)(rows)), nx.vmap(nx.hessian(wave))(ROWS))


def test_types_names_options_and_empty_values():
    assert nx.jacobian(lambda n: n * n)(nx.tensor([1, 2])).to_list() == [[2.0, 0.0], [0.0, 4.0]]
    named = nx.tensor(ROWS, names=["row", "x"])
    assert nx.jacobian(lambda t: nx.sum(t, axes=["x"]))(named).names == (None, None, None)
    assert nx.grad(lambda t: nx.sum(t))(named).names == ("row", "x")
    assert nx.jacobian(lambda t, u: t * u)(nx.tensor(X, names=["x"]), X).names == (None, None)
    assert nx.jacobian(lambda t: nx.sum(t))(named).names == ("row", "x")
    same(nx.jacobian(lambda x, *, n: x**n)(X, n=3), np.diag(3 * X**2))
    assert nx.jacobian(lambda x: x[:0])(X).shape == (0, 3)
    found = nx.jacobian(lambda z: z * z)(nx.c128([2 + 1j, 1j]))
    same(found, np.diag([4 + 2j, 2j]))


# Which way ------------------------------------------------------------------------------------------------------------


def wide(x):
    return nx.outer(nx.sin(x), x) * x[0]


def test_both_ways_are_one_matrix():
    for function, x in ((wide, X), (lambda p: (p["a"] * nx.sum(p["b"]), nx.dot(p["b"], p["a"])), {"a": X, "b": ROWS})):
        ahead, back, found = (way(function)(x) for way in (nx.jacfwd, nx.jacrev, nx.jacobian))
        for one, other, third in zip(*map(nx.leaves, (ahead, back, found)), strict=True):
            same(one, other, 1e-13)
            same(third, other, 1e-13)
    same(nx.jacfwd(lambda x, y: x * y, argnums=(0, 1))(X, V)[1], np.diag(X))
    same(nx.jacfwd(lambda t: nx.stack([t, t * t]))(3.0), [1, 6])
    same(nx.jacfwd(nx.sin)(nx.f64(0.5)), np.cos(0.5))


@pytest.mark.parametrize(
    ("function", "x", "told"),
    [
        (wide, X, "by columns (forward mode): the arguments have 3 elements, the value has 9"),
        (nx.sin, X, "by columns (forward mode): the arguments have 3 elements, the value has 3"),
        (wave, X, "by rows (reverse mode): the arguments have 3 elements, the value has 1"),
        (lambda x: nx.as_type(x, "f32"), X, "by rows (reverse mode): the arguments have 3 elements, the value has 3"),
        (
            lambda x: nx.custom_grad(x * 1, [x], lambda g: [g * 2]),
            X,
            "by rows (reverse mode): the arguments have 3 elements, the value has 3",
        ),
        (nx.sin, nx.f64(1.0), "by columns (forward mode): the arguments have 1 element, the value has 1"),
    ],
)
def test_which_way_it_goes_is_told(function, x, told):
    (note,) = nx.jacobian(function).why(x).notes
    assert note.partition(": ")[2] == told
    assert nx.jacfwd(function).why(x).notes == ()


def test_a_hessian_goes_forward_over_reverse():
    notes = nx.hessian(wave).why(X).notes
    assert [note.partition(": ")[2].partition(":")[0] for note in notes] == [
        "by rows (reverse mode)",
        "by columns (forward mode)",
    ]


def test_loops_without_a_known_limit():
    @nx.defn
    def halved(x):
        while nx.sum(x) > 1:
            x = x / 2 * nx.cos(x[0])
        return x

    x = np.array([0.5, 0.25, 2.0])
    same(nx.jacobian(halved)(x), nx.jacfwd(halved)(x))
    columns = [nx.jvp(halved, (x,), (unit,))[1] for unit in np.eye(3)]
    same(nx.jacfwd(halved)(x), np.transpose(columns))
    same(nx.jacfwd(nx.vmap(halved))(np.stack([x, 2 * x]))[1, :, 1], nx.jacobian(halved)(2 * x))
    with pytest.raises(NxTypeError, match="needs to know at most how many turns it has"):
        nx.jacrev(halved)(x)


def test_second_derivatives_in_every_order():
    matrices = [
        outer(inner(wave))(X)
        for outer in (nx.jacfwd, nx.jacrev, nx.jacobian)
        for inner in (nx.jacfwd, nx.jacrev, nx.grad)
    ]
    for matrix in matrices:
        same(matrix, np.diag(curve(X)), 1e-12)
    third = nx.jacfwd(nx.jacfwd(nx.jacrev(lambda x: nx.sum(x**4))))(X)
    same([third[k, k, k] for k in range(3)], 24 * X, 1e-12)


def test_what_is_given_besides():
    for way in (nx.jacfwd, nx.jacrev):
        matrix, aux = way(lambda x: (x * x, {"x": x + 1}), has_aux=True)(X)
        same(matrix, np.diag(2 * X))
        same(aux["x"], X + 1)
        with pytest.raises(NxTypeError, match=r"has_aux=True the function gives a pair \(value, aux\), got"):
            way(lambda x: x, has_aux=True)(X)


def test_complex_numbers():
    z = np.array([2 + 1j, 1j])
    for way in (nx.jacfwd, nx.jacrev):
        same(way(lambda z: z * z, holomorphic=True)(z), np.diag(2 * z))
        with pytest.raises(NxTypeError, match=r"an argument is complex, c128\[2\].*\n  holomorphic=True says"):
            way(lambda z: nx.real(z))(z)
        with pytest.raises(NxTypeError, match=r"the value is complex, c128\[3\]"):
            way(lambda x: x * 1j)(X)
        with pytest.raises(NxTypeError, match=r"with holomorphic=True an argument is complex, got f64\[3\]"):
            way(lambda x: x, holomorphic=True)(X)


def test_types_and_empty_arrays_of_each_way():
    narrow = X.astype("float32")
    assert str(nx.jacfwd(lambda x: nx.as_type(x, "f64"))(narrow).type) == "f64"
    assert str(nx.jacrev(lambda x: nx.as_type(x, "f64"))(narrow).type) == "f32"
    assert str(nx.jacobian(lambda x: nx.as_type(x, "f64"))(narrow).type) == "f32"
    for way in (nx.jacfwd, nx.jacrev, nx.jacobian):
        assert way(lambda x: x[:0])(X).shape == (0, 3)
        assert way(lambda x: nx.sum(x) * nx.ones((2,), type="f64"))(np.zeros((0, 4))).shape == (2, 0, 4)
        assert way(lambda n: n * n)(nx.tensor([1, 2])).to_list() == [[2.0, 0.0], [0.0, 4.0]]


def test_numpy_programs_of_each_way():
    def running(a):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * np.sin(a[i])
        return a

    ahead, back = nx.jacfwd(nx.defn(running))(X), nx.jacrev(nx.defn(running))(X)
    assert type(ahead) is np.ndarray
    same(ahead, back, 1e-13)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nx.jacobian(nx.add, argnums=(1, -1))(X, V), NxValueError, r"argnums has argument 1 twice: \(1, -1\)"),
        (lambda: nx.hessian(wave, argnums=1)(X), NxValueError, "hessian of wave: argnums has 1, and there is 1 posit"),
        (lambda: nx.jacobian(3), NxTypeError, "nx.jacobian takes a function, got 3"),
        (lambda: nx.hessian("f"), NxTypeError, "nx.hessian takes a function, got 'f'"),
        (lambda: nx.jacobian(wave, argnums=1)(X), NxValueError, "jacobian of wave: argnums has 1"),
        (lambda: nx.jacobian(wave, argnums="x")(X), NxTypeError, "argnums is the place of an argument"),
        (lambda: nx.jacobian(lambda x: None)(X), NxTypeError, "the function gives no tensor: the value is None"),
        (lambda: nx.jacfwd(3), NxTypeError, r"nx.jacfwd takes a function, got 3.\n  Write nx.jacfwd\(lambda x: …\)"),
        (lambda: nx.jacrev(None), NxTypeError, r"nx.jacrev takes a function, got None"),
        (lambda: nx.jacfwd(wave, argnums=2)(X), NxValueError, "jacfwd of wave: argnums has 2"),
        (
            lambda: nx.jacfwd(lambda s: s)("a"),
            NxTypeError,
            "jacfwd of <lambda>: gradients are for tensors, numbers and containers of them, got a str",
        ),
        (lambda: nx.jacfwd(lambda x: None)(X), NxTypeError, "the function gives no tensor: the value is None"),
    ],
)
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()
