"""Arrays that loops take apart by columns: which are transposed, and that programs compute the same."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.compilers.rewrite.array_layouts import transposed
from nxkernel.graph.traverse import post_order

RANDOM = np.random.default_rng(3)


class SeenError(Exception):
    """A graph has come to be compiled."""


def graph_of(function, *arguments):
    """The graph that a NumPy program is compiled from."""
    graphs = []

    def compile_(self, graph):
        graphs.append(graph)
        raise SeenError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumbaCpu, "compile", compile_)
        with pytest.raises(SeenError):
            nx.defn(function)(*arguments)
    return graphs[0]


def transposes(graph):
    """The shapes of what is transposed, in the graph and in its loops."""
    found = []
    for node in post_order(graph.outputs):
        if node.primitive.name == "transpose":
            found.append(node.shape)
        for value in node.params.values():
            if isinstance(value, type(graph)):
                found += transposes(value)
    return found


def check(function, *arrays, count):
    """Compare programs with and without transposed arrays; `count` arrays are transposed, to or back."""
    arrays = [np.array(array) for array in arrays]
    graph = graph_of(function, *[array.copy() for array in arrays])
    made, origin = transposed(graph)
    assert len(transposes(made)) - len(transposes(graph)) == count
    assert [output.spec for output in made.outputs] == [output.spec for output in graph.outputs]
    expected, given = run("evaluator", graph, arrays)
    for compiler in ("evaluator", "numba_cpu"):
        found, changed = run(compiler, made, arrays)
        for one, other in zip([*found, *changed], [*expected, *given], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    old = set(everything(graph))
    assert set(origin.values()) <= old
    return made


def run(compiler, graph, arrays):
    own = [array.copy() for array in arrays]
    return registry.get(compiler).compile(graph).run(own), own


def everything(graph):
    for node in post_order(graph.outputs):
        yield node
        for value in node.params.values():
            if isinstance(value, type(graph)):
                yield from everything(value)


def matrix(rows, columns):
    return RANDOM.uniform(0.5, 1.5, (rows, columns))


# What is transposed -------------------------------------------------------------------------------------------------


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(40, 30), (31, 31), (24, 23), (50, 17)])
def test_gram_schmidt(shape):
    # There and back, and the result that begins as zeros back.
    made = check(gram_schmidt, matrix(*shape), count=3)
    shapes = [node.shape for node in post_order(made.outputs) if node.primitive.name == "transpose"]
    assert shapes == [shape[::-1], shape, shape]


def covariance(data):
    m = data.shape[1]
    cov = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = np.sum(data[:, i] * data[:, j]) / (data.shape[0] - 1.0)
            cov[j, i] = cov[i, j]
    return cov


def test_what_is_only_read_is_not_turned_back():
    check(covariance, matrix(20, 33), count=1)


def planes(x):
    for i in range(x.shape[2]):
        for j in range(x.shape[2]):
            if i != j:
                x[:, :, i] += 0.125 * x[:, :, j]


def test_planes_and_choices():
    check(planes, RANDOM.uniform(-1, 1, (3, 4, 12)), count=2)


def swapped(x, y, turns):
    for _ in range(turns):
        for j in range(x.shape[1]):
            y[:, j] = x[:, j] * 0.5 + y[:, (j + 1) % x.shape[1]]
        x, y = y, x
    return x, y


def test_arrays_that_change_places():
    graph = graph_of(swapped, matrix(6, 11), matrix(6, 11), 30)
    made, _ = transposed(graph)
    arrays = [matrix(6, 11), matrix(6, 11)]
    arrays += [np.asarray(30)] * (len(graph.parameters) - 2)
    (expected, _), (found, _) = run("evaluator", graph, arrays), run("numba_cpu", made, arrays)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def counted(x):
    """Sweeps until a column is small, which nobody knows beforehand."""
    turns = 0
    while np.sum(x[:, 0]) > 0.01:
        for j in range(x.shape[1]):
            x[:, j] *= 0.75
        turns += 1
    return turns


def test_loops_of_which_nobody_knows_the_turns():
    check(counted, matrix(9, 12), count=2)


def inner_only(x, y):
    """The columns of sums, whose matrix changes as a whole in between."""
    for _ in range(3):
        x = x + y
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                x[:, j] += 0.01 * x[:, i]
    return x


def test_arrays_that_are_turned_in_every_turn_of_a_loop():
    check(inner_only, matrix(8, 40), matrix(8, 40), count=2)


# What is left alone --------------------------------------------------------------------------------------------------


def rows(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            x[i] += 0.1 * x[j]


def both(x):
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            x[:, j] += 0.1 * x[:, i]
        x[i % x.shape[0], :] *= 0.5


def single(x):
    for k in range(x.shape[1]):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] += 0.01 * x[i, k]


def once(x):
    for j in range(x.shape[1]):
        x[:, j] /= np.sum(x[:, j])


def whole(x):
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            x[:, j] += 0.001 * np.sum(x) * x[:, i]


def made(x):
    """The array is a new one in every turn."""
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            x[:, j] += 0.1 * x[:, i]
        x = x * 0.5
    return x


def zeros(x):
    """What begins as zeros goes to both sides of a choice, and by columns through one alone."""
    total = 0.0
    for i in range(x.shape[1]):
        z = np.zeros_like(x)
        if x[0, i] > 1.0:
            for j in range(30):
                z[:, j % x.shape[1]] = z[:, (j + 1) % x.shape[1]] * 0.5 + x[0, j % x.shape[1]]
        else:
            z[i % x.shape[0], :] = x[0, :]
        total += np.sum(z)
    return total


def pairs(x):
    for i in range(x.shape[1] - 1):
        for j in range(x.shape[1] - 1):
            x[:, j : j + 2] += 0.01 * x[:, i : i + 2]


def one_column(x):
    for _ in range(100):
        x[:, 0] = x[:, 0] * 0.5 + 1.0


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("function", [rows, both, single, once, whole, pairs, zeros])
def test_other_programs_are_left_alone(function):
    check(function, matrix(6, 10), count=0)


def test_an_array_of_one_column_is_left_alone():
    check(one_column, matrix(6, 1), count=0)


def test_short_loops_are_left_alone():
    made_ = check(made, matrix(6, 5), count=0)
    assert transposes(made_) == []


def no_loop(x):
    return np.dot(x, x.T) + 1.0


@pytest.mark.parametrize("function", [no_loop, rows, once])
def test_programs_that_are_left_alone_keep_their_nodes(function):
    graph = graph_of(function, matrix(6, 10))
    made_, origin = transposed(graph)
    assert all(a is b for a, b in zip(made_.outputs, graph.outputs, strict=True))
    assert origin == {}
