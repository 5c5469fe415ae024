"""What tensors and traced values have in common: specs, with vectorized axes and without."""

import pytest

from nxkernel import types
from nxkernel.errors import NxValueError
from nxkernel.operand import VectorizedSpec, entry_spec, vectorized_spec, whole_spec
from nxkernel.primitives import Spec

ENTRY = Spec(types.f32, (3,), ("k",))
AXES = (("x", 2), ("y", 1))


def test_specs_of_entries_and_of_all_together():
    spec = vectorized_spec(ENTRY, AXES)
    assert str(spec) == "vectorized[x: 2][y: 1] f32[k: 3]"
    assert (spec.type, spec.shape, spec.names) == ENTRY
    assert entry_spec(spec) == ENTRY
    assert whole_spec(spec) == Spec(types.f32, (2, 1, 3), (None, None, "k"))
    assert entry_spec(ENTRY) is whole_spec(ENTRY) is vectorized_spec(ENTRY, ()) is ENTRY


def test_specs_with_other_axes_differ():
    specs = [ENTRY, whole_spec(vectorized_spec(ENTRY, AXES))]
    specs += [vectorized_spec(ENTRY, axes) for axes in (AXES, AXES[:1], AXES[::-1], (("x", 3),), (("z", 2),))]
    assert len(set(specs)) == len(specs) == 7
    assert VectorizedSpec(*ENTRY, AXES) == vectorized_spec(ENTRY, AXES)


def test_a_name_is_taken_once():
    with pytest.raises(NxValueError) as error:
        vectorized_spec(ENTRY, (("k", 2),))
    assert str(error.value) == (
        "the name 'k' would stand for a vectorized axis and for an axis of f32[k: 3].\n"
        "  Give the axis another name with nx.rename(t, [...]), or none."
    )
