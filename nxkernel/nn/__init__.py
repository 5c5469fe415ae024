"""Layers and networks, losses, metrics and initializers, all of them numerical definitions.

A layer is a function that says how it applies; what creates its parameters is found by tracing that function.
Parameters are a plain nested dict:

>>> from nxkernel import nn
>>> @nn.module
... def sandwich(bread, filling):
...     def apply(x):
...         return bread(filling(bread(x)))  # bread is shared: one set of parameters
...     return apply
>>> net = nn.serial(sandwich(nn.dense(3), nn.relu), nn.dense(1))
>>> x = nx.tensor([[1.0, 2.0, 3.0]])
>>> params = net.init(nx.random.key(0), x)
>>> sorted(params), sorted(params["sandwich"])
(['dense', 'sandwich'], ['bread'])
>>> net(params, x).shape
(1, 1)

``net(params, x)`` goes through ``nx.jit``, ``nx.grad`` and ``nx.vmap`` like any function, and is compiled where it is
called by itself. ``training=True``, ``key=`` for dropout and ``state=`` for running statistics go with the call.
"""

from nxkernel.nn import (
    activations,
    attention,
    combinators,
    convolutional,
    initializers,
    layers,
    losses,
    metrics,
    normalization,
    recurrent,
)
from nxkernel.nn.activations import *  # noqa: F403
from nxkernel.nn.attention import *  # noqa: F403
from nxkernel.nn.combinators import *  # noqa: F403
from nxkernel.nn.convolutional import *  # noqa: F403
from nxkernel.nn.layers import *  # noqa: F403
from nxkernel.nn.modules import Module, module
from nxkernel.nn.normalization import *  # noqa: F403
from nxkernel.nn.recurrent import *  # noqa: F403
from nxkernel.nn.scopes import key, param, state, training, update
from nxkernel.nn.summaries import Summary

__all__ = [
    "Module", "Summary", "initializers", "key", "losses", "metrics", "module", "param", "state", "training", "update",
    *activations.__all__, *attention.__all__, *combinators.__all__, *convolutional.__all__, *layers.__all__,
    *normalization.__all__, *recurrent.__all__,
]  # fmt: skip
