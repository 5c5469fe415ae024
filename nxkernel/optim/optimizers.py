"""Optimizers: chains of gradient transformations that end in a learning rate."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.optim import scaling
from nxkernel.optim.clipping import add_decayed_weights
from nxkernel.optim.clipping import add_noise as _add_noise
from nxkernel.optim.rates import Rate, scale_by_learning_rate
from nxkernel.optim.transformation import Transformation, chain, transformation


@transformation
def sgd(learning_rate: Rate = None, momentum: float | None = None, nesterov: bool = False) -> Transformation:
    """Gradient descent, with momentum if asked for (Sutskever and others, 2013).

    Parameters
    ----------
    learning_rate : float, scalar, schedule or None, optional
        A number, a function of the number of updates, or None where each update is given one.
    momentum : float, optional
        The share of the update before in each.
    nesterov : bool, optional
        Whether to look a step ahead.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> optimizer = optim.sgd(0.1)
    >>> params = nx.tensor([1.0, 2.0])
    >>> updates, state = optimizer.update(nx.tensor([1.0, -1.0]), optimizer.init(params), params)
    >>> [round(x, 6) for x in optim.apply_updates(params, updates).to_list()]
    [0.9, 2.1]
    """
    number_checks.flag("sgd", "nesterov", nesterov)
    if momentum is None:
        if nesterov:
            raise NxValueError(
                message("sgd: nesterov is a kind of momentum.", "Give one: sgd(0.1, 0.9, nesterov=True).")
            )
        return chain(scale_by_learning_rate(learning_rate))
    number_checks.share("sgd", "momentum", momentum)
    return chain(scaling.trace(momentum, nesterov), scale_by_learning_rate(learning_rate))


@transformation
def noisy_sgd(learning_rate: Rate = None, eta: float = 0.01, gamma: float = 0.55, *, key: Any) -> Transformation:
    """Gradient descent with normal noise that falls off (Neelakantan and others, 2015).

    Parameters
    ----------
    learning_rate
        As :func:`sgd` takes it.
    eta, gamma, key
        As :func:`add_noise` takes them.

    Returns
    -------
    Transformation
    """
    return chain(_add_noise(eta, gamma, key), scale_by_learning_rate(learning_rate))


@transformation
def adam(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    *, nesterov: bool = False,
) -> Transformation:  # fmt: skip
    """Running means of gradients over those of their squares (Kingma and Ba, 2014).

    Parameters
    ----------
    learning_rate
        As :func:`sgd` takes it.
    b1, b2, eps, eps_root, nesterov
        As :func:`scale_by_adam` takes them.

    Returns
    -------
    Transformation

    Examples
    --------
    A learning rate that changes from step to step is an argument, and costs no new compilation:

    >>> from nxkernel import optim
    >>> optimizer = optim.adam()
    >>> @nx.jit
    ... def step(w, state, rate):
    ...     slope = nx.grad(lambda w: nx.sum(w**2))(w)
    ...     updates, state = optimizer.update(slope, state, w, rate)
    ...     return optim.apply_updates(w, updates), state
    >>> w = nx.tensor([1.0, -2.0])
    >>> w, state = step(w, optimizer.init(w), 0.5)
    >>> with nx.no_compile():
    ...     w, state = step(w, state, 0.25)
    """
    return chain(scaling.scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov), scale_by_learning_rate(learning_rate))


@transformation
def nadam(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0
) -> Transformation:
    """Adam that looks a step ahead (Dozat, 2016).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root
        As :func:`adam` takes them.

    Returns
    -------
    Transformation
    """
    return adam(learning_rate, b1, b2, eps, eps_root, nesterov=True)


@transformation
def adamw(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    weight_decay: float = 1e-4, mask: Any = None, *, nesterov: bool = False,
) -> Transformation:  # fmt: skip
    """Adam with weight decay apart from the gradients (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root, nesterov
        As :func:`adam` takes them.
    weight_decay : float, optional
        The share of the parameters that is taken off, times the learning rate.
    mask : container of bool, or callable, optional
        Which parameters decay.

    Returns
    -------
    Transformation
        It needs the parameters.
    """
    return chain(
        scaling.scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


@transformation
def adamax(learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Transformation:
    """Adam with a decaying maximum in place of squares (Kingma and Ba, 2014).

    Parameters
    ----------
    learning_rate, b1, b2, eps
        As :func:`adam` takes them.

    Returns
    -------
    Transformation
    """
    return chain(scaling.scale_by_adamax(b1, b2, eps), scale_by_learning_rate(learning_rate))


@transformation
def adabelief(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-16, eps_root: float = 1e-16
) -> Transformation:
    """Adam with the squares of what was not expected of gradients (Zhuang and others, 2020).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root
        As :func:`adam` takes them.

    Returns
    -------
    Transformation
    """
    return chain(scaling.scale_by_belief(b1, b2, eps, eps_root), scale_by_learning_rate(learning_rate))


@transformation
def radam(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    threshold: float = 5.0,
) -> Transformation:  # fmt: skip
    """Adam whose steps are small until the variance of its squares can be told (Liu and others, 2019).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root
        As :func:`adam` takes them.
    threshold : float, optional
        How many values the mean of squares must amount to.

    Returns
    -------
    Transformation
    """
    return chain(scaling.scale_by_radam(b1, b2, eps, eps_root, threshold), scale_by_learning_rate(learning_rate))


@transformation
def rmsprop(
    learning_rate: Rate = None, decay: float = 0.9, eps: float = 1e-8, initial: float = 0.0,
    *, eps_in_sqrt: bool = True, centered: bool = False, momentum: float | None = None, nesterov: bool = False,
) -> Transformation:  # fmt: skip
    """Gradients over the root of the running mean of their squares (Hinton's lectures, 2012).

    Parameters
    ----------
    learning_rate
        As :func:`sgd` takes it.
    decay, eps, initial, eps_in_sqrt, centered
        As :func:`scale_by_rms` takes them.
    momentum, nesterov
        As :func:`sgd` takes them; of the updates, with the learning rate in them.

    Returns
    -------
    Transformation
    """
    parts = [
        scaling.scale_by_rms(decay, eps, initial, eps_in_sqrt=eps_in_sqrt, centered=centered),
        scale_by_learning_rate(learning_rate),
    ]
    number_checks.flag("rmsprop", "nesterov", nesterov)
    if momentum is not None:
        number_checks.share("rmsprop", "momentum", momentum)
        parts.append(scaling.trace(momentum, nesterov))
    return chain(*parts)


@transformation
def adagrad(learning_rate: Rate = None, initial: float = 0.1, eps: float = 1e-7) -> Transformation:
    """Gradients over the root of the sum of their squares so far (Duchi, Hazan and Singer, 2011).

    Parameters
    ----------
    learning_rate
        As :func:`sgd` takes it.
    initial, eps
        As :func:`scale_by_rss` takes them.

    Returns
    -------
    Transformation
    """
    return chain(scaling.scale_by_rss(initial, eps), scale_by_learning_rate(learning_rate))


@transformation
def lion(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.99, weight_decay: float = 1e-3, mask: Any = None
) -> Transformation:
    """The sign of a mean of gradients, with weight decay (Chen and others, 2023).

    Parameters
    ----------
    learning_rate
        As :func:`sgd` takes it; a tenth of what Adam would be given is usual.
    b1, b2
        As :func:`scale_by_lion` takes them.
    weight_decay, mask
        As :func:`adamw` takes them.

    Returns
    -------
    Transformation
        It needs the parameters.
    """
    return chain(
        scaling.scale_by_lion(b1, b2), add_decayed_weights(weight_decay, mask), scale_by_learning_rate(learning_rate)
    )


@transformation
def lamb(
    learning_rate: Rate = None, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-6, eps_root: float = 0.0,
    weight_decay: float = 0.0, mask: Any = None,
) -> Transformation:  # fmt: skip
    """Adam with each leaf's update scaled to the norm of its parameters, for large batches (You and others, 2019).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root
        As :func:`adam` takes them.
    weight_decay, mask
        As :func:`adamw` takes them.

    Returns
    -------
    Transformation
        It needs the parameters.
    """
    return chain(
        scaling.scale_by_adam(b1, b2, eps, eps_root),
        add_decayed_weights(weight_decay, mask),
        scaling.scale_by_trust_ratio(),
        scale_by_learning_rate(learning_rate),
    )
