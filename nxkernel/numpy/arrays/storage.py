"""The storage that arrays are views of: a mutable cell of the active trace, or a tensor outside of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.tracing import MutableCell
from nxkernel.operand import Operand
from nxkernel.shapes import text

_NONE: frozenset[Any] = frozenset()


class ArrayStorage:
    """The storage of an array: a mutable cell of the active trace, or a tensor outside of a trace.

    Parameters
    ----------
    value : tensor or traced value
        What is there first.
    name : str
    strides : tuple of int, optional
        How far apart elements are in NumPy, in elements, where that is not C order.
    """

    __slots__ = ("aliases", "cell", "doubt", "follows", "shape", "strides", "type", "unordered", "value", "writes")

    def __init__(self, value: Operand, name: str = "", strides: tuple[int, ...] | None = None) -> None:
        self.strides = strides
        #: The caller's places from whose order of elements that of this one follows.
        self.follows: frozenset[ArrayStorage] = _NONE
        #: Whether only the running program knows in which order its elements are.
        self.unordered = False
        self.shape, self.type = value.shape, value.type
        #: Makes the error for whoever writes there, where only the running program knows whose place it is.
        self.doubt: Callable[[], Exception] | None = None
        #: Which other places it may be, where only the running program knows that; asked before it is read, written to
        #: or compared.
        self.aliases: Any = None
        #: How often something was written there.
        self.writes = 0
        self.cell, self.value = MutableCell(name), None
        trace = tracing.current()
        if trace is None:
            self.value = value
        else:
            trace.write(self.cell, trace.seen(value))

    def read(self) -> Operand:
        """The current value."""
        if self.aliases is not None:
            self.aliases.before_read()
        return self.content()

    def content(self) -> Operand:
        """The current value, without the check that it is up to date."""
        trace = tracing.current()
        if trace is not None and trace.knows(self.cell):
            return trace.read(self.cell)
        if self.value is None:
            raise TracedValueError(
                message(
                    f"an array {self.type}{text(self.shape)} is used after its definition was traced.",
                    "It was probably stored in a global, a list or an attribute: return it from the definition.",
                )
            )
        return self.value

    def write(self, value: Operand) -> None:
        """Replace the value."""
        if self.doubt is not None:
            raise self.doubt()
        if self.aliases is not None:
            self.aliases.before_write()
        self.writes += 1
        trace = tracing.current()
        if trace is None and self.value is not None:
            self.value = value
        elif trace is not None and trace.knows(self.cell):
            trace.write(self.cell, trace.seen(value))
        else:
            raise NxTypeError(
                message(
                    f"an array {self.type}{text(self.shape)} from outside of the definition is assigned into.",
                    "Pass it as an argument and return the changed array.",
                )
            )


def before_compared(one: ArrayStorage, other: ArrayStorage) -> None:
    """Raise an error if only the running program knows whether two storages are the same."""
    for root, beside in ((one, other), (other, one)):
        if root is not beside and root.aliases is not None:
            root.aliases.before_compared(beside)
