"""Delivery of hook values: callbacks are found at trace time and called after the program has run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.static_values import ByIdentity
from nxkernel.errors import NxTypeError, message
from nxkernel.scoped_settings import ScopedSetting, kept
from nxkernel.shapes import describe

#: Functions by the name of the hook whose value they get, as ``hooks=`` takes them.
Hooks = Mapping[str, Callable[[Any], Any]] | None


@dataclass(frozen=True)
class Hook:
    """A function that gets a value each time the program has run.

    Parameters
    ----------
    name : str or None
        None for printing.
    function : callable or None
        None for the function that the caller's ``hooks=`` has for the name.
    in_branch : bool
        Whether it is in a branch: its value is then a pair of whether the branch was taken, and the value.
    entry : hashable
        What tells it from others of its program.
    """

    name: str | None
    function: Callable[[Any], Any] | None
    in_branch: bool = False
    entry: Hashable = None

    def call(self, value: Any, functions: Mapping[str, Callable[[Any], Any]], signature: str) -> None:
        """Call the function; an error says which hook it comes from."""
        if self.in_branch:
            taken, value = value
            if not taken:
                return
        function = functions[self.name] if self.function is None else self.function
        try:
            function(value)
        except Exception as error:
            if self.name is not None:
                error.add_note(f"Raised by the hook {self.name!r} of {signature}.")
            raise


def deliver(
    hooks: Sequence[tuple[Hook, containers.Structure]],
    tensors: Iterator[Any],
    functions: Mapping[str, Callable[[Any], Any]],
    signature: str,
    has_called: Callable[[Hook], bool],
) -> None:
    """Call the hooks with the values of a program that has run, in the order in which it met them.

    Parameters
    ----------
    hooks : sequence of (Hook, structure)
    tensors : iterator
        The leaves of all values.
    functions : mapping
        The caller's ``hooks=``.
    signature : str
        The call, for errors.
    has_called : callable
        Whether a hook has been called while the program ran.
    """
    for hook, structure in hooks:
        value = containers.rebuild(structure, tensors)
        if not has_called(hook):
            hook.call(value, functions, signature)


def checked(hooks: Hooks) -> dict[str, Callable[[Any], Any]]:
    """Check the ``hooks=`` option: returns its functions by name.

    Raises
    ------
    NxTypeError
        For anything else than functions in a dict.
    """
    if hooks is None:
        return {}
    if not isinstance(hooks, Mapping):
        raise NxTypeError(
            message(f"hooks are functions in a dict, by their names, got {describe(hooks)}.", 'Write {"name": fun}.')
        )
    for name, function in hooks.items():
        if not isinstance(name, str):
            raise NxTypeError(message(f"the name of a hook is a str, got {describe(name)}.", 'Write {"name": fun}.'))
        if not callable(function):
            raise NxTypeError(
                message(f"the hook {name!r} is no function: {describe(function)}.", "Leave it out to switch it off.")
            )
    return dict(hooks)


def is_owned(hooks: Sequence[tuple[Hook, containers.Structure]]) -> bool:
    """Whether a hook has a function of the definition's own, and not one that its caller gives."""
    return any(
        getattr(hook.function, "is_owned", hook.name is not None and hook.function is not None) for hook, _ in hooks
    )


def owner(function: Any) -> tuple[ByIdentity, ByIdentity]:
    """The identity of a function, and of the object that it is a method of, as parts of a key."""
    return ByIdentity(getattr(function, "__func__", function)), ByIdentity(getattr(function, "__self__", None))


class _HookLayers(threading.local):
    """The ``hooks=`` of definitions that are being inlined into another one, the outermost first."""

    functions: tuple[Mapping[str, Callable[[Any], Any]], ...] = ()


_layers = kept(_HookLayers())


def inside(functions: Mapping[str, Callable[[Any], Any]]) -> AbstractContextManager[None]:
    """A context in which a definition with these hooks is traced as a part of another one."""
    return ScopedSetting(_layers, "functions", (*_layers.functions, functions))


def of_parts(name: str) -> Callable[[Any], Any] | None:
    """The hook of this name given by a definition that is being inlined."""
    return next((functions[name] for functions in _layers.functions if name in functions), None)
