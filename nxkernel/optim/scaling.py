"""The scaling rules of optimizers: momentum, Adam, RAdam, AdaBelief, AdaMax, RMSProp, AdaGrad, Lion, trust ratio."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel import types
from nxkernel.messages import number_checks
from nxkernel.ops.machinery.dispatch import convert, filled, is_number
from nxkernel.optim import _leaves
from nxkernel.optim._leaves import each, in_type
from nxkernel.optim.norms import norm, squared
from nxkernel.optim.transformation import Transformation, needed, stateless, transformation
from nxkernel.types import Type


class MomentumState(NamedTuple):
    """The state of momentum: the decaying sum of past gradients."""

    mean: Any


class MomentsState(NamedTuple):
    """The state of Adam: the number of updates, and running means of gradients and of their squares."""

    count: Any
    mean: Any
    square: Any


class SquareState(NamedTuple):
    """A running mean, or the sum, of squares."""

    square: Any


class CenteredState(NamedTuple):
    """Running means of gradients and of their squares."""

    mean: Any
    square: Any


class MaximumState(NamedTuple):
    """The state of AdaMax: the number of updates, the running mean of gradients, and their decaying maximum."""

    count: Any
    mean: Any
    maximum: Any


def zero() -> Any:
    """The initial count of updates."""
    return filled(0, types.s64, ())


def running(decay: Any, mean: Any, values: Any, name: str, square: bool = False) -> Any:
    """The updated running means of values or their squares: ``decay * mean + (1 - decay) * value``."""

    def one(new: Any, old: Any) -> Any:
        new = wide_square(new) if square else new
        return in_type(decay * old + (1 - decay) * new, old.type)

    return each(one, {"grads": values, f"state.{name}": mean})


def float_type(type_: Type) -> Type:
    """The type for scalars computed beside a tensor: at least f32."""
    return types.f64 if type_ in (types.f64, types.c128) else types.f32


def correction(decay: Any, count: Any, type_: Type) -> Any:
    """Adam's bias correction of a running mean from 0: ``1 - decay ** count``, exact for a decay near 1."""
    count = convert(count, float_type(type_))
    if is_number(decay):
        return -nx.expm1(count * math.log(decay)) if decay else filled(1.0, count.type, ())
    return 1 - nx.pow(decay, count)


def corrected(mean: Any, decay: Any, count: Any) -> Any:
    """A running mean that started at 0, with bias correction."""
    return _leaves.scaled(mean, 1 / correction(decay, count, mean.type))


@transformation
def trace(decay: float, nesterov: bool = False) -> Transformation:
    """Momentum: each update is the gradient plus `decay` times the update before.

    Parameters
    ----------
    decay : float
        The share, from 0 up to 1.
    nesterov : bool, optional
        Whether to look a step ahead (Nesterov, 1983).

    Returns
    -------
    Transformation
    """
    number_checks.share("trace", "decay", decay)
    number_checks.flag("trace", "nesterov", nesterov)

    def init(params: Any) -> MomentumState:
        return MomentumState(_leaves.like(params))

    def change(grads: Any, state: MomentumState, params: Any) -> tuple[Any, MomentumState]:
        def step(g: Any, m: Any) -> Any:
            return in_type(g + decay * m, m.type)

        mean = each(step, {"grads": grads, "state.mean": state.mean})
        return each(step, {"grads": grads, "state.mean": mean}) if nesterov else mean, MomentumState(mean)

    return Transformation(init, change, kind=MomentumState)


def _moments(params: Any) -> MomentsState:
    return MomentsState(zero(), _leaves.like(params), _squares(params))


def _squares(params: Any, value: float = 0.0) -> Any:
    """Squares for a container of parameters, all of one value: real and at least f32, since f16 squares underflow."""
    first = _leaves.like(params, value)
    return each(lambda p: in_type(nx.real(p) if p.type.is_complex else p, float_type(p.type)), {"params": first})


