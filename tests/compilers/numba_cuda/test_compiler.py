"""The compiler for GPUs: what it makes of graphs, what it refuses, and what it says of its kernels."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import agree, compiled
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.backends.cuda import devices
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.program.graph_compilation import foresee
from nxkernel.errors import CompilationError, CudaUnavailableError
from nxkernel.transforms.simplify import simplify

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)


def various(x, y):
    product = nx.dot(x, y) + 1
    return product, nx.sum(x, axes=[0]), nx.sort(x, axis=1), nx.argmax(x, axis=1), nx.exp(nx.as_type(x, "bf16"))


def test_a_program_of_all_sorts_of_kernels(device):
    random = np.random.default_rng(0)
    executable = agree(various, random.random((17, 23)), random.random((23, 19)), rtol=1e-12, times=3)
    kinds = [kernel.kind for kernel in executable.kernels]
    assert sorted(set(kinds)) == ["columns", "map", "matrix product", "rows", "sort"]
    assert executable.lower_ms > 0
    assert executable.native_ms > 0
    product = next(kernel for kernel in executable.kernels if kernel.kind == "matrix product")
    assert (product.origin, product.operations) == ("library", 2 * 17 * 23 * 19)
    assert product.title == "matrix product [17, 23] x [23, 19] of f64 by cuBLAS"


def test_a_kernel_has_its_texts(device):
    (kernel,) = compiled(lambda x: nx.exp(x) * 2.0, X).kernels
    assert list(kernel.texts) == ["Numba source", "Numba CUDA source", "PTX"]
    assert "exp(" in kernel.texts["Numba CUDA source"]()
    assert f".entry {kernel.symbol}(" in kernel.texts["PTX"]()
    assert kernel.moved == 2 * X.nbytes
    assert kernel.title.startswith("map of 12, 1 read, 1 write")


def test_other_shapes_are_the_same_kernels(device):
    one = compiled(lambda x: nx.exp(x) * 2.0, spec("f32", 3, 5)).kernels
    other = compiled(lambda x: nx.exp(x) * 3.0, spec("f32", 70)).kernels
    assert [kernel.symbol for kernel in one] == [kernel.symbol for kernel in other]
    assert other[0].origin == "memory"


def test_foreseen_kernels(device):
    graph = simplify(graph_of(lambda x: nx.sum(nx.tan(x) * 5.0), spec("f64", 40)))
    before = foresee(graph)
    made = registry.get("numba_cuda").compile(graph).kernels
    assert [kernel.symbol for kernel in before] == [kernel.symbol for kernel in made]


def test_what_has_no_code_is_refused(device):
    import numba

    @numba.njit
    def doubled(x):
        return x * 2

    with pytest.raises(CompilationError) as raised:
        compiled(lambda x: nx.njit_map(doubled, x), spec("f64", 3))
    assert str(raised.value).startswith(
        "numba_cuda has no code for the function doubled, which Numba compiled, of f64[3]"
    )
    assert str(raised.value).endswith('Run this definition with compiler="numba_cpu", or with "evaluator".')
    with pytest.raises(CompilationError, match="numba_cuda cannot call"):
        compiled(lambda x: nx.njit_call(doubled, x, shape=(3,), type="f64"), spec("f64", 3))


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 0)
    if devices.count():
        pytest.skip("there is a GPU here")
    with pytest.raises(CudaUnavailableError, match='compiler="numba_cpu"'):
        compiled(lambda x: x + 1, spec("f64", 3))


def test_a_definition(device):
    @nx.defn(compiler="numba_cuda")
    def norm(x, n):
        for i in range(n):
            x = x * 0.5 + i
        return x / nx.sqrt(nx.sum(x * x))

    found = norm(X, 3)
    host = X.copy()
    for i in range(3):
        host = host * np.float32(0.5) + np.float32(i)
    np.testing.assert_allclose(found.to_numpy(), host / np.sqrt(np.sum(host * host)), rtol=1e-6)
    assert str(found.spec) == "f32[3][4]"
    assert found.device == "cuda:0"


def test_a_compiler_for_the_second_device(device):
    (found,) = registry.get("numba_cuda:1").compile(graph_of(lambda x: x + 1, X)).run([X])
    assert found.device is devices.device(1)
    np.testing.assert_array_equal(found.host(), X + 1)
