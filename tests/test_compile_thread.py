"""Work that interrupts do not reach: who waits for it, what it leaves, and what others have left."""

import ast
import gc
import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from llvmlite import binding as llvm
from llvmlite.binding import ffi

from nxkernel import compile_thread
from nxkernel.compilers.numba_cpu.runtime import code_store
from stress_testing import stressing

TEXT = "define i64 @{name}() {{\n  ret i64 7\n}}\n"


def interrupt_soon(seconds=0.05):
    main = threading.main_thread().ident
    threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT)).start()


def test_errors_come_back():
    with pytest.raises(ZeroDivisionError):
        compile_thread.do(lambda: 1 // 0)
    assert compile_thread.do(lambda: compile_thread.do(threading.get_ident)) != threading.get_ident()


@pytest.mark.alone
def test_an_interrupt_ends_the_wait_and_not_the_work():
    done = threading.Event()

    def work():
        time.sleep(0.3)
        done.set()

    interrupt_soon()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        compile_thread.do(work)
    assert time.perf_counter() - begin < 0.25
    assert done.wait(5)
    assert compile_thread.do(lambda: 3) == 3


def test_what_was_compiled_while_somebody_interrupted_is_found(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")

    def text():
        time.sleep(0.2)
        return TEXT.format(name="nxk_test_interrupted")

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        code_store.native("nxk_test_interrupted", text)
    assert code_store.native("nxk_test_interrupted", lambda: "nothing that compiles")[1] == "memory"


def test_an_import_goes_on_to_its_end_in_another_thread(monkeypatch, tmp_path):
    (tmp_path / "nxk_slow.py").write_text(_SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        compile_thread.load("nxk_slow")
    assert not hasattr(sys.modules["nxk_slow"], "end")
    # The next one waits until it is there, and not in Python's import machinery.
    compile_thread.load("nxk_slow")
    assert sys.modules["nxk_slow"].end
    import nxk_slow

    assert nxk_slow.end
    assert nxk_slow.thread != threading.get_ident()
    del sys.modules["nxk_slow"]


#: A module that interrupts who waits for it, once he does, and then takes its time.
_SLOW = """
import signal, threading, time
thread = threading.get_ident()
time.sleep(0.1)
signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
time.sleep(0.5)
end = True
"""


@pytest.mark.slow
def test_a_first_call_imports_where_no_interrupt_reaches(tmp_path):
    # One that strikes between Python's lock of imports and its release leaves it held: other threads wait for ever.
    (tmp_path / "first.py").write_text(_IMPORTERS)
    printed, said = stressing.run(f"import runpy; runpy.run_path({str(tmp_path / 'first.py')!r})")
    assert said == ""
    imported = json.loads(printed)
    lowerings = (
        "codegen.lower_nest", "program.step_interpreter", "routines.radix_sort", "routines.sorting_network",
        "routines.scan_kernels", "codegen.inlined_kernels",
    )  # fmt: skip
    assert imported.keys() >= {"scipy.fft", *[f"nxkernel.compilers.numba_cpu.{name}" for name in lowerings]}
    assert imported.keys() >= {"nxkernel.compilers.evaluator"}
    assert [name for name in imported if name.startswith(("nxkernel", "scipy", "llvmlite")) and imported[name]] == []


#: Prints of each module that calls import whether the main thread does.
_IMPORTERS = """
import json, sys, threading
import numpy as np
import nxkernel as nx

imported = {}

class Finder:
    def find_spec(self, name, path=None, target=None):
        imported[name] = threading.current_thread() is threading.main_thread()

sys.meta_path.insert(0, Finder())

@nx.defn
def f(x):
    y = x * 2
    for k in range(3):
        y[k] = nx.sin(x[k])
    t = 0.0
    while t < y[0] + 3:
        t = t + nx.sum(y * y) + 1
    return nx.sum(nx.sort(y)) + t

f(nx.iota((40,)) / 7)
f(nx.iota((4000,)) / 7)
nx.jit(nx.cumulative_sum)(nx.iota((4000,)) / 7)
nx.fft(nx.eye(200))
nx.linalg.solve(nx.eye(3), nx.eye(3))
nx.jit(nx.sin, compiler="evaluator")(nx.iota((4,)))

@nx.defn(promotion="numpy")
def g(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0], x)
    return y

g(2.0)
g.measure(2.0)
print(json.dumps(imported))
"""


def test_who_imports_what_is_needed_imports_the_rest_too(tmp_path):
    # A signal handler, while the main thread imports a package whose modules another one would wait for.
    (tmp_path / "within.py").write_text(_WITHIN)
    printed, said = stressing.run(f"import runpy; runpy.run_path({str(tmp_path / 'within.py')!r})")
    assert (printed, said) == ("(60, 60)\nimported\n", "")


_WITHIN = """
import faulthandler, signal, sys
import numpy as np
import nxkernel as nx

faulthandler.dump_traceback_later(60, exit=True)
x = nx.tensor(np.eye(60))

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "scipy.linalg._misc":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGALRM)

sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGALRM, lambda *_: print(nx.linalg.solve(x, x).shape))
import scipy.linalg
print("imported")
"""


def test_other_threads_do_their_own_work():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(compile_thread.do(threading.get_ident) == threading.get_ident())
    )
    thread.start()
    thread.join()
    assert found == [True]


def test_a_lock_of_llvm_that_an_interrupt_left_behind_is_given_back():
    ffi.lib._lock._lock.acquire()
    assert compile_thread.do(llvm.get_host_cpu_name)
    assert not ffi.lib._lock._lock._is_owned()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_has_a_thread_of_its_own():
    compile_thread.do(lambda: None)
    child = os.fork()
    if not child:
        os._exit(compile_thread.do(lambda: 5))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5


#: Modules of ours that are imported in functions without `load`, though nxkernel itself imports them not, and why.
WITHOUT_LOAD = {
    "nxkernel_magics": "IPython loads the extension, no call does",
    "nxkernel.backends.cuda": "a GPU is asked for before a program runs there",
    "nxkernel.compilers.numba_cuda": "a GPU is asked for before a program runs there",
    "nxkernel.definitions.devices.eager_operations": "a GPU is asked for before a program runs there",
    "nxkernel.compilers.numba_cpu.codegen": "the compile thread runs what imports them",
    "nxkernel.compilers.numba_cpu.runtime.orc_linker": "the compile thread runs what imports it",
    "nxkernel.compilers.numba_cpu.program.parallel_loops": "loaded with what makes plans",
    "nxkernel.compilers.numba_cpu.program.graph_compilation": "loaded with what makes plans",
    "nxkernel.compilers.schedule.canonical_form": "loaded with what makes plans",
    "nxkernel.compilers.plan.nested_plans": "an error or a measurement asks for it",
    "nxkernel.compilers.numba_cpu.target.target_processor": "loaded with the compiler",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_of_a_fork_amid_an_import_looks_for_garbage(monkeypatch):
    begun, forked = threading.Event(), threading.Event()

    def slow(name):
        begun.set()
        forked.wait(20)

    monkeypatch.setattr(compile_thread.importlib, "import_module", slow)
    importing = threading.Thread(target=compile_thread._import, args=("anything",))
    importing.start()
    begun.wait(20)
    assert not gc.isenabled()
    child = os.fork()
    if not child:
        os._exit(0 if gc.isenabled() else 1)
    assert os.waitpid(child, 0)[1] == 0
    forked.set()
    importing.join(20)
    assert gc.isenabled()


@pytest.mark.slow
def test_imports_in_functions_go_where_no_interrupt_reaches():
    printed, _ = stressing.run("import sys, nxkernel; print(*[name for name in sys.modules if 'nxkernel' in name])")
    known, missing = set(printed.split()), set()
    folder = Path(compile_thread.__file__).parent
    for path in folder.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                loads = set(re.findall(r"compile_thread\.load\('(.+?)'\)", ast.unparse(function)))
                for node in ast.walk(function):
                    names = [each.name for each in getattr(node, "names", []) if isinstance(each, ast.alias)]
                    if isinstance(node, ast.ImportFrom):
                        whole = [f"{node.module}.{name}" for name in names]
                        paths = [folder.parent.joinpath(*name.split(".")) for name in whole]
                        names = [
                            name if path.with_suffix(".py").is_file() else node.module
                            for name, path in zip(whole, paths, strict=True)
                        ]
                    missing |= {name for name in names if name.startswith("nxkernel")} - known - loads
    assert {name for name in missing if not name.startswith(tuple(WITHOUT_LOAD))} == set()
