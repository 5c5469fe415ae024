"""LLVM IR to object code by llvmlite.

Kernels are vectors already, so that all they need is to have small functions inlined: on a chain of 200 operations that
is 15 ms, where the passes that Numba runs on code that comes from Python, and its vectorizer, take 75 ms for the same
speed. Numba itself is imported for functions that it has compiled, and for nothing else.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import binding as llvm

from nxkernel.compilers.numba_cpu.codegen import user_functions
from nxkernel.compilers.numba_cpu.target import target_processor
from nxkernel.numba_functions import run_passes


@functools.cache
def _machine() -> llvm.TargetMachine:
    """The target machine for code that is loaded into this process."""
    return target_processor.target_machine()


def _module(text: str) -> llvm.ModuleRef:
    """A parsed LLVM module, linked with the user's functions that it calls."""
    machine = _machine()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    for wrapper in user_functions.wrappers(text):
        module.link_in(wrapper, preserve=True)
    return module


def _inline(module: llvm.ModuleRef) -> None:
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    run_passes(passes, module, _builder(level=1))


def _optimize_loops(module: llvm.ModuleRef, *, unrolling: bool = True) -> None:
    builder = _builder(level=3, unrolling=unrolling)
    run_passes(builder.getModulePassManager(), module, builder)


@functools.cache
def _builder(level: int, unrolling: bool = True) -> llvm.PassBuilder:
    """A pass builder; kept, since LLVM leaks the memory of each."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_unrolling = unrolling
    return llvm.create_pass_builder(_machine(), options)


def compile_object(text: str, *, loops: bool = False) -> bytes:
    """Compile a module of LLVM IR to an object file.

    Parameters
    ----------
    text : str
        The module.
    loops : bool
        Whether LLVM is to optimize loops; those of kernels are optimal as they are written.

    Returns
    -------
    bytes
        An object file in the format of the platform.
    """
    module = _module(text)
    if loops:
        _optimize_loops(module)
    else:
        _inline(module)
    return _machine().emit_object(module)


def optimized(text: str, name: str, function: llvm.ModuleRef | None = None) -> Any:
    """A module that calls a function, linked with it and optimized, its loops vectorized.

    Parameters
    ----------
    text : str
        The module.
    name : str
        Of the one function in it that others can see.
    function : llvmlite.binding.ModuleRef, optional
        The module of the function, if it is not one of a library.

    Returns
    -------
    llvmlite.binding.ModuleRef
    """
    module = _module(text)
    if function is not None:
        module.link_in(function)
    for one in module.functions:
        if not one.is_declaration and one.name != name:
            one.linkage = "internal"
    _optimize_loops(module, unrolling=False)
    _optimize_loops(module)
    # Kernels that have taken it in throw it away; until here, nobody calls it.
    module.get_function(name).linkage = "linkonce_odr"
    return module


def assembly(text: str) -> str:
    """The machine code of a module as assembly text."""
    module = _module(text)
    _inline(module)
    return _machine().emit_assembly(module)
