"""Layers and networks, losses, metrics and initializers, all of them numerical definitions.

A layer is a function that says how it applies; `init` is found by tracing it. Parameters are a plain nested dict.
"""

from nxkernel.nn import initializers
from nxkernel.nn.activations import *  # noqa: F403
from nxkernel.nn.combinators import *  # noqa: F403
from nxkernel.nn.layers import *  # noqa: F403
from nxkernel.nn.modules import Module, module
from nxkernel.nn.scopes import key, param, state, training, update
