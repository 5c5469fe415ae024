"""Calls of the user's Numba functions in kernels: inlined, and called once for each lane of a vector.

For a function and a number of lanes there is one wrapper of vectors, a loop over the lanes that LLVM makes vector
instructions of where the function allows it. Kernels declare the wrapper by a name that tells its content, and
:func:`wrappers` gives what has to be linked for the names in a text.
"""

from __future__ import annotations

import ctypes
import functools
import pickle
import re
import weakref
from collections.abc import Sequence
from typing import Any

from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import Register, elements, from_parts, parts
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, vector
from nxkernel.compilers.numba_cpu.runtime import host_calls
from nxkernel.compilers.numba_cpu.target.element_types import REGISTER
from nxkernel.errors import CompilationError, message
from nxkernel.library_functions import ElementFunction
from nxkernel.numba_functions import ScalarFunction, core

_PREFIX = "nx.njit."
_DECLARED = re.compile(rf"^declare .*@{re.escape(_PREFIX)}(\w+)\.(\d+)\(", re.MULTILINE)
#: The functions that kernels call, by key, as long as a graph has them.
_functions: weakref.WeakValueDictionary[str, ScalarFunction | ElementFunction] = weakref.WeakValueDictionary()


def call(
    b: FunctionBuilder,
    function: ScalarFunction | ElementFunction,
    values: Sequence[Register],
    mask: IRValue | None,
    failure: IRValue,
) -> Register:
    """Call a function of single numbers for every lane of the mask.

    Parameters
    ----------
    b : FunctionBuilder
    function : ScalarFunction or ElementFunction
    values : sequence of IRValue or Pair
        Numbers of the types that it takes.
    mask : IRValue or None
        The lanes that it is called for, the first ones of a vector; others repeat the first.
    failure : IRValue
        The address of 64 bits that are set to what describes an error, when it raises one.

    Returns
    -------
    Value or Pair
    """
    _functions[function.key] = function
    lanes = values[0].lanes
    values_of_parts = [part for value in values for part in parts(value)]
    active = b.constant("i1", 1)
    if mask is not None and lanes > 1:
        active = b.extract(mask, 0)
        values_of_parts = [b.select(mask, value, b.splat(b.extract(value, 0), lanes)) for value in values_of_parts]
    results = [vector(element, lanes) for element in elements(function.result)]
    result = results[0] if len(results) == 1 else f"{{ {', '.join(results)} }}"
    symbol = f"{_PREFIX}{function.key}.{lanes}"
    arguments = [*values_of_parts, failure, active]
    b.module.declare(symbol, result, [value.type for value in arguments])
    element = REGISTER[function.result]
    returned = b.emit(f"call {result} @{symbol}({', '.join(map(str, arguments))})", element, lanes)
    if len(results) == 1:
        return returned
    return from_parts([b.emit(f"extractvalue {result} {returned.text}, {index}", element, lanes) for index in (0, 1)])


def wrappers(text: str) -> list[Any]:
    """The modules of the wrappers that a module of LLVM IR declares, as copies to link."""
    return [_wrapper(_functions[key], int(lanes)).clone() for key, lanes in _DECLARED.findall(text)]


@functools.lru_cache(maxsize=256)
def _wrapper(function: ScalarFunction | ElementFunction, lanes: int) -> Any:
    """The optimized module of a function's wrapper for vectors."""
    from nxkernel.compilers.numba_cpu.codegen.object_code import optimized

    symbol = f"{_PREFIX}{function.key}.{lanes}"
    if isinstance(function, ElementFunction):
        return optimized(_published_text(function, lanes, symbol), symbol)
    return optimized(_Wrapper(function, lanes).text(symbol), symbol, core(function.compiled))


