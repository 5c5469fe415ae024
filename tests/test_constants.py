"""Numbers with a name."""

import math

import pytest

import nxkernel as nx
from nxkernel import constants
from nxkernel.errors import NxTypeError


@pytest.mark.parametrize(
    ("name", "type_", "value"),
    [
        ("infinity", "bf16", math.inf),
        ("neg_infinity", "f64", -math.inf),
        ("max", "u8", 255),
        ("max", "f32", math.inf),
        ("min", "s16", -32768),
        ("min", "f16", -math.inf),
        ("max_finite", "s16", 32767),
        ("max_finite", "f32", 3.4028234663852886e38),
        ("max_finite", "bf16", 3.3895313892515355e38),
        ("min_finite", "f16", -65504.0),
        ("min_finite", "bool", False),
        ("smallest_positive_normal", "bf16", 1.1754943508222875e-38),
        ("smallest_positive_normal", "f16", 6.103515625e-05),
        ("epsilon", "f32", 1.1920928955078125e-07),
        ("epsilon", "bf16", 0.0078125),
        ("pi", "f64", math.pi),
        ("pi", "bf16", 3.140625),
        ("e", "c128", math.e),
        ("euler_gamma", "f64", 0.5772156649015329),
        ("i", "c128", 1j),
    ],
)
def test_values(name, type_, value):
    found = getattr(constants, name)(type_)
    assert (found.type, found.shape, found.to_list()) == (type_, (), value)


def test_without_a_type():
    assert constants.pi().type == constants.e().type == constants.nan().type == constants.infinity().type == "f32"
    assert constants.i().type == "c64"
    assert math.isnan(constants.nan().to_list())


def test_in_a_trace_they_are_weak(record):
    found = record(lambda x: x * constants.pi(), nx.template((), "f64"))
    assert found.type == "f64"
    assert found.operands[1].params["value"] == math.pi
    assert record(lambda x: x * constants.pi("f64"), nx.template((), "f32")).type == "f64"


@pytest.mark.parametrize(
    ("name", "type_", "text"),
    [
        ("pi", "s32", 'there is no pi among the integers (s32); write nx.constants.pi("f32")'),
        ("nan", "u8", 'there is no nan among the integers (u8); write nx.constants.nan("f32")'),
        ("epsilon", "s32", 'epsilon is a property of float types, got s32; write nx.constants.epsilon("f32")'),
        ("max", "c64", "complex numbers (c64) have no order, so there is no max"),
        ("i", "f32", 'i is complex, got the type f32; write nx.constants.i("c64")'),
    ],
)
def test_some_do_not_exist(name, type_, text):
    with pytest.raises(NxTypeError) as error:
        getattr(constants, name)(type_)
    assert str(error.value) == text
