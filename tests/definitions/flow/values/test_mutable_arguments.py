"""Arguments that a definition by the rules of Nx assigns into: the caller's arrays change as NumPy's would."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.graph.tracing import Trace

X = np.array([3.0, -1.0, 2.0, 5.0])


def border(u):
    u[0] = -1
    u[-1] += 5


def by_elements(x, *, n=3):
    for i in range(n):
        if x[i] > 0:
            x[i] += nx.abs(x[i - 1])
    border(x)


def by_names(x):
    y = x
    y[x > 2] *= 2
    x += 1
    y[:] = y - nx.sum(x)
    return nx.max(x, y)


def in_containers(x):
    parts = {"x": [x]}
    parts["x"][0][1] = nx.exp(x[0])
    return parts


def with_choices(x):
    if nx.sum(x) > 0:
        x[1:3] = 0.0
    else:
        x[0] = 9.0
    k = 0
    while x[k] != 0:
        x[k] -= x[0]
        k += 1
    return k


def rebound(x):
    x[0] = 4.0
    x = x * 2
    x[1] = 7.0
    return nx.sum(x)


def early(x):
    x[0] = nx.abs(x[1])
    if x[0] > 100:
        return x
    x[2] = 8.0
    return x


@pytest.mark.parametrize(
    "function", [by_elements, by_names, in_containers, with_choices, rebound, early], ids=lambda f: f.__name__
)
def test_arrays_change_as_numpy_would_change_them(function):
    compiled, expected = X.copy(), X.copy()
    plain = function(expected)
    f = nx.defn(function)
    assert f.dialect == "nx"
    found = f(compiled)
    np.testing.assert_allclose(compiled, expected, rtol=1e-15)
    if plain is not None:
        np.testing.assert_allclose(np.asarray(nx.tensor(leaf(found))), leaf(plain), rtol=1e-14)
    else:
        assert found is None
    again = X.copy()
    f(again)
    assert again.tolist() == compiled.tolist()
    assert f.cache_info().misses == 1


def leaf(value):
    while isinstance(value, dict | list):
        value = value["x"] if isinstance(value, dict) else value[0]
    return np.asarray(value)


@pytest.mark.parametrize("turns", [0, 1, 4, 5])
def test_arrays_that_change_places(turns):
    @nx.defn
    def f(a, b, n):
        for _ in range(n):
            b[1:-1] = nx.abs(a[:-2] - a[2:])
            a, b = b, a
        return a

    def plain(a, b, n):
        for _ in range(n):
            b[1:-1] = np.abs(a[:-2] - a[2:])
            a, b = b, a
        return a

    compiled, expected = (X.copy(), X[::-1].copy()), (X.copy(), X[::-1].copy())
    result = f(*compiled, turns)
    assert result.to_list() == plain(*expected, turns).tolist()
    assert [a.tolist() for a in compiled] == [a.tolist() for a in expected]


def test_what_is_not_assigned_into_stays_a_traced_value(record):
    kinds = []

    @nx.defn
    def f(x, y, p):
        kinds.append((type(x).__name__, type(y).__name__, type(p["w"]).__name__))
        p["w"][0] = nx.sum(y)
        y = y * 2
        y[0] = 1
        return x + y

    p = {"w": X.copy()}
    x, y = X.copy(), X.copy()
    f(x, y, p)
    # What the first trace put into the list is taken out again: to trace twice is not to call twice.
    assert kinds == [("Expr", "Expr", "MutableArgument")]
    assert (x.tolist(), y.tolist(), p["w"][0]) == (X.tolist(), X.tolist(), 9.0)


def test_definitions_that_call_definitions():
    @nx.defn
    def inner(u):
        u[0] = nx.exp(0.0)

    @nx.defn
    def outer(u):
        inner(u)
        return nx.sum(u)

    x = X.copy()
    assert float(outer(x)) == 7.0
    assert x[0] == 1.0


def test_other_memory_orders_and_types():
    @nx.defn
    def f(x):
        x[0] = nx.sum(x[1])

    swapped = np.arange(4, dtype=">f4").reshape(2, 2)
    for array in (np.arange(6.0).reshape(3, 2).T, np.arange(12).reshape(4, 3)[::2], swapped):
        expected = array.copy()
        expected[0] = expected[1].sum()
        f(array)
        assert array.tolist() == expected.tolist()


def test_numbers_and_arrays_without_axes():
    @nx.defn
    def f(x):
        x += 0.5
        return nx.abs(x)

    x = np.array(1.0)
    assert float(f(x)) == float(x) == 1.5
    assert float(f(1.0)) == float(f(np.float64(1.0))) == 1.5


def test_a_tensor_is_given_back_and_stays():
    @nx.defn
    def f(x):
        x[1] = nx.exp(0.0)
        return x

    t = nx.tensor(X)
    assert f(t).to_list() == [3.0, 1.0, 2.0, 5.0]
    assert t.to_list() == X.tolist()
    assert f(X.copy()).to_list() == [3.0, 1.0, 2.0, 5.0]


def test_the_name_of_a_tensor_is_bound_anew_by_augmented_assignment():
    @nx.defn
    def f(x):
        x -= nx.reduce_max(x)
        return nx.sum(x)

    t, x = nx.tensor(X), X.copy()
    assert float(f(x)) == float(f(t)) == float(f(X.copy())) == -11.0
    assert (t.to_list(), x.tolist()) == (X.tolist(), [-2.0, -6.0, -3.0, 0.0])
    assert f.why(t).hit
    # Of a tensor the type may change, of an array not.
    g = nx.defn(by_half)
    assert g(nx.tensor([1, 2])).to_list() == [0.5, 1.0]


def by_half(x):
    x *= nx.f32(0.5)
    return x


def refusal(run, code, *arguments):
    f = run(f"def helper(u):\n    u[0] = 1.0\n\n@nx.defn\ndef f(x, y=0.0):\n    {code}\n    return nx.sum(x)\n")["f"]
    with pytest.raises((NxTypeError, NxValueError)) as raised:
        f(*arguments)
    return str(raised.value)


def test_a_tensor_that_is_assigned_into_is_refused(run):
    assert refusal(run, "x[0] = 1.0", nx.tensor(X)) == (
        "f assigns into x, which is a Tensor: those never change.\n"
        "  cell.py, line 6:  x[0] = 1.0\n"
        "  Return the new value of x from f, or pass a NumPy array."
    )
    assert refusal(run, "helper(x)", nx.tensor(X)) == (
        "f assigns into x, which is a Tensor: those never change.\n"
        "  cell.py, line 2:  u[0] = 1.0\n"
        "  Return the new value of x from f, or pass a NumPy array."
    )


def test_arrays_that_cannot_change_are_refused(run):
    fixed = X.copy()
    fixed.flags.writeable = False
    assert refusal(run, "x += 1", fixed) == (
        "f assigns into x, which is read-only.\n  cell.py, line 6:  x += 1\n  Pass x.copy()."
    )
    x = X.copy()
    assert refusal(run, "x[0] = y[1]", x[1:], x) == (
        "f assigns into x, whose memory y shares.\n  cell.py, line 6:  x[0] = y[1]\n  Pass a copy: x.copy()."
    )


def test_types_and_shapes_that_an_array_cannot_take(run):
    assert refusal(run, "x += 0.5", np.arange(3)) == (
        "a value of type f32[3] does not fit into a tensor of type s64[3]: an assignment keeps the type.\n"
        "  cell.py, line 6:  x += 0.5\n"
        '  Convert the tensor first, x = nx.as_type(x, "f32"), or cut the value: nx.as_type(v, "s64").'
    )
    assert refusal(run, "x += nx.iota((2, 4))", X.copy()) == (
        "a value of the shape [2][4] does not fit into a part of the shape [4].\n"
        "  cell.py, line 6:  x += nx.iota((2, 4))\n"
        "  Sizes are equal, or 1 in the value."
    )


def test_arrays_that_a_loop_loses_are_refused(run):
    assert refusal(run, "for i in range(3):\n        x[0] = 1.0\n        x = x * 2", X.copy()) == (
        "this loop assigns into the array of `x`, which is the caller's, and binds the name to another one.\n"
        "  cell.py, line 6, in f:\n"
        "    for i in range(3):\n"
        "             ^^^^^^^^\n"
        "  Begin with a copy of it, x = x + 0, or assign the new elements: x[...] = ...."
    )


@pytest.mark.parametrize("dialect", ["nx", "numpy"])
def test_arrays_that_are_the_callers_on_one_side_only_are_refused(run, dialect):
    text = f"@nx.defn(promotion={dialect!r})\ndef f(x):\n    if x[0] > 0:\n"
    text += "        x = x * 2\n    {}x[0] = 7.0\n    return x\n"
    f = run(text.format(""))["f"]
    with pytest.raises(NxTypeError) as raised:
        f(X.copy())
    copy = "x.copy()" if dialect == "numpy" else "x + 0"
    assert str(raised.value) == (
        "`x` is assigned into, and whether it is the caller's array then is up to a condition that only the "
        "running program knows.\n"
        "  cell.py, line 3, in f:\n"
        "    if x[0] > 0:\n"
        "       ^^^^^^^^\n"
        f"  Begin with a copy of it, x = {copy}, or assign the new elements on that side: x[...] = ...."
    )
    f, x = run(text.format(f"x = {copy}; "))["f"], X.copy()
    assert f(x).tolist() == [7.0, -2.0, 4.0, 10.0]
    assert x.tolist() == X.tolist()


def test_a_tensor_on_one_side_is_a_value_as_any_other():
    @nx.defn
    def f(x):
        if nx.sum(x) > 0:
            x = x * 2
        x[0] = 7.0
        return x

    assert f(nx.tensor(X)).to_list() == [7.0, -2.0, 4.0, 10.0]


def test_a_given_argument_answers_as_the_traced_value_in_it():
    with Trace(lambda value: value):
        node = nx.graph.expr.parameter(0, "x", nx.template((4,), "f64").spec)
        x = MutableArgument(node, "x", shared=True)
        assert (x.shape, x.type, len(x), x.rank) == ((4,), "f64", 4, 1)
        assert (x + 1).primitive.name == (1 + x).primitive.name == "add"
        assert (node - x).operands == (x - node).operands == (node, node)
        assert str(x) == str(node)
        with pytest.raises(NxTypeError, match="asks for the data"):
            bool(x > 1)


@pytest.mark.parametrize("dialect", ["nx", "numpy"])
def test_arrays_that_changed_places_are_not_assigned_into_after_the_loop(run, dialect):
    text = f"@nx.defn(promotion={dialect!r})\ndef f(a, b, n):\n    for _ in range(n):\n        a, b = b, a\n"
    f = run(text + "    a[0] = 7.0\n    return a\n")["f"]
    with pytest.raises(NxTypeError) as raised:
        f(X.copy(), X + 1, 3)
    copy = "a = a.copy()" if dialect == "numpy" else "a = a + 0"
    assert str(raised.value) == (
        "`a` is assigned into after this loop, in which arrays of the caller's change places: only the running program "
        "knows which of them it is.\n"
        "  cell.py, line 3, in f:\n"
        "    for _ in range(n):\n"
        "             ^^^^^^^^\n"
        f"  Assign the new elements in the loop, or to the names that arrays have before it; or {copy} makes a copy."
    )


def test_tensors_in_loops_are_values_as_any_other():
    @nx.defn
    def f(a, b, n):
        for _ in range(n):
            a[0] = nx.sum(b)
            a, b = b, a
        a[1] = 7.0
        return a * 2

    def plain(a, b, n):
        for _ in range(n):
            a[0] = sum(b)
            a, b = b, a
        a[1] = 7.0
        return a * 2

    for turns in (0, 3, 4):
        expected = plain(X.copy(), X + 1, turns)
        assert f(nx.tensor(X), nx.tensor(X + 1), turns).to_list() == expected.tolist()


def test_a_loop_that_leaves_an_argument_as_it_is():
    @nx.defn
    def f(x, n):
        total = nx.sum(x)
        for i in range(n):
            for _ in range(0):
                x[1] = 0.0
            total += x[i]
        x[0] = total

    x = X.copy()
    f(x, 2)
    assert x.tolist() == [11.0, -1.0, 2.0, 5.0]


@pytest.mark.parametrize(
    "function",
    [
        lambda t: nx.reshape(t, (4,)), nx.transpose, nx.take_diagonal, lambda t: nx.slice(t, [0, 1], [2, 1]),
        lambda t: nx.rename(t, ["rows", None]), lambda t: nx.pad(t, 0.0, [(0, 0, 0), (0, 0, 0)]), nx.real,
        lambda t: nx.as_type(t, "f64"), lambda t: nx.cumulative_sum(t, axis=1), lambda t: nx.linalg.matrix_power(t, 1),
        nx.stop_grad,
    ],
)  # fmt: skip
def test_functions_that_may_share_memory_take_it(function):
    @nx.defn
    def assigned(x):
        x[0] = x[0] * 2
        y = function(x)
        x[1] = 0.0
        return y

    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = function(nx.tensor([[2.0, 4.0], [3.0, 4.0]])).to_list()
    assert assigned(given).tolist() == expected
    assert given.tolist() == [[2.0, 4.0], [0.0, 0.0]]
