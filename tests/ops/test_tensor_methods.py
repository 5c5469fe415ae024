"""Operators and methods."""

import operator
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.errors import NxTypeError

X, Y = np.array([[7.5, -7.5], [3.0, -0.5]]), np.array([2.0, -3.0])
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("function", ARITHMETIC + COMPARISONS, ids=lambda f: f.__name__)
def test_operators_are_numpys(function):
    with np.errstate(all="ignore"):
        for left, right in [(X, Y), (X, 2.0), (3.0, Y)]:
            expected = function(left, right)
            a, b = (nx.tensor(side) if isinstance(side, np.ndarray) else side for side in (left, right))
            np.testing.assert_allclose(function(a, b), expected, rtol=1e-15)
            if isinstance(left, np.ndarray):
                np.testing.assert_allclose(function(left, nx.tensor(right) if b is right else b), expected, rtol=1e-6)


@pytest.mark.parametrize("function", COMPARISONS, ids=lambda f: f.__name__)
def test_comparisons_are_element_wise_bools(function):
    found = function(nx.tensor([1, 2, 3]), 2)
    assert found.type == "bool"
    assert found.to_list() == [int(function(n, 2)) for n in (1, 2, 3)]


@pytest.mark.parametrize("function", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift])
def test_bits(function):
    left, right = np.array([12, 5]), np.array([3, 2])
    np.testing.assert_array_equal(function(nx.tensor(left), nx.tensor(right)), function(left, right))
    np.testing.assert_array_equal(function(nx.tensor(left), 2), function(left, 2))
    np.testing.assert_array_equal(function(12, nx.tensor(right)), function(12, right))


def test_unary_operators():
    tensor = nx.tensor([1, -2])
    assert (-tensor).to_list() == [-1, 2]
    assert abs(tensor).to_list() == [1, 2]
    assert (~tensor).to_list() == [-2, 1]
    assert +tensor is tensor


