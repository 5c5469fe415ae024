"""Normalization against NumPy, and the running statistics of batches."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal((6, 4, 5, 3)) * 2 + 1
KEY = nx.random.key(0)


def normal(x, axes, epsilon=1e-5):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def drawn(params):
    """Parameters of the same shapes that are no longer ones and zeros."""
    return {name: RANDOM.standard_normal(value.shape) for name, value in params.items()}


@pytest.mark.parametrize(("channels", "axis"), [("first", 1), ("last", 3)])
def test_batch_norm_in_training(channels, axis):
    net = nn.batch_norm(channels=channels, momentum=0.8)
    params, state = drawn(net.init(KEY, X)), net.init_state(X)
    y, after = net(params, X, state=state, training=True)
    others = tuple(other for other in range(4) if other != axis)
    shape = [X.shape[axis] if other == axis else 1 for other in range(4)]
    expected = normal(X, others) * params["scale"].reshape(shape) + params["bias"].reshape(shape)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(after["mean"], 0.2 * X.mean(others), rtol=1e-6)
    np.testing.assert_allclose(after["variance"], 0.8 + 0.2 * X.var(others), rtol=1e-6)
    assert str(after["mean"].type) == str(state["mean"].type) == "f32"


def test_batch_norm_afterwards():
    net = nn.batch_norm(scale=False, offset=False)
    state = {"mean": nx.tensor([1.0] * 4), "variance": nx.tensor([4.0] * 4)}
    y, same = net({}, X, state=state)
    np.testing.assert_allclose(y, (X - 1) / np.sqrt(4 + 1e-5), rtol=1e-6)
    assert same["mean"].to_list() == [1.0] * 4


def test_batch_norm_without_state():
    net = nn.batch_norm()
    params = net.init(KEY, X)
    np.testing.assert_allclose(net(params, X, training=True), normal(X, (0, 2, 3)), rtol=1e-6, atol=1e-6)
    with pytest.raises(TypeError) as error:
        net(params, X)
    assert str(error.value) == (
        "batch_norm: running statistics are in the state, and there is none.\n"
        "  Make it with state = net.init_state(x), and call net(params, x, state=state), which gives a pair."
    )


def test_running_statistics_have_no_gradient():
    net = nn.batch_norm()
    params, state = net.init(KEY, X), net.init_state(X)

    def loss(params, state):
        y, state = net(params, X, state=state, training=True)
        return nx.sum(y * y), state

    slopes, after = nx.grad(loss, has_aux=True)(params, state)
    np.testing.assert_allclose(slopes["scale"], np.full(4, 2.0 * 6 * 5 * 3), rtol=1e-4)
    assert after["mean"].shape == (4,)


def test_a_shared_batch_norm_moves_twice():
    layer = nn.batch_norm(momentum=0.5)
    net = nn.serial(layer, layer)
    params, state = net.init(KEY, X), net.init_state(X)
    _, after = net(params, X, state=state, training=True)
    np.testing.assert_allclose(after["batch_norm"]["mean"], 0.25 * X.mean((0, 2, 3)), rtol=1e-4, atol=1e-6)


def test_state_is_not_updated_in_a_loop():
    layer = nn.batch_norm(channels="last")

    @nn.module
    def looped(layer):
        def apply(x):
            return nx.scan(lambda c, row: (c, layer(row)), 0.0, x)[1]

        return apply

    net = looped(layer)
    x = X[:, :, :, 0]
    params, state = net.init(KEY, x), net.init_state(x)
    with pytest.raises(TypeError, match=r"looped.layer: the state 'mean' is updated in the body of a loop"):
        net(params, x, state=state, training=True)
    assert net(params, x, state=state)[0].shape == x.shape


@pytest.mark.parametrize("axes", [-1, (-2, -1), (1, 3)])
def test_layer_norm(axes):
    net = nn.layer_norm(axes=axes)
    params = drawn(net.init(KEY, X))
    places = tuple(sorted(axis % 4 for axis in ((axes,) if isinstance(axes, int) else axes)))
    assert params["scale"].shape == tuple(X.shape[place] for place in places)
    shape = [X.shape[place] if place in places else 1 for place in range(4)]
    expected = normal(X, places) * params["scale"].reshape(shape) + params["bias"].reshape(shape)
    np.testing.assert_allclose(net(params, X), expected, rtol=1e-9, atol=1e-9)


def test_rms_norm():
    net = nn.rms_norm()
    params = drawn(net.init(KEY, X))
    expected = X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6) * params["scale"]
    np.testing.assert_allclose(net(params, X), expected, rtol=1e-9)


@pytest.mark.parametrize("channels", ["first", "last"])
def test_group_norm(channels):
    net = nn.group_norm(2, channels=channels)
    x = X if channels == "first" else np.moveaxis(X, 1, -1)
    params = drawn(net.init(KEY, x))
    grouped = normal(X.reshape(6, 2, 2, 5, 3), (2, 3, 4)).reshape(X.shape)
    expected = grouped * params["scale"].reshape(4, 1, 1) + params["bias"].reshape(4, 1, 1)
    expected = expected if channels == "first" else np.moveaxis(expected, 1, -1)
    np.testing.assert_allclose(net(params, x), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("channels", ["first", "last"])
def test_instance_norm(channels):
    net = nn.instance_norm(channels=channels, scale=False)
    axes = (2, 3) if channels == "first" else (1, 2)
    np.testing.assert_allclose(net(net.init(KEY, X), X), normal(X, axes), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.group_norm(3), "group_norm: expected channels that divide into 3 groups, got 4 channels"),
        (lambda: nn.layer_norm(axes=7), r"layer_norm: expected an input with the axes \[7\], got f64"),
        (lambda: nn.batch_norm(momentum=2), "nn.batch_norm: momentum is from 0 to 1, got 2"),
        (lambda: nn.batch_norm(scale=0), "nn.batch_norm: scale is True or False, got 0"),
        (lambda: nn.layer_norm(eps=-1.0), "nn.layer_norm: eps is at least 0, got -1.0"),
        (lambda: nn.layer_norm(axes="x"), "nn.layer_norm: axes is the number of an axis or a list of such, got 'x'"),
        (lambda: nn.rms_norm(axis=[0]), "nn.rms_norm: axis is the number of an axis, got a list"),
        (lambda: nn.rms_norm(axis=5), r"rms_norm: expected an input with the axes \[5\], got f64"),
        (lambda: nn.batch_norm(channels="middle"), "channels is 'first' or 'last', got 'middle'"),
    ],
)
def test_errors(make, text):
    with pytest.raises((TypeError, ValueError), match=text):
        make().init(KEY, X)
