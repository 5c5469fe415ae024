"""What kernels call, in the simulator and as PTX: memory by several elements, and by several threads."""

import re
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda
from numba.cuda.simulator.kernel import FakeCUDAKernel

from emulated_gpu.kernels_on_host import HostKernel
from nxkernel import types
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.errors import NxTypeError

ADDING = """\
def kernel(a, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        {}
"""


def function(text, names):
    scope = {"cuda": cuda, "np": np, **names}
    exec(text, scope)
    return scope["kernel"]


def simulated(text, grid, block, *arguments):
    FakeCUDAKernel(function(text, intrinsics.simulated()), device=False)[grid, block](*arguments)


def ptx(text, *parameters, architecture=(8, 0)):
    given = tuple(map(element_types.numba_type, parameters))
    return cuda.compile_ptx(function(text, intrinsics.device()), given, cc=architecture)[0]


def test_tables_are_made_once():
    assert intrinsics.device() is intrinsics.device()
    assert intrinsics.simulated() is intrinsics.simulated()


def test_the_simulator_needs_no_numba_cuda():
    code = "from nxkernel.compilers.numba_cuda.language import intrinsics as i; i.simulated(); import sys; "
    code += "print('numba.cuda' in sys.modules, 'numba_cuda' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"


# Several elements ------------------------------------------------------------------------------------------------

COPY = "def kernel(a, b, n):\n    i = cuda.threadIdx.x * {0}\n    store{0}(b, i, load{0}(a, i))\n"


@pytest.mark.sampled(every=5, lane="simulator")
@pytest.mark.parametrize(
    ("kind", "count", "moved"),
    [("u8", 16, "v4.u32"), ("u16", 8, "v4.u32"), ("f32", 4, "v4.f32"), ("s64", 2, "v2.u64"), ("u16", 2, "u32"),
     ("u8", 2, "u16"), ("u8", 8, "v2.u32"), ("f64", 2, "v2.f64")],
)  # fmt: skip
@pytest.mark.parametrize("architecture", [(8, 0), (9, 0)])
def test_several_elements_are_one_access(kind, count, moved, architecture):
    text = ptx(COPY.format(count), f"{kind}*", f"{kind}*", "s64", architecture=architecture)
    assert [text.count(f"{access}.global.{moved} ") for access in ("ld", "st")] == [1, 1]
    assert [text.count(f"{access}.global") for access in ("ld", "st")] == [1, 1]


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_several_elements_in_the_simulator(count):
    a, b = np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)
    simulated(COPY.format(count), 1, 3, a, b, 64)
    assert b.tolist() == [*range(3 * count), *[0] * (64 - 3 * count)]


@pytest.mark.parametrize("call", ["load4(a, 1)", "store4(a, 1, (a[0], a[0], a[0], a[0]))"])
def test_the_simulator_tells_of_what_is_not_aligned(call):
    with pytest.raises(IndexError, match="4 elements of 4 bytes from 1 on are not aligned to their number"):
        simulated(ADDING.format(call), 1, 1, np.zeros(16, np.float32), 1)


def test_addresses():
    a = np.zeros(8, np.int64)
    simulated(ADDING.format("a[i] = address(a)"), 1, 1, a, 1)
    assert a[0] % 8 == 0
    assert a[0] > 0
    assert "cvta" in ptx(ADDING.format("a[i] = address(a)"), "s64*", "s64")


def test_pointers_to_elements():
    text = "def kernel(a, n):\n    q = further(a, n)\n    q[0] = 7.0\n    q[1] = q[2] + 1.0\n"
    source = KernelSource("kernel", text, ("f64*", "s64"))
    memory = [np.arange(5.0), np.arange(5.0)]
    simulated(text, 1, 1, memory[0], 2)
    HostKernel(source).run((1,), (1,), 0, [memory[1], 2])
    assert memory[0].tolist() == memory[1].tolist() == [0, 1, 7, 5, 4]
    # Where the elements are is known from one register.
    written = object_code.ptx(source, "sm_80")
    (pointer,) = re.findall(r"mov.u64 (%rd\d+), %rd\d+;", written)
    assert re.findall(r"(?:ld|st)\.global\.\w+ .*(\[\S+\])", written) == [
        f"[{pointer}]",
        f"[{pointer}+16]",
        f"[{pointer}+8]",
    ]


