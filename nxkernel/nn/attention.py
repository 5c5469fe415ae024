"""Attention: masks, scaled dot-product attention, and multi-head attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.messages import number_checks
from nxkernel.nn.activations import softmax
from nxkernel.nn.initializers import Initializer
from nxkernel.nn.layers import count, dense, floating
from nxkernel.nn.layers import dropout as dropout_layer
from nxkernel.nn.modules import module

__all__ = ["attention_weights", "causal_mask", "dot_product_attention", "multi_head_attention"]


def causal_mask(queries: int, keys: int | None = None) -> Any:
    """A causal mask: each position attends to itself and to those before it.

    Parameters
    ----------
    queries : int
        How many places there are.
    keys : int, optional
        How many are seen: as many, when not given. The last ones are at the same place.

    Returns
    -------
    tensor
        ``bool[queries][keys]``.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.causal_mask(3).to_list()
    [[True, False, False], [True, True, False], [True, True, True]]
    """
    keys = queries if keys is None else keys
    shape = (queries, keys)
    return nx.iota(shape, axis=1) <= nx.iota(shape, axis=0) + (keys - queries)


def attention_weights(
    query: Any, key: Any, *, mask: Any = None, causal: bool = False, scale: float | None = None
) -> Any:
    """Attention weights: the softmax over keys of the scaled dot products of queries and keys.

    Parameters
    ----------
    query : tensor
        ``[..., queries, size]``.
    key : tensor
        ``[..., keys, size]``, with the same axes before.
    mask : tensor, optional
        Where it is 0 nothing is taken; broadcast to ``[..., queries, keys]``. A query that may take nothing takes the
        same of all.
    causal : bool, optional
        Whether only keys up to the place of the query are seen.
    scale : float, optional
        One over the root of `size`, when not given.

    Returns
    -------
    tensor
        ``[..., queries, keys]``, with the sum 1 along the last axis.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.attention_weights(nx.tensor([[1.0], [1.0]]), nx.tensor([[2.0], [2.0]]), causal=True).to_list()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    query, key = floating(query), floating(key)
    if query.rank < 2 or query.rank != key.rank or query.shape[:-2] != key.shape[:-2]:
        raise NxValueError(
            f"expected queries and keys [..., places, size] of the same axes before, got {query.spec} and {key.spec}"
        )
    if query.shape[-1] != key.shape[-1]:
        raise NxValueError(f"expected keys of {query.shape[-1]} numbers, as queries are, got {key.spec}")
    batch = list(range(query.rank - 2))
    scores = nx.dot(query, [-1], batch, key, [-1], batch) * (scale or 1 / math.sqrt(query.shape[-1]))
    lowest = nx.constants.min_finite(scores.type)
    for seen in (mask, causal_mask(*scores.shape[-2:]) if causal else None):
        if seen is not None:
            scores = nx.select(nx.broadcast(seen, scores.shape), scores, lowest)
    return softmax(scores)


def dot_product_attention(
    query: Any, key: Any, value: Any, *, mask: Any = None, causal: bool = False, scale: float | None = None
) -> Any:
    """Scaled dot-product attention: for each query the mean of the values, weighted by its match with the keys.

    Parameters
    ----------
    query, key : tensor
        ``[..., queries, size]`` and ``[..., keys, size]``.
    value : tensor
        ``[..., keys, features]``.
    mask, causal, scale : optional
        As :func:`attention_weights` takes them.

    Returns
    -------
    tensor
        ``[..., queries, features]``.

    References
    ----------
    Vaswani et al., Attention is all you need, 2017.

    Examples
    --------
    >>> from nxkernel import nn
    >>> x = nx.tensor([[0.0], [0.0]])
    >>> nn.dot_product_attention(x, x, nx.tensor([[1.0], [3.0]]), causal=True).to_list()
    [[1.0], [2.0]]
    """
    weights = attention_weights(query, key, mask=mask, causal=causal, scale=scale)
    return _mixed(weights, floating(value))


def _mixed(weights: Any, value: Any) -> Any:
    batch = list(range(weights.rank - 2))
    return nx.dot(weights, [-1], batch, value, [-2], batch)


@module
def multi_head_attention(
    heads: int,
    *,
    size: int | None = None,
    units: int | None = None,
    causal: bool = False,
    bias: bool = True,
    dropout: float = 0.0,
    kernel_init: Initializer | str = "glorot_uniform",
) -> Callable[..., Any]:
    """Multi-head attention: several heads, each with its own projections of queries, keys and values.

    Parameters
    ----------
    heads : int
    size : int, optional
        Of the queries and keys of a head; when not given, the features of the input divided by `heads`.
    units : int, optional
        The features of what it gives; those of the input when not given.
    causal : bool, optional
        Whether each place sees only itself and those before it.
    bias : bool, optional
    dropout : float, optional
        How likely a weight becomes zero in training.
    kernel_init : initializer or str, optional

    Returns
    -------
    Module
        Of ``[..., places, features]``; ``context=`` is what is attended to when it is not the input itself, and
        ``mask=`` is broadcast to ``[..., heads, queries, keys]``.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.multi_head_attention(2, causal=True), nx.iota((1, 5, 8), type="f32")
    >>> params = net.init(nx.random.key(0), x)
    >>> sorted(params), net(params, x).shape
    (['key', 'output', 'query', 'value'], (1, 5, 8))
    """
    heads = count(heads, "multi_head_attention", "heads")
    for name, value in (("size", size), ("units", units)):
        if value is not None:
            count(value, "multi_head_attention", name)
    number_checks.flag("nn.multi_head_attention", "causal", causal)
    number_checks.flag("nn.multi_head_attention", "bias", bias)
    dropped = dropout_layer(dropout)

    def apply(x: Any, context: Any = None, mask: Any = None) -> Any:
        x = floating(x)
        if x.rank < 2:
            raise NxValueError(f"expected an input [..., places, features], got {x.spec}")
        seen = x if context is None else floating(context)
        features = x.shape[-1]
        if size is None and features % heads:
            raise NxValueError(f"expected features that divide into {heads} heads, got {x.spec}")
        width = heads * (size or features // heads)

        def split(name: str, given: Any) -> Any:
            heads_ = dense(width, bias=bias, kernel_init=kernel_init).named(name)(given)
            heads_ = nx.reshape(heads_, (*heads_.shape[:-1], heads, width // heads))
            return nx.transpose(heads_, axes=[*range(heads_.rank - 3), -2, -3, -1])

        query, key, value = split("query", x), split("key", seen), split("value", seen)
        mixed = _mixed(dropped(attention_weights(query, key, mask=mask, causal=causal)), value)
        mixed = nx.transpose(mixed, axes=[*range(mixed.rank - 3), -2, -3, -1])
        joined = nx.reshape(mixed, (*mixed.shape[:-2], width))
        return dense(units or features, bias=bias, kernel_init=kernel_init).named("output")(joined)

    return apply
