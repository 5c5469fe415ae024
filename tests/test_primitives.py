"""The table of primitives."""

import re

import pytest

from elementary_references import REFERENCES
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError
from nxkernel.primitives import Spec

f32_23 = Spec(types.f32, (2, 3), ("a", None))


def test_every_primitive_has_a_meaning_but_parameters():
    assert {row for row in p.TABLE.values() if row not in MEANING} == {p.parameter}


def test_every_elementary_function_has_a_reference_in_the_tests():
    assert list(REFERENCES) == list(p.ELEMENTARY)


def test_names_are_unique_and_families_known():
    assert all(name == row.name == repr(row) for name, row in p.TABLE.items())
    assert {row.family for row in p.TABLE.values()} == {
        "elementwise", "reduction", "shape", "creation", "contraction", "indexing", "cumulative", "sorting", "library",
        "control", "tuple", "leaf",
    }  # fmt: skip
    with pytest.raises(ValueError, match="there is a primitive add already"):
        p.primitive("add", "elementwise", p.add.rule)


def test_a_spec_reads_as_type_and_axes():
    assert str(f32_23) == "f32[a: 2][3]"
    assert str(Spec(types.u8, (), ())) == "u8"


@pytest.mark.parametrize(
    ("primitive", "operands", "params", "expected"),
    [
        (p.add, [f32_23, Spec(types.f32, (2, 3), (None, "b"))], {}, "f32[a: 2][b: 3]"),
        (p.less, [f32_23, f32_23], {}, "bool[a: 2][3]"),
        (p.absolute, [f32_23._replace(type=types.c128)], {}, "f64[a: 2][3]"),
        (p.absolute, [f32_23._replace(type=types.s8)], {}, "s8[a: 2][3]"),
        (p.select, [f32_23._replace(type=types.bool_), f32_23, f32_23], {}, "f32[a: 2][3]"),
        (p.make_complex, [f32_23, f32_23], {}, "c64[a: 2][3]"),
        (p.transpose, [f32_23], {"axes": (1, 0)}, "f32[3][a: 2]"),
        (p.slice_, [f32_23], {"starts": (0, 2), "lengths": (2, 3), "strides": (1, -2)}, "f32[a: 2][2]"),
        (p.concatenate, [f32_23, f32_23], {"axis": 1}, "f32[a: 2][6]"),
        (p.pad, [f32_23, Spec(types.f32, (), ())], {"config": ((0, 0, 0), (1, 1, 1))}, "f32[a: 2][7]"),
        (p.sum_, [f32_23], {"axes": (1,), "keep_axes": False}, "f32[a: 2]"),
        (p.all_, [f32_23], {"axes": (0, 1), "keep_axes": True}, "bool[a: 1][1]"),
        (p.argmax, [f32_23], {"axis": 0, "keep_axis": False, "tie_break": "low", "type": types.s64}, "s64[3]"),
        (p.dot, [f32_23, Spec(types.f32, (3,), (None,))], {"contract": ((1,), (0,)), "batch": ((), ())}, "f32[a: 2]"),
    ],
)
def test_rules(primitive, operands, params, expected):
    assert str(primitive.rule(*operands, **params)) == expected


def test_rules_refuse():
    with pytest.raises(NxValueError, match="cannot merge the name 'a' on axis 0 with the name 'b' on axis 0"):
        p.add.rule(f32_23, f32_23._replace(names=("b", None)))
    with pytest.raises(NxTypeError, match=r"cannot broadcast f32\[a: 2\]\[3\] to \[2\]\[4\]: axis 1 has size 3"):
        p.broadcast.rule(f32_23, shape=(2, 4), axes=(0, 1), names=(None, None))


def test_rules_refuse_what_no_place_would_do_for():
    start, empty, place = Spec(types.s64, (), ()), Spec(types.f32, (0, 3), (None, None)), Spec(types.s64, (1,), (None,))
    with pytest.raises(
        NxIndexError, match=re.escape("dynamic_slice: a part of length 1 does not fit axis 0 of f32[0][3]")
    ):
        p.dynamic_slice.rule(empty, start, start, lengths=(1, 3), strides=(1, 1))
    with pytest.raises(NxIndexError, match=re.escape("put_slice: a part of length 2 does not fit axis 0 of f32[0][3]")):
        p.put_slice.rule(empty, f32_23, start, start)
    with pytest.raises(NxIndexError, match="put_strided: a part of length 4 does not fit axis 0 of f32"):
        p.put_strided.rule(f32_23, f32_23, start, start, strides=(3, 1))
    with pytest.raises(NxIndexError, match=re.escape("gather: axis 0 of f32[0][3] has no elements to take")):
        p.gather.rule(empty, place, axes=(0,))
    with pytest.raises(NxIndexError, match=re.escape("scatter: axis 0 of f32[0][3] has no elements to take")):
        p.scatter.rule(empty, Spec(types.f32, (1, 3), (None, None)), place, axes=(0,), combine="put")
    none = place._replace(shape=(0,))
    assert str(p.gather.rule(empty, none, axes=(0,))) == "f32[0][3]"
    assert p.scatter.rule(empty, empty, none, axes=(0,), combine="add") is empty
