"""A program as one module for Numba: imports, small functions that neither Numba nor NumPy has, and the function."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from nxkernel import passes, types
from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.display import operation_text
from nxkernel.compilers.numba_njit import control_flow, opaque_steps, source_writer  # noqa: F401  their writers
from nxkernel.compilers.numba_njit.program_steps import SourceScope
from nxkernel.compilers.numba_njit.source_writer import SourceWriter, Variable
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.planner import Planner
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.compilers.rewrite.loop_nest_rewrites import prepare
from nxkernel.errors import CompilationError, VerificationError, message
from nxkernel.graph.expr import Expr, Graph, at_line
from nxkernel.graph.traverse import post_order

#: Types of which Numba calls BLAS for products of matrices.
_BLAS = frozenset([types.f32, types.f64, types.c64, types.c128])


@dataclass(frozen=True)
class ModuleSource:
    """The source of a program as a module.

    Parameters
    ----------
    text : str
    name : str
        Of its function.
    numbers : tuple of bool
        For each parameter whether it is a number, and not an array.
    """

    text: str
    name: str
    numbers: tuple[bool, ...]


@dataclass(frozen=True)
class PythonRoutine:
    """How an opaque operation runs: as it is written down, without memory besides operands and results."""

    scratch: int = 0


def check(graph: Graph) -> None:
    """Raise an error for what cannot be said in Numba, naming the node and the user's line.

    Raises
    ------
    CompilationError
    """
    for node in post_order([*graph.parameters, *graph.outputs]):
        for spec in node.spec if type(node.spec) is tuple else (node.spec,):
            if spec.type in (types.f16, types.bf16):
                refuse(node, f"Numba has no numbers of type {spec.type} on processors")
        if node.primitive is p.njit_call:
            function = node.params["function"]
            refuse(node, f"it calls {function}, {function.origin}")
        for part in node.params.values():
            if isinstance(part, Graph):
                check(part)


def refuse(node: Expr, reason: str) -> NoReturn:
    """Raise the error that a node cannot be part of a source for Numba."""
    what = f"{node.primitive.name} of {node.spec}{at_line(node.source)} cannot be written for Numba: {reason}."
    raise CompilationError(message(what, 'The compiler "numba_cpu" runs it.'))


def plan_of(graph: Graph) -> ProgramPlan:
    """The plan of a graph; nodes are traced back to the ones of that graph."""
    graph, origin = passes.rewritten(passes.ON_GRAPHS["numba"], graph, {})

    def prepared(outputs: Sequence[Expr], own: bool = True) -> tuple[list[Expr], dict[Expr, Expr]]:
        return passes.rewritten(passes.ON_OUTPUTS["numba"], outputs, origin, own)

    return Planner(lambda node, results: PythonRoutine(), prepared).program(graph)


def rewritten(outputs: Sequence[Expr], own: bool) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Outputs rewritten for loop nests and BLAS, and for each new node the node it came from.

    Parameters
    ----------
    outputs : sequence of Expr
    own : bool
        Whether an output that is an input must be a copy of it.
    """
    return prepare(outputs, _BLAS, own, converting_scans=True)


def source_of(graph: Graph) -> ModuleSource:
    """The source of a simplified graph.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    ModuleSource

    Raises
    ------
    CompilationError
        For what cannot be said in Numba.
    """
    for each in passes.LEGALITY["numba"]:
        each(graph)
    write, *_ = passes.ON_PROGRAMS["numba"]
    return write(plan_of(graph), graph)


