"""From a graph to its plan, and from a plan to its kernels and program with their native code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import MappingProxyType
from typing import NoReturn

from nxkernel import compile_thread, passes
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.display.nest_source import render
from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cpu.program import program_writer
from nxkernel.compilers.numba_cpu.program.executable import own_code
from nxkernel.compilers.numba_cpu.program.parallel_loops import is_parallel
from nxkernel.compilers.numba_cpu.routines.lowering_table import ARITHMETIC, lowering_of
from nxkernel.compilers.numba_cpu.routines.routine_table import (
    ROUTINES,
    HostCall,
    Launch,
    NativeRoutine,
    Results,
    launches_of,
)
from nxkernel.compilers.numba_cpu.runtime import code_store, library_routines
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode, MissingFunctionsError
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.nested_plans import all_plans
from nxkernel.compilers.plan.planner import Planner
from nxkernel.compilers.plan.program_plan import (
    Control,
    ElementStore,
    OpaqueStep,
    ProgramPlan,
    ScalarStep,
    Step,
)
from nxkernel.compilers.rewrite.loop_nest_rewrites import prepare
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import Nest, PassLevel
from nxkernel.errors import CompilationError, message
from nxkernel.graph.expr import Expr, Graph, at_line
from nxkernel.graph.traverse import post_order
from nxkernel.messages.grammar import counted
from nxkernel.types import Type

_BLAS: frozenset[Type] = frozenset(library_routines.GEMM)


def foresee(graph: Graph) -> list[KernelRecord]:
    """The kernels that compiling a graph would need, followed by the program's own loops and branches, if any.

    Their origin is where their code would come from: what is compiled or loaded for one is in memory for the next.
    """
    legal(graph)
    laid = plan_of(graph)
    met: set[str] = set()

    def whereabouts(symbol: str) -> str:
        where = "memory" if symbol in met else code_store.whereabouts(symbol)
        met.add(symbol)
        return where

    foreseen = _records(laid, "", lambda symbol, _text: whereabouts(symbol))
    text = program_writer.write(laid, len(graph.parameters), graph.updates)
    own = own_code(text, whereabouts(text.symbol))
    return foreseen if own is None else [*foreseen, own]


def plan_of(graph: Graph) -> ProgramPlan:
    """The plan of a graph; nodes are traced back to the ones of that graph."""
    graph, origin = passes.rewritten(passes.ON_GRAPHS["numba_cpu"], graph, {})
    return planner(origin).program(graph)


def planner(origin: Mapping[Expr, Expr] = MappingProxyType({})) -> Planner:
    """A planner for this compiler; `origin` gives where rewritten nodes came from."""

    def prepared(outputs: Sequence[Expr], own: bool = True) -> tuple[list[Expr], dict[Expr, Expr]]:
        return passes.rewritten(passes.ON_OUTPUTS["numba_cpu"], outputs, origin, own)

    return Planner(_routine, prepared, is_parallel=is_parallel)


def rewritten(outputs: Sequence[Expr], own: bool) -> tuple[list[Expr], dict[Expr, Expr]]:
    """Outputs rewritten for loop nests and BLAS, and for each new node the node it came from.

    Parameters
    ----------
    outputs : sequence of Expr
    own : bool
        Whether an output that is an input must be a copy of it.
    """
    return prepare(outputs, _BLAS, own, converting_scans=True)


def loops_on_threads(plan: ProgramPlan) -> list[Control]:
    """The loops whose iterations run on all threads."""
    loops = []
    for step in plan.steps:
        if isinstance(step.work, Control):
            inner = [loop for part in step.work.parts for loop in loops_on_threads(part)]
            loops += [step.work] if step.work.parallel else inner
    return loops


def _routine(node: Expr, results: Results) -> NativeRoutine:
    return ROUTINES[node.primitive](node, results)


def legal(graph: Graph) -> None:
    """Run the passes that reject a graph without lowering."""
    for each in passes.LEGALITY["numba_cpu"]:
        each(graph)


def check(graph: Graph) -> None:
    """Raise an error for an operation without lowering, naming it and the user's line; there is no slow fallback."""
    for node in post_order(graph.outputs):
        if node.primitive.family == "control":
            for part in node.params.values():
                if isinstance(part, Graph):
                    check(part)
            continue
        if node.primitive.family not in ARITHMETIC and lowering_of(node.primitive) is None:
            _refuse(node)


