"""Training and evaluation steps: a model, a loss and an optimizer as one compiled function (`make_step`)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import nxkernel as nx
from nxkernel import optim
from nxkernel.definitions.calls.definition import Definition
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.optim import Transformation, apply_updates
from nxkernel.shapes import describe

#: Functions of targets and predictions that give scalars: by name, or in a row with names of their own.
Metrics = Mapping[str, Callable[[Any, Any], Any]] | Sequence[Callable[[Any, Any], Any]] | None


def make_step(
    model: Callable[..., Any], loss: Callable[[Any, Any], Any], optimizer: Transformation, *, metrics: Metrics = None,
    stateful: bool = False,
) -> Definition:  # fmt: skip
    """Make a compiled training step: forward pass, loss, gradients and update of the parameters, for one batch.

    Parameters
    ----------
    model : callable
        Of parameters and inputs; gives predictions. It is given ``key=`` and ``training=True`` where it takes them, as
        modules of :mod:`nxkernel.nn` do.
    loss : callable
        Of targets and predictions, in this order, as those of :mod:`nxkernel.nn.losses`; gives a scalar.
    optimizer : Transformation
    metrics : dict or sequence of callable, optional
        What else to compute of targets and predictions.
    stateful : bool, optional
        Whether the model has a state: it takes ``state=``, and gives predictions and the next state. The state of the
        step then is the pair of the optimizer's and the model's.

    Returns
    -------
    Definition
        ``step(params, state, (x, y))`` gives the next parameters, the next state, and the loss; with `metrics` a dict
        of all, in which the loss is ``"loss"``. The arguments ``learning_rate`` and ``key`` can follow: they change
        from step to step without a new compilation. A key can be a pair, ``(key, number of the step)``, of which one is
        made for the step.

    Examples
    --------
    >>> from nxkernel import optim, training
    >>> line = lambda params, x: x * params["slope"]
    >>> loss = lambda y, found: nx.mean((found - y) ** 2)
    >>> optimizer = optim.sgd(0.1)
    >>> step = training.make_step(line, loss, optimizer)
    >>> params = {"slope": nx.tensor(0.0)}
    >>> params, state, value = step(params, optimizer.init(params), (nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0])))
    >>> float(params["slope"]), float(value)
    (1.0, 10.0)
    """
    check_optimizer("make_step", optimizer)
    _Model(model, stateful, training=True)
    pairs = tuple(named_metrics(loss, metrics).items())
    return Definition(functools.partial(step, model, optimizer, pairs, bool(metrics), stateful))


def check_optimizer(function: str, optimizer: Any) -> None:
    """Raise an error for what is no optimizer, such as the name of one, or ``optim.adam`` without its call."""
    if not isinstance(optimizer, Transformation):
        name = optimizer if isinstance(optimizer, str) else getattr(optimizer, "__name__", "")
        instead = f"Write optim.{name}(1e-3)." if name in optim.__all__ else "Such as optim.adam(1e-3)."
        raise NxTypeError(
            message(f"{function} takes an optimizer of nxkernel.optim, got {describe(optimizer)}.", instead)
        )


def step(
    model: Callable[..., Any], optimizer: Transformation, named: tuple, told_all: bool, stateful: bool,
    params: Any, state: Any, batch: Any, learning_rate: Any = None, key: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The training step that :func:`make_step` compiles, with the first arguments bound."""
    x, y = pair(batch)
    learning_rate, key = _given(learning_rate), _key(key)
    inner, carried = _states(state, stateful)
    call, ((_, loss), *metrics) = _Model(model, stateful, training=True), named

    def objective(params: Any) -> tuple[Any, Any]:
        prediction, after = call(params, x, carried, key)
        return _scalar("loss", loss(y, prediction)), (prediction, after)

    (value, (prediction, after)), grads = nx.value_and_grad(objective, has_aux=True)(params)
    updates, inner = optimizer.update(grads, inner, params, learning_rate)
    figures = {"loss": value} | {name: _scalar(name, of(y, prediction)) for name, of in metrics}
    params = apply_updates(params, updates)
    return params, (inner, after) if stateful else inner, figures if told_all else value


