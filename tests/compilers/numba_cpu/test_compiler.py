"""What the compiler tells of its kernels, and that programs of any length compile."""

import re
import resource
import time

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, graph_of, spec
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.program import graph_compilation
from nxkernel.transforms.simplify import simplify


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def test_records():
    executable = compiled(softmax, spec("f32", 30, 40))
    (kernel,) = executable.kernels
    assert kernel.kind == "rows"
    assert kernel.title == "rows of 30 x 40, 1 read, 1 write, 3 passes"
    assert kernel.symbol.startswith("nxk_")
    assert kernel.moved == 2 * 30 * 40 * 4
    assert {node.primitive.name for node in kernel.nodes} >= {"exp", "sum", "reduce_max", "divide", "subtract"}
    assert "@numba.njit" in kernel.texts["Numba source"]()
    assert f"define void @{kernel.symbol}" in kernel.texts["LLVM"]()
    assert kernel.symbol in kernel.texts["assembly"]()


def test_kernels_that_fill_a_part_are_for_the_whole():
    convolution = compiled(lambda x, k: nx.conv(x, k, padding="same"), spec("f32", 1, 1, 9, 9), spec("f32", 1, 1, 3, 3))
    assert [[node.primitive.name for node in kernel.nodes] for kernel in convolution.kernels] == [["conv"]] * 3
    parts = compiled(lambda x, y: nx.concatenate([nx.exp(x), y], axis=0), spec("f32", 9), spec("f32", 5))
    assert [[node.primitive.name for node in kernel.nodes] for kernel in parts.kernels] == [["exp"], ["concatenate"]]


def test_whole_operations_tell_their_algorithm():
    for kernel in compiled(lambda x: nx.sort(nx.cumulative_sum(x, axis=0)), spec("f32", 3000)).kernels:
        assert list(kernel.texts) == ["algorithm", "LLVM", "assembly"]
        assert kernel.texts["algorithm"]().startswith("def ")
        assert kernel.symbol in kernel.texts["LLVM"]()


TITLES = {
    "map of 1200, 2 reads, 1 write": (lambda x, y: x + y, [(30, 40), (30, 40)]),
    "map of 40 x 30, 1 read, 1 write": (lambda x: nx.transpose(x) * 2, [(30, 40)]),
    "columns of 40 x 30, 1 read, 1 write": (lambda x: nx.sum(x, axes=[0]), [(30, 40)]),
    "map of one element, 1 read, 1 write": (lambda x: x + 1, [()]),
    "matrix product [60, 70] x [70, 80] by BLAS": (nx.dot, [(60, 70), (70, 80)]),
}


@pytest.mark.parametrize("title", TITLES)
def test_titles(title):
    function, shapes = TITLES[title]
    (kernel,) = compiled(function, *[spec("f32", *shape) for shape in shapes]).kernels
    assert kernel.title == title


def test_all_launches_of_an_operation_are_foreseen():
    graph = simplify(graph_of(lambda x: nx.sort(x, axis=0), spec("f32", 5000)))
    foreseen = graph_compilation.foresee(graph)
    launches = registry.get("numba_cpu").compile(graph).kernels
    assert [kernel.title for kernel in foreseen] == [kernel.title for kernel in launches]
    assert {kernel.origin for kernel in graph_compilation.foresee(graph)} == {"memory"}


def test_products_by_a_library_are_foreseen():
    graph = simplify(graph_of(nx.dot, spec("f32", 60, 70), spec("f32", 70, 80)))
    ((title, origin),) = foreseen(graph)
    assert (title, origin) == ("matrix product [60, 70] x [70, 80] by BLAS", "library")


def foreseen(graph):
    return [(kernel.title, kernel.origin) for kernel in graph_compilation.foresee(graph)]


