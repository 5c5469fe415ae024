"""The evaluator: it walks graphs, drops what is dead, and gives memory of its own."""

import weakref

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, make, spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers import registry
from nxkernel.compilers.evaluator import verify_walk, walk
from nxkernel.errors import VerificationError


def run(function, *arrays):
    return registry.get("evaluator").compile(graph_of(function, *arrays)).run(list(arrays))


def test_outputs_in_their_order():
    found = run(lambda x, y: (x + y, x * y, x), np.float32([1, 2]), np.float32([3, 4]))
    assert [array.tolist() for array in found] == [[4, 6], [3, 8], [1, 2]]


def test_numbers_fill_their_shape():
    (found,) = run(lambda x: nx.broadcast(2, (2, 3)), np.float32([1]))
    assert found.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert found.flags.c_contiguous


def test_results_are_memory_that_no_caller_has():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    for array in run(lambda x: (x, nx.reshape(x, (6,)), x[1:], nx.transpose(x)), x):
        assert not np.shares_memory(array, x)
        assert array.flags.c_contiguous


def test_values_are_dropped_after_their_last_use(monkeypatch):
    alive, most = weakref.WeakValueDictionary(), []
    meaning = MEANING[p.exp]

    class Seen(np.ndarray):
        pass

    def watched(out, x):
        result = meaning(out, x).view(Seen)
        alive[id(result)] = result
        most.append(len(alive))
        return result

    monkeypatch.setitem(MEANING, p.exp, watched)

    def function(x):
        for _ in range(20):
            x = make(p.exp, x)
        return x

    run(function, np.zeros(4, "f4"))
    assert max(most) <= 2


def test_there_is_nothing_to_compile():
    executable = registry.get("evaluator").compile(graph_of(lambda x: x + 1, spec("f32", 3)))
    assert (executable.kernels, executable.lower_ms, executable.native_ms) == ([], 0.0, 0.0)


def test_a_walk_that_is_damaged_is_told():
    walked = walk(graph_of(lambda x: nx.exp(x) * 2, spec("f32", 3)))
    verify_walk(walked, "walk")
    walked._steps.reverse()
    with pytest.raises(VerificationError) as error:
        verify_walk(walked, "walk")
    assert str(error.value) == (
        "after the pass 'walk': multiply of f32[3] and f32[3] (LINE): expected each operand computed before, and kept "
        "until it is read, found an operand that is not computed before, or dropped already.\n"
        "  This is a fault of nxkernel's: please report it, with the definition."
    ).replace("LINE", str(error.value).partition(" (")[2].partition("):")[0])
    walked._steps.clear()
    with pytest.raises(VerificationError) as error:
        verify_walk(walked, "walk")
    assert "the walk: expected " in str(error.value)
    assert "found an output that is not computed, or dropped" in str(error.value)
