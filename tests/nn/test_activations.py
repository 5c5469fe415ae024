"""Activations against their formulas in NumPy."""

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from nxkernel import nn

X = np.random.default_rng(1).standard_normal((4, 6)) * 3


def softplus(x):
    return np.logaddexp(x, 0)


FORMULAS = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "gelu": lambda x: x * special.ndtr(x),
    "silu": lambda x: x * special.expit(x),
    "swish": lambda x: x * special.expit(x),
    "softplus": softplus,
    "log_sigmoid": special.log_expit,
    "mish": lambda x: x * np.tanh(softplus(x)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "softmax": lambda x: special.softmax(x, axis=-1),
    "log_softmax": lambda x: special.log_softmax(x, axis=-1),
    "log_sumexp": lambda x: special.logsumexp(x, axis=-1, keepdims=True),
}


def test_every_activation_has_a_formula_here():
    assert sorted(FORMULAS) == sorted(nn.activations.__all__)


@pytest.mark.parametrize("name", FORMULAS)
def test_values(name):
    np.testing.assert_allclose(getattr(nn, name)(nx.tensor(X)), FORMULAS[name](X), rtol=1e-12, atol=1e-12)


def test_smooth_ones_have_their_slope_and_curvature_at_zero():
    for function, slope, curvature in ((nn.softplus, 0.5, 0.25), (nn.log_sigmoid, 0.5, -0.25), (nn.mish, 0.6, 0.64)):
        np.testing.assert_allclose(nx.grad(function)(np.float64(0)), slope, rtol=1e-12)
        np.testing.assert_allclose(nx.hessian(function)(np.float64(0)), curvature, rtol=1e-12)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", FORMULAS)
def test_gradients(name):
    weights = np.random.default_rng(2).standard_normal(np.shape(FORMULAS[name](X)))
    found = nx.grad(lambda x: nx.sum(getattr(nn, name)(x) * weights))(X).to_numpy()
    expected = np.zeros(X.shape)
    for place in np.ndindex(X.shape):
        step = np.zeros(X.shape)
        step[place] = 1e-6
        change = FORMULAS[name](X + step) - FORMULAS[name](X - step)
        expected[place] = np.sum(change * weights) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_are_finite_far_from_zero(name):
    far = np.array([-1e4, -100.0, 0.0, 100.0, 1e4])
    assert np.isfinite(nx.grad(lambda x: nx.sum(getattr(nn, name)(x)))(far).to_numpy()).all()


def test_options():
    np.testing.assert_allclose(nn.leaky_relu(X, alpha=0.3), np.where(X > 0, X, 0.3 * X))
    np.testing.assert_allclose(nn.celu(X, alpha=2.0), np.where(X > 0, X, 2 * np.expm1(X / 2)), rtol=1e-12)
    tanh = 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))
    np.testing.assert_allclose(nn.gelu(X, approximate=True), tanh, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(nn.softmax(X, axis=0), special.softmax(X, axis=0), rtol=1e-12)


def test_types_stay_and_integers_become_floats():
    assert nn.gelu(nx.f32([1.0])).type == nx.f32([1.0]).type
    assert str(nn.elu(nx.tensor([1])).type) == "f32"
    assert nn.relu(nx.tensor([-1, 2])).to_list() == [0, 2]
