"""Products by NumPy's rules are rounded before anything is added to them, wherever they end up; Nx's may not be."""

import numpy as np
import pytest

import nxkernel as nx

RANDOM = np.random.default_rng(0)
TYPES = [np.float32, np.float64]


def difference(a, b):
    return np.sqrt(a * a - b * b)


def squares(a, b):
    return np.sqrt(a**2 - b * b), np.sqrt(np.square(a) - b**2)


def cubes(a, b):
    return np.sqrt(a**3 - b**3), a**4 - b**4, a**-2 - b**-2, a**1.5 - b**1.5


def swapped(a, b):
    return a * b - b * a


def elements(a, b):
    found = np.zeros_like(a)
    for i in range(a.shape[0]):
        found[i] = a[i] * b[i] - b[i] * a[i]
    return found


def sums(a, b):
    products = a * b
    return np.sum(products) - np.sum(b * a), np.array([(p - a[k] * b[k]) for k, p in enumerate(products[:3])])


def pair(type_):
    return RANDOM.normal(size=(2, 1003)).astype(type_)


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("function", [difference, squares, cubes])
def test_equal_numbers_have_no_difference(function, type_, compiler):
    a = np.abs(pair(type_)[0])
    found = nx.defn(promotion="numpy", compiler=compiler)(function)(a, a.copy())
    for value in found if isinstance(found, tuple) else [found]:
        np.testing.assert_array_equal(value, np.zeros_like(a))


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("function", [swapped, elements, sums])
def test_equal_products_have_no_difference(function, type_):
    found = nx.defn(promotion="numpy")(function)(*pair(type_))
    for value in found if isinstance(found, tuple) else [found]:
        np.testing.assert_array_equal(value, np.zeros(value.shape))


@pytest.mark.parametrize("type_", TYPES)
def test_parallel_vectors_have_no_cross_product(type_):
    a = pair(type_).reshape(-1)[:999].reshape(-1, 3)
    np.testing.assert_array_equal(nx.defn(promotion="numpy")(lambda a: np.cross(a, 2 * a))(a), np.zeros_like(a))


@pytest.mark.parametrize("type_", [np.complex64, np.complex128])
def test_both_products_of_complex_numbers_are_rounded(type_):
    z = (RANDOM.normal(size=1003) + 1j * RANDOM.normal(size=1003)).astype(type_)
    own = nx.defn(promotion="numpy")(lambda z, w: (z * w - w * z, (z * np.conj(z)).imag))(z, z[::-1])
    for value in own:
        np.testing.assert_array_equal(value, np.zeros(z.shape))


def test_whose_rules_hold_is_known_of_each_product():
    a, b = pair(np.float64)
    rounded = nx.defn(promotion="numpy")(lambda a, b: a * b)
    free = nx.defn(promotion="nx")(lambda a, b: a * b)
    for around in ("numpy", "nx"):
        for product in (rounded, free):
            found = np.asarray(nx.defn(promotion=around)(lambda a, b: product(a, b) - product(b, a))(a, b))  # noqa: B023
            assert (np.abs(found).max() == 0) == (product is rounded)


def test_programs_of_both_rules_share_no_kernel():
    a, b = pair(np.float64)
    for rules in ("nx", "numpy", "nx"):
        found = np.asarray(nx.defn(promotion=rules)(swapped)(a, b))
        assert found.any() == (rules == "nx")


def test_gradients_by_the_rules_of_numpy_are_rounded():
    a, b = pair(np.float64)
    loss = nx.defn(promotion="numpy")(lambda a, b: np.sum(a * b * a - a * a * b))
    np.testing.assert_array_equal(nx.defn(promotion="numpy")(lambda a, b: nx.grad(loss)(a, b))(a, b), np.zeros_like(a))


def test_the_picture_of_a_graph_shows_a_product_as_ever():
    text = repr(nx.print_expr) and nx.debug_expr(nx.defn(promotion="numpy")(swapped))(*pair(np.float64))
    assert "multiply a, b " in repr(text)
    assert "rounded" not in repr(text)
