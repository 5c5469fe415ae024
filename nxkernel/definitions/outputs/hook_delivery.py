"""Delivery of hook values: callbacks are found at trace time and called after the program has run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.static_values import Same
from nxkernel.errors import NxTypeError, message
from nxkernel.scoped_settings import Meanwhile, kept
from nxkernel.shapes import describe


@dataclass(frozen=True)
class Hook:
    """Who gets a value of each run.

    Parameters
    ----------
    name : str or None
        None for what is printed.
    function : callable or None
        None for the one that is given for the name by who calls the program.
    in_branch : bool
        Whether it is called only where a branch was taken: what it gets is a pair then, whose first part says that.
    """

    name: str | None
    function: Callable[[Any], Any] | None
    in_branch: bool = False

    def call(self, value: Any, functions: Mapping[str, Callable[[Any], Any]], signature: str) -> None:
        """Hand over a value; an error says which hook it comes from."""
        if self.in_branch:
            taken, value = value
            if not taken.to_number():
                return
        function = functions[self.name] if self.function is None else self.function
        try:
            function(value)
        except Exception as error:
            if self.name is not None:
                error.add_note(f"Raised by the hook {self.name!r} of {signature}.")
            raise


def deliver(
    hooks: Sequence[tuple[Hook, Any]],
    tensors: Iterator[Any],
    functions: Mapping[str, Callable[[Any], Any]],
    signature: str,
) -> None:
    """Hand over the values of a program that has run, in the order in which the definition asked for them.

    Parameters
    ----------
    hooks : sequence of (Hook, structure)
    tensors : iterator
        The leaves of all values.
    functions : mapping
        What the caller gives for names.
    signature : str
        The call, as errors name it.
    """
    for hook, structure in hooks:
        hook.call(containers.rebuild(structure, tensors), functions, signature)


def checked(hooks: Mapping[str, Callable[[Any], Any]] | None) -> dict[str, Callable[[Any], Any]]:
    """The functions that are given for hooks, by name.

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


def is_owned(hooks: Sequence[tuple[Hook, Any]]) -> bool:
    """Whether one of them calls a function that the definition has, and not one that its caller gives."""
    return any(hook.name is not None and hook.function is not None for hook, _ in hooks)


def owner(function: Any) -> tuple[Same, Same]:
    """What tells a function from others of the same content: itself, and the object that it is a method of."""
    return Same(getattr(function, "__func__", function)), Same(getattr(function, "__self__", None))


class _HookLayers(threading.local):
    """What the definitions give that are being traced as parts of another one, the outermost first."""

    functions: tuple[Mapping[str, Callable[[Any], Any]], ...] = ()


_layers = kept(_HookLayers())


def inside(functions: Mapping[str, Callable[[Any], Any]]) -> AbstractContextManager[None]:
    """Trace a definition that was given these functions, as a part of another one."""
    return Meanwhile(_layers, "functions", (*_layers.functions, functions))


def of_parts(name: str) -> Callable[[Any], Any] | None:
    """What the definitions give for a name that are being traced as parts of another one."""
    return next((functions[name] for functions in _layers.functions if name in functions), None)
