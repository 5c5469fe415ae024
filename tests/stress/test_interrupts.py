"""Interrupts at random moments of tracing, compiling and running: the session goes on as if nothing had been.

``NXKERNEL_STRESS_INTERRUPTS`` says how many signals a process gets, ``…_MOMENTS`` how many chosen moments are tried,
``…_STARTS`` how many processes are interrupted in their first call, ``…_CELLS`` how many cells of a kernel.
"""

import json
import random
import re
import sys
import time

import pytest

from notebook_sessions.kernel_client import LOST, Kernel
from stress_testing import stressing

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(sys.platform == "win32", reason="this system has no signals"),
]


@pytest.fixture
def seed(say):
    chosen = stressing.many("SEED", time.time_ns() % 2**32)
    say(f"\nseed {chosen}")
    return chosen


_SIGNALS = """
import json, sys
from stress_testing import interrupts
told = interrupts.interrupt_all(int(sys.argv[1]), int(sys.argv[2]), lambda text: print(text, flush=True))
print(json.dumps(told))
"""


def test_signals(seed, say):
    process = stressing.start(_SIGNALS, stressing.many("INTERRUPTS", 400), seed, stderr=None)
    lines = []
    with process.stdout:
        for line in process.stdout:
            lines.append(line)
            if line[0].isdigit():
                say(line.strip())
    assert process.wait() == 0
    found, stops, vain = json.loads(lines[-1])
    for name, (count, longest) in stops.items():
        say(f"{name}: stopped {count} times, within {1e3 * longest:.1f} ms")
    say(f"{vain} interrupts were thrown away by Python, where something was collected")
    assert found == []
    assert sum(count for count, _ in stops.values()) > 0


@pytest.mark.parametrize("which", ["all", "seldom"])
def test_chosen_moments(seed, say, which):
    count = stressing.many("MOMENTS", 1500)
    printed, _ = stressing.run(_MOMENTS, count, seed, which, seconds=3600)
    hits, moments, *found = printed.strip().split("\n")
    say(f"{hits} of {count} calls interrupted, at moments of which there are {moments}")
    assert found == []
    assert int(hits) > count / 2


_MOMENTS = "import runpy; runpy.run_module('stress_testing.interrupt_points', run_name='__main__')"

# Each child process begins with nxkernel imported and nothing else: what a first call imports is cut off, too.
_FIRST = """
import os, random, sys, threading, time
import nxkernel as nx
from stress_testing import stressing

random.seed(int(sys.argv[2]))
failed = []
for _ in range(int(sys.argv[1])):
    number = stressing.steady(random)
    pause = random.uniform(0, 0.7)
    child = os.fork()
    if not child:
        f = nx.jit(stressing.program(number)[0])
        def send():
            time.sleep(pause)
            os.kill(os.getpid(), 2)
        try:
            threading.Thread(target=send, daemon=True).start()
            f(stressing.argument())
            time.sleep(10)
        except KeyboardInterrupt:
            pass
        answers = []
        def ask():
            answers.append(stressing.is_right(number, f(stressing.argument())))
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(60)
        right = answers == [True] and stressing.is_right(number, f(stressing.argument()))
        g = nx.defn(lambda x: nx.linalg.solve(x, x))
        right = right and abs(float(g(nx.eye(3))[1, 1]) - 1) < 1e-6
        os._exit(0 if right else 7)
    end = time.monotonic() + 100
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.005)
    if not ended[0]:
        os.kill(child, 9)
        ended = os.waitpid(child, 0)
    if ended[1]:
        failed.append((number, pause, ended[1]))
print(failed)
"""


def test_first_calls(seed, say):
    count = stressing.many("STARTS", 150)
    printed, said = stressing.run(_FIRST, count, seed, seconds=3600)
    say(f"{count} first calls were interrupted")
    assert (printed, said) == ("[]\n", "")


_CELL = """
interrupts.forget() if {anew} else None
interrupts.WORKS[{name!r}][0]()
print("at its end")
"""


def test_a_kernel(seed, say):
    choose, stops, kernel, lost = random.Random(seed), {}, Kernel(), 0
    try:
        printed, error = kernel.run(
            "%load_ext nxkernel\nfrom stress_testing import interrupts\n"
            "times = interrupts.begin(); print(*map(repr, times), sep=',')"
        )
        assert error == ""
        names = re.findall("'(.*?)'", printed)
        for _ in range(stressing.many("CELLS", 120)):
            name, anew = choose.choice(names), choose.random() < 0.5
            ident = kernel.start(_CELL.format(name=name, anew=anew))
            kernel.wait_until_busy(ident)
            time.sleep(choose.uniform(0, 0.3))
            printed, error, seconds = kernel.interrupt(ident)
            assert printed.strip() in ("", "at its end")
            assert error in ("KeyboardInterrupt", LOST) or (error == "" != printed)
            lost += error == LOST
            if error:
                count, longest = stops.get(name, (0, 0.0))
                stops[name] = count + 1, max(longest, seconds)
            assert kernel.run(f"print(interrupts.faults({name!r}))") == ("[]\n", ""), name
        for name, (count, longest) in sorted(stops.items()):
            say(
                f"{name}: stopped {count} times, within {1e3 * longest:.1f} ms with the messages to the kernel and back"
            )
        say(f"{lost} interrupts struck the kernel's own code around a cell")
    finally:
        kernel.close()
    assert lost < 5
    assert sum(count for count, _ in stops.values()) > 0
