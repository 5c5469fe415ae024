import pickle
import traceback

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.array([5.0, 1.0, 3.0])


def median(x):
    return np.sort(x)[len(x) // 2]


@nx.jit
def centred(x):
    return x - nx.host_call(median, x[0], x)


def tripled(x):
    return 3 * x


@nx.jit
def uses_tripled(x):
    return nx.host_call(tripled, x, x) + 1


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_values(compiler):
    with nx.default_options(compiler=compiler):
        np.testing.assert_array_equal(centred(X), [2.0, -2.0, 0.0])
        assert centred(nx.tensor(X, type="f32")).to_list() == [2.0, -2.0, 0.0]


def test_a_numpy_program_goes_on_with_arrays():
    def program(x):
        y = nx.host_call(lambda x: np.sort(x), x, x)
        y[0] = 7.0
        return np.sum(y), y

    total, values = nx.defn(program)(X)
    assert total == 15.0
    np.testing.assert_array_equal(values, [7.0, 3.0, 5.0])


def test_containers_and_what_is_known():
    def function(d, axis, text, pair):
        assert (axis, text, type(pair[1])) == (0, "text", np.ndarray)
        return {"a": d["x"] + pair[1], "b": 2}

    @nx.jit
    def program(x):
        found = nx.host_call(function, {"b": 1, "a": nx.template((3,), "f64")}, {"x": x}, 0, "text", (None, x))
        return found["a"], found["b"]

    a, b = program(nx.tensor(X))
    assert (a.to_list(), int(b), b.type) == ([10.0, 2.0, 6.0], 2, nx.types.s64)


def test_at_once():
    assert nx.host_call(median, 1.0, nx.tensor(X, type="f32")).to_list() == 3.0


def test_pythons_numbers_take_the_type_that_is_declared():
    program = nx.jit(lambda x: nx.host_call(lambda x: 1.5, nx.template((), "f32"), x))
    assert program(nx.tensor(X)).type == nx.types.f32
    with pytest.raises(NxValueError, match=r"gave float64 of the shape \(\), expected was s64"):
        nx.jit(lambda x: nx.host_call(lambda x: 1.5, nx.template((), "s64"), x))(nx.tensor(X))


def test_the_function_may_keep_and_change_what_it_gets():
    kept = []

    def changes(x):
        kept.append(x)
        x[0] = 0.0
        return x

    program = nx.jit(lambda x: nx.host_call(changes, x, x * 1.0) + x)
    for factor in (1.0, 2.0):
        np.testing.assert_array_equal(program(factor * X), factor * np.array([5.0, 2.0, 6.0]))
    np.testing.assert_array_equal(kept, [[0.0, 1.0, 3.0], [0.0, 2.0, 6.0]])


def test_an_exception_comes_out_with_the_frames_of_the_person():
    def fails(x):
        raise LookupError("my own")

    with pytest.raises(LookupError, match="my own") as told:
        nx.jit(lambda x: nx.host_call(fails, x, x) + 1)(X)
    assert traceback.extract_tb(told.value.__traceback__)[-1].line == 'raise LookupError("my own")'
    np.testing.assert_array_equal(centred(X), [2.0, -2.0, 0.0])


def test_results_of_other_shapes_types_and_structures():
    with pytest.raises(NxValueError) as told:
        nx.jit(lambda x: nx.host_call(median, x, x))(X)
    first, second = str(told.value).splitlines()
    assert first == "median gave float64 of the shape (), expected was f64[3]."
    assert second.startswith("  nx.host_call (test_python_calls.py, line ")
    assert second.endswith(") says so by `like`: mend that, or what median returns.")
    with pytest.raises(NxValueError, match="gave float64 of the shape"):
        nx.jit(lambda x: nx.host_call(tripled, nx.template((3,), "f32"), x))(X)
    with pytest.raises(NxValueError, match=r"<lambda> gave \(·, ·\), expected was \{'a': ·\}\."):
        nx.jit(lambda x: nx.host_call(lambda x: (x, x), {"a": x}, x))(X)
    with pytest.raises(NxValueError, match=r"<lambda> gave None as the result, expected was \(·,\)\."):
        nx.jit(lambda x: nx.host_call(lambda x: None, (x,), x))(X)


def test_what_is_refused():
    with pytest.raises(NxTypeError, match="host_call takes a function, got"):
        nx.jit(lambda x: nx.host_call(x, median))(X)
    with pytest.raises(NxTypeError, match="has to be told what its function gives: like is 'f32'"):
        nx.jit(lambda x: nx.host_call(median, "f32", x))(X)
    with pytest.raises(NxTypeError, match="reads x from around it, a traced value") as told:
        nx.jit(lambda x: nx.host_call(lambda y: y + x, x, x))(X)
    assert "Make it an argument: nx.host_call(<lambda>, like, ..., x)." in str(told.value)


def test_gradients():
    def power(x):
        y = nx.host_call(lambda x: x**3, x, x)
        return nx.custom_grad(y, [x], lambda g: [g * 3 * x**2])

    assert float(nx.grad(power)(2.0)) == 12.0
    np.testing.assert_array_equal(nx.grad(lambda x: nx.sum(power(x)))(nx.tensor(X)), 3 * X**2)
    with pytest.raises(NxTypeError) as told:
        nx.grad(lambda x: nx.sum(nx.host_call(tripled, x, x)))(X)
    assert "Nobody but its author knows the derivative of a Python function." in str(told.value)
    assert "nx.custom_grad gives a gradient of your own" in str(told.value)


@pytest.mark.parametrize(("vectorized", "shapes"), [(False, [(4,)] * 3), (True, [(3, 4)])])
def test_entries(vectorized, shapes):
    seen = []

    def doubled(row, factor):
        seen.append(row.shape)
        return (row.T * factor).T

    rows, factors = np.arange(12.0).reshape(3, 4), np.array([2.0, 3.0, 4.0])
    one = nx.vmap(lambda row, factor: nx.host_call(doubled, row, row, factor, vectorized=vectorized))
    np.testing.assert_array_equal(one(rows, factors), rows * factors[:, None])
    assert seen == shapes


def test_vectorized_axes():
    rows = nx.vectorize(nx.tensor([[5.0, 1.0, 3.0], [2.0, 4.0, 6.0]]), "rows")
    assert nx.devectorize(centred(rows)).to_list() == [[2.0, -2.0, 0.0], [-2.0, 0.0, 2.0]]
    with pytest.raises(NxTypeError, match="called with tensors that have vectorized axes"):
        nx.host_call(median, 1.0, rows)


def test_in_loops_and_branches():
    def program(x):
        for i in range(40):
            if np.sum(x) > 3:
                x = x + nx.host_call(lambda a, k: 0 * a + k, x, x, i)
        return x

    calls = []
    for start in ([1.0, 2.0], [1.0, 5.0]):
        np.testing.assert_array_equal(nx.defn(program)(np.array(start)), program_of_numpy(np.array(start)))

    @nx.jit
    def until(x):
        return nx.while_(lambda x: x < 100, lambda x: nx.host_call(lambda x: calls.append(x) or 3 * x, x, x), x)

    assert float(until(2.0)) == 162.0
    assert calls == [2.0, 6.0, 18.0, 54.0]


def program_of_numpy(x):
    for i in range(40):
        if np.sum(x) > 3:
            x = x + i
    return x


def test_a_compiled_function_may_be_called():
    inner = nx.jit(lambda x: x * 2)
    outer = nx.jit(lambda x: nx.host_call(inner, x, x + 1) + 1)
    np.testing.assert_array_equal(outer(X), 2 * (X + 1) + 1)


def test_a_changed_function_is_seen():
    scope = {"nx": nx, "function": tripled}
    program = nx.jit(eval("lambda x: nx.host_call(function, x, x)", scope))
    np.testing.assert_array_equal(program(X), 3 * X)
    scope["function"] = lambda x: 4 * x
    np.testing.assert_array_equal(program(X), 4 * X)
    again = nx.jit(eval("lambda x: nx.host_call(function, x, x)", scope))
    np.testing.assert_array_equal(again(X), 4 * X)


def test_what_the_function_counts_compiles_nothing():
    calls = []

    def counts(x):
        calls.append(1)
        return x

    program = nx.jit(lambda x: nx.host_call(counts, x, x))
    program(X)
    with nx.no_compile():
        program(X)
    assert len(calls) == 2


def test_a_definition_is_pickled():
    again = pickle.loads(pickle.dumps(uses_tripled))
    np.testing.assert_array_equal(again(X), 3 * X + 1)


def test_what_nothing_uses_is_not_called_and_equal_calls_are_one():
    calls = []

    def counts(x):
        calls.append(1)
        return x

    @nx.jit
    def program(x):
        nx.host_call(counts, x, x * 2)
        return nx.host_call(counts, x, x) + nx.host_call(counts, x, x)

    np.testing.assert_array_equal(program(X), 2 * X)
    assert len(calls) == 1


def test_numpys_warnings_are_the_persons():
    program = nx.jit(lambda x: nx.host_call(lambda x: x / 0, x, x))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        program(X)


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
def test_a_number_of_the_call_that_a_function_gives_is_asked_for_once(entered):
    """A trace computes it, and the program, and perhaps another program that is made for it: one call of Python's."""
    calls, asked = [], []

    def drawn(x):
        calls.append(x.sum())
        return np.float64([3, 1, 4, 1, 5][len(calls) % 5])

    def sensor():
        asked.append(0)
        return np.float64(len(asked))

    def program(x):
        n = int(nx.host_call(drawn, np.float64(0), x))
        s = 0.0
        for i in range(2):
            s += nx.host_call(drawn, np.float64(0), x + 1 + i)
        k = int(nx.host_call(sensor, np.float64(0)))
        return np.arange(n) * x[0] + s, np.zeros(k)

    def in_python(x):
        n = int(drawn(x))
        s = drawn(x + 1) + drawn(x + 2)
        return np.arange(n) * x[0] + s, np.zeros(int(sensor()))

    compiled, found = entered(program), []
    for function in (in_python, compiled):
        calls.clear(), asked.clear()
        values = [np.array([1.0, value]) for value in (2.0, 2.0, 3.0, 4.0, 2.0)]
        found.append([(function(x), len(calls), len(asked)) for x in values])
    np.testing.assert_equal(*found)


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
def test_an_error_of_a_function_that_gives_a_number_of_the_call_comes_once(entered):
    calls = []

    def fails(x):
        calls.append(1)
        if x[0] > 2:
            raise KeyError("too much")
        return x.sum()

    compiled = entered(lambda x: np.zeros(int(nx.host_call(fails, np.float64(0), x))))
    for values in ([1.0, 2.0], [3.0, 1.0], [2.0, 2.0]):
        calls.clear()
        if values[0] > 2:
            with pytest.raises(KeyError, match="too much"):
                compiled(np.array(values))
        else:
            np.testing.assert_array_equal(compiled(np.array(values)), np.zeros(int(sum(values))))
        assert len(calls) == 1