def _check_arithmetic(nodes: Sequence[Expr]) -> None:
    """The same check for the instructions of a nest that is about to be lowered."""
    for node in nodes:
        if node.primitive.family in ARITHMETIC:
            of_complex = any(value.type.is_complex for value in (node, *node.operands[:1]))
            primitive = node.params["reduce"] if node.primitive is partial else node.primitive
            if lowering_of(primitive, of_complex) is None:
                _refuse(node)


def _refuse(node: Expr) -> NoReturn:
    where = at_line(node.source)
    operands = ", ".join(str(operand.spec) for operand in node.operands)
    raise CompilationError(
        message(
            f"numba_cpu has no code for {node.primitive.name} of {operands}{where}.",
            'Run this definition with compiler="evaluator".',
        )
    )


#: Gets native code by its name and its text; says where it came from.
_Get = Callable[[str, Callable[[], str]], str]


def _kernels(step: Step, plan: ProgramPlan, get: _Get) -> list[KernelRecord]:
    """Get the native code of a step's kernels; their records."""
    if isinstance(step.work, Product):
        return [_library_record(step.work, plan.origin)]
    if isinstance(step.work, ScalarStep | ElementStore | Control):
        return []
    if isinstance(step.work, OpaqueStep):
        return [_opaque_record(step, launch, plan.origin, get) for launch in launches_of(step.work)]
    return [_nest_record(step, plan.origin, program_writer.is_inlined(plan, step.work), get)]


@contextmanager
def _named(nodes: Sequence[Expr]) -> Iterator[None]:
    """Add the user's operations to errors about machine code that cannot be loaded."""
    try:
        yield
    except MissingFunctionsError as error:
        # Those that are computed with last are what the kernel is about.
        subject = [node for node in nodes if node.primitive.family != "leaf"][-1:] or nodes[-1:]
        what = "".join(f"{node.primitive.name} of {node.spec}{at_line(node.source)}" for node in subject)
        raise MissingFunctionsError(what or "a kernel", error.names) from None


def _opaque_record(step: Step, launch: Launch | HostCall, origin: dict[Expr, Expr], get: _Get) -> KernelRecord:
    node = step.work.node
    shown = origin.get(node, node)
    moved = sum(bytes_of(owner) for owner in {*step.reads, *step.writes} if owner is not step.work.scratch)
    kind = node.primitive.name
    if isinstance(launch, HostCall):
        return KernelRecord(kind, launch.title, kind, "library", 0.0, [shown], moved)
    begin = time.perf_counter()
    with _named([shown]):
        where = get(launch.symbol, launch.text)
    spent = 1e3 * (time.perf_counter() - begin)
    texts: dict[str, Callable[[], str]] = {"LLVM": launch.text, "assembly": lambda: _assembly(launch.text())}
    if launch.source:
        texts = {"algorithm": lambda: launch.source, **texts}
    return KernelRecord(kind, launch.title, launch.symbol, where, spent, [shown], moved, texts=texts)


