"""Tests of checks of data: plain Python runs the same source, and its errors are the program's."""

import traceback
import warnings

import numpy as np
import pytest

import nxkernel as nx
import talking_programs
from checked_programs import PROGRAMS, helper

INPUTS = [[1.0, 4.0], [1.0, -4.0], [-4.0, 1.0], [200.0, -3.0], [-3.0, 200.0], [-30.0, -10.0], [np.inf, 1.0], [0.0, 2.0]]


def outcome(function, x):
    try:
        return function(x)
    except Exception as error:
        lines = [(step.name, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
        own = [each for each in lines if each[0] not in ("outcome", "__call__") and each[0] in NAMES]
        cause = None if error.__cause__ is None else (type(error.__cause__), error.__cause__.args)
        kinds = list(map(type, error.args))
        hides = error.__suppress_context__
        return type(error), str(error), kinds, getattr(error, "value", None), cause, hides, own


NAMES = {function.__name__ for function in [*PROGRAMS, helper]}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
@pytest.mark.parametrize("program", PROGRAMS, ids=[function.__name__ for function in PROGRAMS])
def test_checks_are_those_of_python(program, entered, capsys):
    compiled = entered(program)
    for values in INPUTS:
        x = np.array(values)
        expected = outcome(program, x)
        said = capsys.readouterr().out
        result = outcome(compiled, x)
        assert capsys.readouterr().out == said
        if isinstance(expected, tuple):
            assert result == expected
        else:
            np.testing.assert_allclose(result, expected, rtol=1e-15)
            assert type(result) is type(expected)


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
@pytest.mark.parametrize("program", talking_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_what_is_said_before_an_error_is_said_and_nothing_else(program, entered, capsys):
    compiled = entered(program)
    for values in ([1.0, 2.0, 3.0], [3.0, -1.0, 0.5], [-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]):
        found = []
        for function in (program, compiled):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                given = outcome(function, np.array(values))
            told = [(each.category, str(each.message)) for each in warned]
            found.append((given[:3] if isinstance(given, tuple) else given, capsys.readouterr().out, told))
        np.testing.assert_equal(*found)


def test_arrays_are_as_before():
    def f(x, y):
        y[:] = x * 2
        if x.sum() < 0:
            raise ValueError("negative")
        y[0] = 7
        return y.sum()

    compiled, y = nx.defn(f), np.zeros(2)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^negative$"):
            compiled(np.array([1.0, -2.0]), y)
        np.testing.assert_array_equal(y, [0, 0])
    assert compiled(np.array([1.0, 2.0]), y) == 11
    np.testing.assert_array_equal(y, [7, 4])


def test_gradients():
    def f(x):
        if x.sum() < 0:
            raise ValueError("negative", x.sum())
        return (x * x).sum()

    for gradient in (nx.grad(f), nx.jit(nx.grad(f)), nx.grad(nx.defn(f))):
        np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [2, 4])
        with pytest.raises(ValueError, match=r"^\('negative', np.float64\(-1.0\)\)$"):
            gradient(np.array([1.0, -2.0]))


def test_rules_of_nx():
    @nx.defn
    def f(t):
        if nx.sum(t) < 0:
            raise ValueError(f"sum {nx.sum(t)}")
        assert nx.all(t > -100), "low"
        return t * 2

    assert f(nx.tensor([1.0, 2.0])).to_list() == [2, 4]
    with pytest.raises(ValueError, match=r"^sum -1.0$"):
        f(nx.tensor([1.0, -2.0]))
    with pytest.raises(AssertionError, match=r"^low$"):
        f(nx.tensor([200.0, -120.0]))


def test_hooks_before_a_check_are_called():
    seen = []

    def f(t):
        nx.hook(t, "before", seen.append)
        if nx.sum(t) < 0:
            raise ValueError("negative")
        nx.hook(t + 1, "after", seen.append)
        return t

    compiled = nx.defn(f)
    compiled(1.0)
    with pytest.raises(ValueError, match="negative"):
        compiled(-1.0)
    assert [float(each) for each in seen] == [1, 2, -1]


def of_a_row(v, k):
    if v.sum() < 0:
        raise ValueError("negative", v.sum())
    for i in range(2):
        if v[i] > 100:
            raise KeyError("big", v[i])
    return v * k


@pytest.mark.parametrize("entered", [nx.jit, lambda f: f], ids=["jit", "vmap"])
def test_vmap_raises_for_the_first_entry(entered):
    mapped = entered(nx.vmap(of_a_row, in_axes=(0, None)))
    for rows in ([[1, 2], [3, 4]], [[1, 2], [200, 4], [-4, 1]], [[1, 2], [-4, 1], [200, 4]]):
        x = np.array(rows, float)
        expected = outcome(lambda x: np.array([of_a_row(v, 2.0) for v in x]), x)
        result = outcome(lambda x: mapped(x, 2.0), x)
        if isinstance(expected, tuple):
            assert result[:3] == expected[:3]
        else:
            np.testing.assert_array_equal(result, expected)


def test_vmap_in_vmap_among_other_checks():
    def of_one(v):
        if v < 0:
            raise ValueError("negative", v)
        return v * 2

    @nx.defn
    def f(x):
        if np.sum(x) > 1000:
            raise TypeError("too much")
        r = nx.vmap(lambda row: nx.vmap(lambda v: of_one(v))(row))(x)
        if r.sum() > 10:
            raise RuntimeError("after", r.sum())
        return r

    np.testing.assert_array_equal(f(np.array([[1.0, 2], [1, 0]])), [[2, 4], [2, 0]])
    for rows, kind in (
        ([[1, 2], [3, -4]], ValueError),
        ([[1, 2], [3, 400]], RuntimeError),
        ([[-1, 2], [3, 4e3]], TypeError),
    ):
        with pytest.raises(kind):
            f(np.array(rows, float))


def test_jacobians():
    def f(x):
        if x.sum() < 0:
            raise ValueError("negative", x.sum())
        return x * x

    for function in (nx.jacobian(f), nx.hessian(lambda x: f(x).sum())):
        np.testing.assert_array_equal(np.diagonal(function(np.array([1.0, 1.0]))), [2, 2])
        with pytest.raises(ValueError, match="negative"):
            function(np.array([1.0, -4.0]))


def test_an_import_that_fails_on_a_side_is_raised_where_that_runs():
    @nx.jit
    def function(x):
        if np.sum(x) > 3:
            import a_package_that_is_not_there

            return a_package_that_is_not_there.of(x)
        return x * 2

    assert function(np.ones(2)).tolist() == [2, 2]
    with pytest.raises(ImportError, match="No module named 'a_package_that_is_not_there'"):
        function(np.ones(5))
