"""Writing a program: its scalar parameters, whose memory is whose, functions beside it, and its ends."""

import pytest

from nxkernel.compilers.numba_cpu.program.program_text import ProgramWriter


@pytest.fixture
def writer():
    return ProgramWriter()


def test_the_table_of_scalar_parameters_is_never_empty(writer):
    assert writer.finish().params.size == 1


def test_scalar_parameters_of_one_key_are_one(writer):
    for key in ("a", "b", "a", None, None):
        writer.scalar(7, key=key)
    assert writer.finish().params.tolist()[1:] == [7, 7, 7, 7]


def test_scalar_parameters_beyond_the_signed_range(writer):
    writer.scalar((1 << 64) - 1)
    assert writer.finish().params.tolist()[1:] == [-1]


def test_memory_that_is_apart_says_so(writer):
    one, other = writer.alias_metadata("one"), writer.alias_metadata("other")
    writer.b.do(f"store i64 1, ptr %pointers, align 8{one}")
    writer.b.do(f"store i64 2, ptr %params, align 8{other}")
    text = writer.finish().text
    assert "!alias.scope !5, !noalias !6" in text
    assert "!alias.scope !7, !noalias !8" in text
    assert "!6 = !{!4}" in text
    assert "!8 = !{!3}" in text
    assert writer.alias_metadata(None) == ""


def test_another_function_has_its_own_ends(writer):
    with writer.another() as name:
        writer.function.at_end = "call void @given_back()"
        writer.leave_if(writer.b.constant("i1", 1))
        writer.function.end()
    text = writer.finish().text
    inner, outer = text.split("}", 1)
    assert f"define internal void @{name}(ptr %first, ptr %count, ptr %step, ptr %table)" in inner
    assert inner.count("call void @given_back()") == 2
    assert "given_back" not in outer
    assert "dereferenceable(8) %params" in outer


def test_names_are_hashes_of_the_text():
    one, other = ProgramWriter(), ProgramWriter()
    other.b.do("store i64 1, ptr %pointers, align 8")
    assert one.finish().symbol != other.finish().symbol
