"""Optimizers: chains of gradient transformations that end in a learning rate."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.optim import scaling
from nxkernel.optim.clipping import add_decayed_weights
from nxkernel.optim.clipping import add_noise as _add_noise
from nxkernel.optim.learning_rates import Rate, scale_by_learning_rate
from nxkernel.optim.transformation import Transformation, chain, transformation


@transformation
def sgd(learning_rate: Rate = None, momentum: float | None = None, nesterov: bool = False) -> Transformation:
    """Gradient descent, with momentum if asked for (Sutskever et al., 2013).

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
    """Gradient descent with normal noise whose variance decreases over the steps (Neelakantan et al., 2015).

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
    """Adam: steps along the running mean of gradients, divided by the root mean square of each (Kingma and Ba, 2014).

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
    """Adam with Nesterov momentum (Dozat, 2016).

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
    """AdamW: Adam with decoupled weight decay, added to the update, not to the gradient (Loshchilov and Hutter, 2017).

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
    """AdaMax: Adam with a decaying maximum of gradients in place of their root mean square (Kingma and Ba, 2014).

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
    """AdaBelief: Adam that divides by the running deviation of gradients from their mean (Zhuang et al., 2020).

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
    """RAdam: Adam that falls back to momentum in the first steps, while too few gradients were seen (Liu et al., 2019).

    Parameters
    ----------
    learning_rate, b1, b2, eps, eps_root
        As :func:`adam` takes them.
    threshold : float, optional
        The effective number of gradients in the running mean of squares from which on its root is used.

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
    """RMSProp: each gradient divided by the root of the running mean of its squares (Hinton's lectures, 2012).

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
    """AdaGrad: each gradient divided by the root of the sum of its squares so far (Duchi, Hazan and Singer, 2011).

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
    """Lion: steps by the sign of the running mean of gradients, with weight decay (Chen et al., 2023).

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
    """LAMB, for large batches: Adam with each tensor's update scaled to the norm of its parameters (You et al., 2019).

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
