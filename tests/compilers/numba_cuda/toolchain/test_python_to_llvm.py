"""The language of kernels becomes LLVM: run on the processor it gives what Python gives, and Numba agrees."""

import ast

import numpy as np
import pytest
from numba import cuda

from emulated_gpu.kernels_on_host import HostKernel
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import nvvm
from nxkernel.compilers.numba_cuda.toolchain.python_to_llvm import TranslationError


def kernel(body, *parameters):
    names = [*"abcdefgh"[: len(parameters)]]
    lines = "\n    ".join(body.strip().splitlines())
    return KernelSource("kernel", f"def kernel({', '.join(names)}):\n    {lines}\n", parameters)


def in_python(source, *arguments):
    scope = {"np": np, **intrinsics.simulated()}
    exec(source.text, scope)
    with np.errstate(all="ignore"):
        scope["kernel"](*arguments)


def agrees(source, *arguments):
    """Run a kernel without threads in both ways; the arrays that it leaves are the same."""
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    in_python(source, *copies[0])
    HostKernel(source).run((1,), (1,), 0, copies[1])
    for one, other in zip(*copies, strict=True):
        np.testing.assert_array_equal(other, one)
    return copies[1]


def test_arithmetic_of_indices():
    source = kernel(
        """
i = b * 3 - 7
i += 1
i *= -2
a[0] = i
a[1] = (b & 6) | (i >> 1)
a[2] = b << 4 ^ 5
a[3] = div(b * 100, 7) + rem(b, 4)
a[4] = ~b
a[5] = -(-b)
""",
        "s64*",
        "s64",
    )
    (found, _) = agrees(source, np.zeros(6, np.int64), 11)
    assert found.tolist() == [-54, 2 | -27, 11 << 4 ^ 5, 160, -12, 11]


