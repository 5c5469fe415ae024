"""Gradient accumulation over several steps (`multi_steps`), so that a large batch can come in parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel.messages import number_checks
from nxkernel.ops.machinery.dispatch import convert
from nxkernel.optim import _leaves
from nxkernel.optim._leaves import each, in_type
from nxkernel.optim.scaling import float_type, zero
from nxkernel.optim.transformation import Transformation, check, transformation


class GatheredState(NamedTuple):
    """The number of accumulated gradients, their mean, and the state of the inner transformation."""

    count: Any
    mean: Any
    inner: Any


@transformation
def multi_steps(inner: Transformation, every: int) -> Transformation:
    """Gradient accumulation: apply a transformation to the mean of every `every` gradients; updates in between are 0.

    Parameters
    ----------
    inner : Transformation
    every : int
        After how many gradients there is an update.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> patient = optim.multi_steps(optim.sgd(0.1), 2)
    >>> state = patient.init(nx.tensor(0.0))
    >>> first, state = patient.update(nx.tensor(1.0), state)
    >>> second, state = patient.update(nx.tensor(3.0), state)
    >>> round(float(first), 6) + 0.0, round(float(second), 6)
    (0.0, -0.2)
    """
    check("optim.multi_steps takes a gradient transformation, the first argument", inner)
    number_checks.count("multi_steps", "every", every)

    def init(params: Any) -> GatheredState:
        return GatheredState(zero(), _leaves.like(params), inner.init(params))

    def change(grads: Any, state: GatheredState, params: Any, learning_rate: Any = None) -> tuple[Any, GatheredState]:
        count = state.count + 1

        def gathered(g: Any, m: Any) -> Any:
            return in_type(m + (g - m) / convert(count, float_type(m.type)), m.type)

        mean = each(gathered, {"grads": grads, "state.mean": state.mean})

        def update() -> tuple[Any, Any, Any]:
            updates, after = inner.update(mean, state.inner, params, learning_rate)
            return updates, after, _leaves.zeros(mean)

        def wait() -> tuple[Any, Any, Any]:
            return _leaves.zeros(mean), state.inner, mean

        full = count >= every
        updates, after, mean = nx.cond(full, update, wait)
        return updates, GatheredState(nx.select(full, 0, count), mean, after)

    return Transformation(init, change, inner.rated, GatheredState)
