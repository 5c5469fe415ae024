"""Which types and digits values have that stand for Python numbers."""

import pytest

from nxkernel import types
from nxkernel.graph import python_numbers
from nxkernel.graph.python_numbers import RoundedNumberError
from nxkernel.types import c64, c128, f16, f32, f64, s64, u8


def test_types_of_numbers():
    assert [type_ for type_ in (u8, s64, f16, f32, f64, c64, c128) if python_numbers.is_of_numbers(type_)] == [
        s64, f32, c64,
    ]  # fmt: skip
    with types.promotion("numpy"):
        assert [type_ for type_ in (types.bool_, u8, s64, f32, f64, c128) if python_numbers.is_of_numbers(type_)] == [
            types.bool_, s64, f64, c128,
        ]  # fmt: skip


def test_whole_digits():
    with python_numbers.digits(True):
        assert python_numbers.is_of_numbers(f64)
        assert [python_numbers.infer(number) for number in (1, 1.5, 1j)] == [s64, f64, c128]
        assert [python_numbers.alone(type_) for type_ in (s64, f64, c128)] == [s64, f32, c64]
        python_numbers.check(f32, f64)
        with types.promotion("numpy"):
            assert python_numbers.alone(f64) is f64
    assert [python_numbers.infer(number) for number in (1, 1.5, 1j)] == [s64, f32, c64]
    assert python_numbers.alone(f64) is f64


def test_numbers_that_would_be_rounded():
    python_numbers.check(f32, f64)  # nobody would trace again
    with python_numbers.digits(False):
        for type_, wanted in ((f32, f64), (f32, c128), (c64, c128)):
            with pytest.raises(RoundedNumberError):
                python_numbers.check(type_, wanted)
        python_numbers.check(f32, f16)
        python_numbers.check(s64, f64)
        with types.promotion("numpy"):
            python_numbers.check(f32, f64)
    assert not issubclass(RoundedNumberError, Exception)