def wide_square(leaf: Any) -> Any:
    """The squares of a leaf's elements, in the type that squares are kept in."""
    if leaf.type.is_complex:
        return squared(leaf)
    return squared(in_type(leaf, float_type(leaf.type)))


def _averages(b1: Any, b2: Any, count: Any, grads: Any, mean: Any, square: Any, nesterov: bool) -> tuple[Any, Any]:
    """Both bias-corrected running means, the first with Nesterov momentum if asked for."""

    def first(g: Any, m: Any) -> Any:
        if nesterov:
            return b1 * corrected(m, b1, count + 1) + (1 - b1) * corrected(g, b1, count)
        return corrected(m, b1, count)

    return (
        each(first, {"grads": grads, "state.mean": mean}),
        each(lambda v: corrected(v, b2, count), {"state.square": square}),
    )


def _check_moments(name: str, b1: Any, b2: Any, eps: Any, eps_root: Any = 0.0) -> None:
    number_checks.share(name, "b1", b1)
    number_checks.share(name, "b2", b2)
    number_checks.at_least(name, "eps", eps, 0)
    number_checks.at_least(name, "eps_root", eps_root, 0)


@transformation
def scale_by_adam(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0, *, nesterov: bool = False
) -> Transformation:
    """Adam's rule: the running mean of gradients over their running root mean square (Kingma and Ba, 2014).

    Parameters
    ----------
    b1, b2 : float, optional
        How slowly the mean and the mean of squares forget.
    eps : float, optional
        Added to the root.
    eps_root : float, optional
        Added under it, which gives gradients through the update where squares are 0.
    nesterov : bool, optional
        Whether to look a step ahead (Dozat, 2016).

    Returns
    -------
    Transformation
    """
    _check_moments("scale_by_adam", b1, b2, eps, eps_root)
    number_checks.flag("scale_by_adam", "nesterov", nesterov)

    def change(grads: Any, state: MomentsState, params: Any) -> tuple[Any, MomentsState]:
        mean = running(b1, state.mean, grads, "mean")
        square = running(b2, state.square, grads, "square", square=True)
        count = state.count + 1
        m, v = _averages(b1, b2, count, grads, mean, square, nesterov)
        updates = each(lambda m, v: in_type(m / (nx.sqrt(v + eps_root) + eps), m.type), {"mean": m, "square": v})
        return updates, MomentsState(count, mean, square)

    return Transformation(_moments, change, kind=MomentsState)


@transformation
def scale_by_belief(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-16, eps_root: float = 1e-16, *, nesterov: bool = False
) -> Transformation:
    """AdaBelief's rule: the running mean of gradients over the root of their running variance (Zhuang et al., 2020).

    Parameters
    ----------
    b1, b2, eps, eps_root, nesterov
        As :func:`scale_by_adam` takes them; `eps_root` is added to the running mean of squares.

    Returns
    -------
    Transformation
    """
    _check_moments("scale_by_belief", b1, b2, eps, eps_root)
    number_checks.flag("scale_by_belief", "nesterov", nesterov)

    def change(grads: Any, state: MomentsState, params: Any) -> tuple[Any, MomentsState]:
        mean = running(b1, state.mean, grads, "mean")
        surprise = each(lambda g, m: g - m, {"grads": grads, "state.mean": mean})
        square = running(b2, state.square, surprise, "square", square=True)
        square = each(lambda v: v + eps_root, {"state.square": square})
        count = state.count + 1
        m, v = _averages(b1, b2, count, grads, mean, square, nesterov)
        updates = each(lambda m, v: in_type(m / (nx.sqrt(v) + eps), m.type), {"mean": m, "square": v})
        return updates, MomentsState(count, mean, square)

    return Transformation(_moments, change, kind=MomentsState)


