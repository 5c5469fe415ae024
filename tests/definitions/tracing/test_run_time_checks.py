"""Errors where a condition does not hold in the program that runs: their texts, lines, turns and entries."""

import traceback

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CheckError, NxTypeError, NxValueError

BOTH = pytest.mark.parametrize("promotion", ["nx", "numpy"])


def failed(function, *arguments):
    """The text of the error, its note, and the last line of the person's in its traceback."""
    with pytest.raises(AssertionError) as caught:
        function(*arguments)
    assert isinstance(caught.value, CheckError)
    [*_, last] = [step for step in traceback.extract_tb(caught.tb) if step.filename == __file__]
    assert "nx.check(" in last.line
    return str(caught.value), "".join(getattr(caught.value, "__notes__", []))


@nx.jit
def root(x):
    nx.check(x >= 0, "{x:.1f} has no root, {unit}", x=x, unit="m")
    return nx.sqrt(x)


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_it_raises_where_the_condition_does_not_hold(compiler):
    f = nx.jit(root, compiler=compiler)
    assert [float(f(x)) for x in (4.0, 0.0)] == [2.0, 0.0]
    for _ in range(2):
        assert failed(f, -2.0) == ("-2.0 has no root, m", "")
    assert float(f(9.0)) == 3.0


def test_arrays_say_where():
    f = nx.jit(lambda x, limit: (nx.check(x < limit, "{x} is not below {limit}", x=x, limit=limit), x)[1])
    x = nx.tensor([[1, 2, 3], [4, 5, 6]])
    assert f(x, 7).to_list() == x.to_list()
    assert failed(f, x, 5) == (f"{x} is not below 5", "At [1, 1].")
    assert f(nx.iota((0, 3)), 0).shape == (0, 3)


def loops(x):
    for i in range(3):
        for _ in range(4):
            x = x + 1
            nx.check(x < 7, "x = {x} with {i}", x=x, i=i)
    return x


@BOTH
def test_loops_say_in_which_turn(promotion):
    f = nx.defn(loops, promotion=promotion)
    assert float(f(-9.0)) == 3.0
    assert failed(f, 1.0) == ("x = 7.0 with 1", "In turn 2 of the loop, in turn 2 of the loop around it.")


@BOTH
def test_mapped_functions_say_for_which_entry(promotion):
    f = nx.defn(loops, promotion=promotion)
    assert np.asarray(nx.vmap(f)(np.array([-9.0, -8.0]))).tolist() == [3.0, 4.0]
    turns = "In turn 2 of the loop, in turn 2 of the loop around it"
    assert failed(nx.vmap(f), np.array([-20.0, 1.0, 1.0])) == (
        "x = 7.0 with 1",
        f"{turns}, for entry 1 of what is mapped.",
    )
    rows = np.array([[-20.0, -20.0, -20.0], [-20.0, -20.0, 1.0]])
    assert failed(nx.vmap(nx.vmap(f)), rows)[1] == (
        f"{turns}, for entry 2 of what is mapped, for entry 1 of what is mapped around it."
    )
    assert failed(nx.vmap(root), nx.tensor([4.0, -1.0])) == ("-1.0 has no root, m", "For entry 1 of what is mapped.")


def test_functions_of_loops_and_branches():
    def rows(x):
        return nx.scan(lambda c, row: (nx.check(row > 0, "{row}", row=row), (c + row, row))[1], 0.0, x)[0]

    def doubled(x):
        return nx.while_(lambda s: s > 0, lambda s: (nx.check(s < 100, "{s}", s=s), s * 2)[1], x)

    def side(x):
        return nx.cond(x > 1, lambda: (nx.check(x < 3, "{x}", x=x), x)[1], lambda: x)

    def in_a_loop(x):
        return nx.fori(0, 5, lambda i, s: nx.vmap(lambda t: (nx.check(t < 3, "{t}", t=t), t + 1)[1])(s), x)

    assert float(nx.jit(rows)(nx.tensor([1.0, 2.0]))) == 3.0
    assert failed(nx.jit(rows), nx.tensor([1.0, 2.0, -1.0])) == ("-1.0", "In turn 3 of the loop.")
    # The loop, which would go on for ever, ends with the check.
    assert failed(nx.jit(doubled), 1.0) == ("128.0", "In turn 8 of the loop.")
    assert [float(nx.jit(side)(x)) for x in (0.5, 2.0)] == [0.5, 2.0]
    assert failed(nx.jit(side), 4.0) == ("4.0", "")
    assert failed(nx.vmap(side), nx.tensor([0.5, 4.0])) == ("4.0", "For entry 1 of what is mapped.")
    assert failed(nx.jit(in_a_loop), nx.tensor([0.0, 1.0])) == (
        "3.0",
        "In turn 3 of the loop, for entry 1 of what is mapped.",
    )


