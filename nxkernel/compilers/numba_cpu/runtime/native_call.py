"""The built-in function through which Python calls programs: it reads the addresses of arrays and runs native code.

It is a Python built-in made without a C compiler: it reads the addresses out of NumPy's array objects, gives up the
interpreter lock and runs a program, which costs a tenth of what ctypes does. ``nxk_signals`` lets Python's
signal handlers run in the middle of a loop; what they raise is raised when the program has come back.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from nxkernel.compilers.numba_cpu.runtime import code_store, thread_pool, threading_layer
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode

#: Where NumPy keeps the address of the elements and the flags in an array object; part of its binary interface.
_HEAD = object.__basicsize__
_DATA, _FLAGS = _HEAD, _HEAD + 48
#: C-contiguous and aligned.
_READY = 0x1 | 0x100

#: The least work, in simple instructions, that is worth a second thread: some 15 microseconds. Less gains little, and
#: where another process wants the processor, a thread that is woken for it comes half a millisecond late.
WORTH_SHARING = 500_000

_TEMPLATE = f"""
define ptr @SYMBOL(ptr %self, ptr %objects, i64 %count) nounwind {{
entry:
  %words_at = getelementptr i8, ptr %self, i64 {_DATA}
  %words = load ptr, ptr %words_at
  %program = load ptr, ptr %words
  %params_at = getelementptr i64, ptr %words, i64 1
  %params = load ptr, ptr %params_at
  %done_at = getelementptr i64, ptr %words, i64 2
  %done = load ptr, ptr %done_at
  %refused_at = getelementptr i64, ptr %words, i64 3
  %refused = load ptr, ptr %refused_at
  %pointers = alloca ptr, i64 %count, align 8
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %good ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %ready
body:
  %object_at = getelementptr ptr, ptr %objects, i64 %i
  %object = load ptr, ptr %object_at
  %flags_at = getelementptr i8, ptr %object, i64 {_FLAGS}
  %flags = load i32, ptr %flags_at
  %wanted = and i32 %flags, {_READY}
  %fits = icmp eq i32 %wanted, {_READY}
  br i1 %fits, label %good, label %odd
good:
  %data_at = getelementptr i8, ptr %object, i64 {_DATA}
  %data = load ptr, ptr %data_at
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %i
  store ptr %data, ptr %pointer_at
  %next = add i64 %i, 1
  br label %head
odd:
  call void @Py_IncRef(ptr %refused)
  ret ptr %refused
ready:
  %thread = call ptr @PyEval_SaveThread()
  call void %program(ptr %pointers, ptr %params)
  call void @PyEval_RestoreThread(ptr %thread)
  %error = call ptr @PyErr_Occurred()
  %well = icmp eq ptr %error, null
  br i1 %well, label %fine, label %raised
fine:
  call void @Py_IncRef(ptr %done)
  ret ptr %done
raised:
  ret ptr null
}}

define i64 @nxk_signals() nounwind {{
entry:
  %held = call i32 @PyGILState_Ensure()
  %failed = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %held)
  %stop = sext i32 %failed to i64
  ret i64 %stop
}}

declare void @Py_IncRef(ptr)
declare ptr @PyErr_Occurred()
declare i32 @PyErr_CheckSignals()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
"""
#: The text has the layout of this Python's objects in it, so the name says which text it is.
SYMBOL = "nxk_runtime_" + hashlib.sha256(_TEMPLATE.encode()).hexdigest()[:24]
_TEXT = _TEMPLATE.replace("@SYMBOL", "@" + SYMBOL)


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL = 0x80
_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = (ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p)


@functools.cache
def _method() -> _Method:
    _check_layout()
    code, _ = code_store.native(SYMBOL, lambda: _TEXT, also=["nxk_signals"])
    code.last()
    return _Method(b"run", code.address, _FASTCALL, b"Run a compiled program on arrays.")


def _check_layout() -> None:
    """Check that NumPy's array objects have the layout that native code relies on, which is that since 1.7."""
    array = np.zeros((2, 3))
    data = ctypes.c_void_p.from_address(id(array) + _DATA).value
    flags = ctypes.c_int32.from_address(id(array) + _FLAGS).value
    turned = ctypes.c_int32.from_address(id(array.T) + _FLAGS).value
    if data != array.ctypes.data or flags & _READY != _READY or turned & 0x1:
        raise ImportError("this build of NumPy or Python keeps arrays in another layout than nxkernel knows")


def prepare() -> None:
    """Load ``nxk_run`` and ``nxk_signals``, which programs call, and start the threads."""
    thread_pool.load()
    _method()
    threading_layer.start()


def callable_program(code: LoadedCode, params: np.ndarray, kernels: Sequence[LoadedCode] = ()) -> Callable[..., bool]:
    """A Python function that runs a program on arrays, inputs then outputs; False if an array is not contiguous.

    Parameters
    ----------
    code : LoadedCode
        Of ``void program(ptr pointers, ptr params)``; kept by the function, so that nothing runs that is not there.
    params : numpy.ndarray
        Its parameters as 64-bit words; kept alive by the function.
    kernels : sequence of LoadedCode, optional
        Those whose addresses are among the words; kept, too.

    Returns
    -------
    callable
        ``run(*arrays)`` gives False, having done nothing, when an array is not C-contiguous and aligned.
    """
    words = np.array([code.address, params.ctypes.data, id(True), id(False)], dtype=np.int64)
    holder = _AddressTable(words)
    holder.kept = code, params, tuple(kernels)
    return _new_function(ctypes.byref(_method()), holder, None)


class _AddressTable(np.ndarray):
    """An array of addresses that keeps alive what they are the addresses of."""

    kept: tuple[LoadedCode, np.ndarray, tuple[LoadedCode, ...]]

    def __new__(cls, words: np.ndarray) -> _AddressTable:
        return words.view(cls)
