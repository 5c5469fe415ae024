"""LLVM IR to object code, through Numba's code library.

The passes that Numba runs on a library are made for code that comes from Python: they vectorize loops and prune
reference counts. Our kernels are vectors already, so that all they need is to have small functions inlined; on a chain
of 200 operations that is 15 ms instead of 75 ms, at the same speed of the code.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen, get_host_cpu_features
from numba.core.compiler_lock import global_compiler_lock

from nxkernel.compilers.numba_cpu import functions
from nxkernel.numba_functions import ScalarFunction, core


class _Library(AOTCodeLibrary):
    """A code library that only inlines, and that is made into an object instead of being loaded."""

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    loops = False
    #: Whether loops become vectors before any is written out.
    vectors_first = False

    def _optimize_final_module(self) -> None:
        if self.vectors_first:
            self._run_all(unrolling=False)
        if self.loops:
            self._run_all(unrolling=True)
        else:
            passes = llvm.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
            passes.run(self._final_module, self._builder(level=1))

    def _builder(self, level: int, unrolling: bool = True) -> llvm.PassBuilder:
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_unrolling = unrolling
        return llvm.create_pass_builder(self._codegen._tm, options)

    def _run_all(self, unrolling: bool) -> None:
        builder = self._builder(3, unrolling)
        builder.getModulePassManager().run(self._final_module, builder)


class _Codegen(AOTCPUCodegen):
    """Numba's ahead-of-time code generator, for the processor at hand and for code that is loaded into this process."""

    _library_class = _Library

    def _customize_tm_features(self) -> str:
        return get_host_cpu_features()

    def _customize_tm_options(self, options: dict) -> None:
        options.update(
            cpu=self._get_host_cpu_name(),
            features=self._tm_features,
            reloc="static",
            codemodel="jitdefault",
            jit=True,
            opt=2,
        )


_codegen: _Codegen | None = None


def _library(text: str, name: str, loops: bool) -> _Library:
    """A library of a module of LLVM IR, with the functions of the user's that it calls."""
    global _codegen
    if _codegen is None:
        _codegen = _Codegen("nxkernel")
    library = _codegen.create_library(name)
    library.loops = loops
    for other in functions.libraries(text):
        library.add_linking_library(other)
    library.add_llvm_module(llvm.parse_assembly(text))
    return library


@global_compiler_lock
def compile_object(text: str, name: str, *, loops: bool = False) -> bytes:
    """Object code for a module of LLVM IR.

    Parameters
    ----------
    text : str
        The module.
    name : str
        The name of the library, for messages.
    loops : bool
        Whether LLVM is to optimize loops; those of kernels are optimal as they are written.

    Returns
    -------
    bytes
        An object file in the format of the platform.
    """
    return _library(text, name, loops).emit_native_object()


@global_compiler_lock
def optimized(text: str, name: str, function: ScalarFunction) -> Any:
    """A library of a module that calls a function of the user's, with that function and loops optimized.

    Parameters
    ----------
    text : str
        The module.
    name : str
        Of the one function in it that others can see.
    function : ScalarFunction
    """
    library = _library(text, name, loops=True)
    library.vectors_first = True
    library.add_llvm_module(core(function.compiled))
    for one in library._final_module.functions:
        if not one.is_declaration and one.name != name:
            one.linkage = "internal"
    library.finalize()
    return library


@global_compiler_lock
def assembly(text: str) -> str:
    """The machine code of a module, as text for people."""
    library = _library(text, "assembly", loops=False)
    library.finalize()
    return _codegen._tm.emit_assembly(library._final_module)
