"""Tests of `try` and `with`: plain Python runs the same source, and the program does what it does."""

import warnings

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError, NxError, UnrolledWarning
from programs_with_try import PROGRAMS

INPUTS = [[1.0, 4.0], [2.0, -4.123456], [-4.0, 1.0], [-3.0, -1.0], [3.0, np.nan]]


def outcome(function, values, capsys):
    x = np.array(values)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(x)
        except Exception as error:
            cause = None if error.__cause__ is None else (type(error.__cause__), error.__cause__.args)
            result = type(error), error.args, cause
    said = [(str(each.message), each.category) for each in warned if "encountered in" not in str(each.message)]
    return result, x, said, capsys.readouterr().out


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
@pytest.mark.parametrize("program", PROGRAMS, ids=[function.__name__ for function in PROGRAMS])
def test_it_does_what_python_does(program, entered, capsys):
    compiled = entered(program)
    for values in INPUTS:
        (expected, left, *said), (result, now, *said_now) = (
            outcome(function, values, capsys) for function in (program, compiled)
        )
        assert said_now == said
        if isinstance(expected, tuple):
            assert result == expected
        else:
            np.testing.assert_allclose(result, expected, rtol=1e-12)
            assert type(result) is type(expected) or isinstance(expected, float | int)
            np.testing.assert_array_equal(now, left)


AROUND = (
    "Write `with` around the call of the definition, or around plain Python in a function of its own, marked with "
    "nx.deftransform."
)
REFUSED = {
    "a division": (
        "try:\n        return float(x[0]) / float(x[1])\n    except ZeroDivisionError:\n        return x",
        "this `try` catches what a division by zero raises, and the compiled program gives a value there.\n"
        "  cell.py, line 4, in f:\n"
        "    try:\n"
        "    ^^^\n"
        "  Do without `try`: ask for zero before, with `if`.",
    ),
    "an index": (
        "try:\n        return x[int(x[0])]\n    except IndexError:\n        return 0.0",
        "this `try` catches what an index that only the running program knows raises, and the compiled program gives a "
        "value there.\n"
        "  cell.py, line 4, in f:\n"
        "    try:\n"
        "    ^^^\n"
        "  Do without `try`: compare it with the size.",
    ),
    "a loop": (
        "try:\n        for i in range(len(x[x > 0])):\n            if x[i] < 0:\n                raise ValueError\n"
        "    except ValueError:\n        return 0.0\n    return 1.0",
        "whether this `try` goes on in a handler is decided in a loop, or in a branch, that only the running program "
        "runs through.\n"
        "  cell.py, line 4, in f:\n"
        "    try:\n"
        "    ^^^\n"
        "  Write what the handler does where it is decided, with `if`.",
    ),
    "a lock": (
        "with threading.Lock():\n        return x",
        "this `with` is entered while the definition is traced, and a lock does more than to set something.\n"
        "  cell.py, line 4, in f:\n"
        "    with threading.Lock():\n"
        "         ^^^^^^^^^^^^^^^^\n"
        f"  {AROUND}",
    ),
    "errors of numbers": (
        "with np.errstate(divide='raise'):\n        return x / 0",
        "this `with` is entered while the definition is traced, and the compiled program tells of no floating-point "
        "errors, as 'raise' asks for.\n"
        "  cell.py, line 4, in f:\n"
        "    with np.errstate(divide='raise'):\n"
        "         ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"  {AROUND}",
    ),
}


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(run, case):
    body, text = REFUSED[case]
    f = run(f"import threading\n@nx.defn\ndef f(x, n):\n    {body}\n", {"np": np, "nx": nx})["f"]
    with pytest.raises(NxError) as raised:
        f(np.ones(2), 3)
    assert str(raised.value) == text


def test_what_nxkernel_refuses_goes_to_no_handler():
    def f(x):
        try:
            return x.ctypes.data
        except Exception:
            return 0.0

    with pytest.raises(NxError) as raised:
        nx.defn(f)(np.ones(2))
    assert "would catch it, but plain Python may raise nothing there" in raised.value.__notes__[0]


def test_rules_of_nx():
    @nx.defn
    def f(t):
        try:
            if nx.sum(t) < 0:
                raise ValueError("negative")
            r = t * 2
        except ValueError:
            r = -t
        return r

    assert f(nx.tensor([1.0, 2.0])).to_list() == [2, 4]
    assert f(nx.tensor([1.0, -2.0])).to_list() == [-1, 2]


def test_gradients_go_through_both_ways():
    def f(x):
        try:
            if x.sum() < 0:
                raise ValueError
            y = (x * x).sum()
        except ValueError:
            y = x.sum()
        return y

    gradient = nx.grad(nx.defn(f))
    np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [2, 4])
    np.testing.assert_array_equal(gradient(np.array([1.0, -2.0])), [1, 1])


def test_what_a_loop_computes_that_is_given_up_is_not_kept():
    def solved(x, a):
        y = np.linalg.solve(a, x)
        return np.dot(x, y)

    def f(rows):
        total = 0.0
        try:
            for row in rows:
                total += solved(row, np.eye(3) * 2)
            for k in range(len(rows)):
                total += solved(rows[k], np.eye(3))
        except np.linalg.LinAlgError:
            return -1.0
        return total

    rows = np.arange(18.0).reshape(6, 3)
    np.testing.assert_allclose(nx.jit(f)(rows), f(rows))
    too_deep = pytest.raises(CompilationError, match=r"^f calls functions inside of others, deeper than Python's limit")
    with pytest.warns(UnrolledWarning, match="whether this `try` goes on in a handler is decided in a loop"), too_deep:
        nx.jit(f)(np.ones((90, 3)))


def test_norms_in_a_loop_raise_nothing():
    def f(rows):
        total = 0.0
        try:
            for k in range(len(rows)):
                total += np.linalg.norm(rows[k])
        except np.linalg.LinAlgError:
            return -1.0
        return total

    rows = np.arange(900.0).reshape(300, 3)
    np.testing.assert_allclose(nx.jit(f)(rows), f(rows))
