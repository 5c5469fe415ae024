"""NumPy programs that are traced as they are: what grows long is traced again, with loops of the program."""

import sys

import numpy as np
import pytest

import nxkernel as nx

X = np.random.default_rng(0).uniform(0.1, 1, 900)


@pytest.fixture(autouse=True)
def _compiled():
    nx.global_default_options(compiler="numba_cpu")


def kernels(function):
    """How many kernels the one program of a function has."""
    (program,) = function._entry_group.programs()
    return len(program.executable.kernels)


def over_elements(x):
    product = 1.0
    for each in x:
        product = product * np.sqrt(np.sum((x[:3] - each) ** 2))
    return product


def over_a_range(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + x[i] * x[i + 1]
    return total


def over_pairs(x):
    total = 0.0
    for one, other in zip(x[1:], x[:-1], strict=True):
        total = total + np.sin(one) * other
    return total


def in_a_helper(x):
    return over_a_range(x) + over_pairs(np.sqrt(x))


def behind_an_attempt(x):
    try:
        return over_a_range(x)
    except Exception:
        return -1.0


@pytest.mark.parametrize("function", [over_elements, over_a_range, over_pairs, in_a_helper, behind_an_attempt])
def test_loops_over_many_elements_are_loops_of_the_program(function):
    compiled = nx.jit(function)
    np.testing.assert_allclose(compiled(X), function(X), rtol=1e-12)
    assert kernels(compiled) < 10


def test_other_shapes_are_traced_in_the_same_way():
    compiled = nx.jit(over_a_range)
    for length in (900, 600, 4):
        np.testing.assert_allclose(compiled(X[:length]), over_a_range(X[:length]), rtol=1e-12)


def test_what_is_long_without_a_loop_is_traced_to_its_end():
    def chain(x):
        for _ in nx.unroll(range(300)):
            x = np.sin(x) + 0.5
        return x

    np.testing.assert_allclose(nx.jit(chain)(X), chain(X), rtol=1e-10)


def test_what_cannot_be_rewritten_is_traced_to_its_end():
    space = {"np": np}
    exec("def chain(x):\n    for k in range(300):\n        x = np.sin(x) + k\n    return x", space)
    chain = space["chain"]
    np.testing.assert_allclose(nx.jit(chain)(X), chain(X), rtol=1e-10)


def test_prints_of_a_trace_that_is_given_up_are_not_seen(capsys):
    def told(x):
        print("begin")
        return over_a_range(x)

    nx.jit(told)(X)
    assert capsys.readouterr().out == "begin\n"


def test_each_later_call_traces_such_a_function_once(capsys):
    def told(x):
        # What writes by itself is traced at each call.
        sys.stdout.write("begin\n")
        return over_a_range(x)

    compiled = nx.jit(told)
    compiled(X)
    capsys.readouterr()
    for length in (900, 900, 600):
        np.testing.assert_allclose(compiled(X[:length]), over_a_range(X[:length]), rtol=1e-12)
        assert capsys.readouterr().out == "begin\n"


def test_each_later_call_traces_what_cannot_be_rewritten_once():
    runs = []
    space = {"np": np, "note": runs.append}
    exec("def chain(x):\n    note(len(x))\n    for k in range(300):\n        x = np.sin(x) + k\n    return x", space)
    compiled = nx.jit(space["chain"])
    compiled(X)
    runs.clear()
    compiled(X[:5])
    assert runs == [5]
