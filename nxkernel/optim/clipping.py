"""Gradient clipping by value and by norm, weight decay, and gradient noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel.errors import NxTypeError, message
from nxkernel.messages import number_checks
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert
from nxkernel.optim import _leaves
from nxkernel.optim._leaves import each
from nxkernel.optim.norms import global_norm, norm
from nxkernel.optim.parameter_groups import masked
from nxkernel.optim.scaling import zero
from nxkernel.optim.transformation import Transformation, needed, stateless, transformation
from nxkernel.shapes import describe


class NoiseState(NamedTuple):
    """The number of updates so far, and the random key of the next."""

    count: Any
    key: Any


@transformation
def clip(limit: float) -> Transformation:
    """Clip every element of the gradients to the range from ``-limit`` to `limit`.

    Parameters
    ----------
    limit : float

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.clip(1.0).update(nx.tensor([-3.0, 0.5]), ())[0].to_list()
    [-1.0, 0.5]
    """
    number_checks.above("clip", "limit", limit, 0)

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        return each(lambda g: nx.clip(g, -limit, limit), {"grads": grads}), state

    return Transformation(stateless, change)


def _within(leaf: Any, size: Any, limit: Any) -> Any:
    """A tensor scaled so that its norm `size` is at most `limit`."""
    over = size > limit
    return _leaves.scaled(leaf, nx.select(over, limit / nx.select(over, size, 1.0), 1.0))


@transformation
def clip_by_norm(limit: float) -> Transformation:
    """Scale the gradient of each tensor so that its own norm is at most `limit`.

    Parameters
    ----------
    limit : float

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> updates, _ = optim.clip_by_norm(1.0).update((nx.tensor([3.0, 4.0]), nx.tensor([0.5])), ())
    >>> [round(x, 6) for x in updates[0].to_list()], updates[1].to_list()
    ([0.6, 0.8], [0.5])
    """
    number_checks.above("clip_by_norm", "limit", limit, 0)

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        return each(lambda g: _within(g, norm(g), limit), {"grads": grads}), state

    return Transformation(stateless, change)


@transformation
def clip_by_global_norm(limit: float) -> Transformation:
    """Scale all gradients by one factor so that their global norm is at most `limit` (Pascanu et al., 2012).

    Parameters
    ----------
    limit : float

    Returns
    -------
    Transformation
    """
    number_checks.above("clip_by_global_norm", "limit", limit, 0)

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        size = global_norm(grads)
        return each(lambda g: _within(g, size, limit), {"grads": grads}), state

    return Transformation(stateless, change)


@transformation
def add_decayed_weights(weight_decay: float, mask: Any = None) -> Transformation:
    """Weight decay: add `weight_decay` times the parameters to the gradients, which pulls parameters to 0.

    Parameters
    ----------
    weight_decay : float
    mask : container of bool, or callable, optional
        Which parameters decay, as :func:`masked` takes it.

    Returns
    -------
    Transformation
        It needs the parameters.

    Examples
    --------
    >>> from nxkernel import optim
    >>> float(optim.add_decayed_weights(0.5).update(nx.tensor(1.0), (), nx.tensor(4.0))[0])
    3.0
    """
    number_checks.at_least("add_decayed_weights", "weight_decay", weight_decay, 0)

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        params = needed(params, "add_decayed_weights")
        return each(lambda g, p: g + _leaves.scaled(p, weight_decay), {"grads": grads, "params": params}), state

    decay = Transformation(stateless, change)
    return decay if mask is None else masked(decay, mask)


@transformation
def add_noise(eta: float, gamma: float, key: Any) -> Transformation:
    """Add normal noise of variance ``eta / (1 + count) ** gamma`` to gradients (Neelakantan et al., 2015).

    Parameters
    ----------
    eta : float
        The variance at first.
    gamma : float
        How fast it falls.
    key : tensor
        Of :func:`nxkernel.random.key`.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> noisy = optim.chain(optim.add_noise(0.01, 0.55, nx.random.key(0)), optim.sgd(0.1))
    >>> params = nx.tensor([1.0, 2.0])
    >>> updates, state = noisy.update(params, noisy.init(params), params)
    """
    number_checks.at_least("add_noise", "eta", eta, 0)
    number_checks.at_least("add_noise", "gamma", gamma, 0)
    if not isinstance(key, Operand):
        raise NxTypeError(
            message(f"add_noise takes a key, got {describe(key)}.", "Write add_noise(eta, gamma, nx.random.key(0)).")
        )

    def init(params: Any) -> NoiseState:
        return NoiseState(zero(), key)

    def change(grads: Any, state: NoiseState, params: Any) -> tuple[Any, NoiseState]:
        count = state.count + 1
        leaves = _leaves.flat(grads, "grads")[1]
        keys = nx.random.split(state.key, parts=len(leaves) + 1)
        supply = iter(range(1, len(leaves) + 1))

        def one(g: Any) -> Any:
            deviation = nx.sqrt(eta / nx.pow(convert(count, nx.types.f32), gamma))
            noise = nx.random.normal_split(keys[next(supply)], shape=g.shape, type=g.type)
            return g + _leaves.scaled(noise, deviation)

        return each(one, {"grads": grads}), NoiseState(count, keys[0])

    return Transformation(init, change, kind=NoiseState)
