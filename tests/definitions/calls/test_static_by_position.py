"""Functions, texts, None and types by position say how to compute: they are static without being declared as such."""

import enum
import functools
import gc
import weakref

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = nx.tensor([[1.0, 2.0], [3.0, 4.0]])
Y = nx.tensor([1.0, 2.0])
P = {"w": nx.tensor([1.0, 2.0]), "b": 0.5}


class Kind(enum.Enum):
    SIN = "sin"
    COS = "cos"


def predict(params, x):
    return nx.dot(x, params["w"]) + params["b"]


def squared(prediction, y):
    return nx.mean((prediction - y) ** 2)


def absolute(prediction, y):
    return nx.mean(nx.abs(prediction - y))


def objective(predict_fn, loss_fn, params, x, y):
    return loss_fn(predict_fn(params, x), y)


MAKERS = [nx.defn, nx.jit, lambda f: nx.defn(lambda *args: f(*args)), lambda f: nx.jit(lambda *args: nx.defn(f)(*args))]


@pytest.mark.parametrize("make", MAKERS, ids=["defn", "jit", "between definitions", "in a jit"])
def test_functions_are_passed_as_they_are(make):
    """The example of the reference: ``defn objective(predict_fn, loss_fn, params, inputs, targets)``."""
    f = make(objective)
    assert [float(f(predict, loss, P, X, Y)) for loss in (squared, absolute, squared)] == [55.25, 7.0, 55.25]
    slope = nx.grad(f, argnums=2)(predict, squared, P, X, Y)
    np.testing.assert_allclose(slope["w"], [33.0, 47.0])
    np.testing.assert_allclose(slope["b"], 14.0)


def test_of_functions_their_contents_count():
    f, rate = nx.defn(objective), 2.0

    def scaled(prediction, y):
        return squared(prediction, y) * rate

    assert float(f(predict, scaled, P, X, Y)) == 110.5
    rate = 3.0
    assert f.why(predict, scaled, P, X, Y).difference == ("captured rate of loss_fn: 2.0 → 3.0",)
    assert float(f(predict, scaled, P, X, Y)) == 165.75


def test_an_equal_function_is_no_other_one():
    f = nx.defn(lambda fun, x: fun(x))

    def made(by):
        return lambda x: x * by

    assert float(f(made(2.0), 3.0)) == 6.0
    with nx.no_compile():
        assert float(f(made(2.0), 3.0)) == 6.0
    assert float(f(made(4.0), 3.0)) == 12.0


def test_arrays_that_functions_read_are_read_at_each_call():
    weights = np.array([1.0, 2.0])
    f = nx.defn(lambda fun, x: nx.sum(fun(x)))

    def weighed(x):
        return x * weights

    assert float(f(weighed, Y)) == 5.0
    weights[0] = 10.0
    with nx.no_compile():
        assert float(f(weighed, Y)) == 14.0


def test_texts_and_none_and_defaults():
    @nx.defn
    def f(x, mode="sin", by=None):
        y = nx.sin(x) if mode == "sin" else nx.cos(x)
        return y if by is None else y * by

    sin, cos = np.sin(np.float32(1)), np.cos(np.float32(1))
    calls = [f(1.0), f(1.0, "sin"), f(1.0, mode="sin"), f(1.0, "sin", None), f(1.0, by=None), f(1.0, "cos")]
    np.testing.assert_allclose([float(each) for each in calls], [sin] * 5 + [cos], rtol=1e-6)
    assert f.cache_info().misses == 2
    np.testing.assert_allclose([f(1.0, by=2.0), f(1.0, "cos", 2.0)], [2 * sin, 2 * cos], rtol=1e-6)
    outer = nx.defn(lambda x, by=None: f(x, "sin", by))
    np.testing.assert_allclose([outer(1.0), outer(1.0, 2.0)], [sin, 2 * sin], rtol=1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("a", None),
        (np.float32, np.float64),
        (int, float),
        (nx.types.f32, nx.types.f64),
        (np.dtype("f4"), np.dtype("f8")),
        (Kind.SIN, Kind.COS),
        (slice(0, 1), slice(0, 2)),
        (nx.sin, nx.cos),
        (np.sum, np.mean),
        (len, max),
        (("a", None), ("a", "b")),
        ([nx.sin, nx.cos], [nx.sin]),
        ({"f": nx.sin}, {"f": nx.cos}),
        (functools.partial(nx.sum, axes=[0]), functools.partial(nx.sum, axes=[1])),
        (nx.defn(lambda x: x + 1), nx.defn(lambda x: x + 2)),
    ],
)
@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_kinds_of_static_values(one, other, promotion):
    @nx.defn(promotion=promotion)
    def f(x, how):
        return x * (2 if how == first else 3)

    first = one
    assert [float(f(1.5, how)) for how in (one, one, other, one)] == [3.0, 3.0, 4.5, 3.0]
    assert f.cache_info().misses == 2
    assert nx.events("f", "miss")[-1].reason[0].startswith("argument how")


