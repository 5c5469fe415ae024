"""Kernels for GPUs as the compiler translates them, run on the processor: one thread after the other."""

import ctypes
import ctypes.util
import itertools
import re

import llvmlite.binding as llvm
import numpy as np
import scipy.special

from nxkernel.compilers.numba_cuda import elements, nvvm

#: Without instructions of PTX in the text, which newer GPUs have for some conversions.
CAPABILITY = (7, 5)
REGISTERS = ("tid", "ctaid", "ntid", "nctaid")
_FLOATS = {"float": ctypes.c_float, "double": ctypes.c_double}
_OWN = {"rsqrt": lambda x: 1 / np.sqrt(x), "erfinv": scipy.special.erfinv, "mul_rn": lambda x, y: x * y}
_CALL = re.compile(r'declare (float|double) @"__nv_(\w+)"\(([^)]*)\)')


class OnProcessor:
    """A source as a native function of this processor.

    Parameters
    ----------
    source : Source
        It must neither wait for other threads nor be written with instructions of PTX.
    """

    def __init__(self, source):
        text = str(nvvm.module(source, CAPABILITY))
        assert not re.search(r"barrier|shfl| asm |addrspace", text), "only a GPU has that"
        self.parameters, self._kept = source.parameters, []
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        native = llvm.parse_assembly(self._of_this_processor(text))
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(native, machine)
        self._engine.finalize_object()
        kinds = [np.ctypeslib.as_ctypes_type(elements.numpy_type(p)) for p in self.parameters]
        kinds = [ctypes.c_void_p if p.endswith("*") else kind for p, kind in zip(self.parameters, kinds, strict=True)]
        self._function = ctypes.CFUNCTYPE(None, *kinds)(self._engine.get_function_address(source.symbol))

    def _of_this_processor(self, text):
        # Numbers of threads and blocks are globals here, and pointers have no types.
        for name, axis in itertools.product(REGISTERS, "xyz"):
            whole = f"llvm.nvvm.read.ptx.sreg.{name}.{axis}"
            text = text.replace(f'declare i32 @"{whole}"()', f"@{name}_{axis} = global i32 1")
            text = re.sub(rf'call i32 @"{re.escape(whole)}"\(\)', f"load i32, ptr @{name}_{axis}", text)
        text = re.sub(r"[\w%.]+\*+", "ptr", text)
        for kind, name, given in _CALL.findall(text):
            llvm.add_symbol(f"__nv_{name}", self._address(name, _FLOATS[kind], given.count(",") + 1))
        lines = [line for line in text.splitlines() if not re.match(r'target|!|@"llvm.used', line)]
        return "\n".join(lines)

    def _address(self, name, kind, count):
        own = _OWN.get(name) or (_OWN["mul_rn"] if name.endswith("mul_rn") else None)
        if own is None:
            function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
        else:
            dtype = np.dtype(kind)

            def quiet(*given):
                with np.errstate(all="ignore"):
                    return float(own(*map(dtype.type, given)))

            function = ctypes.CFUNCTYPE(kind, *[kind] * count)(quiet)
        self._kept.append(function)
        return ctypes.cast(function, ctypes.c_void_p).value

    def run(self, grid, block, *arguments):
        """Run each thread; arrays are changed."""
        given = [
            argument.ctypes.data if parameter.endswith("*") else elements.numpy_type(parameter).type(argument).item()
            for parameter, argument in zip(self.parameters, arguments, strict=True)
        ]
        sizes = [(*size, 1, 1)[:3] for size in (grid, block)]
        for size, name in zip(sizes, ("nctaid", "ntid"), strict=True):
            self._set(name, size)
        for number in np.ndindex(*sizes[0]):
            self._set("ctaid", number)
            for thread in np.ndindex(*sizes[1]):
                self._set("tid", thread)
                self._function(*given)

    def _set(self, name, numbers):
        for axis, number in zip("xyz", numbers, strict=True):
            address = self._engine.get_global_value_address(f"{name}_{axis}")
            if address:
                ctypes.c_int32.from_address(address).value = number
