"""What a program's source is written with: lines at a depth, names that nothing else has, and arrays to allocate."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nxkernel.compilers.display import operation_text
from nxkernel.types import Type

_TAKEN = frozenset([*keyword.kwlist, *dir(builtins), "numba", "np", "math", *operation_text.FUNCTIONS])


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of the program: an array in C order, or a number.

    Parameters
    ----------
    name : str
    type : Type
    shape : tuple of int
    is_number : bool
        Whether it is a single number; the shape is that of the value that it stands for.
    """

    name: str
    type: Type
    shape: tuple[int, ...]
    is_number: bool = False

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass
class SourceWriter:
    """Collects the text of one function.

    Attributes
    ----------
    lines : list of str
        The function's body.
    arrays : list of Variable
        The arrays that it allocates at its beginning.
    rebound : set of str
        The names of arrays that came to be names of other memory.
    functions : dict
        Text of functions that the program calls, by name.
    """

    lines: list[str] = field(default_factory=list)
    arrays: list[Variable] = field(default_factory=list)
    rebound: set[str] = field(default_factory=set)
    functions: dict[str, str] = field(default_factory=dict)
    is_parallel: bool = False
    depth: int = 1
    _names: set[str] = field(default_factory=set)

    def line(self, text: str) -> None:
        """Write a line at the present depth."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write the first line of a compound statement; what is written inside of the context is in it."""
        self.line(head)
        self.depth += 1
        begin = len(self.lines)
        yield
        if len(self.lines) == begin:
            self.line("pass")
        self.depth -= 1

    def name(self, meaning: str, numbered: bool = False) -> str:
        """A name that nothing else has, close to what is given.

        Parameters
        ----------
        meaning : str
            Also what is no identifier, such as ``params["w"]``.
        numbered : bool
            Whether it always ends in a number.
        """
        word = re.sub(r"\W+", "_", meaning).strip("_") or "value"
        # Numba calls the values of a variable `x` in turn `x_1`, `x_2`: no other variable may be called so.
        word = re.sub(r"_(?=\d+$)", "", f"_{word}" if word[0].isdigit() else word)
        stem = f"{word}_n" if word[-1].isdigit() else word
        candidate, number = (f"{stem}1", 1) if numbered else (word, 1)
        while candidate in self._names or candidate in _TAKEN:
            number += 1
            candidate = f"{stem}{number}"
        self._names.add(candidate)
        return candidate

    def is_name(self, name: str) -> bool:
        """Whether something has a name."""
        return name in self._names

    def allocate(self, meaning: str, type_: Type, shape: tuple[int, ...], numbered: bool = True) -> Variable:
        """An array that is allocated when the function begins."""
        self.arrays.append(Variable(self.name(meaning, numbered), type_, shape))
        return self.arrays[-1]

    def number(self, meaning: str, type_: Type, shape: tuple[int, ...] = (), numbered: bool = True) -> Variable:
        """A variable for a single number."""
        return Variable(self.name(meaning, numbered), type_, shape, True)


def allocation(variable: Variable) -> str:
    """The statement that allocates an array."""
    return f"{variable.name} = {empty(variable)}"


def empty(variable: Variable) -> str:
    """The expression that allocates memory like an array's."""
    return f"np.empty({shape_text(variable.shape)}, {operation_text.array_dtype(variable.type)})"


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as an argument: a number for one axis."""
    return str(shape[0]) if len(shape) == 1 else str(shape)


def element(variable: Variable, at: list[str] | None, flat: Callable[[], str]) -> str:
    """The text of an element of a variable: by an index an axis, or else by one of all elements.

    Parameters
    ----------
    variable : Variable
    at : list of str or None
    flat : callable
        Gives the index among all elements.
    """
    if variable.is_number:
        return variable.name
    if at is not None and at:
        return f"{variable.name}[{', '.join(at)}]"
    return f"{variable.name if len(variable.shape) == 1 else f'{variable.name}.reshape(-1)'}[{flat()}]"


def copied(target: Variable, source: Variable) -> str:
    """The statement that copies all elements of an array into another one."""
    if target.shape == source.shape:
        return f"{target.name}[...] = {source.name}"
    return f"{target.name}[...] = {source.name}.reshape({shape_text(target.shape)})"
