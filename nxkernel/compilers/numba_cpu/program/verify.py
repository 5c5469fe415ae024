"""Verification of compilations: LLVM accepts the text, and everything it calls is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llvmlite import binding as llvm

from nxkernel.compilers.numba_cpu.program.compilation import Compilation
from nxkernel.compilers.numba_cpu.program.program_writer import is_inlined
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode
from nxkernel.compilers.plan.nested_plans import all_plans
from nxkernel.compilers.plan.program_plan import ProgramPlan, Step
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.errors import VerificationError
from nxkernel.graph.verify import Problem


def _raise_first(problems: Iterable[Problem], after: str) -> None:
    for subject, expected, actual in problems:
        raise VerificationError(after, subject, expected, actual)


def verify_text(compilation: Compilation, after: str) -> None:
    """Check the text of a program, and the scalar parameters that it reads.

    Parameters
    ----------
    compilation : Compilation
    after : str
        The pass that made it, which the error names.

    Raises
    ------
    VerificationError
        At the first thing that is wrong, as all of these functions do.
    """
    _raise_first(_text(compilation), after)


def _text(compilation: Compilation) -> Iterator[Problem]:
    text = compilation.text
    what = f"the program {text.symbol}"
    try:
        with llvm.parse_assembly(text.text) as module:
            module.verify()
            defined = {function.name for function in module.functions if not function.is_declaration}
    except RuntimeError as error:
        yield what, "text that LLVM takes", str(error).strip().partition("\n")[0]
        return
    if text.symbol not in defined:
        yield what, "a function of that name", ", ".join(sorted(defined)) or "none"
    for position, name in text.kernels.items():
        if not 0 < position < len(text.params):
            yield f"the address of {name} in {what}", f"a parameter below {len(text.params)}", f"parameter {position}"
        elif text.params[position]:
            yield f"the address of {name} in {what}", "0, since it is another one in each process", "an address"
    called = set(text.kernels.values())
    for plan in all_plans(compilation.plan):
        for name in [step.work.nest.key for step in plan.steps if _is_called(plan, step)]:
            if name not in called and f"@{name}" not in text.text:
                yield what, f"a call of the kernel {name}", "none"


def _is_called(plan: ProgramPlan, step: Step) -> bool:
    """Whether a step is a nest with a kernel that is called, not inlined."""
    return isinstance(step.work, BoundNest) and step.work.count > 0 and not is_inlined(plan, step.work)


def verify_kernels(compilation: Compilation, after: str) -> None:
    """Check that each kernel that a program calls is loaded."""
    _raise_first(_kernels(compilation), after)


def _kernels(compilation: Compilation) -> Iterator[Problem]:
    for name in dict.fromkeys(compilation.text.kernels.values()):
        yield from _loaded(f"the kernel {name}", compilation.uses.get(name))


def verify_program(compilation: Compilation, after: str) -> None:
    """Check that a program is loaded, with the kernels that it calls."""
    _raise_first(_program(compilation), after)


def _program(compilation: Compilation) -> Iterator[Problem]:
    yield from _loaded(f"the program {compilation.text.symbol}", compilation.code.code)
    for name in dict.fromkeys(compilation.text.kernels.values()):
        if compilation.code.kernels.get(name) is not compilation.uses.get(name):
            yield f"the kernel {name}", "the code that was loaded for it", "other code, or none"


def _loaded(what: str, code: LoadedCode | None) -> Iterator[Problem]:
    if code is None or not code.address:
        yield what, "native code with an address", "none"
