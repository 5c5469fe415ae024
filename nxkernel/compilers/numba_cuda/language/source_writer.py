"""A writer of kernel source: indented lines, and fresh names for intermediate values."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText, Value
from nxkernel.types import Type

_NAME = re.compile(r"[A-Za-z_]\w*|True|False")


class SourceWriter:
    """Writes the statements of a function's body.

    Parameters
    ----------
    depth : int
        How deep the first line stands, in steps of four blanks.

    Attributes
    ----------
    lines : list of str
    known : dict
        What is known of values under names of the block that is being written; a block takes nothing in or out.

    Examples
    --------
    >>> w = SourceWriter()
    >>> with w.block("while t < n:"):
    ...     x = w.let("a[t]")
    ...     w.line(f"b[t] = {x} + {x}")
    >>> print(w.text)
    while t < n:
        v0 = a[t]
        b[t] = v0 + v0
    """

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self.known: dict[Any, Any] = {}
        self._names = 0

    @property
    def text(self) -> str:
        """The statements as one text."""
        return "\n".join(self.lines)

    def line(self, text: str) -> None:
        """Write a statement."""
        self.lines.append("    " * self.depth + text)

    def extend(self, texts: Iterable[str]) -> None:
        """Write several statements."""
        for text in texts:
            self.line(text)

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Write a header such as ``while …:``; in this context statements are indented below it."""
        self.line(header)
        outside, self.known = self.known, {}
        self.depth += 1
        yield
        self.depth -= 1
        self.known = outside

    def name(self, prefix: str = "v") -> str:
        """A new variable name."""
        self._names += 1
        return f"{prefix}{self._names - 1}"

    def let(self, expression: str, prefix: str = "v") -> str:
        """Assign an expression to a new variable; its name. A plain name is returned as it is."""
        if _NAME.fullmatch(expression):
            return expression
        name = self.name(prefix)
        self.line(f"{name} = {expression}")
        return name

    def held(self, value: Value, prefix: str = "v") -> Value:
        """Assign a value to new variables; the value of these names."""
        return (
            ComplexText(*(self.let(part, prefix) for part in value))
            if isinstance(value, ComplexText)
            else self.let(value, prefix)
        )

    def load(self, pointer: str, index: str, type_: Type) -> Value:
        """Load an element into a new variable."""
        if type_.is_complex:
            both = self.let(f"load2({pointer}, 2 * ({index}))")
            return ComplexText(self.let(f"{both}[0]"), self.let(f"{both}[1]"))
        return self.from_memory(f"{pointer}[{index}]", type_)

    def store(self, pointer: str, index: str, value: Value, type_: Type) -> None:
        """Write a value to memory at an index."""
        if isinstance(value, ComplexText):
            self.line(f"store2({pointer}, 2 * ({index}), ({value.re}, {value.im}))")
        else:
            self.line(f"{pointer}[{index}] = {self.to_memory(value, type_)}")

    def load_vector(self, pointer: str, index: str, type_: Type, count: int) -> list[Value]:
        """Load `count` consecutive elements, aligned and at most 16 bytes, into new variables."""
        if count == 1:
            return [self.load(pointer, index, type_)]
        width = 2 if type_.is_complex else 1
        position = f"2 * ({index})" if width == 2 else index
        whole = self.let(f"load{count * width}({pointer}, {position})")
        parts = [self.from_memory(f"{whole}[{n}]", type_) for n in range(count * width)]
        return [ComplexText(*parts[n : n + 2]) for n in range(0, len(parts), 2)] if width == 2 else list(parts)

    def store_vector(self, pointer: str, index: str, values: Sequence[Value], type_: Type) -> None:
        """Store consecutive elements at once; see :meth:`load_vector`."""
        if len(values) == 1:
            self.store(pointer, index, values[0], type_)
            return
        parts = [part for value in values for part in (value if isinstance(value, ComplexText) else (value,))]
        position = f"2 * ({index})" if type_.is_complex else index
        texts = ", ".join(self.to_memory(part, type_) for part in parts)
        self.line(f"store{len(parts)}({pointer}, {position}, ({texts}))")

    def from_memory(self, text: str, type_: Type) -> str:
        """Convert an element, as loaded, to its register form in a new variable; remembers the bits of halves."""
        if not element_types.is_half(type_):
            return self.let(element_types.from_memory(text, type_))
        bits = self.let(text)
        value = self.let(element_types.from_memory(bits, type_))
        self.known[type_, value] = bits
        return value

    def to_memory(self, value: str, type_: Type) -> str:
        """The text of a real value in memory's form; reuses the bits of a half that was just loaded or rounded."""
        return self.known.get((type_, value)) or element_types.to_memory(value, type_)
