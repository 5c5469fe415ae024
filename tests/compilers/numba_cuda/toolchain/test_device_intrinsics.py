"""The intrinsics of Numba CUDA have the results of the simulator's: their LLVM IR runs on this machine's processor.

What libdevice gives, the C library gives here; what only PTX has is stood in for.
"""

import ctypes
import itertools

import numpy as np
import pytest
from llvmlite import ir
from numba.cuda import types as numba_types

from emulated_gpu.kernels_on_host import engine_of, stand_in, without_ptx
from nxkernel import types
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.numba_cuda.toolchain import expression_types
from nxkernel.compilers.numba_cuda.toolchain.expression_types import llvm_type

INTEGERS = [f"{kind}{bits}" for kind in "us" for bits in (8, 16, 32, 64)]
FLOATS = ["f32", "f64"]
I32 = ir.IntType(32)


class Native:
    """An intrinsic for arguments of some types, as a function of this machine."""

    def __init__(self, name, *kinds):
        given = [kind if isinstance(kind, numba_types.Type) else element_types.numba_type(kind) for kind in kinds]
        self.signature, codegen = intrinsics.device()[name]._defn(None, *given)
        context, module = expression_types.Context, ir.Module()
        byte = ir.IntType(8).as_pointer()
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [byte] * (len(given) + 1)), "f")
        b = ir.IRBuilder(function.append_basic_block())
        values = [
            self._taken(context, b, room, type_)
            for room, type_ in zip(function.args, self.signature.args, strict=False)
        ]
        with without_ptx():
            result = codegen(context, b, self.signature, values)
        if self.signature.return_type != numba_types.void:
            self._given(b, function.args[-1], result)
        b.ret_void()
        self.engine = engine_of(stand_in(module))
        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(given) + 1))
        self.function = signature(self.engine.get_function_address("f"))

    def _taken(self, context, b, room, type_):
        if isinstance(type_, numba_types.CPointer):
            return b.bitcast(room, llvm_type(type_))
        if isinstance(type_, numba_types.BaseTuple):
            kind = llvm_type(type_.dtype)
            first = b.bitcast(room, kind.as_pointer())
            places = [b.gep(first, [ir.Constant(I32, place)]) for place in range(len(type_))]
            return context.make_tuple(b, type_, [b.load(place) for place in places])
        if isinstance(type_, numba_types.Boolean):
            return b.trunc(b.load(room), llvm_type(type_))
        return b.load(b.bitcast(room, llvm_type(type_).as_pointer()))

    def _given(self, b, room, value):
        if isinstance(value.type, ir.IntType) and value.type.width == 1:
            value = b.zext(value, ir.IntType(8))
        b.store(value, b.bitcast(room, value.type.as_pointer()))

    def results(self):
        returned = self.signature.return_type
        if isinstance(returned, numba_types.BaseTuple):
            return np.zeros(len(returned), str(returned.dtype))
        return np.zeros(1, "bool" if returned == numba_types.boolean else str(returned))

    def __call__(self, *arguments):
        """The result for arrays, of one element each but for pointers and tuples."""
        found = np.zeros(1) if self.signature.return_type == numba_types.void else self.results()
        self.function(*[array.ctypes.data for array in (*arguments, found)])
        return tuple(found) if isinstance(self.signature.return_type, numba_types.BaseTuple) else found[0]


def numbers(kind):
    """Numbers of a type, the ends of its range among them."""
    if kind == "bool":
        return np.array([False, True])
    type_ = types.normalize(kind)
    if type_.is_integer:
        low, high = types.limits(type_)
        found = {low, low + 1, high, high - 1, 0, 1, 2, 7, 8, 31, 33, 64, 100} | ({-1, -2, -33} if low < 0 else set())
        return np.array(sorted(found), type_.dtype)
    info = np.finfo(type_.dtype)
    found = [0, 0.3, 0.5, 1, 1.5, 2.5, 127.9, 128, 255.5, 3e4, 65504, 65519, 65520, 2.0**31, 2.0**63, 2.0**64, np.inf]
    found += [info.max, info.tiny, float(info.smallest_subnormal), 1 + float(info.eps), 1.00390625, 1.01171875, 6e-8]
    return np.array([*found, *[-x for x in found], np.nan], type_.dtype)


def check(name, *kinds, ulps=0):
    """An intrinsic with every choice of numbers has the result of the simulator's."""
    native, simulated = Native(name, *kinds), intrinsics.simulated()[name]
    with np.errstate(all="ignore"):
        for given in itertools.product(*[numbers(kind) for kind in kinds]):
            found = native(*[np.array([one]) for one in given])
            expected = simulated(*given)
            if ulps:
                np.testing.assert_array_max_ulp(found, expected, ulps)
                continue
            np.testing.assert_equal(found, expected, err_msg=f"{name}{given}")
            assert isinstance(expected, tuple) or np.asarray(expected).dtype == found.dtype, f"{name}{given}"
            if isinstance(found, np.floating) and not np.isnan(found):
                assert np.signbit(found) == np.signbit(expected), f"{name}{given}"


def test_both_tables_have_the_same_names():
    assert set(intrinsics.device()) == set(intrinsics.simulated())
    assert set(intrinsics.FUNCTIONS) < set(intrinsics.device())


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, "truth"])
def test_conversions(target):
    for source in (*INTEGERS, *FLOATS, "bool"):
        check(target, source)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize(
    "name", ["quotient", "remainder", "whole_power", "shift_left", "shift_right", "maximum", "minimum"]
)
def test_functions_of_two_integers(name, kind):
    check(name, kind, kind)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", ["population_count", "leading_zeros", "absolute", "sign"])
def test_functions_of_an_integer(name, kind):
    check(name, kind)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["maximum", "minimum", "divide", "times"])
