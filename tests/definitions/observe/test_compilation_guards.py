"""Promises about compilation."""

import threading

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError


@pytest.fixture
def f():
    @nx.defn
    def scale(t, *, by=2.0):
        return t * by

    return scale


def test_no_compile(f):
    f(1.0)
    with nx.no_compile():
        assert f(2.0).to_number() == 4.0
        with pytest.raises(CompilationError) as raised:
            f(np.ones(3), by=3.0)
    assert str(raised.value) == (
        "scale would be traced here, inside nx.no_compile().\n"
        "  argument t: f32 (a Python float) → f64[3]\n"
        "  option by: 2.0 → 3.0\n"
        "  rules: Nx's → NumPy's\n"
        "  Call it once with such arguments before the block."
    )
    assert f(np.ones(1)).tolist() == [2.0]


def test_no_compile_ends_with_an_error(f):
    with pytest.raises(ZeroDivisionError), nx.no_compile():
        1 / 0  # noqa: B018
    f(1.0)


def test_assert_compiles(f):
    with nx.assert_compiles(2):
        f(1.0), f(2.0), f(1)
    with pytest.raises(AssertionError) as raised, nx.assert_compiles(1), nx.assert_compiles(2):
        f(1.0, by=0.5), f(True)
    assert str(raised.value) == (
        "2 compilations in this block, 1 expected.\n  scale: option by: 2.0 → 0.5\n  scale: argument t: s64 → bool"
    )
    with pytest.raises(AssertionError, match=r"^0 compilations in this block, 1 expected\.$"), nx.assert_compiles(1):
        f(1.0)
    with pytest.raises(AssertionError, match=r"^1 compilation in this block, 0 expected\."), nx.assert_compiles(0):
        f(1j)


def test_blocks_are_of_their_own_thread(f):
    failed = []

    def work():
        try:
            f(1.0)
        except CompilationError as error:
            failed.append(error)

    with nx.no_compile(), nx.assert_compiles(0):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not failed
    assert f.cache_info().misses == 1
