"""Object files to machine code: every kind of section, symbol and relocation that LLVM makes for us, and errors."""

import ctypes
import gc
import struct

import numpy as np
import pytest

from nxkernel.compilers.numba_cpu.codegen import object_code
from nxkernel.compilers.numba_cpu.runtime import loader

pytestmark = [
    pytest.mark.skipif(not loader.OWN, reason="on this system LLVM links machine code"),
    pytest.mark.usefixtures("little_garbage"),
]

if loader.OWN:
    from nxkernel.compilers.numba_cpu.runtime import executable_memory
    from nxkernel.compilers.numba_cpu.runtime.elf_linker import MissingSymbolsError, ObjectFile

TEXT = """
@counted = global i64 40
@zeros = internal global [3 x i64] zeroinitializer
@shared = common global i64 0
@table = internal constant [2 x ptr] [ptr @first, ptr @second]

define i64 @first(i64 %x) {
  %y = mul i64 %x, 3
  ret i64 %y
}

define i64 @second(i64 %x) {
  %place = getelementptr [3 x i64], ptr @zeros, i64 0, i64 2
  %before = load i64, ptr %place
  %after = add i64 %before, %x
  store i64 %after, ptr %place
  ret i64 %after
}

define i64 @count() {
  %before = load i64, ptr @counted
  %after = add i64 %before, 1
  store i64 %after, ptr @counted
  store i64 %after, ptr @shared
  %again = load i64, ptr @shared
  ret i64 %again
}

define i64 @chosen(i64 %which, i64 %x) {
  %place = getelementptr [2 x ptr], ptr @table, i64 0, i64 %which
  %function = load ptr, ptr %place
  %y = call i64 %function(i64 %x)
  ret i64 %y
}

define double @constants(double %x) {
  %y = fmul double %x, 0x40091EB851EB851F
  %z = call double @hypot(double %y, double 4.0)
  ret double %z
}

declare double @hypot(double, double)
"""
LONG = ctypes.c_int64


def linked(text=TEXT, find=loader._address):
    return ObjectFile(object_code.compile_object(text)).link(find)


def function(functions, name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(functions[name])


def test_every_part_is_where_code_looks_for_it():
    block, data, functions = linked()
    assert set(functions) == {"first", "second", "count", "chosen", "constants", "counted", "shared"}
    assert function(functions, "first", LONG, LONG)(14) == 42
    assert [function(functions, "count", LONG)() for _ in range(3)] == [41, 42, 43]
    chosen = function(functions, "chosen", LONG, LONG, LONG)
    assert [chosen(0, 5), chosen(1, 5), chosen(1, 7)] == [15, 5, 12]
    constants = function(functions, "constants", ctypes.c_double, ctypes.c_double)
    assert constants(1.0) == np.hypot(3.14, 4.0)
    block.release()
    del data


def test_two_copies_have_memory_of_their_own():
    copies = [linked(), linked()]
    (first, _, functions), (second, _, others) = copies
    assert function(functions, "count", LONG)() == function(others, "count", LONG)() == 41
    first.release()
    second.release()


def test_what_is_missing_is_told_before_anything_is_placed():
    gc.collect()
    before = executable_memory.taken()
    with pytest.raises(MissingSymbolsError) as error:
        linked("declare i64 @nowhere(i64)\n" + TEXT.replace("mul i64 %x, 3", "call i64 @nowhere(i64 %x)"))
    assert error.value.args == ("nowhere",)
    assert executable_memory.taken() == before


def test_names_that_it_asks_for():
    assert ObjectFile(object_code.compile_object(TEXT)).undefined() == ["hypot"]


@pytest.mark.parametrize("cut", [0, 10, 63, 64, 200, -1, -100])
def test_damaged_files_are_refused(cut):
    with pytest.raises(ValueError, match="object file"):
        ObjectFile(object_code.compile_object(TEXT)[:cut]).link(loader._address)


def test_files_for_other_machines_are_refused():
    code = bytearray(object_code.compile_object(TEXT))
    struct.pack_into("<H", code, 18, 183)
    with pytest.raises(ValueError) as error:
        ObjectFile(bytes(code))
    assert str(error.value) == "no object file for x86-64"


def relocated(kind, addend):
    """Link an object file with one relocation, which is made another one."""
    text = "declare void @f()\ndefine void @g() nounwind {\n  call void @f()\n  ret void\n}"
    code = bytearray(object_code.compile_object(text))
    # The address of a function: its place, its symbol and kind, and nothing to be added.
    at = code.index(struct.pack("<IIq", 1, 3, 0))
    struct.pack_into("<IIq", code, at, kind, 3, addend)
    return ObjectFile(bytes(code)).link(lambda name: 0x1000)


def test_relocations_that_it_does_not_know_are_refused():
    with pytest.raises(ValueError) as error:
        relocated(42, 0)
    assert str(error.value) == "an object file with relocations of the kind 42"


def test_addresses_that_are_too_far_are_refused():
    with pytest.raises(ValueError) as error:
        relocated(10, 1 << 40)
    assert str(error.value) == "an object file with an address that is too far, 0x10000001000"
