"""Arrays that choices and loops make of others: like NumPy's while nobody can tell, refused where somebody could."""

import textwrap

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

N = np.int64


def chosen_view(a, k):
    b = a[1:3] if k > 0 else a[2:4]
    b[:] = 99
    return a


def chosen_then_source_written(a, b, k):
    best = a * 2
    cand = b * 2
    if k > 0:
        best = cand
    cand[1] = 99
    return best


def view_bound_anew(a, n):
    v = a[0:2]
    for i in range(n):
        v[0] += 1
        v = a[i : i + 2]
    return a


def rows_change_places(a, n):
    rows = a.reshape(2, 2)
    now, then = rows[0], rows[1]
    for _ in range(n):
        then[:] = now + 1
        now, then = then, now
    return now


def kept_before_swaps(n):
    x, y = np.zeros(3), np.ones(3)
    keep = x
    for _ in range(n):
        x, y = y, x
        x[0] += 1
    return keep


def state_in_a_dict(a, n):
    s = {"x": a, "y": np.zeros(4)}
    for _ in range(n):
        s["x"], s["y"] = s["y"], s["x"]
        s["x"][0] += 1
    return s["x"]


def swapped_in_a_list(a, b, n):
    p = [a, b]
    for _ in range(n):
        p[0], p[1] = p[1], p[0]
        p[0][0] += 1
    return p[0]


A, B = np.arange(4.0), np.arange(4.0) + 10
CALLER = "only the running program knows"
REFUSED = [
    (
        chosen_view,
        (A, N(1)),
        "what this choice gives is assigned into, and whether it is the caller's array then is up to a condition",
    ),
    (chosen_then_source_written, (A, B, N(1)), "`best` is read, and an array that it may be was assigned into"),
    (view_bound_anew, (A, N(2)), "`v` is assigned into, and the turns of this loop bind it to other arrays"),
    (rows_change_places, (A, N(2)), "`then` is assigned into, and the turns of this loop bind it to other arrays"),
    (kept_before_swaps, (N(2),), "an array is read that `y` may be, which was assigned into: which array `y` is"),
    (state_in_a_dict, (A, N(2)), "`s` is assigned into, and the turns of this loop bind it to other arrays"),
    (swapped_in_a_list, (A, B, N(2)), "`p` is assigned into, and the turns of this loop bind it to other arrays"),
]


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize(("function", "args", "text"), REFUSED)
def test_what_would_not_arrive_is_refused(function, args, text):
    given = [np.array(value) if isinstance(value, np.ndarray) else value for value in args]
    with pytest.raises(NxTypeError) as caught:
        nx.defn(function, promotion="numpy")(*given)
    assert str(caught.value).startswith(text)
    assert CALLER in str(caught.value)
    for value, before in zip(given, args, strict=True):
        assert np.array_equal(value, before)


@pytest.mark.parametrize(("function", "args", "text"), [case for case in REFUSED[2:] if len(case[1]) > 1])
def test_written_out_the_same_are_numpys(function, args, text):
    args = [int(value) if isinstance(value, np.generic) else value for value in args]
    ours, theirs = ([np.array(v) if isinstance(v, np.ndarray) else v for v in args] for _ in range(2))
    found = nx.defn(function, promotion="numpy")(*ours)
    assert np.asarray(found).tolist() == function(*theirs).tolist()
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_the_whole_text():
    with pytest.raises(NxTypeError) as caught:
        nx.defn(chosen_then_source_written, promotion="numpy")(A, B, N(1))
    line = chosen_then_source_written.__code__.co_firstlineno
    assert str(caught.value) == (
        "`best` is read, and an array that it may be was assigned into: which array `best` is, only the running "
        "program knows.\n"
        "  It is the result of chosen_then_source_written.\n"
        f"  That is decided in test_array_aliases.py, line {line + 3}:  if k > 0:\n"
        "  Wherever it is assigned, let it be an array of its own: best = best.copy()."
    )


def best_copy(a, b, n):
    best, cand = a * 1, b * 1
    for i in range(n):
        cand[i] = best[i] + 1
        if cand[0] > best[0]:
            best = cand.copy()
        cand[1] = 99
    return best


