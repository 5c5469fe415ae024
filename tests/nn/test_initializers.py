"""Initializers: shapes, types, and how what they draw is distributed."""

import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

KEY = nx.random.key(7)
START = nn.initializers


@pytest.mark.parametrize("name", START.__all__)
def test_shape_and_type(name):
    init = START.constant(2.5) if name == "constant" else getattr(START, name)()
    for type_ in ("f32", "f64"):
        made = init(KEY, (6, 4), type_)
        assert made.shape == (6, 4)
        assert str(made.type) == type_
    again = init(KEY, (6, 4), "f64")
    assert again.to_list() == made.to_list()


@pytest.mark.parametrize(
    ("init", "deviation"),
    [
        (START.normal(0.5), 0.5),
        (START.uniform(0.3), 0.3 / math.sqrt(3)),
        (START.glorot_normal(), math.sqrt(2 / (300 + 200))),
        (START.glorot_uniform(), math.sqrt(2 / (300 + 200))),
        (START.he_normal(), math.sqrt(2 / 300)),
        (START.he_uniform(), math.sqrt(2 / 300)),
        (START.lecun_normal(), math.sqrt(1 / 300)),
        (START.lecun_uniform(), math.sqrt(1 / 300)),
        (START.truncated_normal(2.0), 2.0 * 0.87962566),
        (START.variance_scaling(3.0, "fan_out"), math.sqrt(3 / 200)),
    ],
)
def test_deviation(init, deviation):
    made = init(KEY, (300, 200), "f64").to_numpy()
    assert made.mean() == pytest.approx(0, abs=0.02 * deviation)
    assert made.std() == pytest.approx(deviation, rel=0.01)


def test_bounds():
    assert np.abs(START.truncated_normal(1.0)(KEY, (10_000,), "f64").to_numpy()).max() <= 2
    assert np.abs(START.uniform(0.25)(KEY, (10_000,), "f64").to_numpy()).max() <= 0.25
    edge = math.sqrt(6 / (30 + 20))
    drawn = np.abs(START.glorot_uniform()(KEY, (30, 20), "f64").to_numpy())
    assert 0.98 * edge < drawn.max() <= edge


def test_kernels_of_convolutions_have_more_inputs():
    assert START.fans((3, 3, 5, 7)) == (45, 63)
    assert START.fans((4,)) == (4, 4)
    assert START.fans(()) == (1, 1)
    assert START.he_normal()(KEY, (3, 3, 50, 60), "f64").to_numpy().std() == pytest.approx(math.sqrt(2 / 450), rel=0.02)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 3, 4)])
def test_orthogonal(shape):
    made = START.orthogonal(2.0)(KEY, shape, "f64").to_numpy().reshape(-1, shape[-1])
    made = made if made.shape[0] >= made.shape[1] else made.T
    np.testing.assert_allclose(made.T @ made, 4 * np.eye(made.shape[1]), atol=1e-12)


def test_plain_values():
    assert START.zeros()(KEY, (2,), "s64").to_list() == [0, 0]
    assert START.ones()(KEY, (2,), "f32").to_list() == [1.0, 1.0]
    assert START.identity(3.0)(KEY, (2, 3), "f32").to_list() == [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
    assert START.constant(nx.tensor([1.0, 2.0]))(KEY, (2, 2), "f32").to_list() == [[1.0, 2.0], [1.0, 2.0]]


def test_errors():
    with pytest.raises(ValueError, match="mode is 'fan_in', 'fan_out' or 'fan_avg', got 'fan'"):
        START.variance_scaling(mode="fan")
    with pytest.raises(ValueError, match="distribution is 'normal', 'truncated_normal' or 'uniform', got 'x'"):
        START.variance_scaling(distribution="x")
    with pytest.raises(ValueError, match=r"orthogonal is for shapes of at least 2 axes, got \(3,\)"):
        START.orthogonal()(KEY, (3,), "f32")
    with pytest.raises(ValueError, match="there is no initializer 'he'"):
        nn.dense(3, kernel_init="he")
    with pytest.raises(TypeError, match=r"kernel_init is an initializer such as nn.initializers.he_normal\(\), got 3"):
        nn.dense(3, kernel_init=3)