# Several threads -------------------------------------------------------------------------------------------------


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", [type_ for type_ in types.TYPES.values() if type_ is not types.bool_], ids=str)
def test_adding(type_):
    line = element_types.atomically("add", "a", "i % 2", element_types.literal(3, type_), type_)
    text = ADDING.format("\n        ".join(line))
    parameter = element_types.memory_type(type_)
    memory = np.array([1, 0, 1], type_.dtype)
    view = memory.view(element_types.numpy_type(parameter))
    simulated(text, 3, 2, view, 5)
    assert memory.tolist() == [10, 6, 1]
    written = ptx(text, parameter, "s64")
    exchanged = type_.bits < 32
    assert ("atom.cas.b32" in written) == exchanged
    kind = element_types.register_type(type_).replace("s", "u")
    assert written.count(f"atom.global.add.{kind}") == (0 if exchanged else 2 if type_.is_complex else 1)


@pytest.mark.parametrize(("name", "result"), [("max", 3), ("min", 0), ("multiply", 0)])
@pytest.mark.parametrize("type_", [type_ for type_ in types.TYPES.values() if type_.is_float], ids=str)
def test_joining(type_, name, result):
    line = element_types.atomically(name, "a", "0", "f32(i)" if type_.bits < 64 else "f64(i)", type_)
    text = ADDING.format("\n        ".join(line))
    parameter = element_types.memory_type(type_)
    memory = np.array([2, 9], type_.dtype)
    simulated(text, 2, 3, memory.view(element_types.numpy_type(parameter)), 4)
    assert memory.tolist() == [result, 9]
    assert f"atom.cas.b{max(type_.bits, 32)}" in ptx(text, parameter, "s64").replace(".global", "")


def test_products_of_complex_numbers_are_refused():
    with pytest.raises(NxTypeError, match=r"^products of complex numbers at indices \(c64\) have no code for GPUs\."):
        element_types.atomically("multiply", "a", "0", element_types.ComplexText("x", "y"), types.c64)


@pytest.mark.parametrize("kind", ["s32", "u32", "s64", "u64"])
def test_the_greater(kind):
    text = ADDING.format(f"atomic_max(a, 0, {kind}(i * 7 % 5))")
    memory = np.array([2, 9], types.normalize(kind).dtype)
    simulated(text, 2, 3, memory, 5)
    assert memory.tolist() == [4, 9]
    assert f"atom.global.max.{kind}" in ptx(text, f"{kind}*", "s64")


# Conversions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("architecture", "instruction"), [((7, 5), 0), ((8, 0), 1), ((9, 0), 1)])
def test_bf16_is_rounded_by_an_instruction_where_there_is_one(architecture, instruction):
    text = ptx(ADDING.format("a[i] = bf16_bits(f32(i))"), "u16*", "s64", architecture=architecture)
    assert text.count("cvt.rn.bf16.f32") == instruction


@pytest.mark.parametrize("source", ["f32", "f64"])
def test_f16_is_rounded_once(source):
    text = ptx(ADDING.format(f"a[i] = f16_bits({source}(i))"), "u16*", "s64")
    assert f"cvt.rn.f16.{source}" in text


def test_numbers_that_are_no_numbers():
    memory = np.zeros(3)
    simulated(ADDING.format("a[0] = f32(-inf)\n        a[1] = f64(nan)\n        a[2] = inf"), 1, 1, memory, 1)
    assert memory[[0, 2]].tolist() == [-np.inf, np.inf]
    assert np.isnan(memory[1])
    text = ptx(ADDING.format("a[0] = f32(-inf)\n        a[1] = f32(nan)"), "f32*", "s64")
    assert text.count("-8388608") == 1
    assert text.count("2143289344") == 1


def test_indices_divide_in_32_bits_where_they_fit():
    text = ptx(ADDING.format("a[div(i, n)] = rem(i, n)"), "s64*", "s64")
    assert "div.u32" in text
    assert "div.s64" not in text
