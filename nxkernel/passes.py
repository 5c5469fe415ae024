"""Every pass from a traced graph to a loaded program, in order, for each compiler; compilers go through these lists.

``print(listing("numba_cpu"))`` shows one. With ``NXKERNEL_VERIFY=1`` in the environment, and in all tests, what a pass
leaves is checked behind it (:func:`verifying`), so that a fault is told by the name of the pass that made it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from nxkernel import compile_thread
from nxkernel.fork_safety import cached_property


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass of a compiler.

    Parameters
    ----------
    name : str
    runs : str
        The function that does it, as ``"module:name"`` below ``nxkernel``; it is imported when it is first called.
    needs, guarantees : str
        What must hold before, and what holds afterwards.
    verifier : str
        The function, named in the same way, that checks what it leaves: called with that, the pass's name, and, where
        there are some, the primitives that are `gone`. Each pass of ours has one.
    gone : tuple of str
        Names of primitives that are in no graph any more afterwards.
    """

    name: str
    runs: str
    needs: str
    guarantees: str
    verifier: str = ""
    gone: tuple[str, ...] = ()

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function that does the work."""
        return imported(self.runs)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the pass; where verification is on, verify what it leaves."""
        made = self.function(*arguments, **options)
        if _watching:
            for watch in _watching:
                watch(self, arguments[0] if made is None else made)
        return made


def imported(path: str) -> Callable[..., Any]:
    """The function at a path, ``"module:name"`` below ``nxkernel``."""
    module, _, names = path.partition(":")
    module = f"nxkernel.{module}"
    compile_thread.load(module)
    # The module is there: this looks it up.
    found = __import__(module, fromlist=["_"])
    return reduce(getattr, names.split("."), found)


_GRAPH, _OUTPUTS = "graph.verify:verify", "graph.verify:verify_outputs"
_PLAN, _NESTS = "compilers.plan.verify:verify", "compilers.plan.verify:verify_steps"
_LAUNCHES = "compilers.plan.verify:verify_launches"
_CPU, _CUDA, _NJIT = "compilers.numba_cpu.", "compilers.numba_cuda.", "compilers.numba_njit."
_COMPILATION, _NATIVE = _CPU + "program.compilation:Compilation.", _CPU + "program.verify:"
_PLANNER, _DRAFT = "compilers.plan.planner:PlanDraft.", "compilers.plan.verify_draft:"

_OF_GRADIENTS = ("custom_grad", "custom_jvp", "linear_solve", "stop_grad")

SIMPLIFY = Pass(
    "simplify", "transforms.simplify:simplify", "a traced graph",
    "constants are folded, equal nodes are one, gradients of the user's are taken", _GRAPH, _OF_GRADIENTS,
)  # fmt: skip

#: Then, on a graph before anything is rewritten, for its errors.
LEGALITY = {
    "evaluator": (),
    "numba": (
        Pass("legality", _NJIT + "module_source:check", "a simplified graph",
             "each node can be said in Numba, or an error names the user's line", _GRAPH),
    ),
    "numba_cpu": (
        Pass("legality", _CPU + "program.graph_compilation:check", "a simplified graph",
             "each node has code, or an error names the user's line", _GRAPH),
    ),
    "numba_cuda": (
        Pass("legality", _CUDA + "program.graph_compilation:check", "a simplified graph",
             "each node has code, or an error names the user's line", _GRAPH),
    ),
}  # fmt: skip

#: On graphs; those of loops and branches are rewritten with them.
ON_GRAPHS = {
    "evaluator": (),
    "numba": (),
    "numba_cpu": (
        Pass("columns", "compilers.rewrite.columns.interchange:by_columns", "a simplified graph",
             "loops over planes go column by column where that is faster", _GRAPH),
        Pass("array layouts", "compilers.rewrite.array_layouts:transposed", "a simplified graph",
             "arrays that loops take apart along their last axis have it first", _GRAPH),
    ),
    "numba_cuda": (),
}  # fmt: skip

