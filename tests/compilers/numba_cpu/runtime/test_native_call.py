"""Programs as Python functions: which arrays they take, how many there may be, that they let other threads run."""

import threading
import time

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, spec
from nxkernel.compilers.numba_cpu.runtime import native_call


def strange(array):
    """The same numbers in arrays that lie in memory in other ways."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    bytes_ = np.zeros(array.nbytes + 1, np.uint8)
    shifted = bytes_[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    frozen = array.copy()
    frozen.flags.writeable = False
    return {
        "every other": wide[..., ::2],
        "columns first": np.asfortranarray(array),
        "backwards": np.ascontiguousarray(array[::-1])[::-1],
        "not aligned": shifted,
        "read only": frozen,
        "a subclass": array.view(np.matrix) if array.ndim == 2 else array,
    }


@pytest.mark.parametrize("how", strange(np.zeros((2, 3), "f4")))
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_that_lie_in_memory_in_other_ways(how):
    x = np.arange(42, dtype="f4").reshape(6, 7)
    executable = compiled(lambda x, y: x * 2 + y, spec("f32", 6, 7), spec("f32", 6, 7))
    for arrays in ([strange(x)[how], x], [x, strange(x)[how]]):
        np.testing.assert_array_equal(executable.run(arrays)[0], x * 3)


def test_what_cannot_be_read_is_refused_before_anything_runs():
    executable = compiled(lambda x: x + 1, spec("f32", 4))
    out = np.zeros(4, "f4")
    assert executable.launch(np.zeros(8, "f4")[::2], out) is False
    assert out.tolist() == [0, 0, 0, 0]
    assert executable.launch(np.zeros(4, "f4"), out) is True
    assert out.tolist() == [1, 1, 1, 1]


def test_many_arrays():
    count = 300
    executable = compiled(lambda *xs: tuple(x + place for place, x in enumerate(xs)), *[spec("f32", 2)] * count)
    arrays = [np.full(2, place, "f4") for place in range(count)]
    found = executable.run(arrays)
    assert [array[0] for array in found] == [2 * place for place in range(count)]


@pytest.mark.alone
def test_other_threads_run_while_a_program_does():
    executable = compiled(lambda x: nx.sum(nx.exp(nx.sin(nx.exp(nx.cos(x))))), spec("f64", 3_000_000))
    x, done, ticks = np.zeros(3_000_000), threading.Event(), []

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    spans, deadline = [], time.perf_counter() + 30
    try:
        # On a busy machine the other thread may not get the processor during one run.
        while not any(begin < moment < end for begin, end in spans for moment in ticks[-100:]):
            assert time.perf_counter() < deadline
            begin = time.perf_counter()
            executable.run([x])
            spans = [*spans[-3:], (begin, time.perf_counter())]
    finally:
        done.set()
        ticker.join()


def test_a_program_stays_as_long_as_its_function():
    executable = compiled(lambda x: x * 3, spec("f32", 4))
    launch = executable.launch
    del executable
    out = np.zeros(4, "f4")
    assert launch(np.ones(4, "f4"), out)
    assert out.tolist() == [3, 3, 3, 3]


def test_the_layout_of_arrays_is_checked(monkeypatch):
    native_call._check_layout()
    monkeypatch.setattr(native_call, "_DATA", native_call._DATA + 8)
    with pytest.raises(ImportError) as error:
        native_call._check_layout()
    assert str(error.value) == "this build of NumPy or Python keeps arrays in another layout than nxkernel knows"


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_arrays_without_elements(shape):
    executable = compiled(lambda x: (x + 1, nx.sum(x), nx.concatenate([x, x])), spec("f32", *shape))
    same, total, both = executable.run([np.zeros(shape, "f4")])
    assert same.shape == shape
    assert total == 0
    assert both.shape == (2 * shape[0], *shape[1:])
