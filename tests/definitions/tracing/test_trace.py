"""Traces: the graph that a function becomes."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.evaluator import Evaluator
from nxkernel.definitions.tracing import trace
from nxkernel.errors import TracedValueError
from nxkernel.graph import tracing

ONE = np.ones(3, np.float32)


def graph(function, *args, **opts):
    lines = repr(nx.debug_expr(function)(*args, **opts)).split("\n")[3:-1]
    return [line for line in lines if not line.startswith("  NumPy's rules")]


def test_arguments_and_numbers():
    assert graph(lambda a, b, c: a * b + c, 1, True, 2.0) == [
        "  Nx.Defn.Expr",
        "  parameter a:0               s64",
        "  parameter b:1               bool",
        "  parameter f:2               f32",
        '  c = as_type b, type="s64"   s64',
        "  d = multiply a, c           s64",
        '  e = as_type d, type="f32"   f32',
        "  g = add e, f                f32",
    ]


def test_captured_arrays_are_parameters_by_their_names():
    weights, bias = ONE.copy(), nx.tensor([1.0, 2.0, 3.0])
    assert graph(lambda t: t * weights + bias, ONE) == [
        "  Nx.Defn.Expr",
        "  parameter a:0       f32[3]",
        "  ",
        "  Captured, read at every call:",
        "  tensor b: weights   f32[3]",
        "  tensor d: bias      f32[3]",
        "  ",
        "  c = multiply a, b   f32[3]",
        "  e = add c, d        f32[3]",
    ]


def test_captured_arrays_that_are_not_used_are_no_parameters():
    weights, bias = ONE.copy(), ONE.copy()

    def f(t):
        assert bias.shape == (3,)
        return t * weights

    assert graph(f, ONE) == [
        "  Nx.Defn.Expr",
        "  parameter a:0       f32[3]",
        "  ",
        "  Captured, read at every call:",
        "  tensor b: weights   f32[3]",
        "  ",
        "  c = multiply a, b   f32[3]",
    ]
    assert nx.jit(f)(2.0).tolist() == [2.0] * 3


def test_arrays_without_a_name():
    assert graph(lambda t: t + np.arange(3), 1) == [
        "  Nx.Defn.Expr",
        "  parameter a:0                          s64",
        "  ",
        "  Made while it was traced, part of the program:",
        "  tensor c: tensor                       s64[3]",
        "  ",
        "  b = broadcast a, shape=(3,), axes=[]   s64[3]",
        "  d = add b, c                           s64[3]",
    ]


def test_a_definition_that_calls_a_definition_inlines_it():
    @nx.defn
    def square(t):
        return t * t

    @nx.defn
    def f(t):
        return square(t) + square(t=t)

    assert graph(f, 2.0) == [
        "  Nx.Defn.Expr",
        "  parameter a:0       f32",
        "  b = multiply a, a   f32",
        "  c = add b, b        f32",
    ]
    assert f(3.0).to_number() == 18.0
    assert square.cache_info().misses == 0


def test_results_that_are_no_operations():
    w = ONE.copy()
    f = nx.jit(lambda t: (t, w, 2, 1.5, np.float64(3), nx.tensor([1]), np.arange(2)))
    for _ in range(2):
        assert [(r.type, r.to_list() if r.shape else r.to_number()) for r in f(ONE)] == [
            ("f32", [1.0] * 3),
            ("f32", [1.0] * 3),
            ("s64", 2),
            ("f32", 1.5),
            ("f64", 3.0),
            ("s64", [1]),
            ("s64", [0, 1]),
        ]


def test_an_exception_leaves_no_trace_behind():
    class Stop(BaseException):
        pass

    def f(t, *, error):
        nx.exp(t)
        raise error

    f = nx.jit(f)
    for error in (ValueError("x"), Stop(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            f(1.0, error=error)
        assert tracing.current() is None
        assert (nx.tensor(1) + 1).to_number() == 2
    assert f.cache_info().misses == 0
    assert trace._hook_requests == {}


def test_an_interrupted_call_can_be_made_again():
    stops = [True]

    def f(t):
        if stops[0]:
            raise KeyboardInterrupt
        return t + 1

    f = nx.jit(f)
    with pytest.raises(KeyboardInterrupt):
        f(1.0)
    stops[0] = False
    assert f(1.0).to_number() == 2.0


def test_an_exception_while_compiling_leaves_the_cache_clean(monkeypatch):
    f = nx.jit(lambda t: t + 1)

    def fail(self, graph):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "compile", fail)
        with pytest.raises(MemoryError):
            f(1.0)
    assert (f.cache_info().misses, f.cache_info().entries) == (0, 0)
    assert nx.events(f, "error")[0].reason == ("MemoryError: no room",)
    assert f(1.0).to_number() == 2.0


def test_a_traced_value_lives_only_while_it_is_traced():
    box = []

    def leak(t):
        box.append(t)
        return t + 1

    nx.jit(leak)(1.0)
    with pytest.raises(TracedValueError) as raised:
        box[0] + 1
    assert str(raised.value) == (
        "a traced value of type f32 is used after its definition was traced.\n"
        "  It was probably stored in a global, a list or an attribute: return it from the definition instead."
    )


def test_a_traced_value_is_no_part_of_another_trace():
    box = []

    def leak(t):
        box.append(t * 2)
        return t

    nx.jit(leak)(1.0)
    with pytest.raises(TracedValueError) as raised:
        nx.jit(lambda u: u + box[0])(1.0)
    assert str(raised.value) == (
        "a traced value that was computed from 't', f32, is used after its definition was traced.\n"
        "  It was probably stored in a global, a list or an attribute: return it from the definition instead."
    )


def test_deftransform_runs_while_its_caller_is_traced():
    seen = []

    @nx.deftransform
    def note(t, label):
        seen.append((label, str(t.spec)))
        return t

    f = nx.jit(lambda t: note(t, "in") + 1)
    f(1.0), f(2.0)
    assert seen == [("in", "f32")]
    assert note(nx.tensor(1), "out").to_number() == 1
