"""The pool of threads: how many there are, and that results do not depend on it."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.runtime import threading_layer
from nxkernel.errors import NxValueError


@pytest.fixture
def counts():
    """Numbers of threads to try; the number from before is set again afterwards."""
    before = threading_layer.get_threads()
    yield sorted({1, 2, before} & set(range(1, before + 1)))
    threading_layer.set_threads(before)


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[-1], keep_axes=True))
    return e / nx.sum(e, axes=[-1], keep_axes=True)


def standardized(x):
    moved = x - nx.mean(x, axes=[0], keep_axes=True)
    return moved * nx.rsqrt(nx.mean(moved * moved, axes=[0], keep_axes=True) + 1e-5)


def places(x):
    ways = [(reduce, tie) for reduce in (p.argmax, p.argmin) for tie in ("low", "high")]
    return [make(reduce, x, axis=0, keep_axis=False, tie_break=tie, type=types.s64) for reduce, tie in ways]


PROGRAMS = {
    "sum of a vector": (lambda x: nx.sum(x), (3_000_001,)),
    "sum of rows": (lambda x: nx.sum(x, axes=[1]), (700, 1501)),
    "sum of columns": (lambda x: nx.sum(x, axes=[0]), (1501, 1700)),
    "sum of few columns": (lambda x: nx.sum(x, axes=[0]), (400_000, 3)),
    "sum of few rows": (lambda x: nx.sum(x, axes=[1]), (3, 400_000)),
    "sum of the middle": (lambda x: nx.sum(x, axes=[1]), (30, 200, 90)),
    "product": (lambda x: nx.product(x * 0.001 + 1), (1_000_001,)),
    "extremes": (lambda x: (nx.reduce_max(x), nx.reduce_min(x, axes=[0])), (900, 901)),
    "places of a vector": (places, (2_000_003,)),
    "places of columns": (places, (2000, 300)),
    "softmax": (softmax, (500, 1003)),
    "standardized columns": (standardized, (5000, 64)),
    "functions": (lambda x: nx.exp(x) * nx.sin(x) + nx.tanh(x), (1_000_003,)),
    "turned": (lambda x: nx.transpose(x) * 2, (1201, 803)),
    "product of matrices": (lambda x: nx.dot(x, nx.transpose(x)), (301, 257)),
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_results_are_the_same_bits_on_any_number_of_threads(name, type_, counts):
    function, shape = PROGRAMS[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(types.normalize(type_).dtype)
    executable = compiled(function, spec(type_, *shape))
    found = []
    for count in counts:
        threading_layer.set_threads(count)
        found.append([array.tobytes() for array in executable.run([x])])
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("count", [0, -1, 10_000, 1.0, "2", None])
def test_a_number_of_threads_that_there_is_not(count):
    limit = threading_layer.get_threads()
    with pytest.raises(NxValueError) as error:
        threading_layer.set_threads(count)
    assert str(error.value) == f"the number of threads is from 1 to {limit} here, got {count!r}"


def test_programs_run_from_several_threads_at_once():
    executable = compiled(softmax, spec("f32", 64, 3000))
    inputs = [np.random.default_rng(seed).standard_normal((64, 3000)).astype("f4") for seed in range(6)]
    expected = [executable.run([x])[0] for x in inputs]
    found = [None] * 6

    def work(place):
        for _ in range(10):
            found[place] = executable.run([inputs[place]])[0]

    workers = [threading.Thread(target=work, args=(place,)) for place in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for got, want in zip(found, expected, strict=True):
        assert got.tobytes() == want.tobytes()


def _in_child(send):
    x = np.ones((300, 4000), "f4")
    send.send(float(compiled(lambda t: nx.sum(t), spec("f32", 300, 4000)).run([x])[0]))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork processes")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_computes_without_the_pool():
    assert _run_here() == 1_200_000
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe()
    child = context.Process(target=_in_child, args=(send,))
    child.start()
    assert receive.poll(60)
    assert receive.recv() == 1_200_000
    child.join()
    assert child.exitcode == 0


def _run_here():
    x = np.ones((300, 4000), "f4")
    return float(compiled(lambda t: nx.sum(t), spec("f32", 300, 4000)).run([x])[0])


def test_the_pool_waits_shortly_unless_somebody_decided(monkeypatch):
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with threading_layer._short_waits():
        assert os.environ["GOMP_SPINCOUNT"] == str(threading_layer.TURNS)
    assert "GOMP_SPINCOUNT" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    with threading_layer._short_waits():
        assert "GOMP_SPINCOUNT" not in os.environ


COUNTED = """
import nxkernel as nx
from nxkernel.compilers.numba_cpu.runtime import threading_layer
try:
    print(nx.get_threads(), threading_layer.source(), float(nx.jit(lambda x: x + 1, compiler="numba_cpu")(1.0)))
    nx.set_threads(99)
except nx.errors.NxValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"NXKERNEL_THREADS": " 1 ", "NUMBA_NUM_THREADS": "2"},
            "1 NXKERNEL_THREADS 2.0\nthe number of threads is from 1 to 1 here, got 99\n"
            "  NXKERNEL_THREADS says how many there are at most.\n",
        ),
        (
            {"NXKERNEL_THREADS": "", "NUMBA_NUM_THREADS": "1"},
            "1 NUMBA_NUM_THREADS 2.0\nthe number of threads is from 1 to 1 here, got 99\n",
        ),
        *[
            (
                {"NXKERNEL_THREADS": wrong},
                f"the environment variable NXKERNEL_THREADS is {wrong!r}: it says on how many threads kernels run.\n"
                "  Set it to a whole number from 1 on, or unset it: unset NXKERNEL_THREADS.\n",
            )
            for wrong in ("two", "0", "-1", "1.5")
        ],
    ],
    ids=str,
)
def test_the_environment_says_how_many_threads_there_are(settings, expected):
    found = subprocess.run(
        [sys.executable, "-c", COUNTED], env=os.environ | settings, capture_output=True, text=True, check=True
    )
    assert found.stdout == expected
