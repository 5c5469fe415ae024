"""The class Transformation of gradient transformations (`init` and `update`), their chains, and `apply_updates`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from nxkernel.definitions.tracing import dialects
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import spellings
from nxkernel.messages.call_errors import explained, exported
from nxkernel.messages.grammar import a, counted
from nxkernel.optim import _leaves
from nxkernel.shapes import describe


class _TransformationParts(NamedTuple):
    """The functions of a transformation: its `init`, its `change`, whether it has a learning rate, its state's type."""

    init: Callable[[Any], Any]
    change: Callable[..., tuple[Any, Any]]
    rated: bool
    kind: type | None


class Transformation:
    """A gradient transformation, such as an optimizer: a pair of functions, `init` and `update`.

    Both functions are numerical: they work on tensors, and inside of definitions. In a key a transformation counts by
    what it is made of, so that one that is made alike finds the programs of the one before.

    Parameters
    ----------
    init : callable
        Of the parameters; gives the state at first, a container of tensors, or ``()``.
    change : callable
        Of gradients, state and parameters (None when they were not given); gives updates built like the gradients, and
        the next state. With `rated` it takes the learning rate too, or None.
    rated : bool, optional
        Whether a learning rate means something to it.
    kind : type, optional
        Of the state, such as a named tuple: another one is refused.

    Examples
    --------
    >>> from nxkernel import optim
    >>> double = optim.Transformation(lambda params: (), lambda grads, state, params: (2 * grads, state))
    >>> updates, state = double.update(nx.tensor(3.0), double.init(nx.tensor(1.0)))
    >>> float(updates), state
    (6.0, ())
    """

    #: As for definitions: within other functions it is a part of their graphs.
    on_conflict, compiler, dialect = "reuse", None, dialects.NX

    def __init__(
        self, init: Callable[[Any], Any], change: Callable[..., tuple[Any, Any]], rated: bool = False,
        kind: type | None = None,
    ) -> None:  # fmt: skip
        self._set(functools.partial(_TransformationParts, init, change, rated, kind))

    @classmethod
    def made_by(cls, builder: Callable[..., Transformation], *args: Any, **options: Any) -> Transformation:
        """What `builder` returns for these arguments; cache keys compare builder and arguments, not identity."""
        self = object.__new__(cls)
        self._set(functools.partial(builder, *args, **options))
        return self

    def _set(self, function: Callable[[], Any]) -> None:
        self.__nx_function__ = function
        self._made: tuple[Any, _TransformationParts] | None = None
        self._parts()

    def _parts(self) -> _TransformationParts:
        build = self.__nx_function__
        # While it is traced, a copy of this object is made of nodes in place of captured arrays.
        if self._made is None or self._made[0] is not build:
            parts = build()
            self._made = (build, parts._parts() if isinstance(parts, Transformation) else parts)
        return self._made[1]

    @property
    def rated(self) -> bool:
        """Whether `update` accepts a learning rate."""
        return self._parts().rated

    def init(self, params: Any) -> Any:
        """The initial state for these parameters.

        Parameters
        ----------
        params : container of tensors

        Returns
        -------
        container of tensors
        """
        return self._parts().init(params)

    def update(self, grads: Any, state: Any, params: Any = None, learning_rate: Any = None) -> tuple[Any, Any]:
        """The updates to add to the parameters for these gradients, and the next state.

        Parameters
        ----------
        grads : container of tensors
        state : container
            What `init` gave, or the last update.
        params : container of tensors, optional
            Some transformations need them, such as weight decay.
        learning_rate : scalar, optional
            In place of the one that the optimizer was made with. As an argument of a compiled function it changes from
            step to step without a new compilation.

        Returns
        -------
        (container, container)
        """
        parts = self._parts()
        if parts.kind is not None and not isinstance(state, parts.kind):
            raise NxTypeError(
                message(
                    f"the state of {self._name()} is {a(parts.kind.__name__)}, got {describe(state)}.",
                    "It belongs to another optimizer: make one with init(params).",
                )
            )
        if parts.rated:
            return parts.change(grads, state, params, learning_rate)
        if learning_rate is not None:
            raise NxTypeError(
                message(
                    "this transformation has no learning rate that learning_rate= could replace.",
                    "Put optim.scale_by_learning_rate() at the end of the chain.",
                )
            )
        return parts.change(grads, state, params)

    def __reduce__(self) -> tuple:
        build = self.__nx_function__
        if build.func is _TransformationParts:
            return Transformation, build.args
        return functools.partial(exported(build.func), **build.keywords), build.args

    def _name(self) -> str:
        builder = self.__nx_function__.func
        return "this transformation" if builder is _TransformationParts else builder.__name__

    def __repr__(self) -> str:
        build = self.__nx_function__
        if build.func is _TransformationParts:
            return "<gradient transformation>"
        arguments = [*map(str, build.args), *(f"{name}={value}" for name, value in build.keywords.items())]
        return f"{build.func.__name__}({', '.join(arguments)})"