def test_several_functions():
    @nx.defn
    def chained(x, *functions):
        for function in functions:
            x = function(x)
        return x

    @nx.defn
    def listed(x, functions):
        for function in functions:
            x = function(x)
        return x

    np.testing.assert_allclose(chained(1.0, nx.sin, nx.cos), np.cos(np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(listed(1.0, (nx.sin, nx.cos)), np.cos(np.sin(1.0)), rtol=1e-6)
    assert listed.why(1.0, (nx.sin, nx.exp)).difference == ("argument functions[1]: cos → exp",)
    assert float(chained(1.0)) == 1.0
    # Without anything in it, it is a container of data as ever.
    assert float(nx.defn(lambda x, more: x + len(more))(1.0, ())) == 1.0


def test_positional_only_parameters():
    @nx.jit
    def f(x, mode="sin", /, by=2.0, *more, k=1.0):
        return (nx.sin(x) if mode == "sin" else x) * by * k + len(more)

    calls = [f(1.0, "id"), f(1.0, "id", 3.0), f(1.0, "id", by=4.0), f(1.0, "id", 5.0, "more", k=2.0)]
    assert [float(each) for each in calls] == [2.0, 3.0, 4.0, 11.0]
    np.testing.assert_allclose(f(1.0), 2 * np.sin(1.0), rtol=1e-6)


def test_what_is_told():
    @nx.defn
    def f(x, mode, fun):
        return fun(x)

    f(1.0, "a", nx.sin)
    told = str(f.why(1.0, "b", nx.sin))
    assert "argument mode: 'a' → 'b'" in told
    assert "mode is a static argument: each new value makes a program of its own." in told
    assert f.why(1.0, "a", nx.cos).difference == ("argument fun: sin → cos",)
    f(1.0, "b", nx.cos)
    assert "mode and fun are static arguments: each new value makes a program of its own." in str(nx.events("f")[-1])
    assert nx.events("f", "miss")[-1].reason == ("argument mode: 'a' → 'b'", "argument fun: sin → cos")
    assert f.compilations()[-1].signature == "f(x: f32, mode='b', fun=cos)"


def test_truths_are_static_where_their_values_are_needed():
    """They are data as long as they can be, and options where they say what is traced."""

    @nx.jit
    def asked(x, training):
        return x * 2 if training else x

    @nx.defn
    def several(x, pair):
        if pair:
            return x, x * 2
        return x

    @nx.defn
    def kept(x, keep):
        return nx.sum(x, keep_axes=keep)

    @nx.defn
    def computed(x, m):
        return x * m

    assert [float(asked(1.0, t)) for t in (True, False, True)] == [2.0, 1.0, 2.0]
    assert [float(each) for each in several(1.0, True)] == [1.0, 2.0]
    assert float(several(1.0, False)) == 1.0
    assert [kept(Y, t).shape for t in (True, False)] == [(1,), ()]
    assert [float(computed(3.0, t)) for t in (True, False)] == [3.0, 0.0]
    assert [f.cache_info().misses for f in (asked, several, kept, computed)] == [2, 2, 2, 1]
    assert nx.events("asked", "miss")[0].notes == (
        "argument training: its value is needed while tracing, so each new one is traced",
    )
    inside = nx.jit(lambda x, flags: x * 2 if flags["training"] else x)
    assert [float(inside(1.0, {"training": t})) for t in (True, False, True, False)] == [2.0, 1.0, 2.0, 1.0]
    # Where both sides fit, the program has the branch.
    branch = nx.defn(lambda x, flag: x * 2 if flag else x)
    assert [float(branch(1.0, t)) for t in (True, False)] == [2.0, 1.0]
    assert branch.cache_info().misses == 1


def test_vmap_gives_them_to_every_entry():
    def f(x, mode, fun=nx.sin, by=2.0):
        return fun(x) * by if mode == "twice" else fun(x)

    xs = nx.tensor([1.0, 2.0])
    for make in (nx.defn, nx.jit, lambda function: function):
        mapped = nx.vmap(make(f))
        np.testing.assert_allclose(mapped(xs, "twice"), 2 * np.sin([1.0, 2.0]), rtol=1e-6)
        np.testing.assert_allclose(mapped(xs, "once", nx.cos), np.cos([1.0, 2.0]), rtol=1e-6)
        np.testing.assert_allclose(mapped(xs, "twice", nx.cos, xs), xs * nx.cos(xs), rtol=1e-6)
    np.testing.assert_allclose(nx.vmap(f, in_axes=(0, None))(xs, "twice"), 2 * np.sin([1.0, 2.0]), rtol=1e-6)
    none = nx.vmap(lambda x, by=1.0: x if by is None else x * by)
    assert (none(xs, None).to_list(), none(xs).to_list(), none(xs, xs).to_list()) == ([1, 2], [1, 2], [1, 4])


def test_vmap_of_functions_of_numpy():
    rows = np.arange(6.0).reshape(2, 3)
    found = nx.vmap(np.cumsum)(rows, dtype="f4")
    np.testing.assert_array_equal(found, np.cumsum(rows, axis=1, dtype="f4"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(nx.vmap(np.max)(rows, None), rows.max(axis=1))
    np.testing.assert_array_equal(nx.vmap(np.clip)(rows, None, rows + 0 * rows - 1), np.minimum(rows, rows - 1))


def test_in_loops_and_scans():
    @nx.defn
    def iterated(step, x, mode):
        for _ in range(3):
            x = step(x, mode)
        return x

    assert float(iterated(lambda x, mode: x * 2 if mode == "up" else x / 2, 1.0, "up")) == 8.0
    last = nx.defn(lambda step, xs: nx.scan(step, xs[0] * 0, xs)[0])
    assert float(last(lambda carry, x: (carry + x, carry), Y)) == 3.0


class Net:
    def __init__(self, by):
        self.by = by

    def predict(self, params, x):
        return predict(params, x) * self.by


def test_short_calls_with_functions():
    f, net, by = nx.defn(objective), Net(1.0), 1.0

    def scaled(params, x):
        return predict(params, x) * by

    for function in (predict, scaled, net.predict):
        for _ in range(2):
            assert float(f(function, squared, P, X, Y)) == 55.25
        assert any(function in key for key in f._snapshot.fast_paths)
    net.by = by = 2.0
    expected = np.mean((2 * np.array([5.5, 11.5]) - np.array([1.0, 2.0])) ** 2)
    for function in (scaled, net.predict, scaled, net.predict):
        assert float(f(function, squared, P, X, Y)) == expected
    assert float(f(Net(1.0).predict, squared, P, X, Y)) == 55.25


def test_short_calls_with_functions_by_keyword():
    @nx.defn
    def f(params, x, y, *, predict_fn, loss_fn):
        return loss_fn(predict_fn(params, x), y)

    net, by = Net(1.0), 1.0

    def scaled(params, x):
        return predict(params, x) * by

    for function in (predict, scaled, net.predict):
        for _ in range(2):
            assert float(f(P, X, Y, predict_fn=function, loss_fn=squared)) == 55.25
        assert any(function in key for key in f._snapshot.fast_paths)
    net.by = by = 2.0
    for function in (scaled, net.predict, scaled, net.predict):
        # |11 - 1| and |23 - 2|
        assert float(f(P, X, Y, predict_fn=function, loss_fn=absolute)) == 15.5
    assert float(f(P, X, Y, loss_fn=squared, predict_fn=predict)) == 55.25


def test_functions_that_are_made_for_each_call_are_not_kept():
    f, made = nx.defn(objective), []
    for k in range(40):
        weights = np.full(100, float(k))
        function = lambda params, x: predict(params, x) + weights[0]  # noqa: B023, E731
        made.append(weakref.ref(function))
        f(function, squared, P, X, Y)
    del function
    gc.collect()
    assert sum(each() is not None for each in made) <= 20
    assert f.cache_info().misses == 1


def test_what_a_function_sees_of_an_edited_one():
    space = {"nx": nx}
    exec("def loss(p, y):\n    return nx.sum(p - y)", space)
    f = nx.defn(objective)
    assert float(f(predict, space["loss"], P, X, Y)) == 14.0
    code = compile("def loss(p, y):\n    return nx.sum(p + y)", "other.py", "exec")
    exec(code, other := {"nx": nx})
    space["loss"].__code__ = other["loss"].__code__
    assert float(f(predict, space["loss"], P, X, Y)) == 20.0


@pytest.mark.parametrize("wrong", [object(), {1, 2}, b"x", [nx.sin, 2.0], {"f": nx.sin, "x": Y}])
def test_what_is_neither(wrong):
    with pytest.raises(NxTypeError, match=r"^<lambda>\(\) takes tensors or numbers as positional arguments, got "):
        nx.defn(lambda x, how: x)(Y, wrong)


def test_beside_texts_and_none_in_containers():
    def step(params, act, x):
        made = act(params["w"] * x) if params["mode"] == "times" else act(params["w"] + x)
        return made if params["b"] is None else made + params["b"]

    f = nx.defn(step)
    params = {"w": Y, "mode": "times", "b": None}
    assert f(params, nx.sin, Y).to_list() == nx.sin(Y * Y).to_list()
    assert f(params | {"mode": "plus"}, nx.sin, Y).to_list() == nx.sin(Y + Y).to_list()
    assert f(params | {"mode": "plus"}, nx.cos, Y).to_list() == nx.cos(Y + Y).to_list()
    assert [event.reason for event in nx.events(f, "miss")] == [
        ("first call",), ("argument params['mode']: 'times' → 'plus'",), ("argument act: sin → cos",),
    ]  # fmt: skip
    assert nx.grad(lambda p, act: nx.sum(step(p, act, Y)))(params, nx.sin)["mode"] == "times"
    assert nx.vmap(step)(params, nx.sin, Y).to_list() == nx.sin(Y * Y).to_list()
