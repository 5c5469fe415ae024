"""Machine code in memory: whose it is, how long it stays, and what is said where it cannot be loaded."""

import ctypes
import gc
import inspect
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled
from nxkernel.compilers.numba_cpu.codegen import object_code
from nxkernel.compilers.numba_cpu.runtime import code_store, loader
from nxkernel.compilers.numba_cpu.target import target_processor
from nxkernel.errors import CompilationError

pytestmark = pytest.mark.usefixtures("little_garbage")

X = np.linspace(0.5, 2.0, 20)


@pytest.fixture
def no_disk(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")


@pytest.fixture
def taken(no_disk):
    """How many bytes of machine code there are, without those that only the store keeps."""
    if not loader.OWN:
        pytest.skip("on this system LLVM places machine code")
    from nxkernel.compilers.numba_cpu.runtime import executable_memory

    def count():
        code_store.forget()
        gc.collect()
        return executable_memory.taken()[1]

    compiled(lambda x: x + 1, X).run([X])
    return count


@pytest.mark.slow
def test_code_goes_with_the_program(taken):
    before = taken()
    executable = compiled(lambda x: nx.exp(x) * 0.123 - nx.tanh(x), X)
    expected = np.exp(X) * 0.123 - np.tanh(X)
    assert taken() > before
    np.testing.assert_allclose(executable.run([X])[0], expected)
    del executable
    assert taken() == before


def test_a_program_keeps_its_kernels(taken):
    """Another one that shares a kernel goes, and so does what is known by name."""
    first = compiled(lambda x: nx.cumulative_sum(nx.exp(x) * 0.7), X)
    second = compiled(lambda x: nx.reverse(nx.cumulative_sum(nx.exp(x) * 0.7)), X)
    del first
    taken()
    # What is placed meanwhile would be where the kernels were.
    others = [compiled(lambda x, k=k: nx.log(x + k), X) for k in range(20)]
    np.testing.assert_allclose(second.run([X])[0], np.cumsum(np.exp(X) * 0.7)[::-1])
    del others


def test_a_program_that_runs_stays(taken):
    """The last name for it goes while another thread is in it."""
    wrong = []

    def work():
        for turn in range(10):
            definition = nx.jit(lambda x, turn=turn: nx.sin(x) * (turn + 0.25))
            if not np.allclose(definition(X), np.sin(X) * (turn + 0.25)):
                wrong.append(turn)
            definition.clear_cache()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        code_store.forget()
        time.sleep(0.005)
    assert wrong == []


def test_a_clock_keeps_what_it_runs(taken):
    from nxkernel.compilers.numba_cpu.program.kernel_clocks import NativeClock

    clock = NativeClock(compiled(lambda x: nx.cumulative_sum(x * 1.7), X))
    taken()
    assert clock.run([X]).kernels


@pytest.mark.slow
def test_the_runtime_is_never_taken_away(taken):
    held = [code for code in loader._lasting if "nxk_run" in code.functions]
    assert held
    taken()
    gc.collect()
    # One for each runtime that this process has made.
    assert set(map(id, held)) <= set(map(id, loader._lasting))


def test_memory_is_known_by_weak_names(no_disk):
    code, _ = code_store.native("nxk_test_weak", lambda: "define void @nxk_test_weak() nounwind {\n  ret void\n}")
    gone = weakref.ref(code)
    del code
    assert code_store.whereabouts("nxk_test_weak") == "memory"
    code_store.forget()
    gc.collect()
    assert gone() is None


def needs_fmod(x):
    return nx.remainder(x, 0.111)


def test_functions_that_are_nowhere_are_told(no_disk, monkeypatch):
    """As on a system whose C library lacks one."""
    if not loader.OWN:
        pytest.skip("on this system LLVM looks for functions")
    address = loader._address
    monkeypatch.setattr(loader, "_address", lambda name: None if name == "fmod" else address(name))
    code_store.forget()
    with pytest.raises(CompilationError) as error:
        nx.jit(needs_fmod)(X)
    line = inspect.getsourcelines(needs_fmod)[1] + 1
    assert str(error.value) == (
        f"remainder of f64[20] (test_loader.py, line {line}) needs what this system does not have: fmod.\n"
        f"  Its machine code is for {target_processor.name()}; NXKERNEL_CPU may name another processor.\n"
        '  Or run the definition with compiler="evaluator", which makes no machine code.'
    )
    monkeypatch.undo()
    np.testing.assert_allclose(nx.jit(needs_fmod)(X), np.fmod(X, 0.111))


def test_what_no_compiler_library_would_have_is_an_error_too():
    code = object_code.compile_object(
        "declare void @nobody_has_this()\ndefine void @nxk_asks() {\n  call void @nobody_has_this()\n  ret void\n}"
    )
    with pytest.raises(loader.MissingFunctionsError) as error:
        loader.load(code, "nxk_asks")
    first = str(error.value).splitlines()[0]
    assert first.startswith("nxk_asks needs what this system does not have: ")
    assert "nobody_has_this" in first or not loader.OWN


@pytest.mark.parametrize("operation", ["udiv", "sdiv", "urem", "srem"])
def test_division_of_128_bits_is_a_function_that_compilers_bring(operation):
    name = f"nxk_test_{operation}"
    text = f"""
define i64 @{name}(i64 %x, i64 %y) nounwind {{
  %a = zext i64 %x to i128
  %wide = shl i128 %a, 40
  %b = sext i64 %y to i128
  %c = {operation} i128 %wide, %b
  %d = trunc i128 %c to i64
  ret i64 %d
}}
"""
    code = loader.load(object_code.compile_object(text), name)
    found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(code.address)(12345678901234567, 987654321)
    quotient, remainder = divmod(12345678901234567 << 40, 987654321)
    expected = quotient if operation.endswith("div") else remainder
    assert found == (expected + (1 << 63)) % (1 << 64) - (1 << 63)


BY_LLVM = """
    import numpy as np
    from nxkernel.compilers.numba_cpu.runtime import loader
    loader.OWN = False
    import nxkernel as nx
    from nxkernel.compilers.numba_cpu.codegen import object_code
    from nxkernel.compilers.numba_cpu.runtime import code_store
    x = np.linspace(0.0, 1.0, 300_001)
    for turn in range(3):
        found = nx.jit(lambda x: nx.cumulative_sum(nx.exp(x)) + nx.sum(nx.sin(x)))(x)
        np.testing.assert_allclose(found, np.cumsum(np.exp(x)) + np.sin(x).sum())
        code_store.forget()
    y = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(nx.jit(lambda y: y @ nx.transpose(y))(y), y @ y.T)
    def filled(x):
        for i in range(5):
            x = x * 0.5 + i
        return x
    np.testing.assert_allclose(nx.jit(filled)(x), filled(x))
    text = "declare void @nobody_has_this()\\ndefine void @nxk_asks() {\\n call void @nobody_has_this()\\n ret void\\n}"
    try:
        loader.load(object_code.compile_object(text), "nxk_asks")
    except loader.MissingFunctionsError as error:
        print(str(error).splitlines()[0])
    print(float(nx.jit(lambda x: x * 3)(np.ones(3))[0]))
"""


@pytest.mark.slow
def test_where_llvm_places_code():
    """As on systems for which there is no linker of ours: the same programs, and errors in place of an abort."""
    environment = os.environ | {"NXKERNEL_CACHE_DIR": "off"}
    text = textwrap.dedent(BY_LLVM)
    child = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=300)
    assert (child.returncode, child.stderr) == (0, "")
    assert re.fullmatch(r"nxk_asks needs what this system does not have: .*\n3\.0\n", child.stdout), child.stdout
