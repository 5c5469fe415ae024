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

from typing import TYPE_CHECKING, NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
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

explain(globals(), __all__, "nn")

#: Names of Flax, Keras, Axon and PyTorch that are others here.
_OTHERS: dict[str, other_libraries.Entry] = {
    "AvgPool2d": "nn.avg_pool(2)", "AveragePooling2D": "nn.avg_pool(2)",
    "BatchNorm": "nn.batch_norm()", "BatchNorm1d": "nn.batch_norm()", "BatchNorm2d": "nn.batch_norm()",
    "BatchNormalization": "nn.batch_norm()", "Conv": "nn.conv(features, window)",
    "Conv1D": "nn.conv(features, window)", "Conv2D": "nn.conv(features, window)",
    "Conv2d": "nn.conv(features, window)", "ConvTranspose": "nn.conv_transpose(features, window)",
    "Dense": "nn.dense(units)", "Dropout": "nn.dropout(rate)", "Embed": "nn.embedding(size, units)",
    "Embedding": "nn.embedding(size, units)", "Flatten": "nn.flatten()", "GRU": "nn.gru(units)",
    "GRUCell": "nn.gru(units)", "GroupNorm": "nn.group_norm(groups)", "LSTM": "nn.lstm(units)",
    "LSTMCell": "nn.lstm(units)", "LayerNorm": "nn.layer_norm()", "LayerNormalization": "nn.layer_norm()",
    "Linear": ("nn.dense(units)", "The size of its input is that of what it is given."),
    "MaxPool2d": "nn.max_pool(2)", "MaxPooling2D": "nn.max_pool(2)",
    "MultiHeadAttention": "nn.multi_head_attention(heads)",
    "MultiHeadDotProductAttention": "nn.multi_head_attention(heads)", "RMSNorm": "nn.rms_norm()",
    "ReLU": "nn.relu",
    "Sequential": "nn.serial(nn.dense(16), nn.relu, nn.dense(4))",
    "compact": ("@nn.module", "A function that gives a function of the inputs is a maker of modules."),
    "sequential": "nn.serial(nn.dense(16), nn.relu, nn.dense(4))",
}  # fmt: skip


if not TYPE_CHECKING:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> NoReturn:
        raise other_libraries.missing("nxkernel.nn", name, _OTHERS, __all__)


def __dir__() -> list[str]:
    return __all__
