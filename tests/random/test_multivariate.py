"""The multivariate normal distribution: its values, moments, and what is refused."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.random.multivariate import _factor

KEY = nx.random.key(12)
MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
METHODS = ["cholesky", "svd", "eigh"]


def test_samples_are_normal_numbers_times_the_factor():
    keys = nx.random.split(KEY)
    found, following = nx.random.multivariate_normal(KEY, MEAN, COVARIANCE, shape=(4, 2), names=["a", None, "n"])
    assert (found.type, found.shape, found.names) == ("f64", (4, 2, 3), ("a", None, "n"))
    assert following.to_list() == keys[0].to_list()
    standard = nx.random.normal_split(keys[1], shape=(4, 2, 3), type="f64").to_numpy()
    expected = MEAN + standard @ np.linalg.cholesky(COVARIANCE).T
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_moments(method):
    found, _ = nx.random.multivariate_normal(KEY, MEAN, COVARIANCE, shape=(50_000,), method=method)
    np.testing.assert_allclose(found.to_numpy().mean(0), MEAN, atol=0.02)
    np.testing.assert_allclose(np.cov(found.to_numpy().T), COVARIANCE, atol=0.03)


def test_compiled_samples_are_those_of_the_evaluator():
    def draw(key, mean, covariance):
        return nx.random.multivariate_normal(key, mean, covariance, shape=(7,))

    expected, key = draw(KEY, MEAN, COVARIANCE)
    found, following = nx.jit(draw)(KEY, MEAN, COVARIANCE)
    assert following.to_list() == key.to_list()
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_compiled_factors(method):
    factor = nx.jit(lambda covariance: _factor(covariance, method))(COVARIANCE).to_numpy()
    np.testing.assert_allclose(factor @ factor.T, COVARIANCE, atol=1e-12)


@pytest.mark.parametrize("method", ["svd", "eigh"])
def test_singular_covariance(method):
    found, _ = nx.random.multivariate_normal(KEY, [0.0, 0.0], np.full((2, 2), 3.0), shape=(1000,), method=method)
    np.testing.assert_allclose(found.to_numpy()[:, 0], found.to_numpy()[:, 1], atol=1e-7)
    assert abs(found.to_numpy()[:, 0].var() - 3) < 0.3


def test_integers_draw_f32_and_one_vector_without_a_shape():
    found, _ = nx.random.multivariate_normal(KEY, [0, 0], [[1, 0], [0, 1]])
    assert (found.type, found.shape) == ("f32", (2,))


@pytest.mark.parametrize(
    ("mean", "covariance"), [([[0.0]], [[1.0]]), ([0.0, 0.0], [[1.0]]), ([0.0], [1.0]), ([0.0], [[1.0, 2.0]])]
)
def test_shapes_that_do_not_belong_together(mean, covariance):
    with pytest.raises(NxValueError) as raised:
        nx.random.multivariate_normal(KEY, mean, covariance)
    given = [nx.tensor(value).spec for value in (mean, covariance)]
    assert str(raised.value) == (
        f"multivariate_normal takes a mean [n] and a covariance [n][n], got a tensor ({given[0]}) and "
        f"a tensor ({given[1]}).\n  shape=(100,) draws 100 vectors of one distribution."
    )


def test_what_else_is_refused():
    with pytest.raises(NxValueError, match=r'^multivariate_normal: method is "cholesky", "svd" or "eigh", got \'qr\'$'):
        nx.random.multivariate_normal(KEY, MEAN, COVARIANCE, method="qr")
    with pytest.raises(NxTypeError, match=r"^multivariate_normal draws real numbers, got the type c64; "):
        nx.random.multivariate_normal(KEY, MEAN, COVARIANCE, type="c64")
    with pytest.raises(NxTypeError, match=r"^multivariate_normal draws floats, got type='s32'\."):
        nx.random.multivariate_normal(KEY, MEAN, COVARIANCE, type="s32")
