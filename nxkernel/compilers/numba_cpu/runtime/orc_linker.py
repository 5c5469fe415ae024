"""Linking object files by LLVM's ORC linker, on systems that our ELF linker does not support."""

from __future__ import annotations

import functools
import itertools

from llvmlite import binding as llvm

from nxkernel.compilers.numba_cpu.target import target_processor

_numbers = itertools.count()


@functools.cache
def _compiler() -> llvm.LLJIT:
    machine = target_processor.target().create_target_machine(reloc="static", codemodel="jitdefault", jit=True)
    return llvm.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)


def link(code: bytes, names: list[str], symbols: dict[str, int]) -> tuple[object, dict[str, int]]:
    """Load an object file into memory.

    Parameters
    ----------
    code : bytes
    names : list of str
        Of the functions that are asked for.
    symbols : dict
        Addresses of what it may call besides the functions of this process.

    Returns
    -------
    object
        The code lives as long as this does.
    dict
        The addresses of the functions.
    """
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in symbols.items():
        library.import_symbol(name, address)
    for name in names:
        library.export_symbol(name)
    tracker = library.link(_compiler(), f"nxkernel-{next(_numbers)}")
    return tracker, {name: tracker[name] for name in names}
