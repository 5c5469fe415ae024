"""Kernels for GPUs run on this machine's processor: their LLVM IR, as it would go to NVIDIA's compiler.

Threads of a block are threads here, which run at the same time. What libdevice computes, the C library computes here;
what only PTX has is stood in for.
"""

import contextlib
import ctypes
import functools
import itertools
import re
import threading
import types as modules
from unittest import mock

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from nxkernel.compilers.numba_cuda.toolchain import device_intrinsics, memory_intrinsics, python_to_llvm

__all__ = ["HostKernel", "engine_of", "stand_in", "without_ptx"]

I1, I16, I32 = ir.IntType(1), ir.IntType(16), ir.IntType(32)
FLOAT = ir.FloatType()
#: Elements of each array of dynamic shared memory.
DYNAMIC = 1 << 16
#: Seconds that a thread waits for the others of its block.
PATIENCE = 60
#: Lanes of a warp.
WARP = 32


@contextlib.contextmanager
def without_ptx():
    """Have intrinsics written for a processor without newer instructions, and others instead of PTX's moves."""
    flags = modules.SimpleNamespace(compute_capability=(7, 5))
    stack = modules.SimpleNamespace(ConfigStack=lambda: modules.SimpleNamespace(top=lambda: flags))
    with (
        mock.patch.object(device_intrinsics, "targetconfig", stack),
        mock.patch.object(memory_intrinsics.nvvmutils, "targetconfig", stack),
        mock.patch.object(memory_intrinsics, "_asm", _move),
    ):
        yield


def _move(b, result, text, constraints, *given):
    half = ir.Constant(I32, 16)
    if text in ("mov.b32 $0, $1;", "mov.u64 $0, $1;"):
        return given[0]
    if text == "mov.b32 $0, {$1, $2};":
        return b.or_(b.zext(given[0], I32), b.shl(b.zext(given[1], I32), half))
    assert text == "mov.b32 {$0, $1}, $2;"
    both = b.insert_value(ir.Constant(result, ir.Undefined), b.trunc(given[0], I16), 0)
    return b.insert_value(both, b.trunc(b.lshr(given[0], half), I16), 1)


# What the module calls -------------------------------------------------------------------------------------------

_here = threading.local()


class _Block:
    """What the threads of a block have in common."""

    def __init__(self, grid, block, place):
        self.sizes = {"ntid": block, "nctaid": grid, "ctaid": place}
        count = int(np.prod(block))
        self.barrier = threading.Barrier(count, timeout=PATIENCE)
        self.warps = [threading.Barrier(min(WARP, count - n), timeout=PATIENCE) for n in range(0, count, WARP)]
        self.words = [0] * count


def _special(name, axis):
    def read():
        return _here.place[axis] if name == "tid" else _here.block.sizes[name][axis]

    return read


def _shuffle(word, distance):
    """The word of the thread of this warp whose number differs by `distance`."""
    block, number = _here.block, _here.number
    barrier = block.warps[number // WARP]
    block.words[number] = word
    barrier.wait()
    found = block.words[number ^ distance] if number ^ distance < len(block.words) else word
    barrier.wait()
    return found


@functools.cache
def _callbacks():
    """What the processor lacks, known to LLVM by name; they have to be kept."""
    from scipy.special import erfinv

    special = ctypes.CFUNCTYPE(ctypes.c_int32)
    made = {
        f"nx_{name}_{axis}": special(_special(name, "xyz".index(axis)))
        for name, axis in itertools.product(("tid", "ctaid", "ntid", "nctaid"), "xyz")
    }
    made["nx_barrier"] = ctypes.CFUNCTYPE(None)(lambda: _here.block.barrier.wait() and None)
    made["nx_shuffle"] = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)(_shuffle)
    single, double = ctypes.c_float, ctypes.c_double
    made["erfinvf"] = ctypes.CFUNCTYPE(single, single)(lambda x: erfinv(np.float32(x)))
    made["erfinv"] = ctypes.CFUNCTYPE(double, double)(erfinv)
    for name, function in made.items():
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return made