def transformation(builder: Callable[..., Transformation]) -> Callable[..., Transformation]:
    """Decorate a function that builds a transformation: equal arguments then give equal cache keys."""
    signature, explained_builder = inspect.signature(builder), explained(builder, "optim")

    @functools.wraps(builder)
    def make(*args: Any, **options: Any) -> Transformation:
        try:
            signature.bind(*args, **options)
        except TypeError:
            args, options = spellings.documented(builder, args, options) or explained_builder(*args, **options)
        return Transformation.made_by(builder, *args, **options)

    return make


@transformation
def chain(*transformations: Transformation) -> Transformation:
    """Chain gradient transformations: each takes the updates of the one before.

    Parameters
    ----------
    *transformations : Transformation

    Returns
    -------
    Transformation
        Its state is the tuple of theirs.

    Examples
    --------
    >>> from nxkernel import optim
    >>> careful = optim.chain(optim.clip_by_global_norm(1.0), optim.sgd(0.1))
    >>> updates, _ = careful.update(nx.tensor([3.0, 4.0]), careful.init(nx.tensor([0.0, 0.0])))
    >>> [round(x, 6) for x in updates.to_list()]
    [-0.06, -0.08]
    """
    for index, one in enumerate(transformations):
        check(f"optim.chain takes gradient transformations, argument {index + 1}", one)
    rated = any(one.rated for one in transformations)

    def init(params: Any) -> Any:
        return tuple(one.init(params) for one in transformations)

    def change(grads: Any, state: Any, params: Any, learning_rate: Any = None) -> tuple[Any, Any]:
        if not isinstance(state, tuple) or len(state) != len(transformations):
            got = counted(len(state), "part") if isinstance(state, tuple) else describe(state)
            raise NxValueError(
                message(
                    f"the state of a chain of {counted(len(transformations), 'transformation')} has a part for each, "
                    f"got {got}.",
                    "It belongs to another optimizer: make one with init(params).",
                )
            )
        after = []
        for one, its in zip(transformations, state, strict=True):
            grads, new = one.update(grads, its, params, learning_rate if one.rated else None)
            after.append(new)
        return grads, tuple(after)

    return Transformation(init, change, rated)


def check(what: str, value: Any) -> None:
    """Raise an error for a value that is no transformation, such as ``optim.adam`` without its call."""
    if not isinstance(value, Transformation):
        hint = "Make one by a call, such as optim.adam(1e-3)." if callable(value) else "Such as optim.adam(1e-3)."
        raise NxTypeError(message(f"{what} is {describe(value)}.", hint))


@transformation
def identity() -> Transformation:
    """A transformation that leaves updates unchanged.

    Returns
    -------
    Transformation
    """
    return Transformation(stateless, lambda grads, state, params: (grads, state))


def stateless(params: Any) -> tuple[()]:
    """The empty state of a stateless transformation."""
    return ()


def apply_updates(params: Any, updates: Any) -> Any:
    """The new parameters: the old ones plus the updates of an optimizer.

    Parameters
    ----------
    params : container of tensors
    updates : container of tensors
        Built alike.

    Returns
    -------
    container of tensors
        Of the types of the parameters.

    Raises
    ------
    NxTypeError
        For containers that are not built alike, and parameters of whole numbers; by the path.

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.apply_updates({"w": nx.tensor([1.0, 2.0])}, {"w": nx.tensor([0.5, -0.5])})["w"].to_list()
    [1.5, 1.5]
    """
    for path, leaf in _leaves.flat(params, "params")[1]:
        _leaves.check_float(path, leaf)
    return _leaves.each(lambda p, u: _leaves.in_type(p + u, p.type), {"params": params, "updates": updates})


def needed(params: Any, name: str) -> Any:
    """The parameters, or an error if the transformation needs them and got none."""
    if params is None:
        raise NxTypeError(
            message(f"{name} needs the parameters.", "Give them to the update: update(grads, state, params).")
        )
    return params
