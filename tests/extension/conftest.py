"""Compilations written by hand, so that the views are tested without compiling anything."""

import time

import pytest

from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.calls.graph_cache import CacheInfo
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView, NodeView


def node(id_, label, spec, *operands, role="operation", detail="", kernels=(), output=False, line=0, code="", body=()):
    cell = "cell 4" if line else ""
    return NodeView(id_, label, detail, spec, role, operands, kernels, output, cell, line, code, body)


def softmax_view(function="softmax", reason=("first call",), calls=12):
    """Rows of softmax in two kernels, the exponential computed in both."""
    first, second, third = (
        "m = nx.reduce_max(t, axes=[axis], keep_axes=True)",
        "e = nx.exp(t - m) * 2.0",
        "return e / nx.sum(e, axes=[axis], keep_axes=True)",
    )
    nodes = (
        node("a", "t", "f32[4][10]", role="argument"),
        node("b", "2.0", "f32", role="constant", detail="2.0"),
        node("c", "reduce_max", "f32[4][1]", "a", detail="axes=[1]", kernels=(0,), line=3, code=first),
        node("d", "subtract", "f32[4][10]", "a", "c", kernels=(0, 1), line=4, code=second),
        node("e", "exp", "f32[4][10]", "d", kernels=(0, 1), line=4, code=second),
        node("f", "multiply", "f32[4][10]", "e", "b", kernels=(0, 1), line=4, code=second),
        node("g", "sum", "f32[4][1]", "f", detail="axes=[1]", kernels=(0,), line=5, code=third),
        node("h", "divide", "f32[4][10]", "f", "g", kernels=(1,), output=True, line=5, code=third),
    )
    texts = {
        "Numba source": lambda: "def kernel(t, out):\n    ...",
        "LLVM": lambda: "define void @kernel()",
        "assembly": lambda: "ret",
    }
    kernels = (
        KernelView(0, "rows", "rows · 1 read 2 writes · 4 × 10", "nx_ab12", "compiled", 21.0, 320, 200, texts),
        KernelView(1, "map", "map · 3 reads 1 write · 4 × 10", "nx_cd34", "disk", 1.5, 480, 160, texts),
    )
    signature = f"{function}(t: f32[4][10], axis=-1)"
    return CompilationView(
        function, signature, "numba_cpu", reason, nodes, kernels, calls, "cell 4", "a = t", 1.4, 2.0, 22.5
    )


def long_view(length=400, kernels=4, function="chain"):
    """A chain of additions, each of which reads the two before it."""
    nodes = [node("x", "x", "f64[1000]", role="argument")]
    for index in range(length):
        before = [nodes[-1].id, nodes[max(0, len(nodes) - 2)].id]
        nodes.append(node(f"n{index}", "add", "f64[1000]", *before, kernels=(index * kernels // length,)))
    parts = tuple(KernelView(k, "map", f"map · part {k}", f"nx_{k}", "memory", 0.1) for k in range(kernels))
    return CompilationView(
        function, f"{function}(x: f64[1000])", "numba_cpu", (), tuple(nodes), parts, 0, "", "", 1.0, 1.0, 1.0
    )


def plain_view():
    """What the evaluator makes: no kernels, and a constant that is returned."""
    nodes = (
        node("a", "x", "f32[3]", role="argument"),
        node("b", "w", "f32[3]", role="captured"),
        node("c", "add", "f32[3]", "a", "b", output=True, line=2, code="return x + w, 1.0"),
        node("d", "1.0", "f32", role="constant", detail="1.0", output=True),
    )
    return CompilationView("f", "f(x: f32[3])", "evaluator", (), nodes, (), 1, "cell 4", "", 0.5, 0.0, 0.0)


def library_view():
    """A fold whose function stands below it, a sort, and a library routine with several results."""
    nodes = (
        node("a", "x", "f32[9][9]", role="argument"),
        node(
            "b", "reduce", "f32[9]", "a", detail="axes=[1]", kernels=(0,), body=("a = element   f32", "c = a * a   f32")
        ),
        node("c", "sort", "f32[9]", "b", detail="axis=0", kernels=(1,), output=True),
        node("d", "svd", "(f32[9][9], f32[9])", "a", kernels=(2,)),
        node("e", "elem", "f32[9]", "d", detail="index=1", kernels=(), output=True),
    )
    kernels = [KernelView(0, "rows", "rows of 9 x 9", "nx_0", "memory", 0.1, texts={"LLVM": str})]
    texts = {"NumPy": lambda: "c = np.sort(b, axis=0)", "LLVM": lambda: "define void @move()"}
    kernels.append(KernelView(1, "sort", "sort of 9 by 3 digits, 3 steps", "nx_move", "compiled", 4.5, 72, 0, texts))
    texts = {"NumPy": lambda: "d = np.linalg.svd(a)"}
    kernels.append(KernelView(2, "svd", "svd of f32[9][9] by a library", "svd", "library", 0.0, 700, 0, texts))
    return CompilationView(
        "f", "f(x: f32[9][9])", "numba_cpu", (), nodes, tuple(kernels), 1, "cell 4", "", 0.5, 1.0, 2.0
    )


def named_view(name):
    """One argument of any name, in a function of that name."""
    nodes = (node("a", name, "f32", role="argument", output=True, line=1, code=name),)
    return CompilationView(name, f"{name}(x)", "numba_cpu", (name,), nodes, (), 0, name, "", 0.0, 0.0, 0.0)


class Definition:
    """What the views ask of a definition, and no more."""

    def __init__(self, name="softmax", views=()):
        self.__name__ = name
        self.views = list(views)
        self.info = CacheInfo(hits=12, misses=1, compiled=1, memory=0, disk=1, entries=1)

    def compilations(self):
        return list(self.views)

    def cache_info(self):
        return self.info

    def clear_cache(self):
        self.views.clear()


class Shell:
    """What followers ask of a shell."""

    def __init__(self):
        self.events = self
        self.callbacks = []

    def register(self, name, callback):
        assert name == "post_run_cell"
        self.callbacks.append(callback)

    def unregister(self, name, callback):
        self.callbacks.remove(callback)

    def end_cell(self):
        graph_cache.report_hits()
        for callback in list(self.callbacks):
            callback(None)


class Clock:
    """Time that the test makes go by."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def shell():
    return Shell()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def best_seconds():
    """The best times of a call alone and watched, tried again until these are close, or clearly are not."""

    def measure(call, watch):
        def seconds():
            begin = time.perf_counter()
            for _ in range(4000):
                call()
            return time.perf_counter() - begin

        alone = watched = float("inf")
        for turn in range(100):
            alone = min(alone, seconds())
            ends = watch()
            watched = min(watched, seconds())
            for end in ends:
                end()
            if turn >= 5 and watched < 1.05 * alone:
                break
        return alone, watched

    return measure


@pytest.fixture
def view():
    return softmax_view()


@pytest.fixture
def definition(view):
    return Definition(views=[view])


@pytest.fixture
def chain():
    return long_view()


@pytest.fixture
def long():
    return long_view


@pytest.fixture
def plain():
    return plain_view()


@pytest.fixture
def library():
    return library_view()


@pytest.fixture
def named():
    return named_view


@pytest.fixture
def softmax():
    return softmax_view


@pytest.fixture
def defined():
    return Definition
