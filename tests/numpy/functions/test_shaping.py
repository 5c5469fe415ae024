"""Arrays in other shapes, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import module_of
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError, TracedValueError

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "reshape": lambda np, m: (m.reshape(2, 6), np.reshape(m, (4, -1)), m.ravel(), m.flatten(), m.reshape(3, 2, 2).T),
    "axes": lambda np, m: (
        np.transpose(m),
        np.moveaxis(m[None], 0, 2),
        np.swapaxes(m, 0, 1),
        np.expand_dims(m, 1),
        m[None].squeeze(),
    ),
    "spread": lambda np, m: (
        np.broadcast_to(m[0], (2, 4)),
        np.tile(m, (1, 2)),
        np.repeat(m, 2, axis=1),
        np.resize(m[0], 6),
    ),
    "order": lambda np, m: (np.flip(m), np.fliplr(m), np.flipud(m), np.rot90(m)),
    "types": lambda np, m: (m.astype(np.float32), m.astype(int), m.astype("c8"), m.astype(bool), np.copy(m)),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


def test_an_array_without_axes_that_is_flipped_is_a_copy():
    def f(a):
        turned = np.flip(a)
        a -= np.add(a, turned)
        return turned, a

    expected = f(np.array(7.0))
    found = nx.defn(f, promotion="numpy")(np.array(7.0))
    assert [float(value) for value in found] == [7.0, -7.0] == [float(value) for value in expected]


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("part", ["a[k:-2:2].ravel()", "a[::2][k:].ravel()", "np.ascontiguousarray(a[::2][k:])"])
def test_what_may_be_of_a_single_element_is_not_assigned_into(part):
    """NumPy gives a view of one element, and a copy of several that are some places apart."""
    source = (
        "def f(a, n):\n    k = 0\n    for turn in range(n):\n        k = turn\n"
        f"    z = {part}\n    z[:1] += 1\n    return a\n"
    )
    with pytest.raises(NxTypeError, match="a single one is seen where it is, several are a copy"):
        nx.defn(module_of(source)["f"], promotion="numpy")(np.arange(6.0), 3)


def test_repeats_that_only_the_running_program_knows():
    x, counts = np.array([1.5, 2.5, 3.5]), np.array([1, 0, 2])
    with pytest.raises(NxTypeError) as raised:
        nx.jit(np.repeat)(x, counts)
    first, *_, before, last = str(raised.value).split("\n  ")
    assert first == (
        "repeat takes known numbers of times, got s64[3]: how many elements it gives only the running program would "
        "know."
    )
    assert (before, last) == (
        "Make them an option, or known arrays, or take a known number n of elements from where they come:",
        "x[np.searchsorted(np.cumsum(repeats), np.arange(n), side='right')].",
    )

    def repeated(x, counts):
        return x[np.searchsorted(np.cumsum(counts), np.arange(3), side="right")]

    assert nx.jit(repeated)(x, counts).tolist() == np.repeat(x, counts).tolist()


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_squeezing_an_axis_of_traced_length_asks_for_the_length(first):
    def f(a, i):
        return np.maximum(np.isfinite(a), np.squeeze(a[None, ::1, i::3]))

    a = np.random.default_rng(0).integers(0, 9, (4, 4)) * 0.5
    jitted = nx.jit(f)
    if first == 0:
        with pytest.raises(ValueError, match=r"cannot broadcast \[4\]\[4\] with \[4\]\[2\]"):
            jitted(a, first)
    else:
        np.testing.assert_array_equal(jitted(a, first), f(a, first))


@pytest.mark.usefixtures("ahead_of_calls")
def test_squeezing_what_a_mask_picks_is_refused_unless_the_axis_is_named():
    def places(a):
        return np.argwhere(a > 1).squeeze()

    a = np.array([[0.5, 2.5], [3.5, 1.0]])
    with pytest.raises(TracedValueError) as raised:
        nx.jit(places)(a)
    first, _, advice = str(raised.value).splitlines()
    assert first == (
        "squeeze leaves out axes of one element, and whether axis 0 has one only the running program knows."
    )
    assert advice == ("  np.squeeze(x, axis=k) leaves out axis k, whatever the others are; x[0] has the first element.")
    assert nx.jit(lambda a: np.argwhere(a > 1)[None].squeeze(axis=0).sum())(a) == 2
    with pytest.raises(ValueError, match="squeeze removes axes of size 1, axis 1 has 2"):
        nx.jit(lambda a: np.argwhere(a > 1).squeeze(axis=1))(a)
