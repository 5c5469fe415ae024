"""Library routines that programs call by name: BLAS, through the pointers that SciPy publishes for compiled code.

A product of matrices is cut into tiles that run on the same threads as every other kernel, each with BLAS on one
thread: two pools that wait for work by turning would take the processors from each other. Where the BLAS that SciPy
came with cannot be told its number of threads, it gets each product whole.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import TYPE_CHECKING

from nxkernel import fork_safety, library_functions, shapes, types
from nxkernel.compilers.numba_cpu.runtime import loader, threading_layer
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.analysis.matrix_products import Product

#: The routine that multiplies matrices of each type.
GEMM = {types.f32: "sgemm", types.f64: "dgemm", types.c64: "cgemm", types.c128: "zgemm"}

#: Rows and columns of a tile, the first of these that gives enough of them: the larger, the less is packed twice.
TILES = ((1024, 256), (512, 256), (256, 256), (128, 128))
#: Enough is two for each processor of the machine, however many threads are in use: edges of tiles may round otherwise.
ENOUGH_TILES = 2 * (os.cpu_count() or 1)

_SET, _GET = "set_num_threads", "get_num_threads"
_USERS, _KEPT, _HELD = 3, 4, 5


@functools.cache
def _blas() -> ctypes.CDLL:
    return ctypes.CDLL(library_functions.linear_algebra("cython_blas").__file__)


@functools.cache
def control() -> str | None:
    """The prefix of the functions that set the number of BLAS threads; None if there are none."""
    for prefix in ("scipy_openblas_", "openblas_"):
        if hasattr(_blas(), prefix + _SET) and hasattr(_blas(), prefix + _GET):
            return prefix
    return None


@functools.cache
def provide_control() -> None:
    """Define the symbols that set the number of BLAS threads, for code that is loaded from now on."""
    prefix = control()
    for name in (_SET, _GET) if prefix is not None else ():
        loader.define_symbol(f"nxk_blas_{name}", ctypes.cast(getattr(_blas(), prefix + name), ctypes.c_void_p).value)


def tiles(product: Product) -> tuple[int, int]:
    """The tile of a matrix product that one step computes: its rows and columns."""
    if control() is None:
        return product.rows, product.columns
    for rows, columns in TILES:
        count = product.batch * shapes.ceil_div(product.rows, rows) * shapes.ceil_div(product.columns, columns)
        if count >= ENOUGH_TILES:
            break
    return min(rows, product.rows), min(columns, product.columns)


def matmul_text(type_: Type) -> str:
    """LLVM IR of ``nxk_matmul_<type>``, a kernel whose steps are tiles of a batch of matrix products.

    Matrices lie in rows; BLAS keeps them in columns, so the transposed product is asked for: C' = B' A'.
    """
    element = MEMORY[type_]
    one = f"[{REGISTER[type_]} 1.0, {REGISTER[type_]} 0.0]" if type_.is_complex else "1.0"
    routine = library_functions.LINEAR_ALGEBRA + GEMM[type_]
    words = [
        "a",
        "b",
        "c",
        "m",
        "n",
        "k",
        "lda",
        "far_a",
        "turn_a",
        "ldb",
        "far_b",
        "turn_b",
        "tile_m",
        "tile_n",
        "tiles_m",
        "tiles_n",
    ]
    reads = "\n".join(
        f"  %at_{name} = getelementptr i64, ptr %table, i64 {index}\n"
        f"  %{name} = load {'ptr' if name in 'abc' else 'i64'}, ptr %at_{name}"
        for index, name in enumerate(words)
    )
    return f"""
