"""Loops over planes as loops over columns: which programs are rewritten, to what, and that they compute the same."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.compilers.rewrite.columns import column_loops, column_regions
from nxkernel.compilers.rewrite.columns.interchange import by_columns
from nxkernel.graph.traverse import post_order

RANDOM = np.random.default_rng(7)


def some(*shape):
    return RANDOM.random(shape) + 0.5


@pytest.fixture(autouse=True)
def small_planes_too(monkeypatch):
    monkeypatch.setattr(column_regions, "FEWEST", 64)


@pytest.fixture
def program(monkeypatch):
    """Compiles a function for arguments; gives its graph, and what it makes of them."""
    graphs, compile_ = [], NumbaCpu.compile
    monkeypatch.setattr(NumbaCpu, "compile", lambda self, graph: graphs.append(graph) or compile_(self, graph))

    def found(function, *arguments):
        results = outcome(nx.defn(function), arguments)
        return graphs[-1], results

    return found


@pytest.fixture
def check(program):
    """Checks the values of a program, by columns and by planes; gives how many loops are left that look at planes."""

    def checked(function, *arguments):
        graph, found = program(function, *arguments)
        for one, wanted in zip(found, outcome(function, arguments), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-6 if np.asarray(wanted).dtype == np.float32 else 1e-12)
        turned, origin = by_columns(graph)
        for one, wanted in zip(evaluated(turned, arguments), evaluated(graph, arguments), strict=True):
            np.testing.assert_array_equal(one, wanted)
        old = set(everything(graph))
        new = [node for node in everything(turned) if node.primitive.family != "leaf" and node not in old]
        assert all(origin[node] in old for node in new)
        return turned is not graph

    return checked


def outcome(function, arguments):
    """Results of a call, and what it leaves in the arrays that it is given."""
    given = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    results = function(*given)
    results = results if isinstance(results, tuple) else [] if results is None else [results]
    return [np.asarray(array) for array in (*results, *given)]


def evaluated(graph, arguments):
    return registry.get("evaluator").compile(graph).run([np.array(argument) for argument in arguments])


def everything(graph):
    """The nodes of a graph and of its loops and choices."""
    for node in post_order(graph.outputs):
        yield node
        if node.primitive.family == "control":
            for name in ("condition", "body", "then", "otherwise"):
                if name in node.params:
                    yield from everything(node.params[name])


# What is rewritten -----------------------------------------------------------------------------------------------


def smooth(x, weight):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for k in range(1, x.shape[1]):
        y[:, k] = weight * x[:, k] + (1 - weight) * y[:, k - 1]
    return y


def until(x, n):
    for k in range(1, n):
        x[:, k] = x[:, k - 1] + 1.0


def thomas(below, middle, above, x):
    c = np.empty_like(x)
    c[:, 0] = above[0] / middle[0]
    x[:, 0] = x[:, 0] / middle[0]
    for k in range(1, x.shape[1]):
        scale = 1.0 / (middle[k] - below[k] * c[:, k - 1])
        c[:, k] = above[k] * scale
        x[:, k] = (x[:, k] - below[k] * x[:, k - 1]) * scale
    for k in range(x.shape[1] - 2, -1, -1):
        x[:, k] -= c[:, k] * x[:, k + 1]


def levels(x):
    for k in range(1, x.shape[-1]):
        x[..., k] = np.maximum(x[..., k - 1] * 0.5, x[..., k])


def best(x):
    found, count = x[:, 0], np.zeros(x.shape[0])
    for k in range(1, x.shape[1]):
        better = x[:, k] > found
        found = np.where(better, x[:, k], found)
        count = count + better
    return found, count


def choice(x, n):
    for k in range(1, x.shape[1]):
        if k % n == 0:
            x[:, k] += x[:, k - 1]
        else:
            x[:, k] -= 0.25 * x[:, k - 1]
    return x


def chosen(x, n):
    plane = x[:, 0]
    for k in range(1, x.shape[1]):
        if k % n == 0:
            plane = plane + x[:, k]
        else:
            plane = plane * 0.5
        x[:, k] = plane
    return plane


def apart(x, y):
    a, b = np.zeros_like(x), np.zeros_like(x)
    for k in range(1, x.shape[1]):
        a[:, k] = a[:, k - 1] + x[:, k] * y[k]
        b[:, k] = b[:, k - 1] * 0.5 - x[:, k]
    return a, b


def inner(x, wind):
    out = np.ones_like(x)
    for k in range(1, x.shape[2]):
        across = wind[2:, 1:-1, k] + wind[:-2, 1:-1, k] - wind[1:-1, 2:, k] * wind[1:-1, :-2, k - 1]
        out[1:-1, 1:-1, k] = 0.5 * out[1:-1, 1:-1, k - 1] + across
    return out


def turned_input(x, y):
    out = np.zeros_like(x)
    for k in range(1, x.shape[1]):
        out[:, k] = 0.5 * out[:, k - 1] + y[k, :] * x[:, k] * x[:, k - 1]
    return out


def many_times(x, steps):
    for _ in range(steps):
        for k in range(1, x.shape[1]):
            x[:, k] -= 0.25 * x[:, k - 1]
        for k in range(x.shape[1] - 2, -1, -1):
            x[:, k] -= 0.25 * x[:, k + 1]


def between(x, steps):
    for _ in range(steps):
        x = x * np.mean(x)
        for k in range(1, x.shape[1]):
            x[:, k] -= 0.25 * x[:, k - 1]
    return x


def old_neighbours(x):
    old = x.copy()
    for k in range(1, x.shape[1]):
        x[1:, k] -= old[:-1, k - 1]


def only_read(x):
    total = np.zeros(x.shape[0])
    x[:, 0] = 2.0
    for k in range(x.shape[1]):
        total = total + x[:, k] * k
    return total


def scaled_before(x):
    y = x * 3.0 + 1.0
    for k in range(1, x.shape[1]):
        y[:, k] += y[:, k - 1]
    return y


def numbered(x):
    place = np.arange(x.shape[0]) * 0.5
    for k in range(1, x.shape[1]):
        x[:, k] += place * x[:, k - 1]


def made_anew(x):
    out = np.zeros_like(x)
    for k in range(1, x.shape[1]):
        out = x * 0.5
        x[1:-1, k] += out[1:-1, k - 1]
    out[1:-1, 2] = 7.0
    return out


def shifted_later(x, y):
    z = np.zeros_like(x)
    for k in range(1, x.shape[1]):
        x[1:-1, k] += x[1:-1, k - 1]
        y[1:-1, k] += x[1:-1, k]
    for k in range(1, x.shape[1]):
        z[1:-1, k] = y[1:-1, k] + z[1:-1, k - 1] - x[2:, k] * x[:-2, k - 1]
        y[1:-1, k] += z[1:-1, k]
    return z


def rows_of_columns(x, weight):
    out = np.zeros(x.shape)
    for k in range(2, x.shape[1]):
        out[:, k] = np.sum(x[:, k - 2 : k + 1] * weight, axis=1) + 0.5 * out[:, k - 1]
    return out


PROGRAMS = {
    "smooth": (smooth, some(66, 9), 0.3),
    "smooth, odd sizes": (smooth, some(131, 3), 0.3),
    "smooth, float32": (smooth, some(70, 5).astype(np.float32), np.float32(0.25)),
    "until": (until, some(70, 9), 5),
    "no turn": (until, some(71, 9), 0),
    "thomas": (thomas, some(9) * 0.1, some(9) + 1, some(9) * 0.1, some(65, 9)),
    "levels": (levels, some(9, 8, 7)),
    "levels, four axes": (levels, some(4, 5, 6, 7)),
    "levels, whole numbers": (levels, RANDOM.integers(0, 99, (70, 6)).astype(float)),
    "best": (best, some(70, 6)),
    "choice": (choice, some(70, 9), 3),
    "chosen": (chosen, some(70, 9), 3),
    "apart": (apart, some(70, 9), some(9)),
    "inner": (inner, some(11, 12, 7), some(11, 12, 7)),
    "turned input": (turned_input, some(70, 9), some(9, 70)),
    "many times": (many_times, some(70, 9), 3),
    "never": (many_times, some(71, 9), 0),
    "between": (between, some(70, 9), 3),
    "old neighbours": (old_neighbours, some(70, 9)),
    "only read": (only_read, some(70, 9)),
    "scaled before": (scaled_before, some(70, 9)),
    "numbered": (numbered, some(70, 9)),
    "shifted later": (shifted_later, some(70, 9), some(70, 9)),
    "rows of columns": (rows_of_columns, some(70, 9), some(3)),
}


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("name", PROGRAMS)
def test_columns_compute_what_planes_do(check, name):
    function, *arguments = PROGRAMS[name]
    assert check(function, *arguments)


def test_the_rewritten_graph(program, monkeypatch):
    monkeypatch.setattr(column_loops, "SIDE_BY_SIDE", 1)
    graph, _ = program(smooth, some(67, 9), 0.25)
    turned, _ = by_columns(graph)
    assert [line.strip() for line in repr(turned).splitlines()] == [line.strip() for line in SMOOTH.splitlines()]


SMOOTH = """\
#Nx.Tensor<
  f64[67][9]

  Nx.Defn.Expr
  parameter a:0                                                                            f64[67][9]
  parameter b:1                                                                            f64
  c = while 0, 0.0, a, b, condition={e = less a, 67}, body={a, b, c, d -> e, i}, state=2   tuple2
      body
        e = add a, 1                                                                       s64
        f = dynamic_slice c, a, 0, lengths=[1, 1], strides=[1, 1]                          f64[1][1]
        g = put_slice b, f, a, 0                                                           f64[67][9]
        h = while 1, g, c, d, a, condition={f = less a, 9}, body={a, b, c, d, e -> f, q}, state=2   tuple2
          body
            f = add a, 1                                                                   s64
            g = dynamic_slice c, e, a, lengths=[1, 1], strides=[1, 1]                      f64[1][1]
            h = reshape g, shape=()                                                        f64
            i = multiply d, h                                                              f64
            j = subtract 1.0, d                                                            f64
            k = subtract a, 1                                                              s64
            l = dynamic_slice b, e, k, lengths=[1, 1], strides=[1, 1]                      f64[1][1]
            m = reshape l, shape=()                                                        f64
            n = multiply j, m                                                              f64
            o = add i, n                                                                   f64
            p = reshape o, shape=(1, 1)                                                    f64[1][1]
            q = put_slice b, p, e, a                                                       f64[67][9]
        i = elem h, index=1                                                                f64[67][9]
  d = elem c, index=1                                                                      f64[67][9]
