"""What becomes of each primitive, and the errors of those that no gradient goes through."""

from nxkernel import primitives as p
from nxkernel.transforms.adjoints import CONSTANT, REFUSED, RULES


def test_every_primitive_has_a_rule_is_constant_or_is_refused():
    # The results of a primitive that has several belong to the rule of that one.
    for primitive in p.TABLE.values():
        places = [primitive in RULES, primitive in CONSTANT, primitive in REFUSED, primitive is p.elem]
        assert sum(places) == 1, primitive


def test_reasons_are_sentences():
    assert {primitive.name for primitive in REFUSED} == {"bitcast"}
    assert all(reason.endswith(".") for reason in REFUSED.values())
