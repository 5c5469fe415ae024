"""The training loop (`fit`): epochs, validation, early stopping, checkpoints and a progress bar; and `evaluate`."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.leaves import is_leaf
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.messages.grammar import counted
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.optim import Transformation
from nxkernel.shapes import describe
from nxkernel.training.checkpoints import load_checkpoint, save_checkpoint
from nxkernel.training.early_stopping import EarlyStopping
from nxkernel.training.progress_bar import ProgressBar
from nxkernel.training.steps import Metrics, check_optimizer, make_evaluation, make_step, named_metrics, pair

#: Batches: an iterable that can be gone through in each epoch, or a function of the number of the epoch.
Data = Iterable[tuple[Any, Any]] | Callable[[int], Iterable[tuple[Any, Any]]]


@dataclasses.dataclass(frozen=True)
class Fitted:
    """The result of :func:`fit`: parameters, states, history, and how many epochs and steps were trained.

    Parameters
    ----------
    params : container of tensors
        With early stopping those of the best epoch.
    state : container of tensors
        The optimizer's.
    model_state : container of tensors
        The model's, ``()`` for a model without.
    history : dict of lists
        A number for each epoch: ``"epoch"``, ``"loss"``, the metrics, and the same of the validation behind
        ``"validation_"``.
    epochs, steps : int
        How many whole epochs, and how many updates, there were.
    stopped : str
        Why it ended.
    """

    params: Any
    state: Any
    model_state: Any
    history: dict[str, list[float]]
    epochs: int
    steps: int
    stopped: str

    def __repr__(self) -> str:
        last = ", ".join(
            f"{name} {values[-1]:.4g}" for name, values in self.history.items() if name != "epoch" and values
        )
        suffix = f"; {last}" if last else ""
        if any(math.isnan(value) for value in self.history.get("loss", ())[-1:]):
            suffix += "; with nx.debug_nans() it stops at the line that made the first NaN"
        return f"<fitted in {counted(self.epochs, 'epoch')}, {counted(self.steps, 'step')}: {self.stopped}{suffix}>"


@dataclasses.dataclass(frozen=True)
class _TrainingState:
    """The training state that each step replaces as a whole, so that an interrupt never leaves half a step."""

    params: Any
    state: Any
    epoch: int = 0
    batch: int = 0
    step: int = 0
    totals: dict[str, float] = dataclasses.field(default_factory=dict)
    examples: int = 0
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    best: Any = None
    figure: float | None = None
    waited: int = 0


#: What a checkpoint keeps of it beside tensors.
_NOTED = ("epoch", "batch", "step", "totals", "examples", "history", "figure", "waited")


def fit(
    model: Callable[..., Any], loss: Callable[[Any, Any], Any], optimizer: Transformation, params: Any, data: Data, *,
    epochs: int = 1, validation: Data | tuple[Any, Any] | None = None, metrics: Metrics = None,
    learning_rate: float | Callable[[int], float] | None = None, key: Any = None, state: Any = None,
    model_state: Any = None, early_stopping: EarlyStopping | None = None,
    checkpoint: str | os.PathLike | None = None, checkpoint_every: int | None = None, resume: bool = False,
    progress: bool | None = None,
) -> Fitted:  # fmt: skip
    """Train a model for some epochs; all steps share one compiled program.

    An interrupt ends it after the last whole step, and gives what there is by then; a checkpoint is written first.

    Parameters
    ----------
    model, loss, optimizer, metrics
        As :func:`make_step` takes them.
    params : container of tensors
        The first ones.
    data : iterable of (x, y), or callable
        What :func:`batches` gives, or any iterable that can be gone through each epoch; a function takes the number of
        the epoch, from 0.
    epochs : int, optional
        How many there are in all.
    validation : iterable of (x, y), or one pair, optional
        What loss and metrics are computed of after each epoch.
    learning_rate : float or callable, optional
        In place of the optimizer's; a function takes the number of the step, from 0.
    key : tensor, optional
        Of :func:`nxkernel.random.key`; each step has a key of its own made of it, for a model that takes ``key=``.
    state : container of tensors, optional
        Of the optimizer; at first that of ``optimizer.init``.
    model_state : container of tensors, optional
        For a model with state. Modules of :mod:`nxkernel.nn` are asked for it.
    early_stopping : EarlyStopping, optional
    checkpoint : path, optional
        Where to write all that is needed to go on, after each epoch.
    checkpoint_every : int, optional
        After how many steps it is written too, for epochs that take long.
    resume : bool, optional
        Whether to go on from the checkpoint, if there is one: all numbers are then what they would have been without a
        break.
    progress : bool, optional
        Whether to show a bar; when not given, where tqdm is installed.

    Returns
    -------
    Fitted

    Raises
    ------
    NxValueError
        For a checkpoint of another model.

    Examples
    --------
    >>> from nxkernel import optim, training
    >>> data = training.batches(nx.tensor([1.0, 2.0, 3.0, 4.0]), nx.tensor([2.0, 4.0, 6.0, 8.0]), 2)
    >>> line = lambda slope, x: slope * x
    >>> loss = lambda y, found: nx.mean((y - found) ** 2)
    >>> fitted = training.fit(line, loss, optim.sgd(0.05), nx.tensor(0.0), data, epochs=20, progress=False)
    >>> fitted.steps, round(float(fitted.params), 3), fitted.history["epoch"][-1]
    (40, 2.0, 20)
    """
    number_checks.count("fit", "epochs", epochs)
    _check_checkpoint(checkpoint, checkpoint_every, resume)
    for name, value in (("resume", resume), *([] if progress is None else [("progress", progress)])):
        number_checks.flag("fit", name, value)
    if learning_rate is not None and not callable(learning_rate):
        number_checks.at_least("fit", "learning_rate", learning_rate, 0)
    if not isinstance(early_stopping, EarlyStopping | None):
        raise NxTypeError(
            message(
                f"fit: early_stopping is a training.EarlyStopping, got {describe(early_stopping)}.",
                "Write training.EarlyStopping(patience=5).",
            )
        )
    _check_data("data", data, epochs)
    if validation is not None and not _is_pair(validation):
        _check_data("validation", validation, epochs)
    check_optimizer("fit", optimizer)
    make_step(model, loss, optimizer, metrics=metrics)
    if model_state is None:
        model_state = model.init_state(_first(data)[0]) if hasattr(model, "init_state") else ()
    stateful = not _is_empty(model_state)
    params = _tensors(params, "params")
    state = _tensors(optimizer.init(params) if state is None else state, "state")
    run = _TrainingRun(
        data, validation, key, learning_rate, epochs, early_stopping, checkpoint, checkpoint_every, stateful
    )
    run.step = make_step(model, loss, optimizer, metrics=metrics, stateful=stateful)
    run.evaluation = make_evaluation(model, loss, metrics=metrics, stateful=stateful)
    run.names = list(named_metrics(loss, metrics))
    if early_stopping is not None:
        early_stopping.check(
            [*run.names, *([f"validation_{name}" for name in run.names] if validation is not None else [])]
        )
    run.now = _TrainingState(params, (state, _tensors(model_state, "model_state")) if stateful else state)
    if resume and os.path.exists(checkpoint):
        run.resume()
    return run.go(progress)


class _TrainingRun:
    """A running training: its compiled functions, options, progress and history."""

    step: Definition
    evaluation: Definition
    names: list[str]
    now: _TrainingState

    def __init__(
        self, data: Data, validation: Any, key: Any, learning_rate: Any, epochs: int, stopping: EarlyStopping | None,
        checkpoint: Any, every: int | None, stateful: bool,
    ) -> None:  # fmt: skip
        self.data, self.validation, self.key, self.learning_rate = data, validation, key, learning_rate
        self.epochs, self.stopping, self.stateful = epochs, stopping, stateful
        self.checkpoint, self.every = checkpoint, every

    def go(self, progress: bool | None) -> Fitted:
        """Train until it ends."""
        each = len(self.data) if hasattr(self.data, "__len__") else None
        now = self.now
        done = now.epoch * each + now.batch if each is not None else now.step
        bar = ProgressBar(progress, None if each is None else each * self.epochs, done)
        stopped = self._given_up() or "all epochs are done"
        try:
            while self.now.epoch < self.epochs and not self._given_up():
                bar.describe(f"epoch {self.now.epoch + 1}/{self.epochs}")
                self._epoch(bar)
                if self.checkpoint is not None:
                    self.save()
                stopped = self._given_up() or stopped
            bar.end({name: values[-1] for name, values in self.now.history.items() if name != "epoch"})
        except KeyboardInterrupt:
            now = self.now
            stopped = f"interrupted in epoch {now.epoch + 1} after {_batches(now.batch)}"
            if self.checkpoint is not None:
                self.save()
        finally:
            bar.close()
        now = self.now
        params = (
            now.best if self.stopping is not None and self.stopping.restore and now.best is not None else now.params
        )
        state, model_state = now.state if self.stateful else (now.state, ())
        return Fitted(params, state, model_state, now.history, now.epoch, now.step, stopped)

    def _given_up(self) -> str:
        """The reason why training stops early, as text; empty while it goes on."""
        if self.stopping is None or self.now.waited < self.stopping.patience:
            return ""
        return f"{self.stopping.monitor} got no better for {counted(self.now.waited, 'epoch')}"

    def _epoch(self, bar: ProgressBar) -> None:
        """Train one epoch, or the rest of one that a checkpoint was written in."""
        skipped, count = self.now.batch, 0
        for index, batch in enumerate(_epoch_of(self.data, self.now.epoch)):
            count += 1
            if index < skipped:
                continue
            rate = self._rate(self.now.step)
            # By place, with () for what is not given: arguments by name take the long way of a call.
            more = (() if rate is None else rate, self._key())
            params, state, told = self.step(self.now.params, self.now.state, batch, *more)
            told = told if isinstance(told, dict) else {"loss": told}
            figures = {name: float(told[name]) for name in self.names}
            self._count(params, state, figures, _examples(batch))
            bar.step({name: total / self.now.examples for name, total in self.now.totals.items()})
            if self.every is not None and self.now.step % self.every == 0:
                self.save()
        if count < skipped:
            raise NxValueError(
                message(
                    f"fit: the checkpoint was written after {_batches(skipped)} of epoch {self.now.epoch + 1}, "
                    f"and the data has {count} there.",
                    "Resume with batches of the same data and size.",
                )
            )
        if not self.now.batch:
            raise NxValueError(f"fit: the data of epoch {self.now.epoch + 1} has no batch")
        self._end_epoch()

    def _count(self, params: Any, state: Any, figures: dict[str, float], examples: int) -> None:
        now = self.now
        totals = {name: now.totals.get(name, 0.0) + value * examples for name, value in figures.items()}
        self.now = dataclasses.replace(
            now, params=params, state=state, batch=now.batch + 1, step=now.step + 1, totals=totals,
            examples=now.examples + examples,
        )  # fmt: skip

    def _end_epoch(self) -> None:
        now = self.now
        rate = self._rate(now.step - 1)
        row: dict[str, float] = {"epoch": now.epoch + 1}
        row |= {name: total / now.examples for name, total in now.totals.items()}
        if self.validation is not None:
            figures = _mean_figures(
                self.evaluation, self.names, now.params, self._validation(), now.state, self.stateful
            )
            row |= {f"validation_{name}": value for name, value in figures.items()}
        if rate is not None:
            row["learning_rate"] = rate
        history = {name: [*now.history.get(name, []), value] for name, value in row.items()}
        best, figure, waited = now.best, now.figure, now.waited
        if self.stopping is not None:
            current = row[self.stopping.monitor]
            if self.stopping.is_better(current, figure):
                best, figure, waited = now.params if self.stopping.restore else None, current, 0
            else:
                waited += 1
        self.now = dataclasses.replace(
            now, epoch=now.epoch + 1, batch=0, totals={}, examples=0, history=history, best=best, figure=figure,
            waited=waited,
        )  # fmt: skip

    def _validation(self) -> Any:
        return [self.validation] if _is_pair(self.validation) else _epoch_of(self.validation, 0)

    def _rate(self, step: int) -> float | None:
        rate = self.learning_rate
        if rate is None:
            return None
        value = rate(step) if callable(rate) else rate
        try:
            return float(value)
        except (TypeError, ValueError):
            raise NxTypeError(f"fit: learning_rate({step}) is one number, got {describe(value)}") from None

    def _key(self) -> Any:
        # The program makes the key of the step: without compilation that takes ten times as long as a small step.
        return () if self.key is None else (self.key, self.now.step)

    # Checkpoints -----------------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, Any]:
        parts = {"params": self.now.params, "state": self.now.state}
        return parts if self.key is None else {**parts, "key": self.key}

    def save(self) -> None:
        """Write a checkpoint from which training can resume."""
        parts = self._parts()
        if self.now.best is not None:
            parts["best"] = self.now.best
        save_checkpoint(self.checkpoint, parts, {name: getattr(self.now, name) for name in _NOTED})

    def resume(self) -> None:
        """Resume from a checkpoint."""
        like = {**self._parts(), "best": self.now.params}
        parts, notes = load_checkpoint(self.checkpoint, like, optional=["best"])
        if set(notes) != set(_NOTED):
            raise NxValueError(
                message(f"{os.fspath(self.checkpoint)} is a checkpoint, but none that fit wrote.", "Load it yourself.")
            )
        self.key = parts.get("key")
        self.now = _TrainingState(parts["params"], parts["state"], best=parts["best"], **notes)


def evaluate(
    model: Callable[..., Any], loss: Callable[[Any, Any], Any], params: Any, data: Any, *, metrics: Metrics = None,
    model_state: Any = (),
) -> dict[str, float]:  # fmt: skip
    """Evaluate a model over batches: the mean loss and metrics, in which each example counts the same.

    Parameters
    ----------
    model, loss, metrics
        As :func:`make_step` takes them; the model is not in training.
    params : container of tensors
    data : iterable of (x, y), or one such pair as a tuple
    model_state : container of tensors, optional
        For a model with state.

    Returns
    -------
    dict of float

    Examples
    --------
    >>> from nxkernel import training
    >>> data = training.batches(nx.tensor([1.0, 2.0, 3.0]), nx.tensor([1.0, 2.0, 6.0]), 2, shuffle=False)
    >>> training.evaluate(lambda params, x: params * x, lambda y, found: nx.mean(nx.abs(found - y)), 1.0, data)
    {'loss': 1.0}
    """
    stateful = not _is_empty(model_state)
    evaluation = make_evaluation(model, loss, metrics=metrics, stateful=stateful)
    if not _is_pair(data):
        _check_data("data", data, 1, "evaluate")
    batches = [data] if _is_pair(data) else _epoch_of(data, 0)
    return _mean_figures(evaluation, list(named_metrics(loss, metrics)), params, batches, ((), model_state), stateful)


def _mean_figures(
    evaluation: Definition, names: list[str], params: Any, data: Any, state: Any, stateful: bool
) -> dict[str, float]:
    totals, examples = dict.fromkeys(names, 0.0), 0
    for batch in data:
        figures = evaluation(params, batch, state[1]) if stateful else evaluation(params, batch)
        count = _examples(batch)
        examples += count
        for name in names:
            totals[name] += float(figures[name]) * count
    if not examples:
        raise NxValueError("the data has no example to evaluate a model with")
    return {name: total / examples for name, total in totals.items()}


def _epoch_of(data: Any, number: int) -> Iterator[tuple[Any, Any]]:
    if hasattr(data, "epoch"):
        return data.epoch(number)
    return iter(data(number) if callable(data) else data)


def _check_checkpoint(path: Any, every: Any, resume: bool) -> None:
    """Check arguments early that would otherwise fail only at the end of an epoch."""
    if path is None:
        if resume:
            raise NxTypeError("fit: resume=True goes on from a checkpoint; say where it is with checkpoint=")
        if every is not None:
            raise NxTypeError("fit: checkpoint_every= is for a checkpoint; say where it goes with checkpoint=")
        return
    if every is not None:
        number_checks.count("fit", "checkpoint_every", every)
    if not isinstance(path, str | os.PathLike):
        raise NxTypeError(f"fit: checkpoint is the path of a file, got {describe(path)}")
    folder = os.path.dirname(os.fspath(path))
    if folder and not os.path.isdir(folder):
        raise NxValueError(
            message(f"fit: there is no folder {folder!r} for the checkpoint.", f"Make it: os.makedirs({folder!r}).")
        )
    if os.path.isdir(path):
        raise NxValueError(f"fit: checkpoint is the path of a file, and {os.fspath(path)!r} is a folder")


def _is_pair(data: Any) -> bool:
    """Whether a value is one batch, a tuple of inputs and targets; a list of two is two batches."""
    return isinstance(data, tuple) and len(data) == 2


def _check_data(name: str, data: Any, epochs: int, function: str = "fit") -> None:
    arrays = is_leaf(data) or (_is_pair(data) and is_leaf(data[0]))
    if arrays or not (callable(data) or hasattr(data, "epoch") or hasattr(data, "__iter__")):
        raise NxTypeError(
            message(
                f"{function} takes batches for {name}, got {describe(data)}.",
                "Write training.batches(x, y, size), or a list of (x, y).",
            )
        )
    if epochs > 1 and isinstance(data, Iterator):
        raise NxTypeError(
            message(
                f"fit goes through the {name} {epochs} times, and {describe(data)} can be gone through once.",
                "Give a list, training.batches(x, y, size), or a function of the number of the epoch.",
            )
        )


def _first(data: Any) -> tuple[Any, Any]:
    if isinstance(data, Iterator):
        raise NxTypeError(
            message(
                "a module with state is asked for it with the first batch, and an iterator would lose that.",
                "Give model_state=model.init_state(x), or data that can be gone through again.",
            )
        )
    for batch in _epoch_of(data, 0):
        return pair(batch)
    raise NxValueError("fit: the data of epoch 1 has no batch")


def _examples(batch: Any) -> int:
    """How many examples are in a batch: the length of the first axis."""
    leaves: list[tuple[str, Any]] = []
    containers.flatten(tuple(batch), "the batch", leaves, _refuse)
    return next((leaf.shape[0] for _, leaf in leaves if getattr(leaf, "shape", ())), 1)


def _tensors(value: Any, name: str) -> Any:
    """A container with its numbers and arrays converted to tensors, so that all steps have one cache key."""
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, name, leaves, _refuse)
    return containers.rebuild(structure, iter([operand(leaf) for _, leaf in leaves]))


def _is_empty(value: Any) -> bool:
    leaves: list[tuple[str, Any]] = []
    containers.flatten(value, "model_state", leaves, _refuse)
    return not leaves


def _refuse(path: str, value: Any) -> Exception:
    return NxTypeError(f"fit works on tensors and containers of them, {path} is {describe(value)}")


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count} batches"
