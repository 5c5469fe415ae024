"""Recurrent layers against loops in NumPy."""

import numpy as np
import pytest
from scipy.special import expit

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal((2, 7, 3))
KEY = nx.random.key(0)


def wide(net):
    return {name: RANDOM.standard_normal(value.shape) for name, value in net.init(KEY, X).items()}


def lstm(params, x, h, c):
    found = []
    for row in np.moveaxis(x, -2, 0):
        i, f, g, o = np.split(row @ params["kernel"] + h @ params["hidden"] + params["bias"], 4, axis=-1)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
        found.append(h)
    return np.stack(found, -2), h, c


def gru(params, x, h):
    found = []
    for row in np.moveaxis(x, -2, 0):
        r, z, n = np.split(row @ params["kernel"] + params["bias"], 3, axis=-1)
        of_r, of_z, of_n = np.split(h @ params["hidden"], 3, axis=-1)
        r, z = expit(r + of_r), expit(z + of_z)
        n = np.tanh(n + r * (of_n + params["hidden_bias"]))
        h = (1 - z) * n + z * h
        found.append(h)
    return np.stack(found, -2), h


def test_lstm():
    net, zeros = nn.lstm(4), np.zeros((2, 4))
    params = wide(net)
    assert params["kernel"].shape == (3, 16)
    outputs, h, c = lstm(params, X, zeros, zeros)
    np.testing.assert_allclose(net(params, X), outputs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(nn.lstm(4, returns="last")(params, X), h, rtol=1e-9, atol=1e-9)
    found, carry = nn.lstm(4, returns="carry")(params, X)
    np.testing.assert_allclose(found, outputs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(carry[1], c, rtol=1e-9, atol=1e-9)


def test_a_carry_goes_on():
    net = nn.lstm(4, returns="carry")
    params = wide(net)
    whole, _ = net(params, X)
    first, carry = net(params, X[:, :3])
    second, _ = net(params, X[:, 3:], carry)
    np.testing.assert_allclose(np.concatenate([first, second], 1), whole, rtol=1e-9, atol=1e-9)


def test_the_forget_gate_starts_open():
    assert nn.lstm(2).init(KEY, X)["bias"].to_list() == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_gru():
    net = nn.gru(4)
    params = wide(net)
    outputs, h = gru(params, X, np.zeros((2, 4)))
    np.testing.assert_allclose(net(params, X), outputs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(nn.gru(4, returns="last")(params, X), h, rtol=1e-9, atol=1e-9)
    backwards, _ = gru(params, X[:, ::-1], np.zeros((2, 4)))
    np.testing.assert_allclose(nn.gru(4, reverse=True)(params, X), backwards[:, ::-1], rtol=1e-9, atol=1e-9)


def test_rnn_without_a_batch():
    net = nn.rnn(4)
    params = wide(net)
    h, found = np.zeros(4), []
    for row in X[0]:
        h = np.tanh(row @ params["kernel"] + h @ params["hidden"] + params["bias"])
        found.append(h)
    np.testing.assert_allclose(net(params, X[0]), found, rtol=1e-9, atol=1e-9)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("make", [nn.lstm, nn.gru, nn.rnn])
def test_gradients(make):
    net = make(2, returns="last")
    params = wide(net)
    slopes = nx.grad(lambda params: nx.sum(net(params, X) ** 2))(params)
    step = np.zeros(params["hidden"].shape)
    step[1, 0] = 1e-6
    up, down = (float(nx.sum(net({**params, "hidden": params["hidden"] + s * step}, X) ** 2)) for s in (1, -1))
    assert float(slopes["hidden"][1, 0]) == pytest.approx((up - down) / 2e-6, rel=1e-5)


def test_errors():
    with pytest.raises(ValueError, match="returns is 'all', 'last' or 'carry', got 'first'"):
        nn.lstm(3, returns="first")
    with pytest.raises(ValueError, match=r"gru: expected a sequence \[..., time, features\], got f64\[3\]"):
        nn.gru(3).init(KEY, X[0, 0])
