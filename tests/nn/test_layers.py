"""Layers of matrices and shapes against NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

X = np.random.default_rng(3).standard_normal((4, 5, 3)).astype("f4")
KEY = nx.random.key(0)


def test_dense():
    net = nn.dense(2, bias_init="ones")
    params = net.init(KEY, X)
    np.testing.assert_allclose(net(params, X), X @ params["kernel"].to_numpy() + 1, atol=1e-6)
    assert sorted(nn.dense(2, bias=False).init(KEY, X)) == ["kernel"]
    assert str(net(params, nx.iota((2, 3))).type) == "f32"
    wide = {name: nx.as_type(value, "f64") for name, value in params.items()}
    assert str(net(wide, X.astype("f8")).type) == "f64"


def test_bias():
    net = nn.bias()
    np.testing.assert_allclose(net({"bias": nx.tensor([1.0, 2.0, 3.0])}, X), X + np.array([1, 2, 3], "f4"))


def test_embedding():
    net, words = nn.embedding(7, 2), nx.tensor([[0, 6], [3, 3]])
    params = net.init(KEY, words)
    np.testing.assert_array_equal(net(params, words), params["table"].to_numpy()[words.to_numpy()])
    slope = nx.grad(lambda params: nx.sum(net(params, words)))(params)["table"].to_numpy()
    assert slope[:, 0].tolist() == [1, 0, 0, 2, 0, 0, 1]
    with pytest.raises(TypeError, match=r"embedding: expected whole numbers, got f32\[2\]"):
        net.init(KEY, nx.tensor([1.0, 2.0]))


def test_dropout():
    x = np.ones((100, 100), "f4")
    net = nn.dropout(0.25)
    assert net({}, x).to_list() == x.tolist()
    dropped = net({}, x, key=KEY, training=True).to_numpy()
    assert set(np.unique(dropped)) == {0.0, np.float32(1 / 0.75)}
    assert (dropped == 0).mean() == pytest.approx(0.25, abs=0.01)
    assert net({}, x, key=KEY, training=True).to_list() == dropped.tolist()
    assert net({}, x, key=nx.random.key(1), training=True).to_list() != dropped.tolist()


def test_each_dropout_has_a_key_of_its_own():
    layer, x = nn.dropout(0.5), np.ones((64,), "f4")
    both = nn.parallel(layer, layer, nn.dropout(0.5))({}, x, key=KEY, training=True)
    assert len({tuple(one.to_list()) for one in both}) == 3


def test_dropout_of_whole_channels():
    dropped = nn.dropout(0.5, axes=[0, 1])({}, np.ones((4, 8, 5), "f4"), key=KEY, training=True).to_numpy()
    assert (dropped == dropped[:, :, :1]).all()
    assert set(np.unique(dropped)) == {0.0, 2.0}


def test_dropout_is_compiled_once_for_all_keys():
    net, x = nn.dropout(0.5), np.ones((64,), "f4")
    net({}, x, key=KEY, training=True)
    with nx.no_compile():
        net({}, x, key=nx.random.key(5), training=True)


def test_flatten_and_reshape():
    assert nn.flatten()({}, X).shape == (4, 15)
    assert nn.flatten(axes=2)({}, X).shape == (4, 5, 3)
    assert nn.reshape(3, -1)({}, X).shape == (4, 3, 5)
    np.testing.assert_array_equal(nn.reshape(15)({}, X), X.reshape(4, 15))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.dense(0), "nn.dense takes units of at least 1, got 0"),
        (lambda: nn.dense(2.5), "nn.dense takes units of at least 1, got 2.5"),
        (lambda: nn.dense(2, bias="no"), "nn.dense: bias is True or False, got 'no'"),
        (
            lambda: nn.dropout(0.5, axes=["x"]),
            "nn.dropout: axes is the number of an axis or a list of such, got",
        ),
        (
            lambda: nn.dropout(axes=3)({}, nx.iota((4, 5), type="f32"), key=KEY, training=True),
            r"dropout: expected an input with the axes \[3\], got f32\[4\]\[5\]",
        ),
        (lambda: nn.flatten(axes=-1), "nn.flatten: axes is at least 0, got -1"),
        (lambda: nn.reshape((2, 3)), r"got \(2, 3\).\n  Write nn.reshape\(2, 3\)."),
        (lambda: nn.reshape(-1, -1), "nn.reshape takes sizes, of which one can be -1, got -1, -1."),
        (lambda: nn.dropout(1.0), "the rate of dropout is from 0 to below 1, got 1.0"),
        (lambda: nn.dense(2).init(KEY, 1.0), "dense: expected an input of at least 1 axis, got f32"),
        (
            lambda: nn.reshape(4, 4)({}, X),
            r"reshape: expected entries of 16 elements for the shape \(4, 4\), got f32\[4\]\[5\]\[3\]",
        ),
        (
            lambda: nn.dropout()({}, X, training=True),
            r"dropout: random numbers need a key.\n  Pass one with each call: net\(params, x, key=nx.random.key\(0\), "
            r"training=True\).\n  training.fit takes key=nx.random.key\(0\), too.$",
        ),
        (
            lambda: nn.serial(nn.dropout()).init(KEY, X) or nn.dropout()({}, X, key=5, training=True),
            r"dropout: the key is u32\[2\], got 5.",
        ),
    ],
)
def test_errors(make, text):
    with pytest.raises((TypeError, ValueError), match=text):
        make()
