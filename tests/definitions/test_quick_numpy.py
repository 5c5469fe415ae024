"""The quick path of NumPy programs: their numbers, static values, and arrays that are assigned into."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls.definition import Definition
from nxkernel.errors import NxTypeError


@pytest.fixture
def long_way(monkeypatch):
    """How many calls took the long way."""
    calls, through = [], Definition._bind

    def bind(self, *args, **opts):
        calls.append(self)
        return through(self, *args, **opts)

    monkeypatch.setattr(Definition, "_bind", bind)
    return calls


def numpy_face(function, compiler="numba_cpu"):
    return nx.defn(function, promotion="numpy", compiler=compiler)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_python_numbers_are_weak(long_way, compiler):
    f = numpy_face(lambda x, k: x * k, compiler)
    for _ in range(3):
        assert f(np.float32([1, 2]), 0.1).dtype == np.float32
        assert f(2, 0.1) == 0.2
        assert f(2, 3).dtype == np.int64
        np.testing.assert_array_equal(f(np.arange(2), 0.1), np.arange(2) * 0.1)
    assert len(long_way) == 4


def test_scalars_of_numpys_are_strong(long_way):
    f = numpy_face(lambda x, k: x * k)
    for _ in range(2):
        assert f(np.float32([1, 2]), np.float64(0.1)).dtype == np.float64
        assert f(np.float32([1, 2]), 0.1).dtype == np.float32
        assert f(np.float32([1, 2]), np.int64(3)).dtype == np.float64
        assert f(np.float32([1, 2]), 3).dtype == np.float32
    assert len(long_way) == 4


def test_numbers_that_are_static_are_told_apart(long_way):
    f = numpy_face(lambda x, n: np.zeros(n) + x)
    for _ in range(3):
        assert f(1.5, 2).tolist() == [1.5, 1.5]
        assert f(2.5, 3).tolist() == [2.5, 2.5, 2.5]
    # The first call did not know yet that n is one.
    assert len(long_way) == 3
    assert f.cache_info().misses == 2


def test_a_shortcut_from_before_a_number_was_static_is_not_followed():
    def f(x, n):
        return np.zeros(n) if x.ndim == 2 else x * n

    f = numpy_face(f)
    for _ in range(2):
        assert f(np.ones(1), 3).tolist() == [3.0]
    assert f(np.ones((1, 1)), 3).shape == (3,)
    assert f(np.ones(1), 3).tolist() == [3.0]
    assert f(np.ones(1), 4).tolist() == [4.0]


def test_truth_values_and_text_are_static(long_way):
    f = numpy_face(lambda x, up, mode=None: x + 1 if up and mode == "a" else x - np.float64(1))
    for _ in range(3):
        assert f(1.0, True, "a") == 2.0
        assert f(1.0, False, "a") == 0.0
        assert f(1.0, True, "b") == 0.0
        assert f(1.0, True, None) == 0.0
    assert len(long_way) == 4


def test_numbers_in_containers(long_way):
    f = numpy_face(lambda p: p["x"] * p["k"])
    for k in (1.0, 2.0, 3.0):
        assert f({"x": np.ones(2, np.float32), "k": k}).dtype == np.float32
        assert f({"x": np.ones(2, np.float32), "k": k}).tolist() == [k, k]
    assert len(long_way) == 1
    g = numpy_face(lambda p: p["x"] + 1 if p["up"] else p["x"])
    for up in (True, False, True, False):
        assert g({"x": np.ones(1), "up": up}).tolist() == [1.0 + up]


def add_one(x, y):
    x[:] = x + y


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_arrays_are_assigned_into_where_they_are(long_way, compiler):
    f = numpy_face(add_one, compiler)
    x, y = np.zeros(3), np.ones(3)
    for _ in range(4):
        assert f(x, y) is None
    assert x.tolist() == [4.0] * 3
    assert len(long_way) == 1


def test_what_cannot_be_assigned_into_takes_the_long_way(long_way):
    f = numpy_face(add_one)
    x, y = np.zeros(3), np.ones(3)
    f(x, y), f(x, y)
    assert len(long_way) == 1
    wide = np.zeros(6)
    f(wide[::2], y)
    assert wide.tolist() == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    swapped = np.zeros(3, ">f8")
    f(swapped, y)
    assert swapped.tolist() == [1.0] * 3
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(NxTypeError, match=r"add_one assigns into x, which is read-only\."):
        f(frozen, y)
    with pytest.raises(NxTypeError, match=r"add_one assigns into x, whose memory y shares\."):
        f(x, x)
    both = np.zeros(4)
    with pytest.raises(NxTypeError, match=r"whose memory y shares"):
        f(both[:3], both[1:])
    with pytest.raises(NxTypeError, match=r"which is a Tensor: those never change"):
        f(nx.tensor([0.0] * 3, type="f64"), y)
    assert len(long_way) == 7


def test_memory_of_a_captured_array_is_not_assigned_into():
    w = np.ones(3)

    def f(x):
        x[:] = x + w

    f = numpy_face(f)
    x = np.zeros(3)
    f(x), f(x)
    assert x.tolist() == [2.0] * 3
    w = x
    with pytest.raises(NxTypeError, match=r"whose memory w shares"):
        f(x)
