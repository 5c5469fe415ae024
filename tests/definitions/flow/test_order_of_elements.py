"""The order of elements decides what is a view of an array: after branches and loops as in NumPy, or refused."""

import textwrap

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

#: How `v` comes about of an array `a`, by whose order NumPy has the elements of each.
MADE = {
    "a conditional expression": "v = a + n if a[0, 0] < 5 else a - n",
    "an if": "if a[0, 0] < 5:\n    v = a + n\nelse:\n    v = a - n",
    "one side": "v = a * 2\nif a[0, 0] < 5:\n    v = v + 1",
    "a helper that returns twice": "v = chosen(a, n)",
    "a while": "v = a * 1\nk = 0\nwhile k < n:\n    v = v + 1\n    k += 1",
    "a for": "v = a * 1\nfor k in range(3):\n    v = v + k",
    "the first turn": "for k in range(3):\n    v = a + k",
    "other than before": "v = np.zeros((3, 4))\nfor k in range(3):\n    v = a + k",
    "a branch in a loop": "v = a * 1\nfor k in range(3):\n    if v[0, 0] > k:\n        v = a + v",
    "two that change places": "v, w = a + 1, a * 2\nfor k in range(3):\n    v, w = w, v",
}
#: What asks for the order, and sees the difference.
USED = {
    "reshape": "v.reshape(-1)[::2] = 2",
    "ravel": "v.ravel()[1:3] += 7",
    "afterwards": "w = v.reshape(2, 6)\nv[0] = 5\nv[:2, :3] += w[:, :3]",
    "in a loop": "for k in range(2):\n    v.reshape(-1)[k] = 9\n    v = v + 1",
}
#: And what does not.
READ = {"sum": "v = v.reshape(-1) * 1.0", "transposed": "v[::2].T[1] = 4"}


def program(run, made, used):
    text = textwrap.indent(f"{made}\n{used}\nreturn v", "    ")
    helper = "def chosen(x, y):\n    if y > 1:\n        return x + y\n    return x - y\n\n\n"
    return run(f"{helper}def f(a, n):\n{text}\n", {"np": np})["f"]


def arrays(order):
    a = np.arange(12.0).reshape(3, 4)
    return {"C": a, "F": np.asfortranarray(a), "transposed": np.arange(12.0).reshape(4, 3).T}[order]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("used", [*USED, *READ])
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_arrays_in_c_order(run, made, used):
    function = program(run, made, {**USED, **READ}[used])
    np.testing.assert_array_equal(nx.defn(function)(arrays("C"), 3), function(arrays("C"), 3))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("order", ["F", "transposed"])
@pytest.mark.parametrize("used", READ.values(), ids=READ)
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_arrays_in_other_orders_that_nobody_asks_for(run, made, used, order):
    function = program(run, made, used)
    np.testing.assert_array_equal(nx.defn(function)(arrays(order), 3), function(arrays(order), 3))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("order", ["F", "transposed"])
@pytest.mark.parametrize("used", USED.values(), ids=USED)
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_arrays_in_other_orders_are_refused_where_it_is_asked_for(run, made, used, order):
    function = program(run, made, used)
    with pytest.raises(
        NxTypeError, match=r"^f sees a in another shape and assigns into that: the elements of a do not"
    ):
        nx.defn(function)(arrays(order), 3)


TWO_ORDERS = {
    "a branch": "v = a * 1.0 if a[0, 0] > 5 else np.asfortranarray(a * 1.0)",
    "a loop": "v = np.asfortranarray(a * 1.0)\nfor k in range(3):\n    v = np.ascontiguousarray(v + 1)",
}


@pytest.mark.parametrize("made", TWO_ORDERS.values(), ids=TWO_ORDERS)
def test_an_order_that_only_the_program_knows(run, made):
    read = program(run, made, "v = v.reshape(-1) * 2")
    np.testing.assert_array_equal(nx.defn(read)(arrays("C"), 3), read(arrays("C"), 3))
    with pytest.raises(NxTypeError) as raised:
        nx.defn(program(run, made, "v.reshape(-1)[0] = 2"))(arrays("C"), 3)
    head, _, advice = str(raised.value).partition("\n")
    assert head.startswith("an array f64[3][4] (cell")
    assert head.endswith(
        "is seen in another shape, and it or that is assigned into: whether that is a view or a copy depends on the "
        "order of its elements, and only the running program knows which array it is."
    )
    assert "np.ascontiguousarray(x)" in advice
