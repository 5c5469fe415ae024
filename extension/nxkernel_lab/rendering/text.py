"""A compilation as indented text: arguments, then each kernel with its nodes, types and source lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nxkernel.compilers import registry
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView, Measurement, NodeView
from nxkernel.graph.printing import column
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import amount, duration
from nxkernel_lab.rendering.kernel_speed import pace, whole
from nxkernel_lab.rendering.viewed_nodes import constants_of, short, view_of
from nxkernel_lab.text_escaping import visible

_INPUTS = {"argument": "arguments", "captured": "captured values", "constant": "constants"}


def to_text(subject: Any, times: bool = True) -> str:
    """Describe a compilation as text.

    Parameters
    ----------
    subject : definition or CompilationView
        A definition stands for its latest compilation.
    times : bool
        Whether to say what may differ from run to run: what compiling took, counts of calls, and where native code came
        from. What was measured on the inputs of a call is always told, see `Definition.measure`.

    Returns
    -------
    str
        Lines without an end of line after the last.
    """
    view = view_of(subject)
    constants = constants_of(view.nodes)
    sections: list[tuple[str, list[NodeView]]] = []
    for role, heading in _INPUTS.items():
        shown = [node for node in view.nodes if node.role == role and not node.kernels and node.id not in constants]
        sections.append((heading, shown))
    baked = [f"    {line}" for line in view.baked]
    outside = [node for node in view.nodes if node.role not in _INPUTS and not node.kernels]
    sections.append(("computed outside kernels" if view.kernels else "computed one by one", outside))
    sections.extend(
        (kernel_line(kernel, times, view.measurement), [node for node in view.nodes if kernel.index in node.kernels])
        for kernel in view.kernels
    )

    headline = [
        *([summary(view)] if times else []),
        *view.reason,
        *([whole(view.measurement)] if view.measurement else []),
    ]
    lines = [view.signature, *(f"  {line}" for line in headline)]
    for heading, nodes in sections[:2]:
        if nodes:
            lines += [f"  {heading}", *_table(nodes, constants)]
    lines += ["  baked in: another value is another program", *baked] if baked else []
    for heading, nodes in sections[2:]:
        if nodes or heading.startswith("kernel "):
            lines.append(f"  {heading}")
            lines.extend(_table(nodes, constants))
    return visible("\n".join(lines))


def summary(view: CompilationView) -> str:
    """The compiler, cost and use of a compilation.

    Parameters
    ----------
    view : CompilationView
        The compilation.

    Returns
    -------
    str
        One line.
    """
    spent = (
        f"trace {duration(view.trace_ms)}, lowering {duration(view.lower_ms)}, native code {duration(view.native_ms)}"
    )
    cell = f" in {view.cell}" if view.cell else ""
    return f"compiled by {view.compiler}{cell} · {spent} · answered {counted(view.calls, 'call')}"


def kernel_line(kernel: KernelView, times: bool = True, measured: Measurement | None = None) -> str:
    """A kernel in one line: name, origin of its code, memory traffic and operations.

    Parameters
    ----------
    kernel : KernelView
        The kernel.
    times : bool
        Whether to say where its code came from and what that took.
    measured : Measurement, optional
        What it took when it ran.

    Returns
    -------
    str
        Beginning with ``kernel 1`` for the first.
    """
    return " · ".join(
        [
            f"kernel {kernel.index + 1}",
            kernel.title or kernel.kind,
            *([origin(kernel)] if times else []),
            *work(kernel),
            *filter(None, [kernel.launch, pace(kernel, measured)]),
        ]
    )


def kernel_lines(subject: Any, times: bool = True) -> list[str]:
    """Each kernel of a compilation in one line.

    Parameters
    ----------
    subject : definition or CompilationView
        A definition stands for its latest compilation.
    times : bool
        As for `kernel_line`.

    Returns
    -------
    list of str
    """
    view = view_of(subject)
    if not view.kernels:
        return [f"  no kernels: {registry.get(view.compiler).without_kernels[1]}"]
    return [f"  {kernel_line(kernel, times, view.measurement)}" for kernel in view.kernels]


def origin(kernel: KernelView) -> str:
    """The origin of a kernel's native code, and the time to get it."""
    spent = duration(kernel.milliseconds)
    return {
        "compiled": f"compiled in {spent}",
        "memory": f"reused from memory in {spent}",
        "disk": f"loaded from disk in {spent}",
        "program": "part of the loop around it",
        "library": "library code",
    }[kernel.origin]


def work(kernel: KernelView) -> list[str]:
    """The memory traffic and operations of one run of a kernel, as far as known."""
    return _work(kernel.moved, kernel.operations)


def work_alone(node: NodeView) -> list[str]:
    """The memory traffic and operations of a node if it ran by itself, as far as known."""
    return _work(node.moved, node.operations)


def _work(moved: int, operations: int) -> list[str]:
    return [f"{amount(moved)}B moved"] * bool(moved) + [f"{amount(operations)}flop"] * bool(operations)


def expression(node: NodeView, constants: Mapping[str, str]) -> str:
    """A node as in the printed graph.

    Parameters
    ----------
    node : NodeView
        The node.
    constants : mapping
        What `constants_of` found.

    Returns
    -------
    str
        Such as ``c = multiply 2.0, a``.
    """
    if node.role == "constant":
        return node.detail or node.label
    if node.role != "operation":
        return f"{short(node.id)} = {node.label}"
    operands = [constants.get(operand) or short(operand) for operand in node.operands]
    return f"{short(node.id)} = {node.label} {', '.join([*operands, *([node.detail] if node.detail else [])])}".rstrip()


def place(node: NodeView) -> str:
    """The source location of a node and its text; empty if unknown."""
    if not node.cell:
        return ""
    return f"{node.cell}, line {node.line}" + (f": {node.code}" if node.code else "")


def _table(nodes: list[NodeView], constants: Mapping[str, str]) -> list[str]:
    rows = [
        (expression(node, constants), node.spec + (" → returned" if node.output else ""), place(node)) for node in nodes
    ]
    first, second = (column(row[number] for row in rows) for number in (0, 1))
    lines = []
    for node, (left, middle, right) in zip(nodes, rows, strict=True):
        lines.append(f"    {left:{first}}   {middle:{second}}   {right}".rstrip())
        lines += [f"        {step}" for step in node.body]
    return lines
