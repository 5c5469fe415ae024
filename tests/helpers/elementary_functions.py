"""The elementary functions as machine code on arrays, and how far numbers are from what others compute."""

import ctypes
import functools

import llvmlite.binding as llvm
import numpy as np

from nxkernel.compilers.numba_cpu.codegen import elementary
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, RangeLoop, vector

TYPES = {"float": np.float32, "double": np.float64}


@functools.cache
def engine():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2, reloc="static", codemodel="jitdefault", jit=True
    )
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), machine


@functools.cache
def compiled(name, element, lanes, *, inline=True):
    """The function on arrays, as a loop over groups of `lanes` elements."""
    module, count = IRModule(), elementary.ARITY[name]
    symbol = elementary.define(module, name, element, lanes, inline=inline)
    entry = f"loop.{symbol}.{inline:d}"
    b = FunctionBuilder(module, entry, "void", [(f"p{i}", "ptr") for i in range(count + 1)] + [("n", "i64")])
    loop = RangeLoop(b, b.constant("i64", 0), IRValue("i64", 1, "%n"), b.constant("i64", lanes))
    places = [b.offset(IRValue("ptr", 1, f"%p{i}"), element, loop.index) for i in range(count + 1)]
    values = [b.emit(f"load {vector(element, lanes)}, {place}, align 4", element, lanes) for place in places[:-1]]
    b.do(f"store {b.call(symbol, element, lanes, *values)}, {places[-1]}, align 4")
    loop.end()
    b.do("ret void")
    b.finish()
    jit, machine = engine()
    assembly = llvm.parse_assembly(str(module))
    assembly.triple, assembly.data_layout = llvm.get_process_triple(), str(jit.target_data)
    assembly.verify()
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(assembly, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
    jit.add_object_file(llvm.ObjectFileRef.from_data(machine.emit_object(assembly)))
    jit.finalize_object()
    native = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (count + 1), ctypes.c_int64)(jit.get_function_address(entry))

    def run(*operands):
        size = len(operands[0])
        operands = [np.append(operand, np.ones(-size % lanes)).astype(TYPES[element]) for operand in operands]
        result = np.empty_like(operands[0])
        native(*(array.ctypes.data for array in (*operands, result)), result.size)
        return result[:size]

    return run


def ulps(result, reference):
    """How far from a more precise reference, in units in the last place of its rounding; inf where the kind differs."""
    with np.errstate(all="ignore"):
        rounded = reference.astype(result.dtype)
        finite = np.isfinite(rounded) & np.isfinite(result)
        unit = np.spacing(np.abs(np.where(finite, rounded, 1)))
        distance = np.abs(np.where(finite, result, 0).astype(reference.dtype) - np.where(finite, reference, 0)) / unit
        same = (np.isnan(result) & np.isnan(rounded)) | (
            (result == rounded) & (np.signbit(result) == np.signbit(rounded))
        )
        return np.where(finite & (result != 0) | same, distance, np.where(finite & (rounded != 0), distance, np.inf))
