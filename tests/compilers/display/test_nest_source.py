"""The readable source of a nest: as text, and run as Python against what the kernel computes."""

import builtins
import math

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, nests, planned, spec
from nxkernel.compilers.display.nest_source import names, render
from nxkernel.compilers.display.operation_text import FUNCTIONS
from nxkernel.compilers.plan.locations import MemoryKind
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import NestConstant, ScalarKind


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def test_softmax_as_somebody_would_write_it():
    (nest,) = nests(softmax, spec("f32", 30, 40))
    assert render(nest) == (
        "import math\n"
        "import numba\n"
        "import numpy as np\n"
        "\n\n"
        "@numba.njit\n"
        "def maximum(x, y):\n"
        '    """The greater one; NaN where one of them is."""\n'
        "    return x if x >= y or x != x else y\n"
        "\n\n"
        '@numba.njit(parallel=True, error_model="numpy")\n'
        "def rows(a, b, n0, n1, a_0, b_0):\n"
        "    # a: f32, b: f32; vectors run along j1\n"
        "    for i0 in numba.prange(n0):\n"
        "        row0 = np.empty(n1, np.float32)\n"
        "        s0 = np.float32(-np.inf)\n"
        "        for j1 in range(n1):\n"
        "            s0 = maximum(s0, a[i0 * a_0 + j1])\n"
        "        s1 = np.float32(0.0)\n"
        "        for j1 in range(n1):\n"
        "            t0 = math.exp(a[i0 * a_0 + j1] - s0)\n"
        "            row0[j1] = t0\n"
        "            s1 += t0\n"
        "        for j1 in range(n1):\n"
        "            b[i0 * b_0 + j1] = row0[j1] / s1\n"
    )
    assert names(nest) == (["a", "b"], ["n0", "n1", "a_0", "b_0"])


def standardized(x):
    moved = x - nx.mean(x, axes=[0], keep_axes=True)
    return moved / nx.sqrt(nx.mean(moved * moved, axes=[0], keep_axes=True) + 1)


def clipped(x):
    return nx.select((x > 0) & (x < 3), nx.max(x, 1.0), nx.min(-x, 2.0)) * nx.as_type(x >= 1, "f32")


def looked_up(x):
    return x[nx.argmax(x[:, 0])] + 1


def wound(x):
    z = nx.exp(nx.complex(x, x * 0.5)) * (1 - 2j) + nx.asinh(nx.as_type(x, "c64"))
    real = nx.as_type(nx.conjugate(z), "f32") + nx.imag(z) * nx.abs(z) - nx.phase(z)
    return real, nx.real(nx.sum(nx.sigmoid(z) / nx.rsqrt(z + 3), axes=[1])), nx.real(nx.cbrt(z))


PROGRAMS = {
    "softmax": softmax,
    "standardized columns": standardized,
    "choices": clipped,
    "first place": lambda x: nx.argmax(x, axis=1),
    "last place": lambda x: nx.argmin(x, axis=0, tie_break="high"),
    "turned and counted": lambda x: nx.transpose(x)[::-1] * 2 + nx.iota((9, 7), axis=1),
    "short rows": lambda x: nx.transpose(nx.reshape(x, (7, 3, 3)), axes=[1, 0, 2]) + 1,
    "joined": lambda x: nx.concatenate([x[1:], x * 2], axis=0),
    "padded": lambda x: nx.pad(x, -1.0, [(1, 0, 1), (0, 2, 0)]),
    "everything": lambda x: (nx.sum(x), nx.product(x * 0.1 + 1), nx.all(x), nx.any(x)),
    "functions": lambda x: nx.tanh(x) + nx.erf(x) * nx.sigmoid(x) - nx.cbrt(x) ** 2 + nx.round(x) + nx.sign(x),
    "computed places": looked_up,
    "complex numbers": wound,
}


def halved(element, so_far):
    return nx.max(element, so_far) * 0.5 + so_far


def counted(x):
    return nx.population_count(x) + nx.count_leading_zeros(x) + nx.quotient(x, 3) - nx.remainder(x, 5) + (~x << 3)


def decided(x, y):
    either = nx.logical_xor(x, y > 0), nx.logical_or(x < 0, y), nx.logical_and(x, y), nx.logical_not(x)
    return *either, nx.all(x + 9), nx.any(x > 0), nx.select(x, y, x), nx.not_equal(x < y, y)


