"""Plain answers to "why did this compile again?", and programs as data for display."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers.interface import KernelRecord
from nxkernel.defn import places
from nxkernel.defn.cache import Program
from nxkernel.defn.report import CompilationView, KernelView, NodeView
from nxkernel.graph.expr import Expr
from nxkernel.graph.printing import variable_names
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.simplify import simplify

if TYPE_CHECKING:
    from nxkernel.defn.definition import Arguments, Definition

Closest = tuple[Program, list[tuple[str, str, str]]] | None


def reason(closest: Closest) -> tuple[str, ...]:
    """Why a call is new, in lines: what differs from the closest call before."""
    if closest is None:
        return ("first call",)
    _, difference = closest
    return tuple(f"{what}: {there} → {here}" for what, there, here in difference) or ("the structure of an argument",)


def advice(closest: Closest, arguments: Arguments) -> str:
    """What the person could change so that the program is found; empty when there is nothing to say."""
    if closest is None:
        return ""
    _, difference = closest
    for what, there, here in difference:
        kind, _, name = what.partition(" ")
        if kind == "argument" and there.startswith("f32") and here == "f64" + there[3:]:
            place = arguments.paths.index(name)
            came = "a NumPy array" if isinstance(arguments.values[place], np.ndarray) else "a tensor"
            return f'float64 came in from {came}; nx.as_type({name}, "f32") keeps the compiled f32 program.'
    if len(difference) == 1:
        what, _, here = difference[0]
        kind, _, name = what.partition(" ")
        if kind in ("option", "captured") and _is_number(here):
            return (
                f"{name} is a number that is part of the key: if it keeps changing, pass it as a positional argument, "
                "and it will be compiled once."
            )
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Explanation:
    """What a call would do.

    Parameters
    ----------
    hit : bool
        Whether a program is there.
    difference : tuple of str
        From the closest program before; ``("first call",)`` when there is none.
    kernels : tuple of (str, str)
        For a call that would be traced: each kernel, and whether it would be ``"compiled"`` or come from ``"memory"`` or
        ``"disk"``.
    closest : str
        Where and when the closest program was made, and how many calls it answered.
    """

    function: str
    hit: bool
    difference: tuple[str, ...]
    kernels: tuple[tuple[str, str], ...]
    closest: str

    def __str__(self) -> str:
        if self.hit:
            return f"{self.function}: answered from the cache\n  {self.closest}"
        new = sum(where == "compiled" for _, where in self.kernels)
        verb = "would compile" if new or not self.kernels else "would trace, and reuse every kernel"
        lines = [f"{self.function} {verb}: {'; '.join(self.difference)}"]
        for number, (title, where) in enumerate(self.kernels, start=1):
            lines.append(f"kernel {number} ({title}): {'new' if where == 'compiled' else f'from {where}'}")
        if self.closest:
            lines.append(f"closest: {self.closest}")
        return "\n  ".join(lines)

    __repr__ = __str__


def why(definition: Definition, arguments: Arguments) -> Explanation:
    """What a call would do; it is traced if it is new, but nothing is compiled or run."""
    name, found = definition.__name__, definition._family
    program = found.find(arguments.key)
    if program is not None:
        return Explanation(name, True, (), (), _history(program))
    closest = found.closest(arguments.key)
    kernels: tuple[tuple[str, str], ...] = ()
    if arguments.compiler == "numba_cpu":
        from nxkernel.compilers.numba_cpu.compiler import foresee

        kernels = tuple(foresee(simplify(arguments.trace().graph)))
    return Explanation(name, False, reason(closest), kernels, _history(closest[0]) if closest else "")


def _history(program: Program) -> str:
    seconds = max(time.time() - program.made, 0)
    ago = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    where = f" in {program.where}" if program.where else ""
    calls = program.calls + 1
    return f"compiled {ago} ago{where}, called {calls} {'time' if calls == 1 else 'times'}"


def view(name: str, program: Program) -> CompilationView:
    """A program as data for display."""
    executable = program.executable
    graph = executable.graph
    order = post_order([*graph.parameters, *graph.outputs])
    names = variable_names(order)
    kernels_of = _kernels_of(executable.kernels, order)
    outputs = set(map(id, graph.outputs))
    return CompilationView(
        function=name,
        signature=program.signature,
        compiler=program.key.parts["compiler"],
        reason=program.reason,
        nodes=tuple(
            _node(node, names, kernels_of.get(id(node), ()), id(node) in outputs) for node in _named(order, names)
        ),
        kernels=tuple(_kernel(number, kernel) for number, kernel in enumerate(executable.kernels)),
        calls=program.calls + 1,
        cell=program.where,
        text=repr(graph),
        trace_ms=program.trace_ms,
        lower_ms=executable.lower_ms,
        native_ms=executable.native_ms,
    )


def _named(order: Sequence[Expr], names: dict[Expr, str]) -> list[Expr]:
    return [node for node in order if node in names or node.primitive is p.constant]


def _kernels_of(kernels: Sequence[KernelRecord], order: Sequence[Expr]) -> dict[int, tuple[int, ...]]:
    table: dict[int, tuple[int, ...]] = {}
    for number, kernel in enumerate(kernels):
        for node in kernel.nodes:
            table[id(node)] = (*table.get(id(node), ()), number)
    return table


def _identity(node: Expr, names: dict[Expr, str]) -> str:
    return names.get(node) or f"constant {id(node)}"


def _node(node: Expr, names: dict[Expr, str], kernels: tuple[int, ...], output: bool) -> NodeView:
    source = node.source
    role, label, detail = "operation", node.primitive.name, _detail(node)
    if node.primitive is p.parameter:
        role = "captured" if node.params["captured"] else "argument"
        label, detail = node.params["name"], ""
    elif node.primitive is p.constant:
        role, label, detail = "constant", repr(node.params["value"]), ""
    return NodeView(
        id=_identity(node, names),
        label=label,
        detail=detail,
        spec=str(node.spec),
        role=role,
        operands=tuple(_identity(operand, names) for operand in node.operands),
        kernels=kernels,
        output=output,
        cell=places.name_of(source.file) if source else "",
        line=source.line if source else 0,
        code=places.code_at(source.file, source.line) if source else "",
    )


def _detail(node: Expr) -> str:
    shown = {key: value for key, value in node.params.items() if key not in ("spec", "names")}
    return ", ".join(f"{key}={_plain(value)}" for key, value in shown.items())


def _plain(value: Any) -> str:
    return repr(list(value)) if isinstance(value, tuple) else str(value)


def _kernel(number: int, kernel: KernelRecord) -> KernelView:
    return KernelView(
        number, kernel.kind, kernel.title, kernel.symbol, kernel.origin, kernel.milliseconds, kernel.moved,
        kernel.operations, kernel.texts,
    )  # fmt: skip
