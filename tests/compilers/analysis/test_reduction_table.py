"""The table of reductions says what the primitives mean."""

import numpy as np
import pytest

from nxkernel import primitives, types
from nxkernel.backends import MEANING
from nxkernel.compilers.analysis.reduction_table import ARGUMENTS, LOGIC, REDUCTIONS, running_join
from nxkernel.graph.expr import Expr, parameter
from nxkernel.primitives import Spec

TYPES = [types.f32, types.normalize("s8"), types.u16, types.normalize("s64")]


def test_every_reduction_but_a_fold_has_a_row():
    names = {name for name, primitive in primitives.TABLE.items() if primitive.family == "reduction"}
    assert names - REDUCTIONS.keys() == {"reduce"}
    assert (sorted(ARGUMENTS), sorted(LOGIC)) == (["argmax", "argmin"], ["all", "any"])


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_the_identity_changes_no_element(name, type_):
    row = REDUCTIONS[name]
    elements = np.array([0, 1, 5, 100], type_.dtype)
    first = np.full(4, row.identity(type_), type_.dtype)
    found = MEANING[primitives.TABLE[row.join]](Spec(type_, (4,), (None,)), first, elements)
    np.testing.assert_array_equal(found, elements != 0 if row.is_logic else elements)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_the_best_element_is_that_of_the_other_reduction(name):
    row, x = REDUCTIONS[name], np.array([3.0, -1.0, 7.0, 2.0], np.float32)
    how = {"axis": 0, "keep_axis": False, "tie_break": "low", "type": types.s64}
    index = MEANING[primitives.TABLE[name]](Spec(types.s64, (), ()), x, **how)
    best = MEANING[primitives.TABLE[row.element]](Spec(types.f32, (), ()), x, axes=(0,), keep_axes=False)
    assert x[index] == best
    assert best == {">": x.max(), "<": x.min()}[row.sign]


@pytest.mark.parametrize("type_", [*TYPES, types.bool_], ids=str)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_product", "cumulative_max", "cumulative_min"])
def test_what_joins_running_results(name, type_):
    cumulative, params = primitives.TABLE[name], {"axis": 0, "reverse": False}
    operand = np.array([1, 1, 0] if name == "cumulative_product" else [0, 1, 1, 0, 1], type_.dtype)
    spec = Spec(type_, operand.shape, (None,))
    node = Expr(cumulative, [parameter(0, "x", spec)], params, spec)
    join, found = MEANING[primitives.TABLE[running_join(node)]], [operand[:1]]
    for k in range(1, len(operand)):
        found.append(join(Spec(type_, (1,), (None,)), found[-1], operand[k : k + 1]))
    np.testing.assert_array_equal(np.concatenate(found), MEANING[cumulative](spec, operand, **params))
