"""Locations: which memory of a program a value is in."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class MemoryKind(StrEnum):
    """What owns memory that a program computes in."""

    INPUT = "input"
    OUTPUT = "output"
    WORKSPACE = "workspace"
    SCALAR = "scalar"


class Location(NamedTuple):
    """Where a value of a plan is.

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
        """An array that the program makes for its outputs."""
        return cls(MemoryKind.OUTPUT, number)

    @classmethod
    def workspace(cls, offset: int) -> Location:
        """The workspace from a byte on."""
        return cls(MemoryKind.WORKSPACE, offset)

    @classmethod
    def scalar(cls, number: int) -> Location:
        """No memory: a number that the program keeps by itself."""
        return cls(MemoryKind.SCALAR, number)
