"""Arrays that programs assign into: which are refused, and what the caller's hold afterwards."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


def _put(a, b):
    a[0] = 5.0
    return np.sum(b)


@pytest.mark.parametrize(
    ("views", "other"),
    [
        (lambda x: (x, x[::-1]), "b"),
        (lambda x: (x[::2], x[::2]), "b"),
        (lambda x: (x[:4], x[3:]), "b"),
        (lambda x: (x.reshape(2, 3).T[0], x.reshape(2, 3)), "b"),
    ],
)
def test_arguments_that_overlap_though_one_is_copied(views, other):
    with pytest.raises(NxTypeError, match=rf"^_put assigns into a, whose memory {other} shares\."):
        nx.defn(_put)(*views(np.arange(6.0)))


@pytest.mark.parametrize("views", [lambda x: (x[::2], x[1::2]), lambda x: (x[:3], x[3:])])
def test_arguments_that_lie_between_each_other_do_not_overlap(views):
    compiled, expected = np.arange(6.0), np.arange(6.0)
    assert nx.defn(_put)(*views(compiled)).item() == _put(*views(expected))
    assert compiled.tolist() == expected.tolist()


_ROW = np.arange(6.0)


def test_a_view_of_a_captured_array():
    @nx.defn(promotion="numpy")
    def f(a):
        a[0] = 50.0
        return np.sum(_ROW)

    for view in (_ROW, _ROW[::-1], _ROW[1:]):
        with pytest.raises(NxTypeError, match=r"^f assigns into a, whose memory _ROW shares\."):
            f(view)
    assert _ROW.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def _flat(a):
    a.ravel()[0] = 77.0
    a[1] = 5.0
    return np.sum(a)


def _copied(a):
    row = a.T.ravel()
    row[0] = 77.0
    return row.sum()


def test_copies_of_arrays_that_may_be_views():
    f = nx.defn(_copied)
    ordered = np.ones((3, 4))
    for _ in range(2):
        assert f(ordered).item() == 88.0
        assert ordered.all()
        # In Fortran order NumPy has a view of it, and changes it.
        with pytest.raises(NxTypeError, match=r"^_copied sees a in another shape and assigns into that: the elements"):
            f(np.asfortranarray(ordered))
    assert nx.defn(lambda a: np.sum(a.T.ravel()))(np.asfortranarray(ordered)).item() == 12.0


def test_other_shapes_of_arrays_whose_elements_do_not_lie_in_order():
    f = nx.defn(_flat)
    ordered, expected = np.zeros((3, 4)), np.zeros((3, 4))
    assert (f(ordered).item(), ordered.tolist()) == (_flat(expected), expected.tolist())
    for array in (np.zeros((3, 4), order="F"), np.zeros((4, 3)).T, np.zeros((3, 8))[:, ::2]):
        with pytest.raises(NxTypeError) as caught:
            f(array)
        first, line, hint = str(caught.value).split("\n")
        assert first == (
            "_flat sees a in another shape and assigns into that: the elements of a do not lie in order, so that NumPy "
            "would see a copy instead of a view, or the reverse."
        )
        assert line.endswith(":  a[1] = 5.0")
        assert hint == "  Pass one whose elements do, np.ascontiguousarray(a), or index a as it is."
        assert not array.any()


def test_what_is_assigned_and_returned_is_copied_once():
    @nx.defn(compiler="numba_cpu")
    def f(x, out):
        out[1:] = np.sin(x[1:])
        return out, out + 1

    out = np.zeros(3)
    for result in f(np.ones(3), out):
        assert result.base is None
        assert result.flags.writeable
        assert not np.shares_memory(result, out)