def _published_text(function: ElementFunction, lanes: int, symbol: str) -> str:
    """The LLVM module of the wrapper of a C function: one call for each lane, written out."""
    names = [REGISTER[type_] for type_ in function.types]
    outputs = [REGISTER[type_] for type_ in function.outputs]
    element = REGISTER[function.result]
    result = vector(element, lanes)
    # What returns its result takes a number besides, by which Cython knows that no method of that name is asked for.
    passed = [*names, *["ptr"] * len(outputs)] if outputs else [*names, "i32"]
    parameters = [f"{vector(name, lanes)} %a{place}" for place, name in enumerate(names)]
    lines = [
        f"declare {'void' if outputs else element} @{function.symbol}({', '.join(passed)}) nounwind",
        f"define {result} @{symbol}({', '.join([*parameters, 'ptr %failure', 'i1 %active'])}) "
        'alwaysinline "prefer-vector-width"="512" {',
        "entry:",
        *[f"  %o{place} = alloca {name}" for place, name in enumerate(outputs)],
        "  br i1 %active, label %lanes, label %done",
        "lanes:",
    ]
    last = "zeroinitializer"
    for lane in range(lanes):
        numbers = [f"{name} %a{place}" for place, name in enumerate(names)]
        if lanes > 1:
            numbers = [f"{name} %x{lane}.{place}" for place, name in enumerate(names)]
            lines += [
                f"  %x{lane}.{place} = extractelement {vector(name, lanes)} %a{place}, i64 {lane}"
                for place, name in enumerate(names)
            ]
        if outputs:
            addresses = [f"ptr %o{place}" for place in range(len(outputs))]
            lines += [
                f"  call void @{function.symbol}({', '.join([*numbers, *addresses])})",
                f"  %r{lane} = load {element}, ptr %o{function.output}",
            ]
        else:
            lines.append(f"  %r{lane} = call {element} @{function.symbol}({', '.join([*numbers, 'i32 0'])})")
        if lanes > 1:
            lines.append(f"  %v{lane} = insertelement {result} {last}, {element} %r{lane}, i64 {lane}")
            last = f"%v{lane}"
    last, none = (last, "zeroinitializer") if lanes > 1 else ("%r0", "0" if element == "i64" else "0.0")
    lines += ["  br label %done", "done:", f"  %result = phi {result} [ {none}, %entry ], [ {last}, %lanes ]"]
    return "\n".join([*lines, f"  ret {result} %result", "}"])


class _Wrapper:
    """Builds a wrapper: a loop over the lanes calls the function, by way of arrays on the stack.

    The function follows Numba's convention of calls: it is given the addresses for its result and for what describes
    an error, and returns a status. That part is left to Numba.
    """

    def __init__(self, function: ScalarFunction, lanes: int) -> None:
        self.function, self.lanes = function, lanes

    def text(self, symbol: str) -> str:
        """The LLVM module of the wrapper, named `symbol`."""
        from llvmlite import ir

        compiled, lanes = self.function.compiled, self.lanes
        context, signature = compiled.target_context, compiled.signature
        module = context.create_module(symbol)
        own = [_parts(context, one) for one in signature.args]
        result = _parts(context, signature.return_type)
        wide, bit, pointer = ir.IntType(64), ir.IntType(1), ir.IntType(64).as_pointer()

        def several(kind: Any) -> Any:
            return kind if lanes == 1 else ir.VectorType(kind, lanes)

        returned = [several(kind) for kind in result]
        parameter_types = [several(kind) for kinds in own for kind in kinds]
        result_type = returned[0] if len(returned) == 1 else ir.LiteralStructType(returned)
        wrapper = ir.Function(module, ir.FunctionType(result_type, [*parameter_types, pointer, bit]), symbol)
        wrapper.attributes.add("alwaysinline")
        *arguments, failure, active = wrapper.args
        b = ir.IRBuilder(wrapper.append_basic_block("entry"))
        slots = [b.alloca(argument.type) for argument in arguments]
        outs = [b.alloca(kind) for kind in returned]
        for argument, slot in zip(arguments, slots, strict=True):
            b.store(argument, slot)
        for kind, out in zip(returned, outs, strict=True):
            b.store(ir.Constant(kind, None), out)
        entry = b.block
        lane, failed, fine, done = [wrapper.append_basic_block(name) for name in ("lane", "failed", "fine", "done")]
        b.cbranch(active, lane, done)
        b.position_at_end(lane)
        zero, one = ir.Constant(wide, 0), ir.Constant(wide, 1)
        index, worst = b.phi(wide), b.phi(wide)
        index.add_incoming(zero, entry)
        worst.add_incoming(zero, entry)

        def at(slot: Any, kind: Any) -> Any:
            return b.gep(b.bitcast(slot, kind.as_pointer()), [index], inbounds=True)

        kinds = iter([*zip(slots, [kind for kinds in own for kind in kinds], strict=True)])
        numbers = []
        for numba_type, count in zip(signature.args, map(len, own), strict=True):
            loaded = [b.load(at(*next(kinds))) for _ in range(count)]
            numbers.append(_number(context, b, numba_type, loaded))
        callee = context.declare_function(module, compiled.fndesc)
        status, value = context.call_conv.call_function(b, callee, signature.return_type, signature.args, numbers)
        for kind, out, part in zip(
            result, outs, _parts_of_number(context, b, signature.return_type, value), strict=True
        ):
            b.store(part, at(out, kind))
        # The greatest of addresses stands for any: reductions of that kind become vectors.
        error = b.select(status.is_error, b.ptrtoint(status.excinfoptr, wide), zero)
        greatest = module.declare_intrinsic("llvm.umax", [wide], ir.FunctionType(wide, [wide, wide]))
        following = b.call(greatest, [worst, error])
        after = b.add(index, one)
        index.add_incoming(after, b.block)
        worst.add_incoming(following, b.block)
        b.cbranch(b.icmp_unsigned("<", after, ir.Constant(wide, lanes)), lane, failed)
        b.position_at_end(failed)
        store = wrapper.append_basic_block("store")
        b.cbranch(b.icmp_unsigned("!=", following, zero), store, fine)
        b.position_at_end(store)
        b.store_atomic(following, failure, "monotonic", 8)
        b.branch(fine)
        b.position_at_end(fine)
        b.branch(done)
        b.position_at_end(done)
        returned_parts = [b.load(out) for out in outs]
        if len(returned_parts) == 1:
            b.ret(returned_parts[0])
        else:
            both = ir.Constant(result_type, ir.Undefined)
            for part_index, part in enumerate(returned_parts):
                both = b.insert_value(both, part, part_index)
            b.ret(both)
        # Kernels have vectors of 512 bits, which narrower processors split; so do wrappers.
        return str(module).replace(" alwaysinline", ' alwaysinline "prefer-vector-width"="512"')