def test_functions_of_two_floats(name, kind):
    check(name, kind, kind)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    "name",
    ["absolute", "sign", "phase", "is_infinite", "floor", "ceil", "trunc", "round_away", "round_even", "sqrt"],
)
def test_functions_of_a_float(name, kind):
    check(name, kind)


@pytest.mark.parametrize("kind", FLOATS)
def test_sigmoid(kind):
    check("sigmoid", kind, ulps=3)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", ["bool", "s8", "u64", "f32", "f64"])
def test_select(kind):
    check("select", "bool", kind, kind)


@pytest.mark.parametrize("name", ["div", "rem"])
def test_division_of_indices(name):
    native, simulated = Native(name, "s64", "s64"), intrinsics.simulated()[name]
    for i, n in itertools.product((0, 1, 5, 2**31, 2**40 + 3), (1, 2, 7, 2**33)):
        assert native(np.array([i]), np.array([n])) == simulated(i, n)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_half_width(name):
    for each in ("bits", "rounded"):
        check(f"{name}_{each}", "f32")
    value, simulated = Native(f"{name}_value", "u16"), intrinsics.simulated()[f"{name}_value"]
    for bits in (0, 1, 0x3C00, 0x3F80, 0x7BFF, 0x8000, 0xFC00, 0xFF80, 0x7FC1, 0x0400, 0x7F7F):
        np.testing.assert_equal(value(np.array([bits], np.uint16)), simulated(np.uint16(bits)))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_bits_of_floats(kind):
    check("float_bits", kind)
    bits = "u32" if kind == "f32" else "u64"
    native = Native("bits_float", bits)
    for number in numbers(kind):
        np.testing.assert_equal(native(number.view(types.normalize(bits).dtype).reshape(1)), number)
    assert native.signature.return_type == element_types.numba_type(kind)


def test_random_bits():
    native, simulated = Native("threefry", *["u32"] * 4), intrinsics.simulated()["threefry"]
    for words in ((0, 0, 0, 0), (1, 2, 3, 4), (2**32 - 1, 5, 2**31, 2**32 - 1)):
        given = [np.array([word], np.uint32) for word in words]
        assert native(*given) == simulated(*[one[0] for one in given])


# Memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_several_elements_at_once(kind, count):
    dtype = types.normalize(kind).dtype
    if dtype.itemsize * count > 16:
        assert intrinsics.device()[f"load{count}"]._defn(None, element_types.numba_type(f"{kind}*"), "s64") is None
        return
    rng = np.random.default_rng(7)
    memory = rng.integers(0, 255, 64, np.uint8).view(dtype)
    # Arrays of NumPy are aligned to 16 bytes, and so are the places that are taken.
    index = np.array([count], np.int64)
    read = Native(f"load{count}", f"{kind}*", "s64")(memory, index)
    np.testing.assert_array_equal(read, memory[count : 2 * count])
    several = numba_types.UniTuple(element_types.numba_type(kind), count)
    written = memory.copy()
    Native(f"store{count}", f"{kind}*", "s64", several)(written, index, memory[:count].copy())
    np.testing.assert_array_equal(written[count : 2 * count], memory[:count])
    np.testing.assert_array_equal(
        np.delete(written, slice(count, 2 * count)), np.delete(memory, slice(count, 2 * count))
    )


def test_address():
    memory = np.zeros(3, np.float32)
    assert Native("address", "f32*")(memory) == memory.ctypes.data == intrinsics.simulated()["address"](memory)


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_adding_to_an_element(kind):
    memory = numbers(kind)
    native, added = Native("atomic_add", f"{kind}*", "s64", kind), memory[-2:-1].copy()
    with np.errstate(all="ignore"):
        expected = memory + added
    for place in range(memory.size):
        before = np.delete(memory, place)
        native(memory, np.array([place]), added)
        np.testing.assert_array_equal(np.delete(memory, place), before)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_adding_to_an_element_of_half_width(name):
    bits = intrinsics.simulated()[f"{name}_bits"]
    memory = np.array([bits(np.float32(x)) for x in (1, 2, -0.5, 3e4)], np.uint16)
    native = Native(f"atomic_add_{name}", "u16*", "s64", "f32")
    for place in range(4):
        native(memory, np.array([place]), np.array([0.25], np.float32))
    assert memory.tolist() == [bits(np.float32(x)) for x in (1.25, 2.25, -0.25, 30000.25)]


JOINING = {"multiply": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("name", JOINING)
@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS])
def test_joining_an_element(kind, name):
    memory = numbers(kind)
    native, given = Native(f"atomic_{name}", f"{kind}*", "s64", kind), np.array([33], memory.dtype)
    with np.errstate(all="ignore"):
        expected = JOINING[name](memory, given)
    for place in range(memory.size):
        native(memory, np.array([place]), given)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_is_the_extreme(name):
    native, memory = Native(f"atomic_{name}", "f32*", "s64", "f32"), np.array([1, np.nan], np.float32)
    native(memory, np.array([0]), np.array([np.nan], np.float32))
    native(memory, np.array([1]), np.array([1], np.float32))
    assert np.isnan(memory).all()


@pytest.mark.parametrize(("name", "joined"), [("multiply", [0.5, -1, 4]), ("max", [2, 2, 2]), ("min", [0.25, -0.5, 2])])
def test_joining_an_element_of_half_width(name, joined):
    bits = intrinsics.simulated()["bf16_bits"]
    memory = np.array([bits(np.float32(x)) for x in (0.25, -0.5, 2)], np.uint16)
    native = Native(f"atomic_{name}_bf16", "u16*", "s64", "f32")
    for place in range(3):
        native(memory, np.array([place]), np.array([2], np.float32))
    assert memory.tolist() == [bits(np.float32(x)) for x in joined]
