"""Loops and choices as functions, at once and in compiled programs."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError


def both(function, *args):
    """What a function gives at once; in a compiled program it is the same."""
    now, compiled = function(*args), nx.jit(function)(*args)
    flat = [v.to_list() for v in nx_leaves(now)]
    assert [v.to_list() for v in nx_leaves(compiled)] == flat
    assert [v.type for v in nx_leaves(compiled)] == [v.type for v in nx_leaves(now)]
    return flat


def nx_leaves(value):
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in nx_leaves(part)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in nx_leaves(value[key])]
    return [value]


@pytest.mark.parametrize(("given", "expected"), [(3.0, 6.0), (-3.0, 3.0)])
def test_cond(given, expected):
    assert both(lambda x: nx.cond(x > 0, lambda v: v * 2, lambda v: -v, x), nx.tensor(given)) == [expected]


def test_cond_of_a_python_value_calls_one_side():
    assert nx.cond([], lambda: pytest.fail("called"), lambda: 5) == 5


def test_cond_of_containers():
    def f(x):
        return nx.cond(x > 0, lambda: {"a": x, "b": (1, x)}, lambda: {"a": 0, "b": (2, -x)})

    assert nx.jit(f)(nx.tensor(-3.0))["b"][1].to_list() == 3.0
    assert nx.jit(f)(nx.tensor(3.0))["b"][0].to_list() == 1


def test_cond_whose_sides_do_not_fit(run):
    f = run("f = nx.jit(lambda x: nx.cond(x > 0, lambda: nx.iota((2,)), lambda: nx.iota((3,))))\n")["f"]
    with pytest.raises(NxTypeError) as raised:
        f(1.0)
    assert str(raised.value).split("\n")[0] == "the branches of this `if` disagree about what is returned."


def test_while():
    def collatz(n):
        def step(state):
            n, steps = state
            return nx.select(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return nx.while_(lambda state: state[0] > 1, step, (n, 0))

    assert both(collatz, nx.tensor(27)) == [1, 111]


def test_while_of_dicts():
    def f(x):
        return nx.while_(lambda s: s["x"] < 100, lambda s: {"x": s["x"] * 2, "n": s["n"] + 1}, {"x": x, "n": 0})

    assert both(f, nx.tensor(3.0)) == [6, 192.0]


def test_a_while_that_changes_a_type():
    with pytest.raises(NxTypeError) as raised:
        nx.while_(lambda x: x < 5, lambda x: x * 1.5, nx.tensor(1))
    assert str(raised.value).startswith("this loop changes the type of `state`.\n")


def test_a_while_that_changes_its_structure():
    with pytest.raises(NxTypeError) as raised:
        nx.while_(lambda s: s[0] < 5, lambda s: s[0], (nx.tensor(1),))
    assert str(raised.value).startswith(
        "this loop cannot be compiled: `state` is (s64,) before a turn and s64 after it."
    )


def test_fori():
    assert both(lambda n: nx.fori(0, n, lambda i, x: x + i, 0), nx.tensor(5)) == [10]
    assert both(lambda n: nx.fori(n, 3, lambda i, x: x + i, 7), nx.tensor(5)) == [7]
    assert both(lambda t: nx.fori(0, 3, lambda i, x: x + t * i, 0.0), nx.tensor([1.0, 2.0])) == [[3.0, 6.0]]


def test_scan():
    def cumulative(x):
        return nx.scan(lambda total, row: (total + row, {"sum": total + row, "square": row * row}), 0.0, x)

    total, partial = cumulative(nx.tensor([1.0, 2.0, 3.0]))
    assert float(total) == 6.0
    assert {name: t.to_list() for name, t in partial.items()} == {"sum": [1.0, 3.0, 6.0], "square": [1.0, 4.0, 9.0]}
    assert both(cumulative, nx.tensor([1.0, 2.0, 3.0])) == [6.0, [1.0, 4.0, 9.0], [1.0, 3.0, 6.0]]


def test_scan_of_containers_backward():
    def f(x, y):
        def step(state, row):
            a, b = row
            return state * 2 + nx.sum(a), state + b

        return nx.scan(step, 0.0, (x, y), reverse=True)

    x, y = np.arange(6.0, dtype=np.float32).reshape(3, 2), np.arange(3.0, dtype=np.float32)
    state, results = 0.0, [0.0] * 3
    for place in (2, 1, 0):
        results[place] = state + float(y[place])
        state = state * 2 + float(x[place].sum())
    assert both(f, x, y) == [state, results]


def test_scan_of_a_length():
    assert both(lambda x: nx.scan(lambda s, _: (s * 2, s), x, length=4), nx.tensor(1)) == [16, [1, 2, 4, 8]]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_over_no_rows(reverse):
    def f(rows):
        return nx.scan(lambda s, row: (s + nx.sum(row), (s * row, row > 0)), 1.5, rows, reverse=reverse)

    for run in (f, nx.jit(f)):
        state, (products, signs) = run(np.zeros((0, 3)))
        assert (state.to_number(), str(state.spec)) == (1.5, "f64")
        assert (str(products.spec), str(signs.spec)) == ("f64[0][3]", "bool[0][3]")
    state, results = nx.vmap(lambda s: nx.scan(lambda s, _: (s * 2, s), s, length=0))(nx.tensor([1.0, 2.0]))
    assert (state.to_list(), str(results.spec)) == ([1.0, 2.0], "f32[2][0]")
    assert nx.grad(lambda x: nx.scan(lambda s, _: (s * x, s), x, length=0)[0])(3.0).to_number() == 1.0


def test_scan_without_results():
    state, nothing = nx.scan(lambda s, x: (s + x, None), 0, nx.tensor([1, 2]))
    assert (state.to_list(), nothing) == (3, None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "scan does not know how many steps to take: it has neither rows nor a length."),
        ({"xs": (np.ones(2), np.ones(3))}, "scan does not know how many steps to take: its rows are 2, 3."),
        ({"xs": np.ones(2), "length": 3}, "scan does not know how many steps to take: its rows are 2, 3."),
        ({"length": -1}, "scan takes at least 0 steps, got length=-1."),
    ],
)
def test_scans_without_a_number_of_steps(arguments, text):
    with pytest.raises(NxValueError) as raised:
        nx.scan(lambda s, x: (s, s), 0.0, **arguments)
    assert str(raised.value).split("\n")[0] == text


def test_a_scan_that_gives_no_pair():
    with pytest.raises(NxTypeError, match="the body of scan gives a pair"):
        nx.scan(lambda s, x: s, 0.0, length=3)


def test_a_state_of_nothing():
    with pytest.raises(NxTypeError, match=r"the state of nx.while_ has no tensor or number in it: 'a'\."):
        nx.while_(lambda s: True, lambda s: s, "a")


def test_unroll_goes_over_the_same():
    unrolled = nx.unroll([1, 2, 3])
    assert (list(unrolled), len(unrolled), unrolled[1]) == ([1, 2, 3], 3, 2)


def test_cond_of_values():
    with pytest.raises(NxTypeError) as caught:
        nx.cond(nx.tensor(1), nx.tensor(1.0), nx.tensor(2.0))
    assert str(caught.value) == (
        "cond takes a predicate and two functions, got a tensor (f32) for one of them.\n"
        "  Write nx.cond(predicate, lambda: a, lambda: b); nx.select(predicate, a, b) takes values."
    )


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 3, 9])
def test_one_of_several_functions(index):
    functions = [nx.sin, nx.cos, nx.exp, lambda x: x * 2]
    expected = [np.sin, np.cos, np.exp, lambda x: x * 2][min(max(index, 0), 3)](1.5)
    assert float(nx.switch(index, functions, nx.f64(1.5))) == pytest.approx(expected)
    assert float(nx.jit(lambda i, x: nx.switch(i, functions, x))(index, nx.f64(1.5))) == pytest.approx(expected)


def test_several_functions_of_containers_entries_and_gradients():
    sides = [lambda a, b: {"a": a, "b": b}, lambda a, b: {"a": b, "b": a}]
    found = nx.jit(lambda i, a, b: nx.switch(i, sides, a, b))(1, 2.0, 3.0)
    assert {name: float(value) for name, value in found.items()} == {"a": 3.0, "b": 2.0}
    mapped = nx.vmap(lambda i, x: nx.switch(i, [nx.sin, nx.cos], x))(nx.tensor([0, 1]), nx.f64([1.0, 1.0]))
    np.testing.assert_allclose(mapped.to_numpy(), [np.sin(1), np.cos(1)])
    slope = nx.grad(lambda x: nx.switch(nx.tensor(1), [nx.sin, nx.cos], x))(nx.f64(1.0))
    assert float(slope) == pytest.approx(-np.sin(1))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nx.switch(1.5, [nx.sin], 1), "the index of switch is one whole number, got f32."),
        (lambda: nx.switch([0], [nx.sin], 1), "the index of switch is one whole number, got s64[1]."),
        (lambda: nx.switch(0, nx.sin, 1), "switch takes an index and a list of functions, got a function."),
        (lambda: nx.switch(0, []), "switch has no functions to choose from: the list is empty"),
        (
            lambda: nx.associative_scan(nx.add, (np.ones(2), np.ones(3))),
            "associative_scan does not know how many entries there are along axis 0: its tensors have [2, 3].",
        ),
        (
            lambda: nx.associative_scan(lambda a, b: a[:0], np.ones(3)),
            "the function of associative_scan gives f64[0] for two values like f64[1].",
        ),
    ],
)
def test_what_switch_and_associative_scan_refuse(call, text):
    with pytest.raises((NxTypeError, NxValueError)) as raised:
        call()
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_results_side_by_side(size, reverse):
    given = np.random.default_rng(size).normal(size=(2, size))
    expected = np.cumsum(given[:, ::-1], axis=1)[:, ::-1] if reverse else np.cumsum(given, axis=1)

    def run(x):
        return nx.associative_scan(nx.add, x, axis=1, reverse=reverse)

    np.testing.assert_allclose(np.asarray(run(given)), expected)
    np.testing.assert_allclose(np.asarray(nx.jit(run)(given)), expected)


def test_running_results_of_containers():
    def after(f, g):
        return {"a": f["a"] * g["a"], "b": f["b"] * g["a"] + g["b"]}

    def last(a, b):
        return nx.associative_scan(after, {"a": a, "b": b})["b"]

    a, b = np.random.default_rng(1).normal(size=(2, 9))
    expected, total = [], 0.0
    for factor, shift in zip(a, b, strict=True):
        total = total * factor + shift
        expected.append(total)
    np.testing.assert_allclose(np.asarray(nx.jit(last)(a, b)), expected)
    slopes = np.asarray(nx.grad(lambda a: nx.sum(last(a, b)))(a))
    step = 1e-6 * np.eye(9)
    wanted = [(float(nx.sum(last(a + h, b))) - float(nx.sum(last(a - h, b)))) / 2e-6 for h in step]
    np.testing.assert_allclose(slopes, wanted, atol=1e-6)
    many = nx.vmap(lambda x: nx.associative_scan(nx.max, x))(nx.tensor([[1, 3, 2], [4, 1, 5]]))
    assert many.to_list() == [[1, 3, 3], [4, 4, 5]]
    matrices = np.random.default_rng(2).normal(size=(5, 2, 2))
    products = nx.associative_scan(lambda a, b: nx.dot(a, [2], [0], b, [1], [0]), nx.tensor(matrices)).to_numpy()
    np.testing.assert_allclose(products[-1], np.linalg.multi_dot(matrices))


def test_running_results_by_numpys_rules():
    found = nx.jit(lambda x: nx.associative_scan(lambda a, b: np.maximum(a, b), np.sin(x)))(np.arange(4.0))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, np.maximum.accumulate(np.sin(np.arange(4.0))))