_REWRITTEN = ("conv", "reverse")

#: On the outputs of the graph and of each body of a loop or branch, before its plan is made.
ON_OUTPUTS = {
    "evaluator": (),
    "numba": (
        Pass("loop nest rewrites", _NJIT + "module_source:rewritten", "a graph, or body, with legal nodes",
             "nodes are those that nests and opaque steps have; large reductions are cut", _OUTPUTS, _REWRITTEN),
    ),
    "numba_cpu": (
        Pass("loop nest rewrites", _CPU + "program.graph_compilation:rewritten", "a graph, or body, with legal nodes",
             "nodes are those that nests and routines have; large reductions are cut", _OUTPUTS, _REWRITTEN),
    ),
    "numba_cuda": (
        Pass("loop nest rewrites", _CUDA + "program.graph_compilation:rewritten", "a graph, or body, with legal nodes",
             "nodes are those that nests and routines have; large reductions are cut", _OUTPUTS, _REWRITTEN),
        Pass("complex parts", _CUDA + "program.graph_compilation:in_parts", "rewritten outputs",
             "functions of complex numbers are arithmetic with their parts", _OUTPUTS, _REWRITTEN),
    ),
}  # fmt: skip

#: What is found out of a graph, or of a body, before its plan is made.
ANALYSES = (
    Pass("integer ranges", _PLANNER + "find_ranges", "prepared outputs", "bounds of single integers are known",
         _DRAFT + "verify_ranges"),
    Pass("bodies", _PLANNER + "plan_bodies", "bounds of single integers",
         "each body of a loop or branch has its plan, by these passes from the loop nest rewrites on",
         _DRAFT + "verify_bodies"),
    Pass("updates in place", _PLANNER + "find_updates", "the plans of bodies",
         "results that could be in the memory of what they are made from are known", _DRAFT + "verify_updates"),
)  # fmt: skip

#: From a prepared graph to its plan, of the program and of each body of a loop or branch; the same for both back ends.
#: From "fusion" on again with one update in place fewer, where steps would wait for each other.
PLANNING = (
    Pass("fusion", _PLANNER + "fuse", "outputs, and the updates in place that are possible",
         "each value is in memory, or computed in the nests that read it; each nest has one space",
         _DRAFT + "verify_fusion"),
    Pass("loop nests", _PLANNER + "build_steps", "the groups of fusion",
         "steps say what they read and write; nests are canonical, with sizes, strides and constants apart", _NESTS),
    Pass("step order", _PLANNER + "order_steps", "steps", "each follows those that write what it reads",
         _DRAFT + "verify_order"),
    Pass("buffer assignment", _PLANNER + "assign_buffers", "steps in order",
         "each value has memory; two share it only one after the other, or by decision", _DRAFT + "verify_buffers"),
    Pass("plan", _PLANNER + "finished", "steps with memory", "a plan, which says where outputs are", _PLAN),
)  # fmt: skip

