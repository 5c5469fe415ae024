"""Rows of tensors that are put together again."""

import numpy as np

import nxkernel as nx
from nxkernel.ops.machinery import restacked_rows


def shapes_of(function, *args):
    """The shapes of the parts that rows become."""
    found = []

    def traced(*given):
        parts = restacked_rows.joined(function(*given))
        found.append(None if parts is None else [part.shape for part in parts])
        return given[0]

    nx.debug_expr(traced)(*args)
    return found[0]


T = np.zeros((5, 2))


def test_rows_in_order_are_one_part():
    assert shapes_of(lambda t: [t[k] for k in range(5)], T) == [(5, 2)]
    assert shapes_of(lambda t: [t[k] for k in range(1, 4)], T) == [(3, 2)]


def test_others_stay_between_them():
    assert shapes_of(lambda t: [t[4], t[0], t[1], t[0] * 2, t[2], t[3]], T) == [(1, 2), (2, 2), (1, 2), (2, 2)]


def test_nothing_to_do():
    assert shapes_of(lambda t: [t[1], t[0], t[3]], T) is None
    assert shapes_of(lambda t: [t[:, 0], t[:, 1]], T) is None
    assert shapes_of(lambda t: [t[0, :1], t[1, :1]], T) is None


def test_values():
    t = np.arange(10.0).reshape(5, 2)
    found = nx.jit(lambda t: nx.stack([t[4], t[0], t[1], t[1] * 2, t[2], t[3]]))(t)
    np.testing.assert_array_equal(np.asarray(found), [t[4], t[0], t[1], t[1] * 2, t[2], t[3]])
