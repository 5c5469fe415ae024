"""Functions that are compiled for fixed types and shapes."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

ONE = np.ones(3, np.float32)


def error(kind, function, *args, **opts):
    with pytest.raises(kind) as raised:
        function(*args, **opts)
    return str(raised.value)


@pytest.fixture
def total():
    def total(a, p, *, k=1.0):
        return a * k + p["b"][0]

    return nx.compile(total, [nx.template((2, 3), "f32"), {"b": (nx.template((3,), "f32"),)}], {"k": 2.0})


def test_compile_makes_the_program_at_once(total):
    assert [event.function for event in nx.events(kind="miss")] == ["total"]
    with nx.no_compile():
        for _ in range(3):
            assert total(np.ones((2, 3), np.float32), {"b": (ONE,)}).to_list() == [[3.0] * 3] * 2
    assert (total.cache_info().misses, total.cache_info().hits) == (1, 3)
    assert total.compilations()[0].calls == 3
    assert repr(total) == "<compiled total(a: f32[2][3], p['b'][0]: f32[3], k=2.0)>"


def test_compile_takes_just_its_types_and_shapes(total):
    again = "  Compile it again with nx.compile for these, or use nx.jit, which compiles for whatever comes."
    mine = np.ones((2, 3), np.float32)
    for _ in range(2):
        total(mine, {"b": (ONE,)})
        assert error(NxTypeError, total, np.ones((2, 4)), {"b": (ONE,)}).split("\n") == [
            "total was compiled for other arguments.",
            "  a: expected f32[2][3], got f64[2][4]",
            again,
        ]
    assert error(NxTypeError, total, mine, {"c": (ONE,)}).split("\n")[1:3] == [
        "  p['b'][0]: expected f32[3], got nothing",
        "  p['c'][0]: got f32[3], which is not expected",
    ]
    assert error(NxTypeError, total, mine, {"b": [ONE]}).split("\n")[1] == ("  argument p['b']: (·,) → [·]")
    assert error(NxTypeError, total, mine).split("\n")[0] == "total(a, p, *, k=1.0) needs the argument 'p'."
    assert error(NxTypeError, total, mine, {"b": (ONE,)}, k=3.0) == (
        "total(a: f32[2][3], p['b'][0]: f32[3], k=2.0) was compiled with its options, got the option 'k'.\n"
        "  Give options to nx.compile, or use nx.jit, which compiles for whatever comes."
    )


def test_compile_with_tensors_and_numbers():
    f = nx.compile(lambda a, b: a + b, [ONE, 1])
    assert f(ONE * 2, 5).tolist() == [7.0] * 3
    assert "b: expected s64, got f64" in error(NxTypeError, f, ONE, 5.0)


def test_compile_with_a_number_that_is_needed_while_tracing():
    f = nx.compile(lambda t, n: nx.broadcast(t, (n, 3)), [nx.template((3,), "f32"), 2])
    with nx.no_compile():
        assert f(ONE, 2).shape == (2, 3)
    assert error(NxTypeError, f, ONE, 4) == (
        "<lambda> was compiled for other arguments.\n"
        "  n: expected the static value 2, got 4\n"
        "  Compile it again with nx.compile for these, or use nx.jit, which compiles for whatever comes."
    )
    plain = nx.compile(lambda t, n: t * n, [nx.template((3,), "f32"), 2])
    with nx.no_compile():
        assert plain(ONE, 4).to_list() == [4.0] * 3


def test_compile_follows_what_is_captured():
    rate, weights = 0.5, np.ones(3, "f4")
    f = nx.compile(lambda t: t * rate * weights, [nx.template((3,), "f32")])
    weights[0] = 4.0
    with nx.no_compile():
        assert f(ONE).to_list() == [2.0, 0.5, 0.5]
    rate = 0.25
    for ask in (f, f.why, f.measure):
        assert error(NxTypeError, ask, ONE) == (
            "<lambda> was compiled for other values of what it reads, and compiles nothing again.\n"
            "  captured rate: 0.5 → 0.25\n"
            "  Make what changes an argument, compile it again with nx.compile, or use nx.jit, which compiles for "
            "whatever comes."
        )
    rate = 0.5
    assert (f(ONE).to_list(), f.why(ONE).hit) == ([2.0, 0.5, 0.5], True)
    weights = np.ones(3)
    assert "captured weights: f32[3] → f64[3]" in error(NxTypeError, f, ONE)
    assert f.cache_info().misses == 1


def test_compile_with_static_arguments():
    @nx.jit
    def base(t, n):
        return t**n

    power = nx.jit(lambda t, n, by: t**n * by if n > 1 else t, static_argnames="n")
    f = nx.compile(power, [nx.template((3,), "f32"), 2, nx.template((), "f32")])
    with nx.no_compile():
        assert f(ONE * 3, 2, 2.0).to_list() == [18.0] * 3
    assert error(NxTypeError, f, ONE, 3, 2.0).split("\n")[:2] == [
        "<lambda> was compiled for other arguments.",
        "  n: expected the static value 2, got 3",
    ]
    assert error(NxTypeError, f, ONE[:2], 2, 2.0).split("\n")[1] == "  t: expected f32[3], got f32[2]"
    assert "n: expected s64, got f64" in error(NxTypeError, nx.compile(base, [ONE, 2]), ONE, 2.0)
    assert "n: expected s64, got f32" in error(NxTypeError, nx.compile(base, [ONE, 2], promotion="nx"), ONE, 2.0)
    assert repr(nx.debug_expr(power)(1.0, 1, 2.0)).count(" = ") == 0


def test_compile_never_answers_with_what_was_captured_before():
    k, w = 2.0, ONE.copy()
    f = nx.compile(lambda t: t * k * w, [nx.template((), "f32")])
    assert f(1.0).to_list() == [2.0] * 3
    w[:] = 2.0
    with nx.no_compile():
        assert f(1.0).to_list() == [4.0] * 3
    k = 3.0
    assert "captured k: 2.0 → 3.0" in error(NxTypeError, f, 1.0)


def test_compile_with_texts_and_functions_by_position():
    f = nx.compile(lambda fun, x, mode: fun(x) * (2 if mode == "twice" else 1), [nx.sin, ONE, "twice"])
    with nx.no_compile():
        np.testing.assert_allclose(f(nx.sin, ONE, "twice"), 2 * np.sin(ONE), rtol=1e-6)
    assert error(NxTypeError, f, nx.sin, ONE, "once").split("\n")[1] == (
        "  mode: expected the static value 'twice', got 'once'"
    )
    assert error(NxTypeError, f, nx.cos, ONE, "twice").split("\n")[1] == "  fun: expected the static value sin, got cos"


def test_compile_does_not_learn_from_others():
    def g(x, n, *, wide=False):
        return nx.broadcast(x, (n, 3)) if wide else x * n

    f = nx.compile(g, [ONE, 2])
    assert nx.jit(g)(ONE, 2, wide=True).shape == (2, 3)
    with nx.no_compile():
        assert f(ONE, 4).to_list() == [4.0] * 3


def test_compile_outlives_the_cache():
    def g(x):
        return x + 1

    f = nx.compile(g, [nx.template((3,), "f32")])
    nx.jit(g).clear_cache()
    with nx.no_compile():
        assert f(ONE).to_list() == [2.0] * 3


def test_what_each_call_would_trace_is_not_compiled_ahead(tmp_path):
    file, log = tmp_path / "rate", []
    file.write_text("2")

    def read(x):
        return x * float(file.read_text())

    def logged(x):
        log.append(x.shape)
        return np.sin(x)

    first, why, last = error(NxTypeError, nx.compile, read, [ONE]).split("\n")
    assert first == "read cannot be compiled once for all: each call would trace it."
    assert why.startswith("  It reads ")
    assert why.endswith(": pass that as an argument.")
    assert last == "  nx.jit compiles for whatever comes."
    assert "logged changes log" in error(NxTypeError, nx.compile, logged, [ONE])


def test_a_number_that_the_program_computes():
    f = nx.compile(lambda x: np.flatnonzero(x > 0) * 2, [np.array([1.0, 2.0, -1.0])])
    assert f(np.array([-1.0, 2.0, 1.0])).tolist() == [2, 4]
    assert "a number that the program computes: 2 → 1" in error(NxTypeError, f, np.array([1.0, -2.0, -1.0]))


def test_static_fields_are_those_of_the_template():
    @nx.container(static=["act", "name"])
    @dataclasses.dataclass
    class Layer:
        w: Any
        act: Any = nx.tanh
        name: str = "a"

    layer = nx.compile(lambda layer, mode, x: layer.act(layer.w * x), [Layer(ONE), "a", ONE])
    assert layer(Layer(ONE), "a", ONE).tolist() == nx.tanh(ONE * ONE).tolist()
    for other, text in ((Layer(ONE, nx.sin), "layer.act: tanh → sin"), (Layer(ONE, name="b"), "layer.name: 'a' → 'b'")):
        told = error(NxTypeError, layer, other, "a", ONE).split("\n")
        assert told[:2] == ["<lambda> was compiled for other arguments.", f"  argument {text}"]
    assert len(layer.compilations()) == 1