def _parts(context: Any, numba_type: Any) -> list[Any]:
    """The element types that a Numba number is made of in vectors."""
    from llvmlite import ir
    from numba.core import types

    if isinstance(numba_type, types.Complex):
        return [context.get_value_type(numba_type.underlying_float)] * 2
    if isinstance(types.unliteral(numba_type), types.Boolean):
        return [ir.IntType(8)]
    return [context.get_value_type(numba_type)]


def _number(context: Any, b: Any, numba_type: Any, loaded: list[Any]) -> Any:
    """A Numba value from its loaded parts."""
    from llvmlite import ir
    from numba.core import types

    if isinstance(numba_type, types.Complex):
        number = context.make_complex(b, numba_type)
        number.real, number.imag = loaded
        return number._getvalue()
    (value,) = loaded
    if isinstance(numba_type, types.Boolean):
        return b.icmp_unsigned("!=", value, ir.Constant(value.type, 0))
    return value


def _parts_of_number(context: Any, b: Any, numba_type: Any, value: Any) -> list[Any]:
    """The parts of a Numba value."""
    from llvmlite import ir
    from numba.core import types

    if isinstance(numba_type, types.Complex):
        number = context.make_complex(b, numba_type, value)
        return [number.real, number.imag]
    return [b.zext(value, ir.IntType(8))] if isinstance(types.unliteral(numba_type), types.Boolean) else [value]


# Errors ----------------------------------------------------------------------------------------------------------


class Failure(host_calls.HostRequest):
    """A callback that raises, in Python, the error of a user's function.

    Parameters
    ----------
    names : sequence of str
        The functions that may have raised it.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(lambda operands, results: None, [], [])
        # The address of the error's description.
        self.width = 1
        self.names = list(dict.fromkeys(names))

    def __call__(self, addresses: Sequence[int]) -> None:
        """Raise the error described at an address."""
        error = _error(addresses[0])
        error.add_note(f"Raised by {' or '.join(self.names)}, compiled by Numba, for one of the elements.")
        raise error


class _Description(ctypes.Structure):
    """Numba's layout of an error: pickled class and arguments, or how to make them."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("hash", ctypes.c_void_p),
        ("make", ctypes.c_void_p),
        ("dynamic", ctypes.c_int32),
    )


def _error(address: int) -> BaseException:
    description = _Description.from_address(address)
    if description.make or description.dynamic > 0:
        return CompilationError(
            message(
                "a function compiled by Numba raised an error whose text it computes.",
                "Call it on single elements to see the error, or raise one with a constant text.",
            )
        )
    reduced = pickle.loads(ctypes.string_at(description.data, description.size))
    kind, arguments = reduced[0], reduced[1]
    return kind(*(arguments or ()))


def define_check(module: IRModule) -> str:
    """The function ``i1 f(i64 number, ptr failure)`` that asks Python to raise an error where there is one."""
    name = "nxk_failure"
    if name not in module.defined:
        attributes = "nounwind"
        b = FunctionBuilder(
            module, name, "i1", [("number", "i64"), ("failure", "ptr")], linkage="internal", attributes=attributes
        )
        number, failure = IRValue("i64", 1, "%number"), IRValue("ptr", 1, "%failure")
        raised, fine = b.label("raised"), b.label("fine")
        b.branch_if(b.icmp("ne", b.load("i64", failure), b.constant("i64", 0)), raised, fine)
        b.start(raised)
        module.declare("nxk_host", "i64", ["i64", "ptr"])
        b.call("nxk_host", "i64", 1, number, failure)
        b.do("ret i1 true")
        b.start(fine)
        b.do("ret i1 false")
        b.finish()
    return name
