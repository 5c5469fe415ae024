"""Which kernels a nest becomes, and that they compile."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import Machine, launches_for
from graph_comparison.compiled_graphs import spec
from nxkernel.compilers.numba_cuda.toolchain import object_code

GPU = Machine(multiprocessors=132, shared_limit=227 << 10, simulated=False, threads=1024)
SQUARE = spec("f32", 4096, 4096)


def put(x, indices, updates):
    return nx.indexed_put(x, nx.reshape(indices, (40, 1)), updates)


def stencil(x):
    return (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]) * 0.25


CASES = {
    "map": (lambda x: nx.exp(x) * 2.0, [SQUARE]),
    "stencil": (stencil, [SQUARE]),
    "halves": (lambda x: nx.tanh(x), [spec("bf16", 4096)]),
    "rows": (lambda x: x / nx.sum(x, axes=[1], keep_axes=True), [SQUARE]),
    "columns": (lambda x: nx.sum(x, axes=[0]), [SQUARE]),
    "arguments": (lambda x: nx.argmax(x, axis=1), [SQUARE]),
    "logic": (lambda x: nx.all(x > 0, axes=[1]), [SQUARE]),
    "narrow": (lambda x: nx.reduce_max(x, axes=[1]), [spec("u8", 4096, 4096)]),
    "transposed": (nx.transpose, [SQUARE]),
    "tiles": (nx.dot, [spec("s32", 4096, 64), spec("s32", 64, 4096)]),
    "places": (put, [spec("f32", 10), spec("s64", 40), spec("f32", 40)]),
    "complex": (lambda x: nx.product(x, axes=[1]), [spec("c64", 4096, 4096)]),
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", CASES)
def test_kernels_are_ptx(name):
    function, specs = CASES[name]
    for launch in launches_for(function, *specs, machine=GPU):
        for arch in ("sm_80", "sm_90"):
            text = object_code.ptx(launch.source, arch)
            assert f".target {arch}" in text
            assert f".entry {launch.source.symbol}(" in text


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("map", ["map"]),
        ("rows", ["rows"]),
        ("transposed", ["transposed"]),
        ("tiles", ["tiles"]),
        ("places", ["map"] * 3),
    ],
)
def test_which_kernels_there_are(name, kernels):
    function, specs = CASES[name]
    launches = launches_for(function, *specs, machine=GPU)
    assert [launch.source.name for launch in launches] == kernels
    assert all(len(launch.scalars) + len(launch.memory) == len(launch.source.parameters) for launch in launches)
    assert all(isinstance(scalar, int | float) for launch in launches for scalar in launch.scalars)


def test_memory_is_read_and_written_in_vectors():
    (launch,) = launches_for(CASES["rows"][0], SQUARE, machine=GPU)
    text = object_code.ptx(launch.source, "sm_90")
    assert "ld.global.v4.f32" in text
    assert "st.global.v4.f32" in text
    (launch,) = launches_for(CASES["halves"][0], spec("bf16", 4096), machine=GPU)
    text = object_code.ptx(launch.source, "sm_80")
    assert "ld.global.v4.u32" in text


def test_one_kernel_for_all_shapes():
    def symbols(*shape):
        launches = launches_for(CASES["rows"][0], spec("f32", *shape), machine=GPU)
        return [launch.source.symbol for launch in launches]

    assert symbols(100, 200) == symbols(65536, 4096) == symbols(3, 999)


def test_nothing_to_do():
    assert launches_for(lambda x: x + 1.0, spec("f32", 0, 5)) == []
    assert launches_for(lambda x: nx.sum(x, axes=[1]), spec("f32", 0, 5)) == []
    assert np.shape(launches_for(lambda x: nx.sum(x, axes=[0]), spec("f32", 0, 5))) == (1,)