def test_gradients_and_checkpoints_have_them_too():
    assert float(nx.grad(root)(4.0)) == 0.25
    for made in (nx.grad(root), nx.value_and_grad(root), nx.grad(nx.checkpoint(root)), nx.jacobian(root)):
        assert failed(made, -2.0)[0] == "-2.0 has no root, m"


def test_arrays_of_the_caller_are_as_they_were(capsys):
    @nx.defn(promotion="numpy")
    def f(x):
        x[0] = 5
        print("before")
        nx.check(x[1] > 0, "no")
        print("after")
        return x.sum()

    x = np.array([1.0, -2.0])
    assert failed(f, x) == ("no", "")
    assert (x.tolist(), capsys.readouterr().out) == ([1.0, -2.0], "before\n")


def test_what_is_raised_and_asserted_says_for_which_entry():
    @nx.defn
    def f(x):
        assert x > 0, "small"
        if x > 9:
            raise KeyError(f"{x}")
        return x

    for kind, value, text in ((AssertionError, -1.0, "small"), (KeyError, 10.0, "'10.0'")):
        with pytest.raises(kind) as caught:
            nx.vmap(f)(nx.tensor([1.0, 2.0, value]))
        assert (str(caught.value), caught.value.__notes__) == (text, ["For entry 2 of what is mapped."])
        with pytest.raises(kind) as caught:
            f(value)
        assert not hasattr(caught.value, "__notes__")


def test_outside_of_definitions_it_raises_at_once():
    nx.check(nx.tensor([1.0, 2.0]) > 0, "never")
    nx.check(True, "never")
    with pytest.raises(CheckError, match=r"x is 1\.50") as caught:
        nx.check(np.array([[1, 0]]), "x is {x:.2f}", x=1.5)
    assert caught.value.__notes__ == ["At [0, 1]."]
    with pytest.raises(CheckError, match="no") as caught:
        nx.check(0.0, "no")
    assert not hasattr(caught.value, "__notes__")


def test_vectorized_axes_are_axes_of_the_condition():
    f = nx.jit(lambda x: (nx.check(nx.sum(x) > 0, "sum"), x)[1])
    rows = nx.vectorize(nx.tensor([[1, 2], [-3, 1]]), "rows")
    assert failed(f, rows) == ("sum", "At [1].")
    assert f(-rows + 4).shape == (2,)


@pytest.mark.parametrize("trace", [False, True])
def test_what_is_no_check(trace):
    def told(kind, *arguments, **values):
        function = (lambda: nx.jit(lambda x: (nx.check(*arguments, **values), x)[1])(1.0)) if trace else None
        with pytest.raises(kind) as caught:
            (function or (lambda: nx.check(*arguments, **values)))()
        return [line for line in str(caught.value).split("\n") if "line " not in line]

    assert told(NxTypeError, True, 3) == [
        "check takes a condition and a text, got 3.",
        '  Write nx.check(x > 0, "x is {x}", x=x).',
    ]
    assert told(NxValueError, True, "{y} and {0}", x=1) == [
        "the text of a check shows 'y', which it is not given: '{y} and {0}'.",
        "  Write nx.check(condition, text, x=x, y=y, 0=0); braces that are no field are doubled: {{ and }}.",
    ]
    assert told(NxValueError, True, "{") == [
        "the text of a check is no text with fields: Single '{' encountered in format string.",
        "  Braces that are no field are doubled: {{ and }}.",
    ]
