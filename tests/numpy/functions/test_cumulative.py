"""Running totals, differences and slopes, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError

ROWS = {
    "totals": lambda np, x: (np.cumsum(x), np.cumprod(x[0]), x.cumsum(axis=1), np.cumsum(x > 2)),
    "without nan": lambda np, x: (np.nancumsum(x), np.nancumprod(x, axis=0)),
    "differences": lambda np, x: (np.diff(x), np.diff(x, 2, axis=0), np.diff(x, prepend=0, append=9), np.ediff1d(x)),
    "slopes": lambda np, x: (*np.gradient(x), np.gradient(x[0], 2.0), np.gradient(x, 0.5, axis=1)),
    "slopes at the edges": lambda np, x: np.gradient(x, 0.5, axis=1, edge_order=2),
    "slopes between places": lambda np, x: np.gradient(x[0], np.array([0, 1, 3, 4.5], x.dtype)),
    "slopes between whole places": lambda np, x: np.gradient(x[0], np.array([1, 3, 2, 200], np.uint8)),
    "areas": lambda np, x: (np.trapezoid(x, dx=0.5), np.trapezoid(x, x[0]), np.trapezoid(x, axis=0)),
    "angles without jumps": lambda np, x: (np.unwrap(x), np.unwrap(x, axis=0), np.unwrap(x * 2, period=5)),
    "greatest so far, beside NaN": lambda np, x: (
        np.fmax.accumulate(np.where(x > 5, np.nan, x), axis=1),
        np.fmin.accumulate(np.where(x == 1, np.nan, x)),
        np.fmax.accumulate(x),
    ),
    "whether all or any so far": lambda np, x: (
        np.logical_and.accumulate(x > 1, axis=1),
        np.logical_or.accumulate(x - 1),
    ),
    "greatest so far": lambda np, x: (np.maximum.accumulate(x), np.minimum.accumulate(x, axis=1)),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, np.array([[1, 4, 2, 8], [5, 7, 3, 6], [9, 2, 2, 1]], kind), rtol=1e-5 if kind == "f4" else 1e-12)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_complex_numbers_have_no_running_extremes(name):
    with pytest.raises(NxTypeError, match="c128 has no order here"):
        nx.defn(lambda x: getattr(np, name).accumulate(x), promotion="numpy")(np.ones(3, complex))


def test_slopes_have_the_type_of_the_values():
    x, places = np.array([1, 4, 9, 16], np.float16), np.array([1.0, 3.0, 4.0, 9.0])
    found = nx.defn(lambda x, places: np.gradient(x, places))(x, places)
    assert (found.dtype, found.tolist()) == (np.float16, np.gradient(x, places).tolist())


def test_other_functions_name_those_that_accumulate():
    with pytest.raises(NxTypeError, match="add, fmax, fmin, logical_and, logical_or, maximum, minimum, multiply are"):
        nx.jit(lambda x: np.hypot.accumulate(x))(np.ones(3))