>"""


def test_the_graph_of_a_definition_is_that_of_planes(program):
    definition = nx.defn(levels)
    definition(some(9, 8, 7))
    assert "put_slice" in definition.compilations()[-1].text


# What is left alone ------------------------------------------------------------------------------------------------


def summed(x):
    for k in range(1, x.shape[1]):
        x[:, k] -= np.sum(x[:, k - 1])


def neighbours(x):
    for k in range(1, x.shape[1]):
        x[1:, k] -= x[:-1, k - 1]


def along_rows(x):
    for k in range(1, x.shape[0]):
        x[k] -= 0.5 * x[k - 1]


def other_columns(x, y):
    for k in range(1, x.shape[1]):
        y[::2, k] = x[:, k] + y[::2, k - 1]


def moving(x, n):
    for k in range(1, x.shape[1]):
        x[k : k + 70, k] = x[k : k + 70, k - 1] + 1.0


def functions(x):
    for k in range(1, x.shape[1]):
        x[:, k] += np.exp(-x[:, k - 1]) * np.sin(x[:, k])


LEFT_ALONE = {
    "functions that vectors are good at": (functions, some(70, 9)),
    "an array that is made anew in each turn": (made_anew, some(70, 9)),
    "a sum over columns": (summed, some(70, 9)),
    "neighbours of what is written": (neighbours, some(70, 9)),
    "rows": (along_rows, some(9, 70)),
    "every second column": (other_columns, some(70, 9), some(140, 9)),
    "columns at places that change": (moving, some(80, 9), 1),
    "few columns": (smooth, some(8, 9), 0.25),
    "no columns": (levels, some(0, 70, 9)),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(check, name):
    function, *arguments = LEFT_ALONE[name]
    assert not check(function, *arguments)
