"""Modules made of others."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

X = np.random.default_rng(10).standard_normal((5, 3)).astype("f4")
KEY = nx.random.key(0)


def test_serial_of_functions():
    assert nn.serial(nn.relu, lambda x: x + 1, nx.negate)({}, nx.tensor([-1.0, 2.0])).to_list() == [-1.0, -3.0]
    assert nn.serial()({}, X).to_list() == X.tolist()


def test_parallel_gives_to_all_or_to_each():
    both = nn.parallel(nx.negate, nn.relu)
    assert [one.to_list() for one in both({}, nx.tensor([1.0]))] == [[-1.0], [1.0]]
    first, second = both({}, (nx.tensor([1.0]), nx.tensor([-2.0])))
    assert (first.to_list(), second.to_list()) == ([-1.0], [0.0])
    net = nn.serial(nn.parallel(nn.dense(4), nn.dense(5)), nn.parallel(nn.dense(2), nn.dense(2)), nx.concatenate)
    assert net(net.init(KEY, X), X).shape == (10, 2)


def test_residual():
    net = nn.residual(nn.dense(3), nn.tanh)
    params = net.init(KEY, X)
    np.testing.assert_allclose(net(params, X), X + np.tanh(X @ params["dense"]["kernel"].to_numpy()), atol=1e-6)
    net = nn.residual(nn.dense(4), shortcut=nn.dense(4, bias=False))
    params = net.init(KEY, X)
    assert sorted(params) == ["around", "dense"]
    kernels = params["dense"]["kernel"].to_numpy() + params["around"]["kernel"].to_numpy()
    np.testing.assert_allclose(net(params, X), X @ kernels, atol=1e-5)


def test_repeat():
    net = nn.repeat(nn.serial(nn.dense(3), nn.tanh), 2)
    params = net.init(KEY, X)
    assert sorted(params) == ["serial", "serial_1"]
    first, second = (params[name]["dense"]["kernel"].to_numpy() for name in ("serial", "serial_1"))
    np.testing.assert_allclose(net(params, X), np.tanh(np.tanh(X @ first) @ second), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.serial(nn.relu, 3), r"serial\[1\] is a module or a function of a tensor, got 3."),
        (lambda: nn.parallel(nn.relu)({}, (1.0, 2.0)), "parallel: expected 1 input, one for each layer, got 2."),
        (
            lambda: nn.residual(nn.dense(4)).init(KEY, X),
            r"residual: expected layers that give f32\[5\]\[3\], as their input is, got f32\[5\]\[4\].",
        ),
        (lambda: nn.repeat(nn.dense(3), 0), "repeat takes a module and how many times it is repeated, at least 1, got"),
    ],
)
def test_errors(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call()
