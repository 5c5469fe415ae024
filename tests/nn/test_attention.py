"""Attention against NumPy."""

import numpy as np
import pytest
from scipy.special import softmax

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(7)
Q, K, V = (RANDOM.standard_normal((2, 3, n, d)) for n, d in ((4, 5), (6, 5), (6, 7)))
KEY = nx.random.key(0)


def test_dot_product_attention():
    weights = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(5), axis=-1)
    np.testing.assert_allclose(nn.attention_weights(Q, K), weights, rtol=1e-9)
    np.testing.assert_allclose(nn.dot_product_attention(Q, K, V), weights @ V, rtol=1e-9, atol=1e-12)
    twice = softmax(2 * Q @ K.swapaxes(-1, -2), axis=-1)
    np.testing.assert_allclose(nn.attention_weights(Q, K, scale=2.0), twice, rtol=1e-9)


def test_masks():
    mask = RANDOM.random((4, 6)) > 0.4
    mask[:, 0] = True
    scores = np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(5), -np.inf)
    np.testing.assert_allclose(nn.attention_weights(Q, K, mask=mask), softmax(scores, axis=-1), rtol=1e-9, atol=1e-12)
    nothing = nn.attention_weights(Q, K, mask=np.zeros((4, 6), bool)).to_numpy()
    np.testing.assert_allclose(nothing, np.full((2, 3, 4, 6), 1 / 6), rtol=1e-6)


def test_causal_attention():
    assert nn.causal_mask(2, 4).to_list() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    weights = nn.attention_weights(K, K, causal=True).to_numpy()
    assert (np.triu(weights, 1) == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-9)


def heads(x, kernel, count):
    made = x @ kernel
    return made.reshape(*made.shape[:-1], count, -1).swapaxes(-2, -3)


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_attention(causal):
    x = RANDOM.standard_normal((2, 5, 8))
    net = nn.multi_head_attention(2, causal=causal, units=3)
    params = net.init(KEY, x)
    kernels = {name: one["kernel"].to_numpy().astype("f8") for name, one in params.items()}
    q, k, v = (heads(x, kernels[name], 2) for name in ("query", "key", "value"))
    scores = q @ k.swapaxes(-1, -2) / 2
    scores = np.where(np.tril(np.ones((5, 5))), scores, -np.inf) if causal else scores
    mixed = (softmax(scores, axis=-1) @ v).swapaxes(-2, -3).reshape(2, 5, 8)
    np.testing.assert_allclose(net(params, x), mixed @ kernels["output"], rtol=1e-6, atol=1e-6)


def test_context_and_mask():
    x, context = RANDOM.standard_normal((2, 5, 8)), RANDOM.standard_normal((2, 3, 6))
    net = nn.multi_head_attention(2)
    params = net.init(KEY, x, context=context)
    assert params["key"]["kernel"].shape == (6, 8)
    assert net(params, x, context=context).shape == (2, 5, 8)
    mask = np.array([1, 1, 0], bool)
    seen = net(params, x, context=context, mask=mask)
    np.testing.assert_allclose(seen, net(params, x, context=context[:, :2]), rtol=1e-6, atol=1e-6)


def test_gradients_and_dropout():
    x = RANDOM.standard_normal((2, 5, 8))
    net = nn.multi_head_attention(2, causal=True, dropout=0.5)
    params = net.init(KEY, x)
    slopes = nx.grad(lambda p: nx.sum(net(p, x, key=KEY, training=True) ** 2))(params)
    assert np.isfinite(slopes["query"]["kernel"].to_numpy()).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.attention_weights(Q, K[0]), r"expected queries and keys \[..., places, size\] of the same axes"),
        (lambda: nn.attention_weights(Q, V), "expected keys of 5 numbers, as queries are, got "),
        (
            lambda: nn.multi_head_attention(3).init(KEY, np.ones((2, 5, 8))),
            r"multi_head_attention: expected features that divide into 3 heads, got f64\[2\]\[5\]\[8\]",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
