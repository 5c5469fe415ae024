"""What a definition is: its identity, its arguments, its methods, its errors, and its calls from several threads."""

import functools

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.to_list() if tensor.shape else tensor.to_number()


SOURCE = """
@nx.defn
def double(t, *, by=2.0):
    return t * by
"""


def test_a_cell_that_is_run_again_unchanged_is_a_hit(run, misses):
    first = run(SOURCE, file="one.py")["double"]
    assert value(first(ONE)) == [2.0, 2.0, 2.0]
    again = run("\n\n# a comment\n" + SOURCE, file="two.py")["double"]
    with nx.no_compile():
        assert value(again(ONE)) == [2.0, 2.0, 2.0]
    assert again.cache_info().hits == 1
    assert misses() == [("first call",)]


def test_a_changed_body_is_new(run, misses):
    run(SOURCE)["double"](ONE)
    changed = run(SOURCE.replace("t * by", "t * by + 1"))["double"]
    assert value(changed(ONE)) == [3.0, 3.0, 3.0]
    assert misses() == [("first call",), ("first call since its code changed",)]
    back = run(SOURCE)["double"]
    with nx.no_compile():
        assert value(back(ONE)) == [2.0, 2.0, 2.0]


def test_a_changed_default_of_an_option_is_a_difference_of_the_option(run, misses):
    run(SOURCE)["double"](ONE)
    changed = run(SOURCE.replace("2.0", "3.0"))["double"]
    assert value(changed(ONE)) == [3.0, 3.0, 3.0]
    assert misses()[-1] == ("option by: 2.0 → 3.0",)


def test_equal_code_of_other_wrappers_is_told_apart():
    def scaled(factor):
        def wrap(function):
            @functools.wraps(function)
            def wrapper(t):
                return function(t) * factor

            return wrapper

        return wrap

    def identity(t):
        return t

    assert value(nx.jit(scaled(2.0)(identity))(ONE)) == [2.0] * 3
    assert value(nx.jit(scaled(3.0)(identity))(ONE)) == [3.0] * 3


def test_lambdas_of_a_factory_have_their_own_variables():
    def times(factor):
        return nx.jit(lambda t: t * factor)

    two, three = times(2.0), times(3.0)
    assert [value(two(1.0)), value(three(1.0)), value(two(1.0))] == [2.0, 3.0, 2.0]
    with nx.no_compile():
        assert value(times(3.0)(1.0)) == 3.0


def test_recursion_over_an_option(run):
    f = run("@nx.defn\ndef power(t, *, n):\n    return t if n == 1 else t * power(t, n=n - 1)")["power"]
    assert value(f(2.0, n=5)) == 32.0


def test_recursion_without_end(run):
    f = run("@nx.defn\ndef f(t):\n    return f(t) + 1")["f"]
    with pytest.raises(CompilationError) as raised:
        f(1.0)
    assert str(raised.value) == (
        "f calls itself without end while it is traced.\n"
        "  What ends a recursion must be known then: an option that counts down, not a tensor."
    )
    assert value(nx.jit(lambda t: t + 1)(1.0)) == 2.0
