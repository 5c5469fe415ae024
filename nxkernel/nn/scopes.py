"""What a layer calls while it is applied: `nn.param`, `nn.state`, `nn.update`, `nn.key` and `nn.training`."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nxkernel import random, types
from nxkernel.errors import NxError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.nn.initializers import Initializer, chosen
from nxkernel.nn.summaries import spec_text
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.primitives import Spec
from nxkernel.scoped_settings import ScopedSetting, kept
from nxkernel.shapes import describe

#: The keys that lead to a module's parameters.
Path = tuple[str, ...]


@dataclass(frozen=True)
class ModulePath:
    """The path of a module in a network.

    Parameters
    ----------
    path : tuple of str
        The keys that lead to its parameters.
    shown : str
        The same for people: ``serial[2].dense``.
    """

    path: Path
    shown: str


@dataclass
class ModuleCall:
    """One call of a module: a row of the summary."""

    place: ModulePath
    module: Any
    depth: int
    inputs: tuple = ()
    output: Any = None
    created: dict[str, Spec] = field(default_factory=dict)


class NetworkRun:
    """One application of a network from its root on.

    Parameters
    ----------
    module : Module
        The root.
    params, state : dict or None
        What there is; without `params`, parameters are created.
    key : tensor or None
    training : bool
    """

    def __init__(self, module: Any, params: Any, state: Any, key: Any, training: bool) -> None:
        self.creates = params is None
        self.params: dict = {} if self.creates else params
        self.given_state = state
        self.state: dict = _copied(state) if state is not None else {}
        self.key, self.training = key, training
        self.trace = tracing.current()
        self.entries: list[ModuleCall] = []
        self.used: set[Path] = set()
        #: The modules themselves are kept, so that nothing else gets their identities.
        self.known: dict[int, tuple[Any, ModulePath]] = {id(module): (module, ModulePath((), module.name))}
        self._asked: dict[Path, int] = {}

    def next_key(self, path: Path) -> Any:
        """A random key for the module at a path, different each time that one is asked for."""
        count = self._asked[path] = self._asked.get(path, 0) + 1
        return key_at(self.key, (*path, str(count)))


class ModuleFrame:
    """A module that is being applied."""

    def __init__(self, run: NetworkRun, path: ModulePath, names: dict[int, tuple[str, str]], entry: ModuleCall) -> None:
        self.run, self.place, self.entry = run, path, entry
        self._names = names
        self._taken: set[str] = set()

    def place_of(self, module: Any) -> ModulePath:
        """The path of a module's parameters: that of its first call, so that later calls share them."""
        known = self.run.known.get(id(module))
        if known is not None:
            path = known[1].path
            if path[:-1] == self.place.path:
                self._taken.update(path[-1:])
            return known[1]
        name, shown = self._names.get(id(module), ("", ""))
        name = self._free(name or module.name)
        place = ModulePath((*self.place.path, name), f"{self.place.shown}{shown}.{name}")
        self.run.known[id(module)] = (module, place)
        return place

    def _free(self, name: str) -> str:
        """The name, with the first free number appended if it is taken."""
        candidate, number = name, 0
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate)
        return candidate


class _Active(threading.local):
    frame: ModuleFrame | None = None


_active = kept(_Active())


def current() -> ModuleFrame | None:
    """The module that is being applied in this thread."""
    return _active.frame


class ModuleScope:
    """A context manager in which `frame` is the module being applied, or none is.

    Parameters
    ----------
    frame : ModuleFrame or None
    """

    __slots__ = ("_active", "_module")

    def __init__(self, frame: ModuleFrame | None) -> None:
        self._active = ScopedSetting(_active, "frame", frame)
        self._module = tracing.of_module("/".join(frame.place.path) if frame is not None else "")

    def __enter__(self) -> None:
        self._active.__enter__()
        self._module.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._module.__exit__(*raised)
        self._active.__exit__(*raised)


def _frame(name: str) -> ModuleFrame:
    if _active.frame is None:
        raise NxTypeError(
            message(
                f"nn.{name} is for the function that says how a module is applied, and none is being applied here.",
                "Write it inside of `def apply(x)` of an `@nn.module`, and call net.init(key, x) and net(params, x).",
            )
        )
    return _active.frame


