"""Which axes of values are columns' own: from a result to its operands, and the other way."""

import pytest

from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite.columns import column_axes as forms
from nxkernel.graph.expr import constant

EXTENTS = (4, 5)
DOWN, ACROSS = (0, 0), (1, 0)
(X,) = inputs(spec("f64", 6, 5, 7))
(PLANE,) = inputs(spec("f64", 4, 5))
(K,) = inputs(spec("s64"))
ZERO, ONE = constant(0, types.s64), constant(1, types.s64)


def part(*starts, lengths=(4, 5, 1)):
    return make(p.dynamic_slice, X, *starts, lengths=lengths, strides=(1, 1, 1))


def test_a_part_begins_where_its_slice_does():
    plane = part(ONE, ZERO, K)
    (whole, *_) = forms.of_operands(plane, (DOWN, ACROSS, None), EXTENTS)
    assert whole == ((0, 1), (1, 0), None)
    assert forms.of_result(plane, 0, whole) == (DOWN, ACROSS, None)


def test_starts_that_only_the_program_knows():
    with pytest.raises(forms.RefusedError, match="only the running program knows"):
        forms.of_operands(part(K, ZERO, K), (DOWN, ACROSS, None), EXTENTS)


def test_starts_are_clamped():
    assert forms.starts_of(part(constant(9, types.s64), ZERO, K)) == [2, 0, None]


def test_an_update_is_of_all_columns():
    value = make(p.put_slice, X, make(p.reshape, PLANE, shape=(4, 5, 1), names=(None,) * 3), ONE, ZERO, K)
    assert forms.of_operands(value, ((0, 1), ACROSS, None), EXTENTS)[:2] == [
        ((0, 1), ACROSS, None),
        (DOWN, ACROSS, None),
    ]
    with pytest.raises(forms.RefusedError, match="other columns"):
        forms.of_operands(value, ((0, 2), ACROSS, None), EXTENTS)


def test_views():
    turned = make(p.transpose, PLANE, axes=(1, 0))
    assert forms.of_operands(turned, (ACROSS, DOWN), EXTENTS) == [(DOWN, ACROSS)]
    assert forms.of_result(turned, 0, (DOWN, ACROSS)) == (ACROSS, DOWN)
    longer = make(p.reshape, PLANE, shape=(4, 1, 5), names=(None,) * 3)
    assert forms.of_operands(longer, (DOWN, None, ACROSS), EXTENTS) == [(DOWN, ACROSS)]
    wide = make(p.broadcast, PLANE, shape=(7, 4, 5), axes=(1, 2), names=(None,) * 3)
    assert forms.of_operands(wide, (None, DOWN, ACROSS), EXTENTS) == [(DOWN, ACROSS)]
    assert forms.of_result(wide, 0, (DOWN, ACROSS)) is None
    assert forms.spread(wide, (DOWN, ACROSS)) == (None, DOWN, ACROSS)


def test_reductions():
    along = make(p.sum_, X, axes=(2,), keep_axes=False)
    assert forms.of_operands(along, (DOWN, ACROSS), EXTENTS) == [(DOWN, ACROSS, None)]
    with pytest.raises(forms.RefusedError, match="sum over columns"):
        forms.of_result(along, 0, (None, None, DOWN))


@pytest.mark.parametrize(
    ("form", "shape", "refused"),
    [((DOWN, DOWN), (4, 4), True), (((0, 1), None), (4, 9), True), (((0, 1), None), (5, 9), False)],
)
def test_forms_that_values_cannot_have(form, shape, refused):
    if refused:
        with pytest.raises(forms.RefusedError):
            forms.check(form, shape, EXTENTS)
    else:
        forms.check(form, shape, EXTENTS)


def test_walks():
    assert forms.walks(part(ZERO, ZERO, K)) == (0, 1)
    assert forms.walks(part(ZERO, ZERO, ZERO)) is None
    assert forms.is_column_wise(part(ZERO, ZERO, K), (0, 1))
    assert not forms.is_column_wise(part(K, ZERO, ZERO, lengths=(1, 5, 7)), (1, 2))
