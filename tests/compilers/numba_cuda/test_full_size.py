"""Programs as they are launched on a GPU: with its blocks and grids, its memory, its streams and its graphs."""

import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("cupy", reason="CuPy is not installed")

import nxkernel as nx
from emulated_gpu.emulated_device import imaginary
from emulated_gpu.simulator import Simulation, make_small, quick
from graph_comparison.compiled_graphs import graph_of
from nxkernel.backends.cuda import devices
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.program import program_writer as programs
from nxkernel.transforms.simplify import simplify
from random_primitives import CASES, Drawn, Surroundings, compare


@pytest.fixture
def gpu(monkeypatch):
    """A GPU whose kernels run in the simulator."""
    return imaginary(monkeypatch, compiling=False)


def agree(gpu, function, *arrays, rtol=1e-6, atol=1e-6, times=1):
    """Compare a function there and evaluated; gives what was launched: blocks and threads of each kernel."""
    graph = graph_of(function, *arrays)
    expected = registry.get("evaluator").compile(graph).run(list(arrays))
    executable = registry.get("numba_cuda").compile(simplify(graph))
    inputs = [gpu.upload(array) for array in arrays]
    for _ in range(times):
        gpu.machine.calls.clear()
        found = executable.run(inputs)
        for want, got in zip(expected, found, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got.host().astype(want.dtype), want, rtol=rtol, atol=atol)
    calls = [arguments for name, arguments in gpu.machine.calls if name == "launchKernel"]
    return [(int(np.prod(each[1:4])), int(np.prod(each[4:7]))) for each in calls]


def uniform(*shape, type_=np.float32):
    return np.random.default_rng(7).uniform(-1, 1, shape).astype(type_)


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[-1], keep_axes=True))
    return e / nx.sum(e, axes=[-1], keep_axes=True)


def norm(x):
    centered = x - nx.mean(x, axes=[-1], keep_axes=True)
    return centered * nx.rsqrt(nx.mean(centered * centered, axes=[-1], keep_axes=True) + 1e-5)


@pytest.mark.sampled(every=4, lane="simulator")
@pytest.mark.parametrize("shape", [(3, 7), (40, 33), (5, 1500), (2, 20_000)])
@pytest.mark.parametrize("function", [softmax, norm], ids=["softmax", "norm"])
def test_rows(gpu, function, shape):
    launched = agree(gpu, function, uniform(*shape), rtol=1e-4, atol=1e-6)
    assert max(threads for _, threads in launched) >= 128
    # Long rows are cut where there are too few to keep a GPU busy.
    assert (len(launched) > 1) == (shape[1] > 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 1000, 40_000])
def test_sums_of_everything(gpu, n):
    launched = agree(gpu, lambda x: (nx.sum(x * x), nx.reduce_max(x), nx.argmin(x)), uniform(n), rtol=1e-5)
    assert len(launched) <= 6
    assert any(blocks > 1 for blocks, _ in launched) == (n == 40_000)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(300, 5), (900, 40), (17, 900)])
def test_columns(gpu, shape):
    agree(gpu, lambda x: (nx.sum(x, axes=[0]), nx.reduce_min(x, axes=[0])), uniform(*shape), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("type_", [np.float16, np.float32, np.complex64, np.uint8])
def test_maps_by_vectors(gpu, type_):
    x = (100 * uniform(33, 130)).astype(np.int8).astype(type_)
    ((blocks, _),) = agree(gpu, lambda x: x * 2 + nx.reverse(x, axes=[1]), x)
    assert blocks > 1


def test_a_transpose(gpu):
    ((_, threads),) = agree(gpu, lambda x: nx.transpose(x) * 2, uniform(70, 130))
    assert threads >= 128


def test_scatters(gpu):
    indices = np.random.default_rng(3).integers(0, 50, (700, 1))
    agree(gpu, lambda x, i, u: nx.indexed_add(x, i, u), uniform(50), indices, uniform(700), rtol=1e-4, atol=1e-5)
    agree(gpu, lambda x, i, u: nx.indexed_put(x, i, u), uniform(50), indices, uniform(700))


def test_a_loop(gpu):
    def function(x, n):
        return nx.while_(lambda s: s[0] < n, lambda s: (s[0] + 1, nx.sin(s[1]) + nx.reverse(x)), (n * 0, x))[1]

    agree(gpu, function, uniform(600), np.array(5), rtol=1e-5)


def test_a_graph_of_launches(gpu):
    def function(x):
        y = nx.sum(x, axes=[0])
        z = nx.sum(nx.exp(x - y), axes=[1])
        return nx.sum(nx.transpose(x) * z + nx.reverse(z), axes=[0])

    launched = agree(gpu, function, uniform(40, 30), rtol=1e-4, times=6)
    # Results are at one of two places in turn; the last of these runs is one launch of a graph.
    assert launched == []


# Everything else ---------------------------------------------------------------------------------------------------

#: What launches of loop nests depend on, for a GPU of the size of an H100.
LARGE = types.SimpleNamespace(multiprocessors=132, shared_limit=227 << 10, threads=1024, simulated=False)


@pytest.fixture
def full_size(monkeypatch):
    """Simulated devices on which loop nests are launched as on a GPU."""
    simulation = Simulation(monkeypatch.setattr)
    monkeypatch.setattr(devices.device(), "shared_limit", LARGE.shared_limit)
    launches_of = programs.launches_of
    monkeypatch.setattr(programs, "launches_of", lambda bound, device: launches_of(bound, LARGE))
    return simulation


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("primitive", CASES, ids=str)
def test_a_primitive(primitive, full_size):
    @settings(quick, max_examples=2)
    @given(st.data())
    def run(data):
        choose = Drawn(data.draw)
        case = CASES[primitive](choose)
        around = Surroundings(choose, case)
        expected = registry.get("evaluator").compile(around.graph).run(around.arrays)
        with pytest.MonkeyPatch.context() as patch:
            if choose.chance(50):
                make_small(patch.setattr)
            found = full_size.run(full_size.compile(around.graph), around.arrays)
        for want, got in zip(expected, found, strict=True):
            compare(got, want, case)

    run()