def stand_in(module):
    """Define what a module declares of libdevice and of NVIDIA's intrinsics; its text, for this machine."""
    _callbacks()
    for function in list(module.functions):
        if not function.blocks:
            _define(module, function)
    text = str(module)
    for name in ("tid", "ctaid", "ntid", "nctaid"):
        text = re.sub(rf"llvm\.nvvm\.read\.ptx\.sreg\.{name}\.([xyz])", rf"nx_{name}_\1", text)
    text = text.replace("llvm.nvvm.barrier0", "nx_barrier").replace("llvm.nvvm.", "nx_")
    text = re.sub(r"addrspace\([13]\)", "", text)
    text = text.replace("addrspacecast", "bitcast").replace("[0 x ", f"[{DYNAMIC} x ")
    return re.sub(r"(@\S*dynamic_\S+ = )external\s+global (\[[^]]*\])", r"\1internal global \2 zeroinitializer", text)


def _define(module, function):
    name, given = function.name, function.args
    kind = given[0].type if given else None
    if name == "llvm.nvvm.shfl.sync.i32":
        b = ir.IRBuilder(function.append_basic_block())
        shuffle = ir.Function(module, ir.FunctionType(I32, [I32, I32]), "nx_shuffle")
        word = b.call(shuffle, [given[2], given[3]])
        b.ret(b.insert_value(b.insert_value(ir.Constant(function.return_value.type, ir.Undefined), word, 0), I1(1), 1))
    elif name.startswith("llvm.nvvm.atomic.load.add"):
        b = ir.IRBuilder(function.append_basic_block())
        b.ret(b.atomic_rmw("fadd", given[0], given[1], "monotonic"))
    elif name.startswith("__nv_"):
        b = ir.IRBuilder(function.append_basic_block())
        own = name.removeprefix("__nv_")
        if own in ("fmul_rn", "dmul_rn"):
            b.ret(b.fmul(*given))
            return
        inverse = own in ("rsqrt", "rsqrtf")
        own = own.removeprefix("r") if inverse else own
        called = module.globals.get(own) or ir.Function(module, ir.FunctionType(kind, [kind] * len(given)), own)
        result = b.call(called, given)
        b.ret(b.fdiv(ir.Constant(kind, 1.0), result) if inverse else result)


def engine_of(text):
    """Machine code of a module's text; it lives as long as what this gives."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


class HostKernel:
    """A kernel that runs here.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source):
        self.source = source
        module = ir.Module()
        with without_ptx():
            python_to_llvm.translate(source.text, source.name, "kernel", source.parameters, module)
        self.engine = engine_of(stand_in(module))
        kinds = [_argument(parameter) for parameter in source.parameters]
        self.function = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address("kernel"))

    def run(self, grid, block, shared, arguments):
        """Run all threads, one block after the other; arguments are arrays and numbers."""
        grid, block = ((*sizes, 1, 1)[:3] for sizes in (grid, block))
        given = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in arguments]
        given = [one.item() if isinstance(one, np.generic) else one for one in given]
        for place in np.ndindex(*grid[::-1]):
            common = _Block(grid, block, place[::-1])
            threads = [
                threading.Thread(target=self._thread, args=(common, number, thread[::-1], given))
                for number, thread in enumerate(np.ndindex(*block[::-1]))
            ]
            if len(threads) == 1:
                threads[0].run()
                continue
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _thread(self, block, number, place, given):
        _here.block, _here.number, _here.place = block, number, place
        self.function(*given)


def _argument(parameter):
    if parameter.endswith("*"):
        return ctypes.c_void_p
    kind, bits = parameter[0], parameter[1:]
    if kind == "f":
        return {"32": ctypes.c_float, "64": ctypes.c_double}[bits]
    return getattr(ctypes, f"c_{'u' if kind == 'u' else ''}int{bits}")
