"""While a function is traced, copies of what leads to arrays stand in: what they pass on, and what they hand back."""

import functools
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.captures import snapshot
from nxkernel.definitions.captures.placeholders import Placeholders, replaceable

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.to_list() if tensor.shape else tensor.to_number()


def test_a_log_is_no_dependence():
    log, count = [], 0
    state = types.SimpleNamespace(calls=0)

    def f(t):
        nonlocal count
        count += 1
        log.append(t.shape)
        state.calls += 1
        return t + 1

    f = nx.jit(f)
    f(1.0)
    with nx.no_compile():
        f(2.0)
    assert (log, count, state.calls) == ([()], 1, 1)


def test_assignments_of_a_trace_arrive_where_they_belong(run):
    space = {"nx": nx, "w": ONE, "n": 0, "state": types.SimpleNamespace(w=ONE, calls=0)}
    f = run(
        "def g(t):\n    global n\n    n += 1\n    state.calls += 1\n    return t * w * state.w\n"
        "f = nx.jit(g, promotion='nx')",
        space,
    )["f"]
    assert value(f(1.0)) == [1.0] * 3
    assert (space["n"], space["state"].calls) == (1, 1)
    assert space["w"] is ONE
    assert space["state"].w is ONE


def test_a_function_that_changes_what_it_depends_on_is_traced_each_time():
    counts = {"calls": 0}

    def f(t):
        counts["calls"] += 1
        return t + counts["calls"]

    f = nx.jit(f)
    assert [value(f(0.0)) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert nx.events("f", "miss")[-1].advice == (
        "f changed counts['calls'] while it was traced, so its program was not kept. "
        "Return values instead of storing them."
    )


# What stands in ----------------------------------------------------------------------------------------------------


class Layer:
    def __init__(self, w):
        self.w, self.calls = w, 0

    def forward(self, t):
        self.calls += 1
        self.last_shape = t.shape
        return t * self.w


def placeholder(value, *arrays):
    """What stands in for a value, with a text for each array."""
    known = {id(array): f"node {place}" for place, array in enumerate(arrays)}
    found = snapshot.take_snapshot(lambda: value)[0]
    placeholders = Placeholders(lambda array: known.get(id(array)), found.leads)
    return placeholders.of(value), placeholders


def test_what_leads_to_no_array_stays_itself():
    table = {"a": [1.0, (2.0,)], "f": lambda t: t}
    assert placeholder(table)[0] is table


def test_containers_are_copied_with_nodes_in_them():
    w, rest = ONE.copy(), [1.0]
    made, _ = placeholder({"w": w, "pair": (w, rest), "all": [rest, {"deep": w}]}, w)
    assert made == {"w": "node 0", "pair": ("node 0", [1.0]), "all": [[1.0], {"deep": "node 0"}]}
    assert made["pair"][1] is rest


def test_objects_are_copied_without_their_constructor():
    layer = Layer(ONE.copy())
    made, placeholders = placeholder(layer, layer.w)
    assert type(made) is Layer
    assert (made.w, layer.w.tolist()) == ("node 0", [1.0] * 3)
    made.calls, made.new = 5, "x"
    placeholders.write_back()
    assert (layer.calls, layer.new, layer.w.tolist()) == (5, "x", [1.0] * 3)


def test_functions_see_nodes_under_every_name(run):
    w = ONE.copy()
    space = run("def inner():\n    return w\ndef f(k=w):\n    return w, inner(), k, here[0]", {"w": w, "here": [w]})
    made, _ = placeholder(space["f"], w)
    assert made() == ("node 0",) * 4
    assert space["f"]()[0] is w
    assert (made.__name__, made.__module__, made.__code__) == ("f", "__main__", space["f"].__code__)


def test_a_function_that_calls_itself_through_a_variable():
    w = ONE.copy()

    def f(n):
        return [w] if n == 0 else f(n - 1) + [w]

    assert placeholder(f, w)[0](2) == ["node 0"] * 3


def test_methods_partials_and_modules():
    layer = Layer(ONE.copy())
    made, _ = placeholder(functools.partial(layer.forward, t=ONE), ONE, layer.w)
    assert made.func.__self__.w == "node 1"
    assert made.keywords == {"t": "node 0"}
    module = types.ModuleType("mine")
    module.w = ONE
    code = snapshot.take_snapshot(lambda: module.w)[0]
    assert Placeholders(lambda array: "node" if array is ONE else None, code.leads).of(module).w == "node"


def test_what_cannot_be_stood_in_for():
    class Listed(list):
        pass

    for value in (Listed([ONE]), {1, 2}, int, Layer):
        assert not replaceable(value)
    for value in (Layer, Listed):
        assert placeholder(value, ONE)[0] is value


def test_a_layer_is_traced_with_its_own_assignments():
    layer = Layer(ONE.copy())
    f = nx.jit(layer.forward, promotion="nx")
    assert value(f(2.0)) == [2.0] * 3
    assert (layer.calls, layer.last_shape) == (1, ())
    layer.w[:] = 3.0
    with nx.no_compile():
        assert value(f(2.0)) == [6.0] * 3
    assert layer.calls == 1


def test_assignments_arrive_after_an_error_too():
    state = types.SimpleNamespace(w=ONE, calls=0)

    def f(t):
        state.calls += 1
        return t + state.w + undefined  # noqa: F821

    with pytest.raises(NameError):
        nx.jit(f)(1.0)
    assert state.calls == 1


def test_two_functions_that_read_one_name(run):
    space = {"nx": nx, "w": ONE.copy()}
    run(
        "def first():\n    return w[0]\ndef second():\n    return w[1]\n"
        "f = nx.jit(lambda t: t + first() + second(), promotion='nx')",
        space,
    )
    assert value(space["f"](0.0)) == 2.0
    space["w"][:] = [3.0, 4.0, 5.0]
    with nx.no_compile():
        assert value(space["f"](0.0)) == 7.0


def test_functions_that_call_each_other(run):
    space = {"nx": nx, "np": np, "w": ONE.copy()}
    run(
        "def even(t, n):\n    return t if n == 0 else odd(t, n - 1) * w[0]\n"
        "def odd(t, n):\n    return even(t, n - 1) + w.shape[0]\n"
        "f = nx.jit(lambda t: odd(t, 3), promotion='nx')",
        space,
    )
    assert value(space["f"](1.0)) == 7.0
    for name in ("even", "odd"):
        leads = snapshot.take_snapshot(space[name])[0].leads
        assert {id(space["even"]), id(space["odd"])} <= set(leads)
