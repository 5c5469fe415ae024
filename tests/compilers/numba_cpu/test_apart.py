"""Work that interrupts do not reach: who waits for it, what it leaves, and what others have left."""

import os
import signal
import threading
import time

import pytest
from llvmlite import binding as llvm
from llvmlite.binding import ffi

from nxkernel.compilers.numba_cpu import apart, store

TEXT = "define i64 @{name}() {{\n  ret i64 7\n}}\n"


def interrupt_soon(seconds=0.05):
    main = threading.main_thread().ident
    threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT)).start()


def test_errors_come_back():
    with pytest.raises(ZeroDivisionError):
        apart.do(lambda: 1 // 0)
    assert apart.do(lambda: apart.do(threading.get_ident)) != threading.get_ident()


def test_an_interrupt_ends_the_wait_and_not_the_work():
    done = threading.Event()

    def work():
        time.sleep(0.3)
        done.set()

    interrupt_soon()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        apart.do(work)
    assert time.perf_counter() - begin < 0.25
    assert done.wait(5)
    assert apart.do(lambda: 3) == 3


def test_what_was_compiled_while_somebody_interrupted_is_found(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")

    def text():
        time.sleep(0.2)
        return TEXT.format(name="nxk_test_interrupted")

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        store.native("nxk_test_interrupted", text)
    assert store.native("nxk_test_interrupted", lambda: "nothing that compiles")[1] == "memory"


def test_other_threads_do_their_own_work():
    found = []
    thread = threading.Thread(target=lambda: found.append(apart.do(threading.get_ident) == threading.get_ident()))
    thread.start()
    thread.join()
    assert found == [True]


def test_a_lock_of_llvm_that_an_interrupt_left_behind_is_given_back():
    ffi.lib._lock._lock.acquire()
    assert apart.do(llvm.get_host_cpu_name)
    assert not ffi.lib._lock._lock._is_owned()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_has_a_thread_of_its_own():
    apart.do(lambda: None)
    child = os.fork()
    if not child:
        os._exit(apart.do(lambda: 5))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
