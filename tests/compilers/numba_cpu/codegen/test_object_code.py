"""Object code: what LLVM takes for making it, it gives back."""

import ctypes
import gc
import sys

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cpu.codegen import object_code
from nxkernel.numba_functions import run_passes

pytestmark = pytest.mark.usefixtures("little_garbage")


class _Allocated(ctypes.Structure):
    """What the C library's ``mallinfo2`` tells."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used", "free", "keepcost")
    ]


_TELLS = sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "mallinfo2")


def used():
    """Bytes that C code has taken and not given back."""
    gc.collect()
    tell = ctypes.CDLL(None).mallinfo2
    tell.restype = _Allocated
    return tell().used


@pytest.fixture
def texts(monkeypatch):
    """The modules of a program with a loop, and whether LLVM is to optimize their loops."""
    found = []
    compile_object = object_code.compile_object

    def kept(text, *, loops=False):
        found.append((text, loops))
        return compile_object(text, loops=loops)

    monkeypatch.setattr(object_code, "compile_object", kept)
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")

    @nx.defn
    def steps(x, most):
        k = 0
        while k < most and nx.sum(x * x) > 0.125:
            x = nx.sin(x) * 0.875 + nx.reverse(x) / 16
            k = k + 1
        return x, k

    steps(np.linspace(0, 1, 19), 5)
    monkeypatch.undo()
    # Its kernels may be in memory already.
    assert any(loops for _, loops in found)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not _TELLS, reason="this system does not tell what C code takes")
def test_compiling_takes_no_memory_for_good(texts):
    def compiled(times):
        for _ in range(times):
            for text, loops in texts:
                object_code.compile_object(text, loops=loops)

    compiled(3)
    before = used()
    compiled(20)
    # A pass manager that stays has 200 KB, of which ten times less would be seen.
    assert used() - before < 20 * 20_000


def test_a_pass_manager_is_given_back():
    module = object_code._module("define i64 @nxk_test_passes() {\n  ret i64 7\n}\n")
    passes = object_code._builder(level=3).getModulePassManager()
    run_passes(passes, module, object_code._builder(level=3))
    assert passes.closed
    assert "ret i64 7" in str(module)