#: From the plan (of the evaluator: from the graph) to what runs; of numba_cpu, each is given the compilation at
#: hand and adds to it; of numba_cuda, the first two again where a loop turns out to be too much for one block.
ON_PROGRAMS = {
    "evaluator": (
        Pass("walk", "compilers.evaluator:walk", "a graph", "each node is computed by its meaning in NumPy",
             "compilers.evaluator:verify_walk"),
    ),
    "numba": (
        Pass("source", _NJIT + "module_source:written", "a plan", "a module of Python without nxkernel",
             _NJIT + "module_source:verify_source"),
        Pass("njit", _NJIT + "executable:compiled", "a module", "numba.njit has compiled its function for the types",
             _NJIT + "executable:verify_compiled"),
    ),
    "numba_cpu": (
        Pass("program text", _COMPILATION + "write_program", "a plan",
             "LLVM of the function that strings kernels together, without sizes and names", _NATIVE + "verify_text"),
        Pass("kernels", _COMPILATION + "load_kernels", "a plan",
             "the native code of each nest and routine, from memory, from disk, or compiled, is loaded",
             _NATIVE + "verify_kernels"),
        Pass("link", _COMPILATION + "link_program", "the program's text, and its kernels' addresses",
             "the program's native code is loaded", _NATIVE + "verify_program"),
    ),
    "numba_cuda": (
        Pass("launch modes", _CUDA + "program.launch_modes:decided", "a plan, and which inputs the host knows",
             "each loop and branch says what runs it, and why: one thread, many, one block, or the host", _LAUNCHES),
        Pass("program steps", _CUDA + "program.graph_compilation:written", "a plan with launch modes",
             "launches, with their sources, and what the host does between them",
             _CUDA + "program.host_steps:verify_program"),
        Pass("kernels", _CUDA + "program.executable:Ready.load_kernels", "a program written for a device",
             "cubins, from memory, from disk, or by NVVM and the assembler, are loaded on the device",
             _CUDA + "program.host_steps:verify_kernels"),
    ),
}  # fmt: skip

COMPILERS = tuple(ON_PROGRAMS)


def passes_of(compiler: str) -> tuple[Pass, ...]:
    """All passes of a compiler, in order.

    Parameters
    ----------
    compiler : {"evaluator", "numba", "numba_cpu", "numba_cuda"}
    """
    planning = (*ANALYSES, *PLANNING) if ON_OUTPUTS[compiler] else ()
    on_graphs = (SIMPLIFY, *LEGALITY[compiler], *ON_GRAPHS[compiler])
    return (*on_graphs, *ON_OUTPUTS[compiler], *planning, *ON_PROGRAMS[compiler])


def rewritten(by: Sequence[Pass], form: Any, origin: Mapping[Any, Any], *more: Any) -> tuple[Any, dict[Any, Any]]:
    """The form after rewriting passes, and for each new node the node of the first form that it came from.

    Parameters
    ----------
    by : sequence of Pass
        Each is called with the form and `more`; it returns another one, and where its new nodes came from.
    form : Graph or sequence of Expr
    origin : mapping
        Where nodes of the form came from, as far as that is known already.
    """
    came: dict[Any, Any] = {}
    for each in by:
        form, made = each(form, *more)
        came |= {node: came.get(old, origin.get(old, old)) for node, old in made.items()}
    return form, came


def listing(compiler: str) -> str:
    """The passes of a compiler as text: a line each with name, needs and guarantees.

    Examples
    --------
    >>> print(listing("evaluator"))
    simplify: a traced graph -> constants are folded, equal nodes are one, gradients of the user's are taken
    walk: a graph -> each node is computed by its meaning in NumPy
    """
    return "\n".join(f"{one.name}: {one.needs} -> {one.guarantees}" for one in passes_of(compiler))


#: What is called behind each pass, with it and what it left.
_watching: list[Callable[[Pass, Any], None]] = []


@contextmanager
def watched(watch: Callable[[Pass, Any], None]) -> Iterator[None]:
    """A context in which a function is called after each pass, with the pass and what it left."""
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


def verify(done: Pass, made: Any) -> None:
    """Verify what a pass left.

    Raises
    ------
    VerificationError
        Where that is not well-formed.
    """
    if done.verifier:
        # A rewrite gives with what it made where that came from; what only changes what it is given gives nothing.
        form = made[0] if type(made) is tuple else made
        imported(done.verifier)(form, done.name, *([done.gone] if done.gone else []))


@contextmanager
def verifying(on: bool = True) -> Iterator[None]:
    """A context in which what passes leave is verified, or not."""
    before = list(_watching)
    _watching[:] = [watch for watch in before if watch is not verify] + [verify] * on
    try:
        yield
    finally:
        _watching[:] = before


def is_verifying() -> bool:
    """Whether verification is on."""
    return verify in _watching


if os.environ.get("NXKERNEL_VERIFY", "") not in ("", "0"):
    _watching.append(verify)
