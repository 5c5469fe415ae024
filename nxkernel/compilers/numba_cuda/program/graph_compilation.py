"""From a graph to its plan and host program for a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from nxkernel import passes
from nxkernel import primitives as p
from nxkernel.backends.cuda import devices
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.analysis import index_maps, operation_costs
from nxkernel.compilers.analysis.scalars import is_single
from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.program_writer import HostProgram
from nxkernel.compilers.numba_cuda.program.single_block_loops import OneBlockError
from nxkernel.compilers.numba_cuda.routines import library_products, routine_table
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.compilers.plan.planner import Planner
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.compilers.rewrite import complex_to_real, loop_nest_rewrites
from nxkernel.compilers.schedule import dynamic_indices, piecewise_buffers
from nxkernel.errors import CompilationError, message
from nxkernel.graph.expr import Expr, Graph, at_line
from nxkernel.graph.traverse import post_order


def plan_of(graph: Graph) -> ProgramPlan:
    """The plan of a graph; nodes are traced back to the ones of that graph."""
    graph, origin = passes.rewritten(passes.ON_GRAPHS["numba_cuda"], graph, {})

    def prepared(outputs: Sequence[Expr], own: bool = True) -> tuple[list[Expr], dict[Expr, Expr]]:
        return passes.rewritten(passes.ON_OUTPUTS["numba_cuda"], outputs, origin, own)

    return Planner(routine_table.routine_of, prepared, operation_costs.ON_GPU).program(graph)


def rewritten(outputs: Sequence[Expr], own: bool) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Outputs rewritten for a GPU's nests and libraries, and for each new node the node it came from.

    Parameters
    ----------
    outputs : sequence of Expr
    own : bool
        Whether an output that is an input must be a copy of it.
    """
    return loop_nest_rewrites.prepare(outputs, library_products.TYPES, own, loop_nest_rewrites.ON_GPU)


def in_parts(outputs: Sequence[Expr], own: bool) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Outputs whose complex functions are arithmetic with real parts, and for each new node the node it came from.

    Parameters
    ----------
    outputs : sequence of Expr
    own : bool
        Nothing here depends on it.
    """
    return complex_to_real.split(outputs)


def legal(graph: Graph) -> None:
    """Run the passes that reject a graph without lowering."""
    for each in passes.LEGALITY["numba_cuda"]:
        each(graph)


def guessed(graph: Graph, plan: ProgramPlan) -> frozenset[int]:
    """The single inputs that should be host numbers, as loops depend on them."""
    singles = frozenset(k for k, node in enumerate(graph.parameters) if is_single(node))
    return singles if singles and launch_modes.reads_back(launch_modes.decided(plan, ())) else frozenset()


def program_of(
    graph: Graph, plan: ProgramPlan, device: Device, numbers: frozenset[int]
) -> tuple[ProgramPlan, HostProgram]:
    """The plan of a graph with its launch modes, and its host program for a device.

    Parameters
    ----------
    graph : Graph
    plan : ProgramPlan
    device : Device
    numbers : frozenset of int
        The inputs that are numbers of the host.
    """
    decide, write, _ = passes.ON_PROGRAMS["numba_cuda"]
    refused: dict[Expr, str] = {}
    while True:
        decided = decide(plan, numbers, refused)
        try:
            return decided, write(graph, decided, device, numbers)
        except OneBlockError as error:
            # How much a kernel takes is known when it is written: the host runs this loop.
            refused[error.node] = error.reason


def written(graph: Graph, plan: ProgramPlan, device: Device, numbers: frozenset[int]) -> HostProgram:
    """The host program of a plan for a device.

    Parameters
    ----------
    graph : Graph
    plan : ProgramPlan
        With its launch modes.
    device : Device
    numbers : frozenset of int
        The inputs that are numbers of the host.
    """
    return HostProgram(plan, len(graph.parameters), graph.updates, device, numbers)


def foresee(graph: Graph) -> list[KernelRecord]:
    """The kernels that compiling a graph would need; the origin of each says where its code would come from."""
    legal(graph)
    plan, on = plan_of(graph), devices.device()
    _, program = program_of(graph, plan, on, guessed(graph, plan))
    met: set[str] = set()
    for launched in program.launched:
        source = launched.launch.source
        where = "memory" if source.symbol in met else object_code.whereabouts(source, on.arch)
        met.add(source.symbol)
        program.records[launched.record].origin = where
    return program.records


def check(graph: Graph) -> None:
    """Raise an error for an operation without lowering, naming it and the user's line; there is no slow fallback."""
    for node in post_order(graph.outputs):
        if node.primitive.family == "control":
            for part in node.params.values():
                if isinstance(part, Graph):
                    check(part)
            continue
        if not _has_code(node):
            _refuse(node)


def _has_code(node: Expr) -> bool:
    primitive = node.primitive
    if primitive.family == "elementwise":
        return primitive is not p.njit
    if primitive.family == "reduction" or primitive in _KNOWN:
        return True
    return any(
        primitive in members
        for members in (index_maps.VIEWS, dynamic_indices.READS, piecewise_buffers.PIECES, loop_nest_rewrites.REWRITES)
    ) or (primitive.family in ("cumulative", "sorting", "library"))


_KNOWN = frozenset([p.iota, p.conv, p.dot, p.elem, p.parameter, p.constant])


def _refuse(node: Expr) -> NoReturn:
    where = at_line(node.source)
    operands = ", ".join(str(operand.spec) for operand in node.operands)
    function = node.params.get("function")
    what = node.primitive.name if function is None else f"the function {function}, {function.origin},"
    raise CompilationError(
        message(
            f"numba_cuda has no code for {what} of {operands}{where}.",
            'Run this definition with compiler="numba_cpu", or with "evaluator".',
        )
    )
