"""Summaries of networks: a table of layers with shapes and numbers of parameters, and a module's repr."""

from __future__ import annotations

import html
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import memory
from nxkernel.operand import Operand
from nxkernel.primitives import Spec

if TYPE_CHECKING:
    from nxkernel.nn.scopes import ModuleCall


@dataclass(frozen=True)
class SummaryRow:
    """A layer in a summary.

    Parameters
    ----------
    layer : str
        Its path.
    depth : int
        In how many modules it is.
    output : str
    parameters : int or None
        Its own number; None where they were counted at an earlier row.
    """

    layer: str
    depth: int
    output: str
    parameters: int | None


@dataclass(frozen=True)
class Summary:
    """A table of the layers of a network.

    Parameters
    ----------
    rows : tuple of SummaryRow
        In the order of the calls.
    parameters : int
        The number of all.
    nbytes : int
        What they take in memory.
    """

    rows: tuple[SummaryRow, ...]
    parameters: int
    nbytes: int

    @classmethod
    def of(cls, entries: Sequence[ModuleCall]) -> Summary:
        """The summary of the module calls that one traced run made."""
        rows, specs, seen = [], [], set()
        for entry in entries:
            shared = entry.place.path in seen and bool(entry.created)
            seen.add(entry.place.path)
            if not shared:
                specs += entry.created.values()
            count = None if shared else sum(math.prod(spec.shape) for spec in entry.created.values())
            rows.append(SummaryRow(entry.place.shown, entry.depth, spec_text(entry.output), count))
        total = sum(math.prod(spec.shape) for spec in specs)
        return cls(tuple(rows), total, sum(math.prod(spec.shape) * spec.type.bits // 8 for spec in specs))

    @property
    def total(self) -> str:
        """The table's last line, with the total number of parameters."""
        return f"{counted(self.parameters, 'parameter')}, {memory(self.nbytes)}"

    def __repr__(self) -> str:
        table = [("layer", "output", "parameters")]
        table += [("  " * row.depth + row.layer, row.output, _count_text(row)) for row in self.rows]
        first, second, third = (max(len(line[column]) for line in table) for column in range(3))
        lines = [f"{one:<{first}}  {two:<{second}}  {three:>{third}}".rstrip() for one, two, three in table]
        return "\n".join([*lines, self.total])

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th style="text-align:{side}">{text}</th>'
            for text, side in (("layer", "left"), ("output", "left"), ("parameters", "right"))
        )
        body = "".join(
            f'<tr><td style="text-align:left;padding-left:{0.5 + row.depth}em">{html.escape(row.layer)}</td>'
            f'<td style="text-align:left"><code>{html.escape(row.output)}</code></td>'
            f'<td style="text-align:right">{_count_text(row)}</td></tr>'
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{self.total}</p>"


def _count_text(row: SummaryRow) -> str:
    return "shared" if row.parameters is None else str(row.parameters or "")


def spec_text(value: Any) -> str:
    """Types and shapes of a tensor or of a container."""
    if isinstance(value, Operand):
        return str(value.spec)
    if isinstance(value, tuple | list):
        inner = ", ".join(map(spec_text, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {spec_text(one)}" for key, one in value.items()) + "}"
    spec = getattr(value, "spec", None)
    return str(spec) if isinstance(spec, Spec) else type(value).__name__


def shown_call(name: str, builder: Callable[..., Any], args: tuple, options: Mapping[str, Any]) -> str:
    """The call that makes a module as Python code, without arguments that equal their defaults."""
    options = dict(options)
    try:
        parameters = inspect.signature(builder).parameters
    except (TypeError, ValueError):
        parameters = {}
    for key, one in parameters.items():
        if key in options and _is_default(options[key], one.default):
            del options[key]
    shown = [*map(_value_text, args), *(f"{key}={_value_text(value)}" for key, value in options.items())]
    own = getattr(builder, "__name__", name)
    return f"{own}({', '.join(shown)})" + (f".named({name!r})" if own.isidentifier() and own != name else "")


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, bool | int | float | str | tuple) and value == default)


def _value_text(value: Any) -> str:
    if isinstance(value, tuple | list) and value and callable(value[0]):
        inner = ", ".join(map(_value_text, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    spec = getattr(value, "spec", None) if isinstance(value, Operand) else None
    if spec is not None:
        return str(spec)
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str) and not hasattr(value, "__nx_function__"):
        return name
    return repr(value)