def two_buffers(a, n):
    x, y = a * 1, np.zeros(4)
    for _ in range(n):
        y[1:] = x[:-1] + 1
        x, y = y, x
    x[0] = 7
    return x, y


def rows_of_its_own(a, n):
    rows = np.zeros((2, 4))
    now, then = rows[0], rows[1]
    for _ in range(n):
        then[:] = now + a
        now, then = then, now
    return now


def carried_row(a, n):
    rows = a.reshape(4, 1)
    last = rows[0]
    for i in range(1, n):
        rows[i] += last
        last = rows[i]
    return a, last


def chosen_and_written(a, k):
    b = a * 1 if k > 0 else a * 2
    b[0] = 5
    return b


def part_in_a_dict(a, k):
    p = {"w": a, "n": 0}
    if k > 0:
        p["w"][0] = 9
    q = p["w"]
    q[1] = 8
    return p["w"], a


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (best_copy, (A, B, N(2))),
        (two_buffers, (A, N(3))),
        (rows_of_its_own, (A, N(3))),
        (carried_row, (A, N(4))),
        (chosen_and_written, (A, N(1))),
        (part_in_a_dict, (A, N(1))),
        (part_in_a_dict, (A, N(-1))),
    ],
)
def test_what_nobody_can_tell_apart_is_compiled(function, args):
    ours, theirs = ([np.array(v) if isinstance(v, np.ndarray) else v for v in args] for _ in range(2))
    found, expected = nx.defn(function, promotion="numpy")(*ours), function(*theirs)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in [*pairs, *zip(ours, theirs, strict=True)]:
        assert np.array_equal(np.asarray(one), other)


READ_IN_TURNS = {
    "for": "for k in range(2):\n    if v.max() < 4:\n        continue\n    a[:] = 2\n    b[0] += 1",
    "while": "k = 0\nwhile k < 2:\n    if v.max() >= 4:\n        a[:] = 2\n        b[0] += 1\n    k += 1",
    "condition": "while v.max() >= 4:\n    a[:] = 2\n    b[0] += 1",
    "inside": "for k in range(2):\n    for i in range(2):\n        b[0] += v[i]\n    a[:] = 2",
    "a side": "if n > 0:\n    for k in range(2):\n        b[0] += v[0]\n        a[0] = 2",
}


def read_in_turns(run, made, body):
    text = textwrap.indent(f"{made}\n{body}", "    ")
    return run(f"def f(a, b, n):\n{text}\n    return a\n", {"np": np})["f"]


@pytest.mark.parametrize("body", READ_IN_TURNS.values(), ids=READ_IN_TURNS)
def test_a_turn_reads_what_the_last_one_assigned(run, body):
    function = read_in_turns(run, "v = a[::2]", body)
    given, expected = ([np.arange(6.0), np.zeros(6)] for _ in range(2))
    function(*expected, 2)
    nx.defn(function)(*given, 2)
    np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("body", READ_IN_TURNS.values(), ids=READ_IN_TURNS)
@pytest.mark.parametrize(
    "made",
    ["k = 0\nwhile k < 1:\n    v = a[::2]\n    k += 1", "v = a if a[1] > 0 else a[::-1]"],
    ids=["loop", "if"],
)
def test_a_turn_is_refused_that_may_read_what_the_last_one_assigned(run, made, body):
    function = read_in_turns(run, made, body)
    with pytest.raises(NxTypeError, match=r"is read, and an array that it may be was assigned into: which array"):
        nx.defn(function)(np.arange(6.0), np.zeros(6), 2)


def test_what_a_loop_in_a_loop_reads_and_the_outer_one_makes_stale_is_refused(run):
    source = (
        "def f(a):\n"
        "    a, b = a * 1, np.zeros((3, 1))\n"
        "    for k in range(4):\n"
        "        for n in range(5):\n"
        "            row = a[0]\n"
        "            b[2] = row\n"
        "        row *= 2.0\n"
        "    return b\n"
    )
    f = run(source, {"np": np})["f"]
    assert f(np.ones((3, 1))).ravel().tolist() == [0.0, 0.0, 8.0]
    with pytest.raises(NxTypeError, match=r"^an array is read that `row` may be, which was assigned into"):
        nx.defn(f)(np.ones((3, 1)))
