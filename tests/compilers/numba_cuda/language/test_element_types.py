"""How elements are held in kernels: parameters, literals, and texts to and from memory."""

import numpy as np
import pytest
from numba.cuda import types as numba_types

from nxkernel import types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText

HELD = {
    "u8": ("u8*", ("u8",)), "s64": ("s64*", ("s64",)), "bool": ("u8*", ("u8",)), "f16": ("u16*", ("f32",)),
    "bf16": ("u16*", ("f32",)), "f32": ("f32*", ("f32",)), "f64": ("f64*", ("f64",)),
    "c64": ("f32*", ("f32", "f32")), "c128": ("f64*", ("f64", "f64")),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_parameters(name):
    type_ = types.normalize(name)
    memory, scalars = HELD[name]
    assert element_types.memory_type(type_) == memory
    assert element_types.parameter_types(type_) == scalars
    assert element_types.register_type(type_) == ("bool" if name == "bool" else scalars[0])


def test_types_of_numpy_and_numba():
    assert element_types.numpy_type("f64*") == np.float64
    assert element_types.numba_type("u16*") == numba_types.CPointer(numba_types.uint16)
    assert element_types.numba_type("s64") == numba_types.int64


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "u8"), (-7, "s8"), (2**64 - 1, "u64"), (-(2**63), "s64"), (0.1, "f32"), (0.1, "f64"), (float("inf"), "f64"),
     (float("-inf"), "f32"), (float("nan"), "f64"), (True, "bool"), (300, "u8"), (-1.7, "s32"), (1 / 3, "bf16")],
)  # fmt: skip
def test_literals_mean_the_number_in_its_type(number, name):
    type_ = types.normalize(name)
    # What is evaluated leaves its builtins in the table of names.
    found = eval(element_types.literal(number, type_), dict(intrinsics.simulated()))
    with np.errstate(all="ignore"):
        expected = cast_number(number, type_)
    np.testing.assert_equal(np.asarray(found, np.float64), expected.astype(np.float64))
    if name != "bool":
        assert found.dtype == types.normalize(element_types.register_type(type_)).dtype


def test_complex_literals():
    assert element_types.literal(1.5 - 2j, types.c128) == ComplexText("f64(1.5)", "f64(-2.0)")


def test_constants():
    assert element_types.constant(["c0"], types.f16) == "c0"
    assert element_types.constant(["c0"], types.bool_) == "truth(c0)"
    assert element_types.constant(["c0_real", "c0_imag"], types.c64) == ComplexText("c0_real", "c0_imag")


@pytest.mark.parametrize(
    ("name", "loaded", "stored"),
    [
        ("f32", "p[i + 1]", "p[i + 1] = x"),
        ("bf16", "bf16_value(p[i + 1])", "p[i + 1] = bf16_bits(x)"),
        ("f16", "f16_value(p[i + 1])", "p[i + 1] = f16_bits(x)"),
        ("bool", "truth(p[i + 1])", "p[i + 1] = u8(x)"),
    ],
)
def test_loads_and_stores(name, loaded, stored):
    type_ = types.normalize(name)
    assert element_types.load("p", "i + 1", type_) == loaded
    assert element_types.store("p", "i + 1", "x", type_) == [stored]


def test_complex_loads_and_stores():
    assert element_types.load("p", "i", types.c64) == ComplexText("p[2 * (i)]", "p[2 * (i) + 1]")
    assert element_types.store("p", "i", ComplexText("x", "y"), types.c64) == ["p[2 * (i)] = x", "p[2 * (i) + 1] = y"]


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [
        ("s32", "x", ["atomic_add(p, i, x)"]),
        ("f16", "x", ["atomic_add_f16(p, i, x)"]),
        ("c64", ComplexText("x", "y"), ["atomic_add(p, 2 * (i), x)", "atomic_add(p, 2 * (i) + 1, y)"]),
    ],
)
def test_additions(name, value, lines):
    assert element_types.atomically("add", "p", "i", value, types.normalize(name)) == lines
