"""Every rule of tangents says what the transposed gradient rule says, which is another way to it."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.graph.expr import Graph, parameter
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.rule_table import zeros
from nxkernel.transforms.recording_trace import RecordingTrace
from nxkernel.transforms.tangents import JOINT, RULES, TangentSite
from nxkernel.transforms.tangents.transposition import transposed
from random_primitives import CASES, Drawn

OWN = sorted(set(RULES) - set(p.WITH_DERIVATIVES), key=str)


def test_what_has_rules_of_its_own():
    assert set(JOINT) == {p.while_, p.cond, p.reduce}
    assert set(p.WITH_DERIVATIVES) <= set(RULES)
    assert set(OWN) <= set(CASES)


def smooth(array):
    return array.dtype.kind in "fcV" or array.dtype.name == "bfloat16"


def wide(array, generator):
    """Numbers that are no special ones, in the widest type; whole numbers as they are."""
    if not smooth(array):
        return array
    drawn = generator.uniform(0.1, 0.9, array.shape)
    return drawn + 1j * generator.uniform(0.1, 0.9, array.shape) if array.dtype.kind == "c" else drawn


def check(primitive, draw):
    choose = Drawn(draw)
    case, generator = CASES[primitive](choose), choose.rng()
    arrays = [wide(array, generator) for array in case.arrays]
    params = dict(case.params)
    if params.get("type") in (types.f16, types.bf16, types.f32):
        params["type"] = types.f64
    moving = [k for k, array in enumerate(arrays) if smooth(array) and choose.chance(80)]
    if not moving:
        return
    along = [wide(arrays[k], generator) for k in moving]
    given_ = [*arrays, *along]
    specs = [Spec(types.normalize(array.dtype), array.shape, unnamed(array.shape)) for array in given_]
    with RecordingTrace():
        nodes = [parameter(k, f"x{k}", spec) for k, spec in enumerate(specs)]
        node = apply(primitive, *nodes[: len(arrays)], **params)
        tangents = [None] * len(arrays)
        for k, tangent in zip(moving, nodes[len(arrays) :], strict=True):
            tangents[k] = tangent
        site = TangentSite(node, tangents, {})
        own, other = RULES[primitive](site), transposed(site)[0]
        outputs = [zeros(node.spec) if one is None else one for one in (own, other)]
    found, expected = registry.get("evaluator").compile(Graph("tangents", nodes, outputs, list)).run(given_)
    assert outputs[0].spec == outputs[1].spec
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("primitive", OWN, ids=str)
def test_a_rule_beside_the_transposed_gradient(primitive):
    @settings(patient, max_examples=3, derandomize=True, phases=[Phase.generate])
    @given(st.data())
    def run(data):
        check(primitive, data.draw)

    run()
