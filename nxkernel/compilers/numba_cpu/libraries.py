"""Library routines that programs call by name: BLAS, through the pointers that SciPy publishes for compiled code."""

from __future__ import annotations

import ctypes
import functools

from nxkernel import types
from nxkernel.compilers.numba_cpu import loader
from nxkernel.types import Type

#: The routine that multiplies matrices of each type.
GEMM = {types.f32: "sgemm", types.f64: "dgemm"}


@functools.cache
def provide(type_: Type) -> None:
    """Make the routine for a type known to code that is loaded from now on."""
    from scipy.linalg import cython_blas

    routine = GEMM[type_]
    capsule = cython_blas.__pyx_capi__[routine]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    loader.define_symbol(f"nxk_blas_{routine}", pointer_of(capsule, name_of(capsule)))


def gemm_text(type_: Type) -> str:
    """LLVM IR of ``nxk_matmul_<type>``: a batch of products of matrices in rows.

    BLAS keeps matrices in columns, so the transposed product is asked for: C' = B' A'.
    """
    real = "float" if type_ is types.f32 else "double"
    routine = f"nxk_blas_{GEMM[type_]}"
    return f"""
define internal void @nxk_matmul_{type_}(
    ptr %a, ptr %b, ptr %c, i64 %batch, i64 %m, i64 %n, i64 %k,
    i64 %lda, i64 %far_a, i64 %turn_a, i64 %ldb, i64 %far_b, i64 %turn_b) noinline {{
entry:
  %m_at = alloca i32
  %n_at = alloca i32
  %k_at = alloca i32
  %lda_at = alloca i32
  %ldb_at = alloca i32
  %ldc_at = alloca i32
  %one = alloca {real}
  %zero = alloca {real}
  %flag_a = alloca i8
  %flag_b = alloca i8
  %m32 = trunc i64 %m to i32
  %n32 = trunc i64 %n to i32
  %k32 = trunc i64 %k to i32
  %lda32 = trunc i64 %lda to i32
  %ldb32 = trunc i64 %ldb to i32
  store i32 %m32, ptr %m_at
  store i32 %n32, ptr %n_at
  store i32 %k32, ptr %k_at
  store i32 %lda32, ptr %lda_at
  store i32 %ldb32, ptr %ldb_at
  store i32 %n32, ptr %ldc_at
  store {real} 1.0, ptr %one
  store {real} 0.0, ptr %zero
  %is_a = icmp ne i64 %turn_a, 0
  %is_b = icmp ne i64 %turn_b, 0
  %letter_a = select i1 %is_a, i8 84, i8 78
  %letter_b = select i1 %is_b, i8 78, i8 84
  store i8 %letter_a, ptr %flag_a
  store i8 %letter_b, ptr %flag_b
  %each_c = mul i64 %m, %n
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %batch
  br i1 %more, label %body, label %done
body:
  %skip_a = mul i64 %i, %far_a
  %skip_b = mul i64 %i, %far_b
  %skip_c = mul i64 %i, %each_c
  %ai = getelementptr {real}, ptr %a, i64 %skip_a
  %bi = getelementptr {real}, ptr %b, i64 %skip_b
  %ci = getelementptr {real}, ptr %c, i64 %skip_c
  call void @{routine}(
    ptr %flag_b, ptr %flag_a, ptr %n_at, ptr %m_at, ptr %k_at, ptr %one, ptr %bi, ptr %ldb_at,
    ptr %ai, ptr %lda_at, ptr %zero, ptr %ci, ptr %ldc_at)
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
declare void @{routine}(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
"""