@transformation
def scale_by_radam(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0, threshold: float = 5.0
) -> Transformation:
    """RAdam's rule: :func:`scale_by_adam` with a variance correction, momentum alone at first (Liu et al., 2019).

    Parameters
    ----------
    b1, b2, eps, eps_root
        As :func:`scale_by_adam` takes them.
    threshold : float, optional
        The effective number of gradients in the running mean of squares from which on its root is used.

    Returns
    -------
    Transformation
    """
    _check_moments("scale_by_radam", b1, b2, eps, eps_root)
    number_checks.above("scale_by_radam", "threshold", threshold, 0)
    most = 2 / (1 - b2) - 1

    def change(grads: Any, state: MomentsState, params: Any) -> tuple[Any, MomentsState]:
        mean = running(b1, state.mean, grads, "mean")
        square = running(b2, state.square, grads, "square", square=True)
        count = state.count + 1
        m, v = _averages(b1, b2, count, grads, mean, square, False)

        def one(m: Any, v: Any) -> Any:
            missing = correction(b2, count, m.type)
            length = most - 2 * convert(count, missing.type) * (1 - missing) / missing
            enough = length >= threshold
            # Where there is not enough, the root would be of a negative number.
            safe = nx.select(enough, length, threshold + 1.0)
            share = (safe - 4) * (safe - 2) * most / ((most - 4) * (most - 2) * safe)
            rectified = _leaves.scaled(m, nx.sqrt(share)) / (nx.sqrt(v + eps_root) + eps)
            return nx.select(enough, in_type(rectified, m.type), m)

        return each(one, {"mean": m, "square": v}), MomentsState(count, mean, square)

    return Transformation(_moments, change, kind=MomentsState)