def _nest_record(step: Step, origin: dict[Expr, Expr], inlined: bool, get: _Get) -> KernelRecord:
    bound = step.work
    begin = time.perf_counter()
    where = "program"
    if not inlined:
        with _named(bound.nodes):
            where = get(bound.nest.key, lambda: _lowered(bound.nest, bound.nodes))
    spent = 1e3 * (time.perf_counter() - begin)
    nest = bound.nest
    inner = [node for node in bound.nodes if node in origin and node.primitive.family != "leaf"]
    # A kernel that only fills a part of a value, such as the margin of a padded one, is for that value.
    nodes = list(dict.fromkeys(origin.get(node, node) for node in inner or step.writes))
    moved = sum(map(bytes_of, {*step.reads, *step.writes}))
    count = sum(
        op.name not in ("load", "gather", "const", "slot", "index", "scratch") for s in nest.passes for op in s.code
    )
    texts: dict[str, Callable[[], str]] = {
        "Numba source": lambda: _source(nest),
        "LLVM": lambda: _lowered(nest),
        "assembly": lambda: _assembly(_lowered(nest)),
    }
    return KernelRecord(
        nest.kind, _title(step, bound), nest.key, where, spent, nodes, moved, count * bound.elements, texts
    )


def _loop_record(loop: Control, symbol: str, origin: dict[Expr, Expr]) -> KernelRecord:
    iterations = counted(loop.max_iterations, "turn") if loop.max_iterations is not None else "turns"
    title = f"loop of {iterations} that do not depend on each other, on all threads"
    return KernelRecord("loop", title, symbol, "program", 0.0, [origin.get(loop.node, loop.node)])


def _title(step: Step, bound: BoundNest) -> str:
    nest = bound.nest
    sizes = " x ".join(str(scalar) for scalar in bound.scalars[: nest.outer + nest.inner]) or "one element"
    passes = sum(nest_pass.level is PassLevel.FULL for nest_pass in nest.passes)
    title = f"{nest.kind} of {sizes}, {counted(len(step.reads), 'read')}, {counted(len(step.writes), 'write')}"
    return f"{title}, {passes} passes" if passes > 1 else title


# What only a compilation or a curious person needs is imported there, so that a process that finds its kernels on disk
# starts sooner.


def _lowered(nest: Nest, nodes: Sequence[Expr] = ()) -> str:
    from nxkernel.compilers.numba_cpu.codegen.lower_nest import lower

    _check_arithmetic(nodes)
    return str(lower(nest))


def _source(nest: Nest) -> str:
    return render(nest)


def _assembly(text: str) -> str:
    from nxkernel.compilers.numba_cpu.codegen.object_code import assembly

    return compile_thread.do(lambda: assembly(text))


def _library_record(product: Product, origin: dict[Expr, Expr]) -> KernelRecord:
    node = origin.get(product.node, product.node)
    batch = f"{product.batch} x " if product.batch > 1 else ""
    title = f"matrix product {batch}[{product.rows}, {product.depth}] x [{product.depth}, {product.columns}] by BLAS"
    elements = product.batch * (
        product.rows * product.depth + product.depth * product.columns + product.rows * product.columns
    )
    flops = (8 if product.type.is_complex else 2) * product.batch * product.rows * product.columns * product.depth
    symbol = library_routines.GEMM[product.type]
    return KernelRecord("matrix product", title, symbol, "library", 0.0, [node], elements * product.type.size, flops)


def records(laid: ProgramPlan, symbol: str) -> tuple[list[KernelRecord], dict[str, LoadedCode]]:
    """The records of a plan's kernels, and their native code by name."""
    codes: dict[str, LoadedCode] = {}

    def get(name: str, text: Callable[[], str]) -> str:
        codes[name], where = code_store.native(name, text)
        return where

    return _records(laid, symbol, get), codes


def _records(laid: ProgramPlan, symbol: str, get: _Get) -> list[KernelRecord]:
    kernels = [record for plan in all_plans(laid) for step in plan.steps for record in _kernels(step, plan, get)]
    for before, kernel in pairwise(kernels):
        kernel.continues = len(kernel.nodes) == 1 == len(before.nodes) and kernel.nodes[0] is before.nodes[0]
    return kernels + [_loop_record(loop, symbol, laid.origin) for loop in loops_on_threads(laid)]