X = np.random.default_rng(0).integers(-12, 13, (7, 9)).astype("f4") / 4
Y = np.random.default_rng(1).integers(-4, 5, (7, 9)).astype("f4")
WIDE = np.random.default_rng(2).normal(size=(3, 140)).astype("f4")
PICTURES = np.random.default_rng(3).integers(-3, 4, (2, 3, 8, 20)).astype("f4")
PLACES = np.array([5, 1, -2, 1, 90, 1], "i4")
SHORT = np.array([-32768, -7, -1, 0, 1, 5, 32767], "i2")
KEY = np.array([3, 1 << 31], "u4")

#: More programs, with what they are run on.
MORE = {
    "tiles of a product": (lambda x, y: nx.dot(nx.transpose(x), y[:, :5]), X, Y),
    "tiles over windows": (lambda x: nx.window_max(x, (2, 2), strides=[1, 2]), WIDE),
    "convolution": (lambda x, k: nx.conv(x, k, strides=[1, 2], padding="same"), PICTURES, PICTURES[:, :, :3, :3]),
    "fold of rows": (lambda x: nx.reduce(x, 1.0, halved, axes=[1]), X),
    "fold of everything": (lambda x: nx.reduce(x, nx.sum(x), halved), X),
    "elements at places": (lambda x, i: nx.take(x, i, axis=1) + nx.take(x, i, axis=0)[0:1, 0:1], X, PLACES),
    "added at places": (lambda x, i: nx.indexed_add(x, nx.reshape(i, (6, 1)), x[:6]), X, PLACES),
    "put at places": (lambda x, i: nx.indexed_put(x, nx.reshape(i, (6, 1)), x[:6] * 2), X, PLACES),
    "a slice put": (lambda x, i: nx.put_slice(x, [i[0], 1], x[:2, :3] * 2), X, PLACES),
    "best of many": (lambda x: (nx.argmax(x), nx.argmin(x, tie_break="high")), np.tile(X.reshape(-1), 3000)),
    "bits": (counted, SHORT),
    "unsigned": (counted, SHORT.view("u2")),
    "truth": (decided, X, Y),
    "inverse of erf": (lambda x: nx.erf_inv(x / 3.1), X),
    "as bits": (lambda x: nx.bitcast(x, "s32") >> 3, X),
    "half width": (lambda x: (nx.bitcast(nx.as_type(x * 0.3, "bf16"), "u16"), nx.as_type(x, "f16")), X),
    "from bits": (lambda x: nx.as_type(nx.bitcast(nx.as_type(x, "u16"), "bf16"), "f32"), SHORT),
    "random numbers": (lambda key: nx.random.normal(key, shape=(5, 3))[0], KEY),
    "roundings": (lambda x: nx.round(x) + nx.floor(x / 2) - nx.ceil(x / 3) * nx.sign(x), X),
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("name", [*PROGRAMS, *MORE])
def test_the_source_computes_what_the_kernel_computes(name):
    function, *arrays = MORE.get(name) or (PROGRAMS[name], X)
    expected = agree(function, *arrays, rtol=1e-5, atol=1e-6)
    with np.errstate(all="ignore"):
        found = run(planned(function, *(spec(array.dtype, *array.shape) for array in arrays)), arrays)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want.reshape(-1), rtol=1e-5, atol=1e-6)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ["fold of rows", "added at places", "truth", "random numbers"])
def test_numba_takes_the_source(name):
    numba = pytest.importorskip("numba")
    function, *arrays = MORE[name]
    for nest in nests(function, *(spec(array.dtype, *array.shape) for array in arrays)):
        scope = {}
        exec(render(nest).replace("parallel=True, ", ""), scope)
        flat = [numba.types.Array(numba.from_dtype(nest.buffers[n].type.dtype), 1, "C") for n in nest.memory]
        scalars = [numba.int64] * sum(kind is not ScalarKind.CONSTANT for kind, _, _ in nest.scalars())
        numbers = [numba.from_dtype(type_.dtype) for type_ in nest.constants]
        scope[nest.kind].compile((*flat, *scalars, *numbers))


@pytest.mark.parametrize("name", MORE)
def test_every_name_is_defined(name):
    function, *arrays = MORE[name]
    for nest in nests(function, *(spec(array.dtype, *array.shape) for array in arrays)):
        code = compile(render(nest), "source", "exec")
        functions = {each.co_name: each for each in code.co_consts if hasattr(each, "co_names")}
        used = {one for each in functions.values() for one in each.co_names if one in FUNCTIONS}
        assert used == functions.keys() - {nest.kind}
        assert {one for each in functions.values() for one in each.co_names} - used <= {*KNOWN, *dir(builtins)}