@pytest.mark.parametrize("kind", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64"])
def test_numbers_have_the_type_that_they_are_given(kind):
    dtype = element_types.numpy_type(kind)
    source = kernel(f"a[1] = {kind}(a[0] * a[0] + b)\na[2] = {kind}(a[0] - b)\na[3] = {kind}(-a[0])", f"{kind}*", kind)
    agrees(source, np.array([100, 0, 0, 0], dtype), 27)


def test_floats_of_two_widths_meet_in_the_wider():
    source = kernel("a[0] = b[0] * a[1]\nb[1] = a[1] + 1.5\na[2] = f64(b[0]) * 3", "f64*", "f32*")
    a, b = agrees(source, np.array([0, 1 / 3, 0]), np.array([1 / 3, 0], np.float32))
    assert a[0] == float(np.float32(1 / 3)) * (1 / 3)
    assert b[1] == np.float32(1 / 3 + 1.5)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("kind", ["s32", "u8", "u32", "u64", "f32"])
def test_comparisons(sign, kind):
    lines = [
        f"a[{k}] = u8(b[{i}] {sign} b[{j}])" for k, (i, j) in enumerate((i, j) for i in range(4) for j in range(4))
    ]
    values = np.array([0, 1, 200, 3], element_types.numpy_type(kind))
    if kind == "f32":
        values[3] = np.nan
    agrees(kernel("\n".join(lines), "u8*", f"{kind}*"), np.zeros(16, np.uint8), values)


def test_narrow_unsigned_numbers_are_compared_with_signed_ones():
    source = kernel("a[0] = u8(b > -1)\na[1] = u8(b > 3)\na[2] = u8(a[3] != 255)", "u8*", "u32")
    found, _ = agrees(source, np.array([0, 0, 0, 255], np.uint8), 2**32 - 1)
    assert found.tolist() == [1, 1, 0, 255]


def test_narrow_unsigned_numbers_are_compared_with_what_arithmetic_made_of_them():
    source = kernel("a[0] = u8((b & u16(32767)) > u16(32640))\na[1] = u8(u16(32640) < (b & b))", "u8*", "u16")
    for number in (0, 0x7F81, 0xFF81, 0xFF80):
        agrees(source, np.zeros(2, np.uint8), np.uint16(number))
    assert nvvm.ptx_here(source, "sm_80")


def test_conditions_and_loops():
    source = kernel(
        """
n = 0
while n < b:
    n += 1
    if n == 3:
        continue
    elif n > 8:
        break
    else:
        a[n] = n * n
for i in range(2, 11, 4):
    a[i] += 1000
for i in range(9, 5, -1):
    a[i] += 10
    i = 77
for i in range(2):
    for j in range(3):
        if j == 2 and a[i + j] > 0 or not (i < 1):
            a[i] -= j
""",
        "s64*",
        "s64",
    )
    agrees(source, np.zeros(12, np.int64), 20)


def test_short_circuits_read_nothing_that_they_need_not():
    # Beyond the array: what reads there is no test, but a fault.
    source = kernel("if b < 1 and a[b * 1000000000] > 0:\n    a[0] = 1\na[1] = 5 if b > 2 else 6", "s64*", "s64")
    (found, _) = agrees(source, np.zeros(2, np.int64), 3)
    assert found.tolist() == [0, 5]


def test_tuples_and_vectors():
    source = kernel("v = load4(a, 4)\nx, y = v[1], v[-1]\nx, y = y, x\nstore4(a, 0, (x, y, v[2], v[0]))", "f32*")
    memory = np.zeros(12, np.float32)
    begin = -memory.ctypes.data // 4 % 4
    memory = memory[begin : begin + 8]
    memory[:] = np.arange(8)
    HostKernel(source).run((1,), (1,), 0, [memory])
    assert memory.tolist() == [7, 5, 6, 4, 4, 5, 6, 7]


def test_memory_of_a_threads_own():
    source = kernel(
        "own = cuda.local.array(4, np.int32)\nfor i in range(4):\n    own[i] = i * b\na[0] = own[3] + own[2]",
        "s64*",
        "s64",
    )
    memory = np.zeros(1, np.int64)
    HostKernel(source).run((1,), (1,), 0, [memory, 7])
    assert memory[0] == 35


def test_threads_and_blocks():
    text = "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\nstep = cuda.gridDim.x * cuda.blockDim.x\n"
    source = kernel(
        text + "while i < b:\n    a[i + 10 * cuda.threadIdx.y] = i + cuda.threadIdx.y * 100\n    i += step",
        "s64*",
        "s64",
    )
    memory = np.full(21, -1, np.int64)
    HostKernel(source).run((2,), (2, 2), 0, [memory, 10])
    assert memory.tolist() == [*range(10), *range(100, 110), -1]


def test_shared_memory_and_exchanges_are_what_numba_makes_of_them():
    body = """
own = cuda.shared.array(64, np.float32)
more = cuda.shared.array(0, np.int32)
t = cuda.threadIdx.x
own[t] = a[t]
more[t] = s32(t)
cuda.syncthreads()
a[t] = own[t ^ 1] + cuda.shfl_xor_sync(0xFFFFFFFF, own[t], 2)
b[t] = cuda.shfl_xor_sync(0xFFFFFFFF, b[t], 4) + more[t]
"""
    source = kernel(body, "f32*", "f64*")
    written = nvvm.ptx_here(source, "sm_90")
    assert by_numba(source) == {word: written.count(word) for word in COUNTED}
    assert written.count("shfl.sync.bfly.b32") == 3
    assert ".shared .align 16 .b8" in written
    assert ".extern .shared .align 16 .b8" in written


COUNTED = ("shfl.sync.bfly", "bar.sync", "st.shared", "ld.shared", "ld.global", "st.global", "add.rn.f32", "add.rn.f64")


def by_numba(source, arch=(9, 0)):
    scope = {"cuda": cuda, "np": np, **intrinsics.device()}
    exec(source.text, scope)
    text, _ = cuda.compile_ptx(scope["kernel"], tuple(map(element_types.numba_type, source.parameters)), cc=arch)
    return {word: text.count(word) for word in COUNTED}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a[0] = nowhere", "nowhere has no value yet"),
        ("a[0] = sqrt(b)", "sqrt of int64 is not known"),
        ("a[0] = b // 2", "FloorDiv of int64 is not known"),
        ("a[0] = cuda.warpsize", "cuda.warpsize is not known"),
        ("x = f32(1)\nx = b", "x is float32, and is given int64"),
        ("a[0] = [b]", "List is not known"),
        ("with b:\n    pass", "With is not known"),
        ("a[0] = u64(b) + b", "uint64 and int64 have no type in common"),
        ("a[0] = (b < 1) + (b < 2)", "truth values have no arithmetic"),
        ("for x in a:\n    pass", "loops go over range(…)"),
        ("a", "that does nothing"),
    ],
)
def test_what_kernels_are_not_written_in(line, told):
    with pytest.raises(TranslationError) as caught:
        nvvm.module(kernel(line, "f32*", "s64"), (9, 0))
    assert str(caught.value).endswith(told)
    ast.parse(line)