def make_evaluation(
    model: Callable[..., Any], loss: Callable[[Any, Any], Any], *, metrics: Metrics = None, stateful: bool = False
) -> Definition:
    """Make a compiled function that gives the loss and metrics of a model for one batch.

    Parameters
    ----------
    model, loss, metrics, stateful
        As :func:`make_step` takes them; the model is not in training.

    Returns
    -------
    Definition
        ``evaluation(params, (x, y))`` gives a dict of scalars; with `stateful` the model's state follows.

    Examples
    --------
    >>> from nxkernel import training
    >>> line = lambda params, x: x * params["slope"]
    >>> evaluation = training.make_evaluation(line, lambda y, found: nx.mean((found - y) ** 2))
    >>> float(evaluation({"slope": 1.0}, (nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0])))["loss"])
    2.5
    """
    _Model(model, stateful, training=False)
    return Definition(functools.partial(evaluation, model, tuple(named_metrics(loss, metrics).items()), stateful))


def evaluation(
    model: Callable[..., Any], named: tuple, stateful: bool, params: Any, batch: Any, state: Any = ()
) -> dict[str, Any]:
    """The evaluation that :func:`make_evaluation` compiles, with the first arguments bound."""
    x, y = pair(batch)
    prediction, _ = _Model(model, stateful, training=False)(params, x, state, None)
    return {name: _scalar(name, of(y, prediction)) for name, of in named}


class _Model:
    """Call a model, with the keywords that its signature accepts."""

    def __init__(self, model: Callable[..., Any], stateful: bool, training: bool) -> None:
        if not callable(model):
            raise NxTypeError(f"a model is a function of parameters and inputs, got {describe(model)}")
        taken = _keywords(model)
        if stateful and "state" not in taken:
            raise NxTypeError(
                message(
                    "stateful=True is for models that take state= and give predictions and the next state.",
                    "This one takes no such argument.",
                )
            )
        self.model, self.stateful = model, stateful
        self.fixed = {"training": training} if "training" in taken else {}
        self.keyed = "key" in taken

    def __call__(self, params: Any, x: Any, state: Any, key: Any) -> tuple[Any, Any]:
        """Predictions and the next state."""
        keywords = dict(self.fixed)
        if key is not None and self.keyed:
            keywords["key"] = key
        if not self.stateful:
            return self.model(params, x, **keywords), ()
        return self.model(params, x, state=state, **keywords)


def _keywords(model: Callable[..., Any]) -> set[str]:
    if hasattr(model, "init_state"):
        return {"key", "state", "training"}
    try:
        return set(inspect.signature(model).parameters)
    except (TypeError, ValueError):
        return set()


def named_metrics(loss: Callable[[Any, Any], Any], metrics: Metrics) -> dict[str, Callable[[Any, Any], Any]]:
    """The loss and the metrics by name."""
    for name, function in ("the loss", loss), *_pairs(metrics):
        if not callable(function):
            raise NxTypeError(f"{name} is a function of targets and predictions, got {describe(function)}")
    named = {"loss": loss}
    for name, function in _pairs(metrics):
        if name in named:
            raise NxValueError(
                message(f"two metrics are called {name!r}.", "Give them names: metrics={'first': f, 'second': g}.")
            )
        named[name] = function
    return named


def _pairs(metrics: Metrics) -> list[tuple[str, Any]]:
    if metrics is None:
        return []
    if isinstance(metrics, Mapping):
        return list(metrics.items())
    if not isinstance(metrics, list | tuple):
        raise NxTypeError(
            message(f"metrics are functions in a dict or list, got {describe(metrics)}.", "Write metrics=[accuracy].")
        )
    return [(getattr(function, "__name__", f"metric {index}"), function) for index, function in enumerate(metrics)]


def pair(batch: Any) -> tuple[Any, Any]:
    """A batch as inputs and targets."""
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise NxTypeError(
            message(
                f"a batch is a pair (x, y), got {describe(batch)}.", "training.batches(x, y, size) gives such pairs."
            )
        )
    return tuple(batch)


def _given(value: Any) -> Any:
    """An argument; None where an empty container stands for it."""
    return None if isinstance(value, tuple) else value


def _key(value: Any) -> Any:
    """The random key of a step: the key itself, or one folded with the number of the step."""
    return nx.random.fold_in(*value) if isinstance(value, tuple) and value else _given(value)


def _states(state: Any, stateful: bool) -> tuple[Any, Any]:
    if not stateful:
        return state, ()
    if not isinstance(state, tuple) or len(state) != 2:
        raise NxTypeError(
            message(
                f"with stateful=True the state is the pair of the optimizer's and the model's, got {describe(state)}.",
                "Write (optimizer.init(params), model.init_state(x)).",
            )
        )
    return state


def _scalar(name: str, value: Any) -> Any:
    value = operand(value)
    if value.shape:
        raise NxTypeError(
            message(
                f"{name!r} gives {value.spec}, and one number is needed.", "Take the mean over the batch: nx.mean(t)."
            )
        )
    return value
