"""Gradients of arithmetic and elementary functions against central differences."""

import numpy as np
import pytest

import nxkernel as nx
from elementary_references import BY_PRIMITIVE
from graph_comparison.central_differences import check, close_to_wide, gradient_of, numbers
from nxkernel import primitives as p
from nxkernel.ops.machinery.dispatch import apply

#: Functions of one number, with where their arguments lie: from a number to one more.
REAL = {
    p.negate: -0.5, p.absolute: 0.5, p.sign: 0.5, p.real: 0, p.imag: 0, p.phase: 0.5, p.conjugate: 0,
    **{primitive: row.start for primitive, row in BY_PRIMITIVE.items()},
    p.floor: 0.2, p.ceil: 0.2, p.truncate: 0.2, p.round_half_away: 0.6, p.round_half_even: 0.6,
}  # fmt: skip
COMPLEX = (
    p.negate, p.absolute, p.real, p.imag, p.phase, p.conjugate, p.exp, p.expm1, p.log, p.log1p, p.sigmoid, p.sin, p.cos,
    p.tan, p.asin, p.acos, p.atan, p.sinh, p.cosh, p.tanh, p.asinh, p.acosh, p.atanh, p.sqrt, p.rsqrt,
)  # fmt: skip
PAIRS = (p.add, p.subtract, p.multiply, p.divide, p.power)


def one(primitive):
    return lambda x: apply(primitive, x)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("primitive", REAL, ids=str)
def test_functions_of_one_number(primitive):
    x = numbers(5, low=REAL[primitive]) * (0.8 if primitive in (p.floor, p.ceil, p.truncate) else 1)
    if primitive in (p.round_half_away, p.round_half_even):
        x = x * 0.8
    check(one(primitive), x, order=2)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("primitive", COMPLEX, ids=str)
def test_functions_of_one_complex_number(primitive):
    low = REAL[primitive]
    check(one(primitive), numbers(5, low=low, complex_=True), order=2, rtol=1e-5)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("primitive", PAIRS, ids=str)
def test_arithmetic(primitive, complex_):
    x, y = numbers(5, low=0.5, complex_=complex_), numbers(5, seed=1, low=0.5, complex_=complex_)
    check(lambda x, y: apply(primitive, x, y), x, y, order=2)


@pytest.mark.parametrize("primitive", [p.atan2, p.maximum, p.minimum, p.remainder], ids=str)
def test_real_arithmetic(primitive):
    x, y = numbers(5, low=1.1), numbers(5, seed=1, low=0.6)
    check(lambda x, y: apply(primitive, x, y), x, y, order=2)
    check(lambda x, y: apply(primitive, x, y), y, x)


def test_remainder_of_negative_numbers():
    check(nx.remainder, np.array([-7.3, 7.3, -7.3]), np.array([2.1, -2.1, -2.1]))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.5])
def test_powers_with_a_number(exponent):
    check(lambda x: x**exponent, numbers(5, low=0.5), order=2)


def test_powers_of_zero():
    slope = nx.grad(lambda x, n: nx.sum(x**n), argnums=(0, 1))
    for found, expected in zip(
        slope(np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0])), ([0, 1, 0, 0], [0] * 4), strict=True
    ):
        np.testing.assert_array_equal(found.to_numpy(), expected)
    for exponent, expected in ((0, 0), (1, 1), (2, 0)):
        assert float(nx.grad(lambda x, n=exponent: x**n)(0.0)) == expected


def test_negative_bases():
    check(lambda x: x**3 + x**-2 + x**2.0, np.array([-1.5, -0.3]), order=2)
    found = nx.grad(lambda x, n: nx.sum(x**n))(np.array([-2.0]), np.array([3.0]))
    assert found.to_list() == [12.0]


@pytest.mark.parametrize("function", [nx.max, nx.min])
def test_equal_numbers_share(function):
    found = nx.grad(lambda x, y: nx.sum(function(x, y)), argnums=(0, 1))(np.zeros(2), np.zeros(2))
    assert [part.to_list() for part in found] == [[0.5, 0.5], [0.5, 0.5]]
    found = nx.grad(lambda x: nx.sum(nx.max(x, x)))(np.ones(2))
    assert found.to_list() == [1.0, 1.0]


def test_infinite_numbers_that_are_equal():
    slope = nx.grad(lambda x, y: nx.sum(nx.max(x, y)), argnums=(0, 1))
    found = slope(np.array([np.inf, -np.inf, 1.0]), np.array([np.inf, -np.inf, -np.inf]))
    assert [part.to_list() for part in found] == [[0.5, 0.5, 1.0], [0.5, 0.5, 0.0]]


