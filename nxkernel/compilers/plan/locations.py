"""Locations: the memory that holds a value of a program."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class MemoryKind(StrEnum):
    """The kinds of memory: inputs, outputs, the workspace, and scalars of the program."""

    INPUT = "input"
    OUTPUT = "output"
    WORKSPACE = "workspace"
    SCALAR = "scalar"


class Location(NamedTuple):
    """The memory of a value: its kind, and a number or offset in it.

    Parameters
    ----------
    memory : MemoryKind
    number : int
        Of an input, of an array that the program makes for its outputs, or of a number that the program keeps by
        itself; in the workspace the byte that it begins at.
    """

    memory: MemoryKind
    number: int

    def __repr__(self) -> str:
        return f"Location.{self.memory}({self.number})"

    def __str__(self) -> str:
        return f"{self.memory} {self.number}"

    @classmethod
    def input(cls, number: int) -> Location:
        """The memory of an input of the graph."""
        return cls(MemoryKind.INPUT, number)

    @classmethod
    def output(cls, number: int) -> Location:
        """The array that the program allocates for an output, by number."""
        return cls(MemoryKind.OUTPUT, number)

    @classmethod
    def workspace(cls, offset: int) -> Location:
        """The part of the workspace that begins at a byte offset."""
        return cls(MemoryKind.WORKSPACE, offset)

    @classmethod
    def scalar(cls, number: int) -> Location:
        """A scalar that the program keeps by itself, in no array."""
        return cls(MemoryKind.SCALAR, number)