def written(plan: ProgramPlan, graph: Graph) -> ModuleSource:
    """The source of a plan."""
    writer = SourceWriter()
    name = writer.name("program" if graph.name == "<lambda>" else graph.name)
    changed = dict(graph.updates)
    inputs = [
        Variable(
            writer.name(parameter.params["name"]),
            parameter.type,
            parameter.shape,
            not parameter.shape and position not in changed,
        )
        for position, parameter in enumerate(graph.parameters)
    ]
    several = len(plan.arrays) > 1
    outputs = {
        number: writer.number("result", array.type, array.shape, several)
        if scalars.is_single(array)
        else writer.allocate("result", array.type, array.shape, several)
        for number, array in enumerate(plan.arrays)
    }
    scope = SourceScope(writer, plan, inputs, outputs)
    scope.run()
    given = _updated(writer, plan, scope, graph)
    results = [
        _result(plan.outputs[number], scope.at(plan.outputs[number], plan.results[number]), output.shape)
        for number, output in enumerate(graph.outputs)
        if number not in changed.values()
    ]
    if results:
        writer.line(f"return {', '.join(results)}")
    head = [f"{'    '}{line}" for line in [*given, *map(source_writer.allocation, writer.arrays)]]
    return _module(writer, name, inputs, graph, [*head, *writer.lines])


def _updated(writer: SourceWriter, plan: ProgramPlan, scope: SourceScope, graph: Graph) -> list[str]:
    """Write what puts results into the parameters that are assigned into; what is to be remembered of these before."""
    before = []
    for position, number in graph.updates:
        parameter, where = scope.inputs[position], plan.outputs[number]
        value = scope.at(where, plan.results[number])
        if where == Location.input(position) and parameter.name not in writer.rebound:
            continue
        target = parameter
        if parameter.name in writer.rebound:
            target = Variable(writer.name(f"{parameter.name}_given"), parameter.type, parameter.shape)
            before.append(f"{target.name} = {parameter.name}")
        writer.line(f"{target.name}[...] = {value.name}" if value.is_number else source_writer.copied(target, value))
    return before


def _result(where: Location, variable: Variable, shape: tuple[int, ...]) -> str:
    """The expression of a result."""
    if variable.is_number:
        return variable.name if not shape else f"np.full({source_writer.shape_text(shape)}, {variable.name})"
    text = variable.name
    if variable.shape != shape:
        text = f"{text}.reshape({source_writer.shape_text(shape)})" if shape else f"{text}.reshape(-1)[0]"
    return f"{text}.copy()" if where.memory is where.memory.INPUT and shape else text


def _module(
    writer: SourceWriter, name: str, inputs: Sequence[Variable], graph: Graph, lines: Sequence[str]
) -> ModuleSource:
    parallel = "parallel=True, " if writer.is_parallel else ""
    parameters = ", ".join(variable.name for variable in inputs)
    described = ", ".join(
        f"{variable.name}: {parameter.spec}" for variable, parameter in zip(inputs, graph.parameters, strict=True)
    )
    changed = {number for _, number in graph.updates}
    results = ", ".join(str(output.spec) for number, output in enumerate(graph.outputs) if number not in changed)
    sentence = f"{name}({described}) -> {results or 'None'}"
    docstring = [f'    """{line}' if not number else f"    {line}" for number, line in enumerate(_lines(sentence))]
    if graph.updates:
        named = " and ".join(inputs[position].name for position, _ in graph.updates)
        docstring += ["", f"    {named} changes." if len(graph.updates) == 1 else f"    {named} change."]
    single = len(docstring) == 1
    docstring[-1] += '"""' if single else ""
    main = [
        f'@numba.njit({parallel}error_model="numpy")',
        f"def {name}({parameters}):",
        *docstring,
        *([] if single else ['    """']),
        *(lines or ["    pass"]),
        "",
    ]
    text = operation_text.with_definitions("\n\n".join([*writer.functions.values(), "\n".join(main)]))
    return ModuleSource(text, name, tuple(variable.is_number for variable in inputs))


def _lines(sentence: str) -> list[str]:
    """A long sentence as several lines."""
    return textwrap.wrap(sentence, 110, break_long_words=False, break_on_hyphens=False)


def verify_source(source: ModuleSource, after: str) -> None:
    """Check that a source is a module of Python.

    Raises
    ------
    VerificationError
    """
    try:
        compile(source.text, source.name, "exec")
    except SyntaxError as error:
        raise VerificationError(after, source.name, "a module of Python", str(error)) from None
