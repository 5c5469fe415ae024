"""The builder of LLVM IR: literals, constants, vectors and loops, as text and as code that runs."""

import ctypes
import itertools
import math

import pytest

from nxkernel.compilers.numba_cpu.codegen import object_code
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import (
    FunctionBuilder,
    IRModule,
    IRValue,
    RangeLoop,
    literal,
    suffix,
    vector,
)
from nxkernel.compilers.numba_cpu.runtime import loader

_numbers = itertools.count()


def run(build, *arguments):
    """Compile and call a function of two 64-bit integers that `build` writes."""
    module, name = IRModule(), f"nxk_test_ir_{next(_numbers)}"
    b = FunctionBuilder(module, name, "i64", [("x", "i64"), ("y", "i64")])
    b.do(f"ret {build(b, IRValue('i64', 1, '%x'), IRValue('i64', 1, '%y'))}")
    b.finish()
    code = loader.load(object_code.compile_object(str(module)), name)
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(code.address)(*arguments)


@pytest.mark.parametrize(
    ("element", "number", "text"),
    [
        ("i1", 1, "true"),
        ("i8", -1, "-1"),
        ("i64", 2**62, "4611686018427387904"),
        ("double", 1.0, "0x3FF0000000000000"),
        ("float", 0.1, "0x3FB99999A0000000"),
        ("double", 0.1, "0x3FB999999999999A"),
        ("float", -0.0, "0x8000000000000000"),
        ("float", math.inf, "0x7FF0000000000000"),
    ],
)
def test_literals(element, number, text):
    assert literal(element, number) == text


def test_half_width_has_no_literals():
    with pytest.raises(TypeError) as error:
        literal("half", 1.0)
    assert str(error.value) == "constants of the type half are converted from float"


def test_types():
    assert (vector("float", 1), vector("float", 16)) == ("float", "<16 x float>")
    assert (suffix("float", 16), suffix("i8", 1), suffix("double", 8)) == ("v16f32", "i8", "v8f64")


def test_a_loop_carries_values():
    def build(b, x, y):
        loop = RangeLoop(b, x, y, b.constant("i64", 1), [b.constant("i64", 0), b.constant("i64", 1)])
        total, product = loop.values
        end = loop.end(b.integer("add", total, loop.index), b.integer("mul", product, b.constant("i64", 2)))
        return b.integer("add", b.integer("mul", end[1], b.constant("i64", 1000)), end[0])

    assert run(build, 3, 7) == 16 * 1000 + 18
    assert run(build, 7, 3) == 1 * 1000


def test_a_loop_in_a_loop():
    def build(b, x, y):
        zero, one = b.constant("i64", 0), b.constant("i64", 1)
        outer = RangeLoop(b, zero, x, one, [zero])
        inner = RangeLoop(b, zero, y, one, outer.values)
        (total,) = outer.end(*inner.end(b.integer("add", inner.values[0], inner.index)))
        return total

    assert run(build, 5, 4) == 5 * 6


def test_lanes():
    def build(b, x, y):
        lanes = b.integer("add", b.splat(x, 8), b.steps("i64", 8))
        low, high = b.shuffle(lanes, [0, 1]), b.shuffle(lanes, [6, 7])
        some = b.any(b.icmp("eq", lanes, b.splat(y, 8)))
        total = b.integer("mul", low, high)
        return b.select(some, b.extract(total, 1), b.constant("i64", -1))

    assert run(build, 10, 13) == 11 * 17
    assert run(build, 10, 30) == -1


def test_declarations_are_written_once():
    module = IRModule()
    b = FunctionBuilder(module, "f", "double", [("x", "double")])
    x = IRValue("double", 1, "%x")
    b.do(f"ret {b.intrinsic('fabs', b.intrinsic('fabs', x))}")
    b.finish()
    assert str(module).count("declare double @llvm.fabs.f64(double)") == 1
    assert module.defined == {"f"}