KNOWN = ["math", "np", "numba", *dir(math), *dir(np), "prange", "real", "view"]


def test_a_tile_in_registers_is_told():
    (nest,) = nests(lambda x, y: nx.dot(x, y), spec("f32", 9, 4), spec("f32", 4, 40))
    assert render(nest).split("\n\n\n")[1] == (
        '@numba.njit(parallel=True, error_model="numpy")\n'
        "def tiles(a, b, d, n0, n1, n2, a_2, b_0, b_2, d_0):\n"
        "    # a: f32, b: f32, d: f32; a tile of 8 rows along i0 x 2 vectors of 16 along i1 stays in registers\n"
        "    for i0 in numba.prange(n0):\n"
        "        for i1 in range(n1):\n"
        "            s0 = np.float32(0.0)\n"
        "            for j2 in range(n2):\n"
        "                s0 += b[i0 * b_0 + j2 * b_2] * a[i1 + j2 * a_2]\n"
        "            d[i0 * d_0 + i1] = s0\n"
    )


def test_a_fold_starts_with_its_first_value():
    (nest,) = nests(lambda x: nx.reduce(x, 1.0, halved, axes=[1]), spec("f32", 30, 40))
    assert render(nest).splitlines()[9:] == [
        '@numba.njit(parallel=True, error_model="numpy")',
        "def columns(a, b, n0, n1, a_0, a_1, c0, c1):",
        "    # a: f32, b: f32; 2 vectors of 16 along i0 stay in registers",
        "    for i0 in numba.prange(n0):",
        "        s0 = c1",
        "        for j1 in range(n1):",
        "            s0 = maximum(a[i0 * a_0 + j1 * a_1], s0) * c0 + s0",
        "        b[i0] = s0",
    ]


def test_what_may_go_to_one_place_goes_there_in_order():
    _, nest = nests(lambda x, i: nx.indexed_add(x, nx.reshape(i, (6, 1)), x[:6]), spec("f32", 7, 9), spec("s64", 6))
    assert render(nest).splitlines()[3:] == [
        '@numba.njit(parallel=True, error_model="numpy")',
        "def map(a, b, d, n0, n1, tiles, a_0, b_0, c0, c1, c2):",
        "    # a: f32, b: s64, d: f32; vectors run along j1",
        "    # several elements may go to one place: the steps follow one another",
        "    for i0 in range(n0):",
        "        s0 = min(max(b[i0 * b_0], c0), c1) * c2",
        "        for j1 in range(n1):",
        "            d[j1 + s0] += a[i0 * a_0 + j1]",
    ]


def test_a_slice_goes_to_places_of_its_own():
    _, nest = nests(lambda x, i: nx.put_slice(x, [i, 1], x[:2, :3]), spec("f32", 7, 9), spec("s64"))
    assert "numba.prange(n0)" in render(nest)


class From:
    """A flat array seen from one of its elements on; negative places are before it."""

    def __init__(self, array, first):
        self.array, self.first = array, first

    def __getitem__(self, place):
        return self.array[place + self.first]

    def __setitem__(self, place, value):
        self.array[place + self.first] = value


def plain(source):
    """Source without Numba."""
    return (
        source.replace('@numba.njit(parallel=True, error_model="numpy")\n', "")
        .replace("@numba.njit\n", "")
        .replace("numba.prange", "range")
    )


def run(plan, given):
    """Run the source of every step of a plan as Python; the outputs, flat."""
    memory = {}

    def array_of(node):
        kind, index = plan.place[node]
        if kind is MemoryKind.INPUT:
            return given[index].reshape(-1)
        return memory.setdefault(node, np.zeros(math.prod(node.shape), node.type.dtype))

    for step in plan.steps:
        bound = step.work
        assert isinstance(bound, BoundNest)
        scope = {}
        exec(plain(render(bound.nest)).replace("import numba\n", ""), scope)
        arrays = [From(array_of(node), offset // node.type.size) for node, offset in bound.buffers]
        scalars = [
            scalar.type.dtype.type(scalar.value) if isinstance(scalar, NestConstant) else scalar
            for scalar in bound.scalars
        ]
        scope[bound.nest.kind](*arrays, *scalars)
    wanted = {
        plan.place[node]: node
        for step in plan.steps
        for node in step.writes
        if plan.place[node].memory is MemoryKind.OUTPUT
    }
    return [memory[wanted[place]] for place in plan.outputs]
