"""LLVM IR to object code, through Numba's code library. The only module that touches Numba's internals.

The passes that Numba runs on a library are made for code that comes from Python: they vectorize loops and prune
reference counts. Our kernels are vectors already, so that all they need is to have small functions inlined; on a chain
of 200 operations that is 15 ms instead of 75 ms, at the same speed of the code.
"""

from __future__ import annotations

from llvmlite import binding as llvm
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen, get_host_cpu_features
from numba.core.compiler_lock import global_compiler_lock


class _Library(AOTCodeLibrary):
    """A code library that only inlines, and that is made into an object instead of being loaded."""

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    loops = False

    def _optimize_final_module(self) -> None:
        level = 3 if self.loops else 1
        builder = llvm.create_pass_builder(self._codegen._tm, llvm.create_pipeline_tuning_options(speed_level=level))
        if self.loops:
            passes = builder.getModulePassManager()
        else:
            passes = llvm.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
        passes.run(self._final_module, builder)


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


@global_compiler_lock
def compile_object(text: str, name: str, *, libraries: tuple = (), loops: bool = False) -> bytes:
    """Object code for a module of LLVM IR.

    Parameters
    ----------
    text : str
        The module.
    name : str
        The name of the library, for messages.
    libraries : tuple
        Numba code libraries to link in, such as that of a function of the user's.
    loops : bool
        Whether LLVM is to optimize loops; those of kernels are optimal as they are written.

    Returns
    -------
    bytes
        An object file in the format of the platform.
    """
    global _codegen
    if _codegen is None:
        _codegen = _Codegen("nxkernel")
    library = _codegen.create_library(name)
    library.loops = loops
    for other in libraries:
        library.add_linking_library(other)
    library.add_llvm_module(llvm.parse_assembly(text))
    return library.emit_native_object()


@global_compiler_lock
def assembly(text: str) -> str:
    """The machine code of a module, as text for people."""
    global _codegen
    if _codegen is None:
        _codegen = _Codegen("nxkernel")
    library = _codegen.create_library("assembly")
    library.add_llvm_module(llvm.parse_assembly(text))
    library.finalize()
    return _codegen._tm.emit_assembly(library._final_module)