def param(name: str, shape: Sequence[int], init: Initializer | str, *, type: Any = "f32") -> Any:
    """A parameter of the module being applied: `init` creates it; afterwards it is the value in ``params``.

    Parameters
    ----------
    name : str
        Its key in the dict of parameters.
    shape : tuple of int
        Inputs tell it: ``(x.shape[-1], units)``.
    init : initializer or str
        ``init(key, shape, type)`` gives its first value; see :mod:`nxkernel.nn.initializers`.
    type : type, optional
        At first; parameters of another type are taken as they are.

    Returns
    -------
    tensor

    Raises
    ------
    NxTypeError
        Outside of a module, and for parameters that lack it.
    NxValueError
        For parameters of another shape.

    Examples
    --------
    >>> from nxkernel import nn
    >>> @nn.module
    ... def scale():
    ...     def apply(x):
    ...         return x * nn.param("factor", x.shape[-1:], nn.initializers.ones())
    ...     return apply
    >>> scale().init(nx.random.key(0), nx.template((5, 2), "f32"))["factor"].to_list()
    [1.0, 1.0]
    """
    frame = _frame("param")
    run, place = frame.run, frame.place
    shape, type_ = tuple(shape), types.normalize(type)
    spec = Spec(type_, shape, (None,) * len(shape))
    frame.entry.created[name] = spec
    path = (*place.path, name)
    if not run.creates:
        run.used.add(path)
        return _found(run.params, path, spec, "params", frame)
    owner = _branch(run.params, place.path)
    if name not in owner:
        owner[name] = _created(run, path, spec, init, run.key, frame)
    return _checked(
        owner[name], spec, name, frame,
        "It was made for another input. A module in two places is one layer: layer.fresh() is another one.",
    )  # fmt: skip


def state(name: str, shape: Sequence[int], init: Initializer | str, *, type: Any = "f32") -> Any:
    """A state variable of the module being applied, such as a running mean: a value that calls may update.

    It is in the dict that ``net.init_state(x)`` gives, and which is passed with ``net(params, x, state=state)``.

    Parameters
    ----------
    name : str
    shape : tuple of int
    init : initializer or str
        ``init(key, shape, type)`` gives its first value.
    type : type, optional

    Returns
    -------
    tensor or None
        None when the network is called without state.

    Examples
    --------
    >>> from nxkernel import nn
    >>> @nn.module
    ... def counter():
    ...     def apply(x):
    ...         count = nn.state("count", (), nn.initializers.zeros())
    ...         if count is not None:
    ...             nn.update("count", count + 1)
    ...         return x
    ...     return apply
    >>> net = counter()
    >>> state = net.init_state(1.0)
    >>> y, state = net(net.init(nx.random.key(0), 1.0), 1.0, state=state)
    >>> float(state["count"])
    1.0
    """
    frame = _frame("state")
    run, path = frame.run, frame.place
    spec = Spec(types.normalize(type), tuple(shape), (None,) * len(tuple(shape)))
    if run.creates:
        owner = _branch(run.state, path.path)
        if name not in owner:
            owner[name] = _created(run, (*path.path, name), spec, init, random.key(0), frame)
        return owner[name]
    if run.given_state is None:
        return None
    return _found(run.state, (*path.path, name), spec, "state", frame)


def update(name: str, value: Any) -> None:
    """Update a state variable of the module being applied, for the next call.

    Parameters
    ----------
    name : str
        As :func:`state` has it.
    value : tensor

    Raises
    ------
    NxTypeError
        In the body of a loop, which the network's state does not go through.
    """
    frame = _frame("update")
    if frame.run.creates or frame.run.given_state is None:
        return
    if tracing.current() is not frame.run.trace:
        raise NxTypeError(
            message(
                f"{frame.place.shown}: the state {name!r} is updated in the body of a loop or a branch.",
                "State goes from call to call: call the module outside of nx.scan, nx.fori and nx.cond.",
            )
        )
    _branch(frame.run.state, frame.place.path)[name] = value