def test_select():
    mask = np.array([0, 1, 3, 0], np.uint8)
    check(lambda m, x, y: nx.select(m, x * x, nx.exp(y)), mask, numbers(4), numbers(4, seed=1), order=2)


def test_select_hides_what_is_not_chosen():
    found = nx.grad(lambda x: nx.sum(nx.select(x > 0, nx.sqrt(nx.select(x > 0, x, 1.0)), 0.0)))(
        np.array([-1.0, 0.0, 4.0])
    )
    assert found.to_list() == [0.0, 0.0, 0.25]


def test_parts_of_complex_numbers():
    check(lambda x, y: apply(p.make_complex, x, y) ** 2, numbers(4), numbers(4, seed=1), order=2)
    z = numbers(4, complex_=True)
    check(lambda z: nx.abs(z) ** 2 + nx.real(z) * nx.imag(z), z, order=2)
    check(lambda z: z * nx.conjugate(z) + 3, z, order=2)


def test_numbers_at_zero():
    zero = np.zeros(2, np.complex128)
    assert nx.grad(lambda z: nx.sum(nx.abs(z)))(zero).to_list() == [0j, 0j]
    assert nx.grad(lambda x: nx.sum(nx.abs(x)))(np.zeros(2)).to_list() == [0.0, 0.0]


def test_conversions():
    check(lambda x: nx.as_type(x, "c128") * (1 + 2j), numbers(4))
    check(lambda z: nx.as_type(nx.real(z), "c128") * z, numbers(4, complex_=True))
    found = nx.grad(lambda x: nx.sum(nx.as_type(x, "f64") ** 2))(np.arange(3, dtype=np.float32))
    assert (str(found.type), found.to_list()) == ("f32", [0.0, 2.0, 4.0])
    found = nx.grad(lambda x: nx.sum(x * nx.as_type(x, "s64")))(np.array([1.5, 2.5]))
    assert found.to_list() == [1.0, 2.0]


def test_gradients_of_whole_numbers_are_f32():
    found = nx.grad(lambda n: nx.sum(n * n))(np.arange(4))
    assert (str(found.type), found.to_list()) == ("f32", [0.0, 2.0, 4.0, 6.0])


def test_masks_are_constant():
    check(lambda x, y: x * (x > y) + y * nx.logical_not(x <= y) + nx.is_nan(x) * x, numbers(4), numbers(4, seed=1))


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-4), ("f16", 2e-2), ("bf16", 8e-2)])
def test_narrow_types(type_, rtol):
    x, y = numbers(6, low=0.5), numbers(6, seed=1, low=0.5)
    close_to_wide(lambda x, y: nx.sin(x) * nx.exp(y) / nx.sqrt(x) + nx.tanh(x * y), x, y, type_=type_, rtol=rtol)
    close_to_wide(lambda x, y: nx.log(x) + nx.pow(x, y) + nx.max(x, y), x, y, type_=type_, rtol=rtol)


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])
    found = nx.grad(lambda x: nx.sum(nx.sin(x) * x / 3 + nx.select(x > 0, x, -x)))(x)
    assert found.names == ("rows", "columns")
    values = x.to_numpy()
    expected = (np.cos(values) * values + np.sin(values)) / 3 + np.sign(values)
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)


def test_no_elements():
    found = nx.grad(lambda x, y: nx.sum(nx.sin(x) * y / x))(np.empty((0, 3)), np.empty((0, 3)))
    assert found.shape == (0, 3)


def test_the_third_derivative():
    slope = nx.grad(nx.grad(nx.grad(lambda x: x**4 + nx.exp(2 * x))))
    np.testing.assert_allclose(float(slope(np.float64(0.5))), 24 * 0.5 + 8 * np.exp(1.0), rtol=1e-12)


def test_the_gradient_is_a_program_of_its_own():
    check(gradient_of(lambda x: nx.exp(nx.sin(x)), 1), numbers(4), numbers(4, seed=3))


def test_complex_gradients_are_those_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    z = numbers(4, complex_=True, low=0.3)
    ours = nx.grad(lambda z: nx.sum(nx.real(nx.sin(z) * nx.conjugate(z) ** 2 / nx.abs(z)) + nx.phase(z)))(z).to_numpy()
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        slope = jax.grad(lambda z: jnp.sum(jnp.real(jnp.sin(z) * jnp.conj(z) ** 2 / jnp.abs(z)) + jnp.angle(z)))
        theirs = jax.jit(slope)(z)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
