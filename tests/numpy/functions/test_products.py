"""Products of vectors and matrices, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as xp
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxValueError

A = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])
B = np.array([[2, 7], [1, 8], [2, 8], [1, 8]])

ROWS = {
    "dot": lambda np, a, b: (np.dot(a, b), np.dot(a[0], b[:, 0]), a @ b, a @ b[:, 0], a[0] @ b, np.dot(a, 2)),
    "matmul": lambda np, a, b: (
        np.matmul(a[None], b),
        np.vecdot(a, a),
        np.inner(a, a),
        np.vdot(a, a),
        np.outer(a[0], b[0]),
    ),
    "tensordot": lambda np, a, b: (
        np.tensordot(a, b, 1),
        np.tensordot(a, a, ([0, 1], [0, 1])),
        np.kron(a[:2, :2], b[:2, :1]),
    ),
    "einsum": lambda np, a, b: (
        np.einsum("ij,jk", a, b),
        np.einsum("ij->j", a),
        np.einsum("ii", b[:2]),
        np.einsum("ij,ij->i", a, a),
    ),
    "cross": lambda np, a, b: (np.cross(a[0, :3], a[1, :3]), np.cross([1, 2, 3], a[0, :3])),
    "diagonals": lambda np, a, b: (np.trace(a), np.diagonal(a, 1), np.diag(a[0]), np.diag(a), np.diagflat(b[0])),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, A.astype(kind), B.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["u1", "i2", "?", "f2"])
@pytest.mark.parametrize(
    "text", ["np.inner(v[k::2], v[k::2])", "v[k:] @ v[k:]", "np.dot(v[m], v[m])", "np.vdot(v[m], v[m])"]
)
def test_products_of_what_only_the_program_knows_the_length_of_keep_their_type(text, kind):
    """A sum of narrow integers would be a wide one."""
    function = eval(f"lambda v, k, m: {text}", {"np": np})
    v, m = np.array([1, 0, 3, 1, 5, 1]).astype(kind), np.array([1, 0, 1, 1, 0, 1], bool)
    wanted = np.asarray(function(v, 1, m))
    found = np.asarray(nx.defn(function, promotion="numpy")(v, 1, m))
    assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())


@pytest.mark.parametrize(("left", "right", "axis"), [((2, 3), (3,), -1), ((3, 2), (3, 2), 0), ((4, 3, 2), (3, 2), -2)])
def test_vecdot_along_axes(left, right, axis):
    numbers = np.arange(24.0) - 1j
    check(
        lambda np, a, b: np.vecdot(a, b, axis=axis),
        numbers[: np.prod(left)].reshape(left),
        numbers[: np.prod(right)].reshape(right),
    )


@pytest.mark.parametrize(
    ("left", "right", "axis", "sizes"),
    [((3,), (1,), -1, "[3] and [1]"), ((2, 3), (3,), 0, "[2][3] and [3]"), ((), (3,), -1, "[] (a scalar) and [3]")],
)
def test_vecdot_does_not_stretch_vectors(left, right, axis, sizes):
    for call in (xp.vecdot, nx.jit(lambda a, b, *, axis: np.vecdot(a, b, axis=axis))):
        with pytest.raises(NxValueError) as raised:
            call(np.ones(left), np.ones(right), axis=axis)
        first, *_, last = str(raised.value).split("\n  ")
        assert first == f"vecdot multiplies vectors of one size, got {sizes} along axis {axis}."
        assert last == "np.sum(a * b, axis=-1) takes what broadcasts."


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.dot(2.0, x),
        lambda x: np.dot(x, 2),
        lambda x: np.inner(x, 2.0),
        lambda x: np.outer(2.0, x),
        lambda x: np.vdot(x[0], 2),
    ],
)
def test_a_python_number_in_a_product_is_of_its_own_type(function):
    x = np.array([1, 2, 4], np.float32)
    expected, result = function(x), nx.defn(function)(x)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype == np.float64


def test_a_number_that_is_passed_is_of_its_own_type_in_a_product():
    assert nx.defn(lambda x, t: np.dot(x, t))(np.ones(2, np.float32), 0.5).dtype == np.float64


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(("left", "right"), [(2, 2), (2, 3), (3, 2)])
def test_cross_of_vectors_of_two_elements(left, right):
    a, b = np.array([[1.0, -2, 3], [4, 5, -6]]), np.array([[7.0, 8, -9], [0, 2, 1]])
    check(lambda np, a, b: (np.cross(a, b), np.cross(a.T, b.T, axis=0)), a[:, :left], b[:, :right])


def test_cross_of_other_vectors():
    with pytest.raises(NxValueError, match=r"^cross takes vectors of 2 or 3 elements, got 4 and 3\.\n"):
        nx.jit(lambda a: np.cross(a, a[:3]))(np.ones(4))
