"""Native code by name: each name is built once, whoever asks."""

import ctypes
import threading

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled
from nxkernel.compilers.numba_cpu.codegen import object_code
from nxkernel.compilers.numba_cpu.runtime import code_store, loader

TEXT = """
define i64 @{name}(i64 %x) {{
  %y = mul i64 %x, 3
  ret i64 %y
}}
"""


@pytest.fixture
def no_disk(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")


def test_ten_threads_build_a_name_once(no_disk):
    built, origins = [], []

    def text():
        built.append(1)
        return TEXT.format(name="nxk_test_once")

    def ask():
        origins.append(code_store.native("nxk_test_once", text)[1])

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]
    assert sorted(origins) == ["compiled"] + ["memory"] * 9


def test_a_failed_build_leaves_the_name_free(no_disk):
    with pytest.raises(RuntimeError, match="expected"):
        code_store.native("nxk_test_fails", lambda: "define nonsense")
    code, origin = code_store.native("nxk_test_fails", lambda: TEXT.format(name="nxk_test_fails"))
    assert code.address
    assert origin == "compiled"


def test_a_child_that_was_forked_while_it_compiled_goes_on(no_disk):
    def make():
        code_store._abandon()  # what a forked child does first
        return "code", "compiled"

    assert code_store._once("nxk_test_forked", make) == ("code", "compiled")
    assert code_store._once("nxk_test_forked", make) == ("code", "compiled")


def test_object_code_is_an_object_file_that_the_loader_runs():
    code = object_code.compile_object(TEXT.format(name="nxk_test_object"))
    loaded = loader.load(code, "nxk_test_object")
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(loaded.address)(14) == 42


def test_an_object_without_the_name_is_refused():
    code = object_code.compile_object(TEXT.format(name="nxk_test_other"))
    with pytest.raises(ValueError, match="does not define nxk_test_missing"):
        loader.load(code, "nxk_test_missing")


def test_what_was_forgotten_is_found_again(no_disk):
    code_store.native("nxk_test_again", lambda: TEXT.format(name="nxk_test_again"))
    double = nx.jit(lambda x: nx.exp(x) * 2.5)
    x = np.ones(5, "f4")
    before = double(x).to_numpy()
    assert code_store.whereabouts("nxk_test_again") == "memory"
    code_store.forget()
    assert code_store.whereabouts("nxk_test_again") == "compiled"
    code, origin = code_store.native("nxk_test_again", lambda: TEXT.format(name="nxk_test_again"))
    assert origin == "compiled"
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address)(14) == 42
    for array in (double(x), nx.jit(lambda x: nx.exp(x) * 2.5)(x)):
        np.testing.assert_array_equal(array.to_numpy(), before)


def test_ten_threads_compile_one_program_once(no_disk):
    def function(x):
        return nx.asinh(x) * nx.log1p(x) - nx.expm1(x * 0.37)

    x = np.linspace(0, 1, 50, dtype="f4")
    found, origins = [], []

    def ask():
        executable = compiled(function, x)
        origins.extend(kernel.origin for kernel in executable.kernels)
        found.append(executable.run([x])[0].tobytes())

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert sorted(origins) == ["compiled"] + ["memory"] * 9


def test_code_goes_while_all_is_forgotten(no_disk, monkeypatch):
    names = [f"nxk_test_going_{number}" for number in range(3)]
    used = [code_store.native(name, lambda name=name: TEXT.format(name=name))[0] for name in names]
    code_store._recent.clear()

    def lasts(code):
        # Another thread lets go of all programs just then.
        used.clear()
        return False

    monkeypatch.setattr(code_store.loader, "lasts", lasts)
    assert code_store.forget() >= 1
    assert not code_store.loaded().keys() & set(names)