@settings(max_examples=100, deadline=None)
@given(st.integers(-20, 20), st.integers(-20, 20).filter(bool))
def test_python_divisions_of_integers(a, b):
    assert (nx.tensor(a) // b).to_list() == a // b
    assert [part.to_list() for part in divmod(nx.tensor(a), b)] == list(divmod(a, b))
    assert [part.to_list() for part in divmod(a, nx.tensor(b))] == list(divmod(a, b))
    assert (nx.tensor(a) % nx.tensor(b)).to_list() == a % b


@pytest.mark.parametrize("type_", ["u8", "u64"])
def test_python_divisions_of_unsigned_integers(type_):
    tensor = nx.tensor([7, 200], type=type_)
    assert (tensor // 3).to_list() == [2, 66]
    assert (tensor % 3).to_list() == [1, 2]


def test_python_divisions_of_floats():
    values = np.array([1.0, -1.0, 0.3, -0.3, 5.5, np.inf, 0.0])
    divisors = np.array([0.1, -0.1, np.inf, 2.0, -2.0, 0.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(nx.tensor(values[:, None]) // divisors, values[:, None] // divisors)
        np.testing.assert_array_equal(nx.tensor(values[:, None]) % divisors, values[:, None] % divisors)


def test_numbers_beside_tensors_are_weak():
    assert (nx.u8([1]) + 1).type == "u8"
    assert (2.0 * nx.f16([1])).type == "f16"
    assert (nx.u8([1]) // 2).type == "u8"
    assert (nx.f64([1]) ** 2).type == "f64"


def test_numpy_arrays_give_way():
    assert type(np.arange(2) + nx.tensor([1, 2])) is nx.Tensor
    assert type(np.float64(2) * nx.tensor([1, 2])) is nx.Tensor
    assert type(np.arange(2) == nx.tensor([1, 2])) is nx.Tensor


MATRICES = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (MATRICES[0], MATRICES[1].T),
        (MATRICES, MATRICES[0].T),
        (MATRICES[0], MATRICES.transpose(0, 2, 1)),
        (MATRICES, MATRICES.transpose(0, 2, 1)),
        (MATRICES[0, 0], MATRICES[0, 1]),
        (MATRICES, MATRICES[0, 0]),
        (MATRICES[0, :, 0], MATRICES),
        (MATRICES[:1], MATRICES.transpose(0, 2, 1)),
    ],
)
def test_matrices(left, right):
    np.testing.assert_array_equal(nx.tensor(left) @ nx.tensor(right), left @ right)
    np.testing.assert_array_equal(left @ nx.tensor(right), left @ right)


def test_scalars_are_no_matrices():
    with pytest.raises(NxTypeError, match=re.escape("@ multiplies matrices and vectors, got f32 @ f32[2].")):
        nx.tensor(1.0) @ nx.f32([1, 2])


@pytest.mark.parametrize("value", ["text", None, b"bytes"])
def test_operators_refuse_what_is_no_operand(value):
    with pytest.raises(NxTypeError, match=r"^expected a tensor, an array or a number for 'right', got "):
        nx.tensor([1]) + value
    with pytest.raises(NxTypeError, match=r"^expected a tensor, an array or a number for 'left', got "):
        value * nx.tensor([1])


def test_other_classes_get_their_turn():
    class Other:
        def __radd__(self, other):
            return "taken"

        def __eq__(self, other):
            return "equal"

    assert nx.tensor([1]) + Other() == "taken"
    assert (nx.tensor([1]) == Other()) == "equal"
    with pytest.raises(TypeError, match="unsupported operand"):
        nx.tensor([1]) - Other()


def test_a_tensor_differs_from_what_is_no_operand():
    assert (nx.tensor([1]) == None) is False  # noqa: E711
    assert (nx.tensor([1]) != "text") is True


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("exp", (), {}),
        ("sum", (), {"axes": [0]}),
        ("mean", (), {"axes": [1], "keep_axes": True}),
        ("argmax", (), {"axis": 0}),
        ("reshape", ((4,),), {}),
        ("transpose", (), {}),
        ("dot", (nx.f32([1, 2]),), {}),
        ("clip", (0, 1), {}),
        ("as_type", ("f64",), {}),
        ("pow", (2,), {}),
        ("equal", (1,), {}),
        ("tril", (), {}),
    ],
)
def test_methods_are_the_functions(name, arguments, options):
    tensor = nx.f32([[1, 2], [3, 4]])
    found = getattr(tensor, name)(*arguments, **options)
    assert found.to_list() == getattr(nx, name)(tensor, *arguments, **options).to_list()


def test_properties_stay_properties():
    tensor = nx.iota((2, 3), names=["a", None])
    assert (tensor.type, tensor.shape, tensor.names, tensor.rank, tensor.ndim, tensor.size) == (
        "s64", (2, 3), ("a", None), 2, 2, 6,
    )  # fmt: skip
    assert tensor.dtype == np.int64


def test_traced_values_answer_the_same(record):
    def function(x, y):
        return (2 * x - y / 4) ** 2 < x.sum(axes=[1], keep_axes=True) @ y[:1]

    found = record(function, nx.template((2, 2), "f32"), nx.template((2, 2), "f32"))
    assert str(found.spec) == "bool[2][2]"


def test_iteration_and_length():
    tensor = nx.iota((2, 3))
    assert len(tensor) == 2
    assert [row.to_list() for row in tensor] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(NxTypeError, match=re.escape("a scalar (s64) has no length and cannot be iterated over")):
        len(nx.tensor(1))
    with pytest.raises(NxTypeError, match="cannot be iterated over"):
        list(nx.tensor(1))


def test_traced_values_are_tensors_to_isinstance():
    seen = []

    def function(t):
        seen.append((isinstance(t, nx.Tensor), isinstance(t, nx.Template), type(t) is nx.Tensor))
        return nx.vectorize(t, "rows")

    nx.jit(function)(nx.eye(2))
    assert seen == [(True, False, False)]
    assert isinstance(nx.eye(2), nx.Tensor)
    assert not any(isinstance(value, nx.Tensor) for value in (nx.template((2,), "f32"), 1.0, X, nx.Tensor))


def test_traced_values_have_the_methods_of_tensors():
    missing = []

    def function(t):
        missing.extend(name for name in dir(nx.Tensor) if name[0] != "_" and name not in dir(t))
        return t

    nx.jit(function)(nx.eye(2))
    # Those that ask for elements.
    assert sorted(missing) == [
        "ctypes", "data", "dumps", "from_numpy", "numpy", "rows", "to_backend", "to_batched", "to_binary",
        "to_flat_list", "to_heatmap", "to_list", "to_number", "to_numpy", "to_template", "tobytes", "with_spec", "wrap",
    ]  # fmt: skip
