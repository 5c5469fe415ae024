"""While a function is traced, copies of what leads to arrays stand in: what they pass on, and what they hand back."""

import types

import numpy as np

import nxkernel as nx

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
        "def g(t):\n    global n\n    n += 1\n    state.calls += 1\n    return t * w * state.w\nf = nx.jit(g)", space
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
        "f changed counts while it was traced, so its program was not kept. Return values instead of storing them."
    )