define internal void @nxk_matmul_{type_}(ptr %args, ptr %dims, ptr %steps, ptr %table) noinline {{
entry:
  %rows_at = alloca i32
  %columns_at = alloca i32
  %k_at = alloca i32
  %lda_at = alloca i32
  %ldb_at = alloca i32
  %ldc_at = alloca i32
  %one = alloca {element}
  %zero = alloca {element}
  %flag_a = alloca i8
  %flag_b = alloca i8
{reads}
  %first = load i64, ptr %args
  %count = load i64, ptr %dims
  %last = add i64 %first, %count
  %k32 = trunc i64 %k to i32
  %lda32 = trunc i64 %lda to i32
  %ldb32 = trunc i64 %ldb to i32
  %ldc32 = trunc i64 %n to i32
  store i32 %k32, ptr %k_at
  store i32 %lda32, ptr %lda_at
  store i32 %ldb32, ptr %ldb_at
  store i32 %ldc32, ptr %ldc_at
  store {element} {one}, ptr %one
  store {element} zeroinitializer, ptr %zero
  %is_a = icmp ne i64 %turn_a, 0
  %is_b = icmp ne i64 %turn_b, 0
  %letter_a = select i1 %is_a, i8 84, i8 78
  %letter_b = select i1 %is_b, i8 78, i8 84
  store i8 %letter_a, ptr %flag_a
  store i8 %letter_b, ptr %flag_b
  %step_a = select i1 %is_a, i64 1, i64 %lda
  %step_b = select i1 %is_b, i64 1, i64 %ldb
  %each_c = mul i64 %m, %n
  br label %head
head:
  %p = phi i64 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i64 %p, %last
  br i1 %more, label %body, label %done
body:
  %j = urem i64 %p, %tiles_n
  %q = udiv i64 %p, %tiles_n
  %i = urem i64 %q, %tiles_m
  %batch = udiv i64 %q, %tiles_m
  %i0 = mul i64 %i, %tile_m
  %j0 = mul i64 %j, %tile_n
  %left_m = sub i64 %m, %i0
  %left_n = sub i64 %n, %j0
  %short_m = icmp slt i64 %left_m, %tile_m
  %short_n = icmp slt i64 %left_n, %tile_n
  %rows = select i1 %short_m, i64 %left_m, i64 %tile_m
  %columns = select i1 %short_n, i64 %left_n, i64 %tile_n
  %rows32 = trunc i64 %rows to i32
  %columns32 = trunc i64 %columns to i32
  store i32 %rows32, ptr %rows_at
  store i32 %columns32, ptr %columns_at
  %batch_a = mul i64 %batch, %far_a
  %batch_b = mul i64 %batch, %far_b
  %batch_c = mul i64 %batch, %each_c
  %skip_a = mul i64 %i0, %step_a
  %skip_b = mul i64 %j0, %step_b
  %skip_i = mul i64 %i0, %n
  %from_a = add i64 %batch_a, %skip_a
  %from_b = add i64 %batch_b, %skip_b
  %row_c = add i64 %batch_c, %skip_i
  %from_c = add i64 %row_c, %j0
  %ai = getelementptr {element}, ptr %a, i64 %from_a
  %bi = getelementptr {element}, ptr %b, i64 %from_b
  %ci = getelementptr {element}, ptr %c, i64 %from_c
  call void @{routine}(
    ptr %flag_b, ptr %flag_a, ptr %columns_at, ptr %rows_at, ptr %k_at, ptr %one, ptr %bi, ptr %ldb_at,
    ptr %ai, ptr %lda_at, ptr %zero, ptr %ci, ptr %ldc_at)
  %next = add i64 %p, 1
  br label %head
done:
  ret void
}}
declare void @{routine}(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
"""


def control_text() -> str:
    """LLVM IR of ``nxk_blas_alone`` and ``nxk_blas_back``, between which BLAS uses one thread.

    They count who is there, in the word ``state[3]``; the first remembers the number of threads in ``state[4]``, and
    the last restores it. The word ``state[5]`` is held meanwhile, so that nobody sees the one without the other.
    """
    if control() is None:
        return "define internal void @nxk_blas_alone(ptr %state) { ret void }\n" + (
            "define internal void @nxk_blas_back(ptr %state) { ret void }\n"
        )
    hold = """
  %lock = getelementptr i64, ptr %state, i64 5
  %users = getelementptr i64, ptr %state, i64 3
  %kept = getelementptr i64, ptr %state, i64 4
  br label %wait
wait:
  %pair = cmpxchg ptr %lock, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %held, label %wait
held:
  %before = load i64, ptr %users"""
    release = """
  store atomic i64 0, ptr %lock seq_cst, align 8
  ret void
}"""
    return f"""
define internal void @nxk_blas_alone(ptr %state) {{{hold}
  %after = add i64 %before, 1
  store i64 %after, ptr %users
  %first = icmp eq i64 %before, 0
  br i1 %first, label %change, label %done
change:
  %count = call i32 @nxk_blas_{_GET}()
  %wide = sext i32 %count to i64
  store i64 %wide, ptr %kept
  call void @nxk_blas_{_SET}(i32 1)
  br label %done
done:{release}
define internal void @nxk_blas_back(ptr %state) {{{hold}
  %after = sub i64 %before, 1
  store i64 %after, ptr %users
  %last = icmp eq i64 %before, 1
  br i1 %last, label %restore, label %done
restore:
  %wide = load i64, ptr %kept
  %count = trunc i64 %wide to i32
  call void @nxk_blas_{_SET}(i32 %count)
  br label %done
done:{release}
declare i32 @nxk_blas_{_GET}()
declare void @nxk_blas_{_SET}(i32)
"""


@fork_safety.in_child
def _give_threads_back() -> None:
    """After a fork, restore the number of BLAS threads in the child."""
    if threading_layer.STATE[_USERS]:
        getattr(_blas(), control() + _SET)(int(threading_layer.STATE[_KEPT]))
    threading_layer.STATE[[_USERS, _KEPT, _HELD]] = 0