def key() -> Any:
    """A fresh random key for the module being applied, different at each call of this function.

    Returns
    -------
    tensor
        ``u32[2]``: split from the ``key=`` of the call, by the module's place and how often it asked.

    Raises
    ------
    NxTypeError
        When the network was called without a key.

    Examples
    --------
    >>> from nxkernel import nn
    >>> @nn.module
    ... def noise():
    ...     def apply(x):
    ...         return x + nx.random.normal_split(nn.key(), 0.0, 1.0, shape=x.shape)
    ...     return apply
    >>> noise()({}, nx.tensor([0.0, 0.0]), key=nx.random.key(1)).shape
    (2,)
    """
    frame = _frame("key")
    if frame.run.key is None:
        raise NxTypeError(
            message(
                f"{frame.place.shown}: random numbers need a key.",
                "Pass one with each call: net(params, x, key=nx.random.key(0), training=True).",
                "training.fit takes key=nx.random.key(0), too.",
            )
        )
    return frame.run.next_key(frame.place.path)


def training() -> bool:
    """Whether the network was called with ``training=True``.

    Returns
    -------
    bool
    """
    return _frame("training").run.training


def key_at(key: Any, path: Path) -> Any:
    """The random key of a path, folded from the path's names, so that other layers do not change it."""
    return random.fold_in(key, zlib.crc32("/".join(path).encode()))


def _created(run: NetworkRun, path: Path, spec: Spec, init: Initializer | str, key: Any, frame: ModuleFrame) -> Any:
    """An initial value, computed in the trace of the whole network also where a loop's body asks for it."""
    init = chosen(init, f"the initializer of {path[-1]!r}")
    before, tracing._state.trace = tracing._state.trace, run.trace
    try:
        value = init(key_at(key, path), spec.shape, spec.type)
    except TypeError as error:
        if isinstance(error, NxError) or error.__traceback__.tb_next is not None:
            raise
        raise NxTypeError(
            f"{frame.place.shown}: the initializer of {path[-1]!r} takes (key, shape, type): {error}."
        ) from None
    finally:
        tracing._state.trace = before
    if callable(value):
        raise NxTypeError(f"{frame.place.shown}: the initializer of {path[-1]!r} gives a function.")
    return _checked(value, spec, path[-1], frame, "That is what its initializer gives.")


def _found(tree: dict, path: Path, spec: Spec, what: str, frame: ModuleFrame) -> Any:
    """The entry of a nested dict at a module's path, or an error that names the first missing key."""
    value: Any = tree
    for index, name in enumerate(path):
        if not isinstance(value, dict) or name not in value:
            there = "".join(f"[{part!r}]" for part in path[:index])
            got = f"the keys {', '.join(map(repr, value))}" if isinstance(value, dict) else describe(value)
            make = "init(key, x)" if what == "params" else "init_state(x)"
            whole = what + "".join(f"[{part!r}]" for part in path)
            raise NxTypeError(
                message(
                    f"{frame.place.shown}: expected {path[-1]} {spec} at {whole}, "
                    f"and {what}{there} has {got if value != {} else 'no keys'}.",
                    f"They are those of another network: net.{make} makes them for this one.",
                )
            )
        value = value[name]
    return _checked(
        value, spec, path[-1], frame,
        "An input of another shape than that of init, or the parameters of another network.",
    )  # fmt: skip


def _checked(value: Any, spec: Spec, name: str, frame: ModuleFrame, why: str) -> Any:
    shown, inputs = frame.place.shown, frame.entry.inputs
    if isinstance(value, dict | list | tuple):
        raise NxTypeError(f"{shown}: expected {name} {spec}, got a {type(value).__name__}")
    tensor = operand(value)
    if tensor.shape != spec.shape:
        where = f" for the input {spec_text(inputs[0] if len(inputs) == 1 else inputs)}" if inputs else ""
        raise NxValueError(message(f"{shown}: expected {name} {spec}{where}, got {tensor.spec}.", why))
    return tensor


def _branch(tree: dict, path: Path) -> dict:
    for name in path:
        tree = tree.setdefault(name, {})
    return tree


def _copied(tree: Any) -> Any:
    return {name: _copied(value) for name, value in tree.items()} if isinstance(tree, dict) else tree
