"""Which functions are rewritten when a definition calls them, and which stay as they are."""

import functools
import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators import call_dispatch
from nxkernel.definitions.tracing.syntax_runtime import fn
from nxkernel.errors import CompilationError, NxTypeError, TracedValueError


def relu(x):
    """Written for numbers."""
    return x if x > 0 else 0.0


class Scale:
    """An object that is called."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        if x > 0:
            return x * self.factor
        return x

    def twice(self, x):
        for _ in range(2):
            x = self(x)
        return x


def test_the_users_functions_are_rewritten():
    @nx.defn
    def f(x):
        return relu(x) + relu(-x) * 10

    assert [float(f(x)) for x in (2.0, -3.0)] == [2.0, 30.0]


def test_methods_partials_and_objects():
    scale = Scale(3.0)

    @nx.defn
    def f(x):
        halved = functools.partial(np_free, by=2.0)
        return scale(x), scale.twice(x), halved(x)

    assert [float(v) for v in f(2.0)] == [6.0, 18.0, 1.0]
    assert [float(v) for v in f(-2.0)] == [-2.0, -2.0, -2.0]


def np_free(x, by):
    return x / by if x > 0 else x


def test_lambdas_and_functions_inside():
    @nx.defn
    def f(x):
        sign = lambda v: 1 if v > 0 else -1  # noqa: E731

        def count(v):
            n = 0
            while v > 1:
                v = v / 2
                n += 1
            return n

        return sign(x) * count(abs(x))

    assert [int(f(x)) for x in (9.0, -5.0)] == [4, -3]


def test_definitions_called_by_definitions():
    @nx.defn
    def inner(x):
        while x > 10:
            x = x / 2
        return x

    @nx.defn
    def outer(x):
        return inner(x) + inner(x * 3)

    assert float(outer(8.0)) == 8.0 + 6.0
    assert float(nx.jit(inner)(40.0)) == 10.0
    assert float(nx.compile(inner, [nx.template((), "f32")])(40.0)) == 10.0


def test_installed_functions_and_transforms_stay():
    @nx.deftransform
    def host(x):
        return len(x.shape)

    assert fn(host) is host
    assert fn(nx.sum) is nx.sum
    assert fn(functools.reduce) is functools.reduce
    assert fn(functools.partial) is functools.partial
    assert fn(math.sqrt)(4.0) == 2.0
    assert fn(np.sin) is np.sin


def test_a_plain_function_that_is_compiled_is_traced_as_it_stands():
    turns = []

    def f(x):
        for i in range(3):
            turns.append(i)
            x = x + 1
        return x

    assert float(nx.jit(f)(1.0)) == 4.0
    assert turns == [0, 1, 2]


def test_what_cannot_be_called():
    assert fn(5) == 5
    assert fn([]) == []


def test_numpy_functions_without_source():
    space = {"np": np}
    exec("def f(x, n):\n    return np.zeros(n) + x\ndef g(x):\n    return np.full(x.sum(), 2)", space)
    # A whole number that NumPy itself needs becomes static here, too.
    assert nx.defn(space["f"])(np.ones(3), 3).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(CompilationError) as raised:
        nx.defn(space["g"])(np.ones(3))
    assert str(raised.value) == (
        "the source of g cannot be found (<string>, line 3), so it calls NumPy itself, which has no traced values.\n"
        "  NumPy says TypeError: expected a sequence of integers or a single integer, got 'Scalar\n"
        "  Write it in a cell or a file; functions made by exec() or in a bare interpreter have no source."
    )


def test_what_a_function_without_source_raises_itself_stays():
    space = {"np": np}
    exec("def f(x):\n    raise LookupError(np.shape(x))", space)
    with pytest.raises(LookupError, match="3,"):
        nx.defn(space["f"], promotion="numpy")(np.ones(3))


def listed(p):
    return np.array([p[0] ** 2 - p[1], p[1] * p[2]])


def looked_up(p):
    return np.eye(3)[np.argmax(p)]


def added(p):
    total = np.zeros(3)
    total += p
    total[0] = p[1]
    return total


def converted(p):
    return np.asarray(p, dtype=float) + np.array([2 * x for x in p])


@pytest.mark.parametrize("function", [listed, looked_up, added, converted])
def test_numpy_programs_that_are_traced_as_they_are(function):
    p = np.array([1.0, 2.0, 3.0])
    for wrap in (nx.jit, nx.checkpoint, lambda f: lambda p: nx.jit_apply(f, [p])):
        found = wrap(function)(p)
        assert (found.dtype, found.tolist()) == (np.float64, function(p).tolist())
    found = nx.vmap(function)(np.stack([p, p * 2]))
    assert found.tolist() == [function(p).tolist(), function(p * 2).tolist()]


def test_gradients_of_numpy_programs_with_lists():
    assert nx.grad(lambda p: np.sum(listed(p)))(np.array([1.0, 2.0, 3.0])).tolist() == [2.0, 2.0, 2.0]
    assert nx.jacobian(listed)(np.array([1.0, 2.0, 3.0])).tolist() == [[2.0, -1.0, 0.0], [0.0, 3.0, 2.0]]


def test_what_cannot_be_rewritten_tells_what_stopped_it():
    def f(x):
        class _Own:
            pass

        return np.array([x[0], 1.0])

    for _ in range(2):
        with pytest.raises(TracedValueError, match="NumPy asks for the data of a traced value of type f64"):
            nx.jit(f)(np.ones(2))


def test_what_has_to_be_dispatched_is_seen_in_functions_that_are_named():
    def asks(x):
        return isinstance(x, np.ndarray)

    def names_it(x):
        return asks(x) or x.sum()

    def of_numpy(x):
        return np.isscalar(x)

    def plain(x):
        return np.linalg.norm(x)

    assert [call_dispatch.has_to_be_dispatched(one) for one in (asks, names_it, of_numpy, plain, len)] == [
        True, True, True, False, False,
    ]  # fmt: skip


@np.vectorize
def wrapped(a, low=0.0, high=1.0):
    if a < low:
        return low
    while a > high:
        a = a - 1.0
    return a


def vectorized(x, y):
    two = np.vectorize(lambda a, b: (a + b, a * b), otypes=["f4", "f8"])
    return wrapped(x), wrapped(y[:, None], low=-1.0, high=x), *two(x, 2.0)


def test_functions_of_single_numbers_by_vectorize():
    x, y = np.array([-0.5, 0.5, 2.5]), np.array([3.0, -2.0])
    for one, other in zip(nx.jit(vectorized)(x, y), vectorized(x, y), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other)
    with pytest.raises(
        NxTypeError, match=r"^np\.vectorize of <lambda> has a signature or arguments that are excluded\."
    ):
        nx.jit(lambda x: np.vectorize(lambda row: row.sum(), signature="(n)->()")(x))(x)