@transformation
def scale_by_adamax(b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Transformation:
    """AdaMax's rule: the running mean of gradients over their decaying maximum (Kingma and Ba, 2014).

    Parameters
    ----------
    b1, b2, eps
        As :func:`scale_by_adam` takes them.

    Returns
    -------
    Transformation
    """
    _check_moments("scale_by_adamax", b1, b2, eps)

    def init(params: Any) -> MaximumState:
        return MaximumState(zero(), _leaves.like(params), _squares(params))

    def change(grads: Any, state: MaximumState, params: Any) -> tuple[Any, MaximumState]:
        count = state.count + 1
        mean = running(b1, state.mean, grads, "mean")
        maximum = each(
            lambda g, u: in_type(nx.max(in_type(nx.abs(g), u.type) + eps, b2 * u), u.type),
            {"grads": grads, "state.maximum": state.maximum},
        )
        updates = each(
            lambda m, u: in_type(corrected(m, b1, count) / u, m.type), {"state.mean": mean, "state.maximum": maximum}
        )
        return updates, MaximumState(count, mean, maximum)

    return Transformation(init, change, kind=MaximumState)


@transformation
def scale_by_rms(
    decay: float = 0.9, eps: float = 1e-8, initial: float = 0.0, *, eps_in_sqrt: bool = True, centered: bool = False
) -> Transformation:
    """RMSProp: each gradient divided by the root of the running mean of its squares (Hinton's lectures, 2012).

    Parameters
    ----------
    decay : float, optional
        How slowly the mean forgets.
    eps : float, optional
        Added to the mean, or to its root.
    initial : float, optional
        What the mean is at first.
    eps_in_sqrt : bool, optional
        Whether `eps` is added under the root.
    centered : bool, optional
        Whether the squares are those of the distance from the running mean (Graves, 2013).

    Returns
    -------
    Transformation
    """
    number_checks.share("scale_by_rms", "decay", decay)
    number_checks.at_least("scale_by_rms", "eps", eps, 0)
    number_checks.at_least("scale_by_rms", "initial", initial, 0)
    number_checks.flag("scale_by_rms", "eps_in_sqrt", eps_in_sqrt)
    number_checks.flag("scale_by_rms", "centered", centered)

    def one(g: Any, variance: Any) -> Any:
        update = g * nx.rsqrt(variance + eps) if eps_in_sqrt else g / (nx.sqrt(variance) + eps)
        return in_type(update, g.type)

    def init(params: Any) -> SquareState | CenteredState:
        square = _squares(params, initial)
        return CenteredState(_leaves.like(params), square) if centered else SquareState(square)

    def change(grads: Any, state: Any, params: Any) -> tuple[Any, Any]:
        square = running(decay, state.square, grads, "square", square=True)
        if not centered:
            return each(one, {"grads": grads, "state.square": square}), SquareState(square)
        mean = running(decay, state.mean, grads, "mean")
        variance = each(lambda v, m: v - wide_square(m), {"state.square": square, "state.mean": mean})
        return each(one, {"grads": grads, "state.square": variance}), CenteredState(mean, square)

    return Transformation(init, change, kind=CenteredState if centered else SquareState)


@transformation
def scale_by_rss(initial: float = 0.1, eps: float = 1e-7) -> Transformation:
    """AdaGrad: each gradient divided by the root of the sum of its squares so far (Duchi, Hazan and Singer, 2011).

    Parameters
    ----------
    initial : float, optional
        What the sum is at first.
    eps : float, optional
        Added under the root.

    Returns
    -------
    Transformation
    """
    number_checks.at_least("scale_by_rss", "initial", initial, 0)
    number_checks.at_least("scale_by_rss", "eps", eps, 0)

    def init(params: Any) -> SquareState:
        return SquareState(_squares(params, initial))

    def change(grads: Any, state: SquareState, params: Any) -> tuple[Any, SquareState]:
        square = each(lambda g, s: in_type(s + wide_square(g), s.type), {"grads": grads, "state.square": state.square})

        def one(g: Any, s: Any) -> Any:
            # A gradient that never was anything else than 0 stays 0.
            return nx.select(s > 0, in_type(g * nx.rsqrt(nx.select(s > 0, s, 1.0) + eps), g.type), g * 0)

        return each(one, {"grads": grads, "state.square": square}), SquareState(square)

    return Transformation(init, change, kind=SquareState)


@transformation
def scale_by_lion(b1: float = 0.9, b2: float = 0.99) -> Transformation:
    """Lion's rule: the sign of the running mean of gradients, -1, 0 or 1 for each element (Chen et al., 2023).

    Parameters
    ----------
    b1 : float, optional
        The share of earlier gradients in the mean whose sign is taken.
    b2 : float, optional
        How slowly the mean that is kept forgets.

    Returns
    -------
    Transformation
    """
    _check_moments("scale_by_lion", b1, b2, 0.0)

    def init(params: Any) -> MomentumState:
        return MomentumState(_leaves.like(params))

    def change(grads: Any, state: MomentumState, params: Any) -> tuple[Any, MomentumState]:
        updates = each(
            lambda g, m: in_type(nx.sign(b1 * m + (1 - b1) * g), m.type), {"grads": grads, "state.mean": state.mean}
        )
        return updates, MomentumState(running(b2, state.mean, grads, "mean"))

    return Transformation(init, change, kind=MomentumState)


@transformation
def scale_by_trust_ratio(eps: float = 0.0) -> Transformation:
    """Scale each tensor's update to the norm of its parameters (You et al., 2019).

    Parameters
    ----------
    eps : float, optional
        Added to the norm of the update.

    Returns
    -------
    Transformation
        It needs the parameters.
    """
    number_checks.at_least("scale_by_trust_ratio", "eps", eps, 0)

    def one(u: Any, p: Any) -> Any:
        size, whole = norm(u), norm(p)
        both = nx.logical_and(size > 0, whole > 0)
        return _leaves.scaled(u, nx.select(both, whole / (nx.select(both, size, 1.0) + eps), 1.0))

    def change(grads: Any, state: tuple, params: Any) -> tuple[Any, tuple]:
        return each(one, {"grads": grads, "params": needed(params, "scale_by_trust_ratio")}), state

    return Transformation(stateless, change)
