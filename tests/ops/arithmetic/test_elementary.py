"""Elementary functions against NumPy and SciPy, and their types."""

import math

import numpy as np
import pytest

import nxkernel as nx
from elementary_references import OF_REAL, REFERENCES
from nxkernel.errors import NxTypeError, NxValueError

X = np.array([[0.1, 0.5, 0.9], [-0.3, 1.5, 40.0]])


@pytest.mark.parametrize("name", REFERENCES)
def test_values(name):
    with np.errstate(all="ignore"):
        expected = REFERENCES[name].numpy(X)
    found = getattr(nx, name)(X)
    assert (found.type, found.shape) == ("f64", (2, 3))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize(("given", "result"), [("u8", "f32"), ("bool", "f32"), ("bf16", "bf16"), ("f16", "f16")])
def test_types(name, given, result):
    tensor = nx.as_type(nx.tensor([1], names=["x"]), given)
    found = getattr(nx, name)(tensor)
    assert (found.type, found.names) == (result, ("x",))


@pytest.mark.parametrize("name", OF_REAL)
def test_functions_of_real_numbers_take_no_complex_ones(name):
    with pytest.raises(NxTypeError) as error:
        getattr(nx, name)(1j)
    assert str(error.value) == (
        f"{name} takes no complex numbers, got c64.\n"
        "  Take nx.real(t), nx.imag(t), nx.abs(t) or nx.phase(t) of them first."
    )


@pytest.mark.parametrize("base", [2, 10, 3, 0.5, 2.0])
def test_logarithms_to_a_base(base):
    np.testing.assert_allclose(nx.log([1.0, 5.0, 8.0], base), np.log([1, 5, 8]) / np.log(base), rtol=1e-6)
    assert nx.log(nx.f64([5.0]), base).type == "f64"


def test_a_base_can_be_a_tensor():
    np.testing.assert_allclose(nx.log(nx.f64([8.0, 9.0]), nx.f64([2.0, 3.0])), [3.0, 2.0])


@pytest.mark.parametrize("base", [1, 0, -2, 1j])
def test_some_bases_have_no_logarithms(base):
    with pytest.raises(NxValueError, match="the base of a logarithm is positive and not 1, got"):
        nx.log([2.0], base)


@pytest.mark.parametrize("function", [nx.expm1, nx.cbrt])
@pytest.mark.parametrize("type_", ["c64", "c128"])
def test_complex_infinities_are_those_of_compiled_programs(function, type_):
    numbers = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]
    z = nx.tensor([complex(re, im) for re in numbers for im in numbers], type=type_)
    eager, compiled = function(z).to_numpy(), nx.jit(function)(z).to_numpy()
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(eager), part(compiled), rtol=1e-6)


def test_complex_infinities_keep_their_zeros():
    assert nx.expm1(nx.tensor(complex(math.inf, 0))).to_list() == complex(math.inf, 0)
    assert nx.cbrt(nx.tensor(complex(math.inf, 0))).to_list() == complex(math.inf, 0)
    assert nx.cbrt(nx.tensor(-8 + 0j)).to_list() == pytest.approx(1 + 1.7320508j)
