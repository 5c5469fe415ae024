"""Functions that Numba compiled, called on traced values: by their text, element by element, and as they are."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

numba = pytest.importorskip("numba")
X = np.linspace(0, 1, 6)


@numba.njit
def bond(r):
    if r < 0.5:
        return (0.5 - r) ** 2
    return 0.0


@numba.njit
def energy(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            total += 1.0 / (1.0 + (x[i] - x[j]) ** 2) + bond(abs(x[i] - x[j]))
    return total


@numba.njit(parallel=True)
def smoothed(x):
    out = np.empty_like(x)
    for i in numba.prange(x.size):
        out[i] = 0.5 * (x[i] + x[max(i - 1, 0)])
    return out


@numba.njit
def counted(x):
    found = np.unique(x)
    return np.array([found.size + 0.0, x.sum()])


@numba.njit
def of_three(x):
    if np.unique(x).size != 3:
        raise ValueError("three")
    return x


@numba.guvectorize(["(float64[:], float64[:])"], "(n)->()")
def length(x, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    out[0] = np.sqrt(total)


def slopes_of(function, x, step=1e-6):
    """The gradient by differences of the function that Numba compiled."""
    steps = np.eye(x.size) * step
    return np.array([(function(x + one) - function(x - one)) / (2 * step) for one in steps])


def energies_of_rows(x):
    return np.array([energy(row) for row in x])


def test_a_function_of_arrays_is_a_part_of_the_program():
    @nx.defn
    def doubled(x):
        return energy(x) * 2

    np.testing.assert_allclose(doubled(X), 2 * energy(X), rtol=1e-12)
    assert "njit_call" not in str(nx.debug_expr(doubled)(X))


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_given_by_itself(wrap):
    np.testing.assert_allclose(wrap(energy)(X), energy(X), rtol=1e-12)
    np.testing.assert_allclose(wrap(smoothed)(X), smoothed(X), rtol=1e-12)


def test_gradients_are_those_of_differences():
    np.testing.assert_allclose(nx.grad(energy)(X), slopes_of(energy, X), rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_second_derivatives():
    x = X[:3]
    differences = [(nx.grad(energy)(x + step) - nx.grad(energy)(x - step)) / 2e-5 for step in np.eye(3) * 1e-5]
    np.testing.assert_allclose(nx.hessian(energy)(x), np.array(differences), rtol=1e-4, atol=1e-7)


def test_many_at_once():
    rows = np.stack([X, X**2, 1 - X])
    np.testing.assert_allclose(nx.vmap(energy)(rows), energies_of_rows(rows), rtol=1e-12)
    np.testing.assert_allclose(nx.vmap(smoothed)(rows), [smoothed(row) for row in rows], rtol=1e-12)


def test_in_a_program_by_the_rules_of_nx():
    @nx.defn
    def squared(t):
        return nx.sum(smoothed(t) ** 2)

    found = squared(nx.tensor(X))
    assert type(found) is nx.Tensor
    np.testing.assert_allclose(float(found), np.sum(smoothed(X) ** 2), rtol=1e-6)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("x", [X.astype("f4"), np.zeros(0), np.arange(5), X[::2]])
def test_types_and_shapes(x):
    found, wanted = nx.jit(smoothed)(x), smoothed(x)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_single_numbers():
    assert float(nx.grad(bond)(0.25)) == -0.5
    np.testing.assert_allclose(nx.jit(bond)(X), [bond(x) for x in X])
    np.testing.assert_allclose(nx.grad(lambda x: np.sum(bond(x)))(X), np.where(X < 0.5, -2 * (0.5 - X), 0))


def test_what_happened_is_told():
    traced = nx.defn(lambda x: energy(x) + 1)
    traced(X)
    assert "energy, which Numba compiled, is traced from its Python text" in str(nx.events(traced)[-1])


def test_what_cannot_be_traced_is_called_as_it_is():
    called = nx.defn(lambda x: counted(x) + 1)
    np.testing.assert_allclose(called(X), counted(X) + 1)
    told = str(nx.events(called)[-1])
    line = counted.py_func.__code__.co_firstlineno + 2
    assert f"counted, which Numba compiled, is called as it is, without gradients: line {line}: " in told


@pytest.mark.slow
def test_what_can_neither_be_traced_nor_called():
    with pytest.raises(NxTypeError) as error:
        nx.defn(lambda x: of_three(x) + 1)(X)
    lines = str(error.value).splitlines()
    assert lines[0] == "of_three, which Numba compiled, can neither be traced nor be called as it is."
    assert "nx.njit_call(of_three, ..., shape=..., type=...) calls it, where you say what it returns." in lines[-1]


@pytest.mark.slow
def test_generalized_functions():
    rows = np.stack([X, 2 * X])
    for function in (nx.jit(length), nx.defn(lambda x: length(x)), nx.vmap(length)):
        np.testing.assert_allclose(function(rows), length(rows), rtol=1e-12)
    with pytest.raises(NxTypeError, match="Nobody but its author knows the derivative of a function of Numba"):
        nx.grad(nx.defn(lambda x: np.sum(length(x))))(rows)


@pytest.mark.slow
def test_gradients_of_generalized_functions_are_declared():
    def norm(x):
        y = length(x)
        return nx.custom_grad(y, [x], lambda g: x * (g / y)[:, None])

    rows = np.stack([X, 2 * X]) + 1
    wanted = rows / length(rows)[:, None]
    np.testing.assert_allclose(nx.grad(nx.defn(lambda x: np.sum(norm(x))))(rows), wanted, rtol=1e-12)