def test_where_kernels_come_from(tmp_path, monkeypatch):
    from nxkernel.compilers.cache import disk_cache

    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "cache"))
    disk_cache.reset()

    def function(x):
        return nx.atan2(x, x * 0.123) - nx.acosh(x) * nx.cbrt(x)

    graph = simplify(graph_of(function, spec("f64", 8)))
    title = "map of 8, 1 read, 1 write"
    assert foreseen(graph) == [(title, "compiled")]
    assert [kernel.origin for kernel in registry.get("numba_cpu").compile(graph).kernels] == ["compiled"]
    assert foreseen(graph) == [(title, "memory")]
    again = simplify(graph_of(function, spec("f64", 9)))
    executable = registry.get("numba_cpu").compile(again)
    assert [kernel.origin for kernel in executable.kernels] == ["memory"]
    disk_cache.reset()


def test_nodes_of_kernels_are_those_of_the_graph():
    graph = simplify(graph_of(lambda x: nx.sum(nx.reverse(x) * 2), spec("f32", 400_000)))
    executable = registry.get("numba_cpu").compile(graph)
    (total,) = graph.outputs
    told = {node for kernel in executable.kernels for node in kernel.nodes}
    assert total in told
    assert total.operands[0] in told


def test_values_that_do_not_fit_into_memory():
    def largest(t):
        return nx.sum(nx.sort(nx.broadcast(t, (10**6, 10**6))))

    with pytest.raises(MemoryError) as caught:
        nx.jit(largest, compiler="numba_cpu")(1.0)
    lines = str(caught.value).splitlines()
    assert re.fullmatch(r"largest needs [\d.]+ [GT]B for values on its way, and there is no such memory.", lines[0])
    assert lines[1].startswith("  The largest of them is f32[1000000][1000000], by sort (")
    assert lines[2] == "  Parts of the inputs take less: call it for some rows at a time."


def test_a_program_with_one_output():
    assert compiled(lambda x: x + 1, spec("f32", 3)).single == ((3,), np.dtype("f4"))
    assert compiled(lambda x: (x + 1, x + 2), spec("f32", 3)).single is None


# Size ------------------------------------------------------------------------------------------------------------


def chain(count):
    """Multiply-adds, every fifth an exponential, each step of the two before."""

    def function(x):
        before, now = x, x * 0.5
        for turn in range(count):
            before, now = now, nx.exp(now * 0.01) if turn % 5 == 4 else now * 0.3 + before * 0.4
        return now

    return function


def normalized(count):
    def function(x):
        for _ in range(count):
            moved = x - nx.mean(x, axes=[1], keep_axes=True)
            x = nx.tanh(moved * nx.rsqrt(nx.mean(moved * moved, axes=[1], keep_axes=True) + 1e-5)) + x * 0.1
        return x

    return function


def products(count):
    def function(x):
        for _ in range(count):
            x = nx.tanh(nx.dot(x, x)) * 0.1
        return x

    return function


def tree(count):
    def function(x):
        level = [nx.sin(x + number) for number in range(count)]
        while len(level) > 1:
            level = [nx.sqrt(a * a + b * b) for a, b in zip(level[::2], level[1::2], strict=True)]
        return level[0]

    return function


def pieces(count):
    return lambda x: [nx.exp(x[: 3 + number % 50, : 2 + number // 50]) for number in range(count)]


LONG = {
    "a chain of 800": (chain(800), (1000,), 1),
    "a chain of 3000": (chain(3000), (100,), 1),
    "a tree of 1024": (tree(1024), (300,), 1),
    "60 reductions, each of the one before": (normalized(30), (20, 30), 12),
    "100 products": (products(100), (24, 24), 220),
    "300 sums of one input": (lambda x: [nx.sum(nx.exp(x * n), axes=[n % 2]) for n in range(300)], (20, 30), 40),
    "500 outputs of different shapes": (pieces(500), (60, 20), 500),
    "200 joined": (lambda x: nx.concatenate([x * n for n in range(200)]), (9,), 200),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", LONG)
def test_long_programs(name):
    function, shape, most = LONG[name]
    graph = simplify(graph_of(function, spec("f32", *shape)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    executable = registry.get("numba_cpu").compile(graph)
    spent = time.perf_counter() - begin
    assert len(executable.kernels) <= most
    x = np.random.default_rng(0).random(shape, "f4")
    found = executable.run([x])
    for got, want in zip(found, registry.get("evaluator").compile(graph).run([x]), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)
    # On two idle cores these take up to half a second; an hour would be a mistake, a busy machine is none.
    assert spent < 15
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
