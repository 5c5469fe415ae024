"""Processes that are forked while other threads compile: a script that does it, and what it printed, read."""

import sys

from stress_testing import stressing

#: Threads that compile meanwhile.
THREADS = 3
#: Seconds after which a child is taken to hang.
PATIENCE = 60

# Half of the children call what the parent is compiling at that moment, the others something of their own; a few have
# Numba compile a function, and all of them a kernel that is spread over threads.
SCRIPT = """
import faulthandler, os, random, signal, sys, threading, time, traceback, warnings
import numpy as np
import nxkernel as nx
from nxkernel.compilers.numba_cpu.runtime import threading_layer
from stress_testing import stressing

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of every fork beside threads
forks, seed, working, patience = map(int, sys.argv[1:5])
numba_share = float(sys.argv[5])
choose = random.Random(seed)
x, wide = stressing.argument(), np.ones((400, 4000))
spread = nx.jit(lambda t: nx.sum(nx.exp(t) * 0.5))
right = float(spread(wide))
shared, stop, counts = {}, threading.Event(), [0] * working

def definition(number):
    return shared.setdefault(number, nx.jit(stressing.program(number)[0]))

def compile_all(place):
    own = random.Random(seed + place)
    while not stop.is_set():
        number = current[place] = stressing.steady(own)
        definition(number)(x)
        counts[place] += 1
        if own.random() < numba_share:
            from_numba(number)
        shared.pop(number, None)

def from_numba(number):
    import numba
    function = numba.njit(eval(f"lambda t: t * {number % 97} + 1.0"))
    assert np.allclose(nx.jit(lambda t: nx.map(t, function))(x), x * (number % 97) + 1.0)

def in_child(number, kind):
    if kind < numba_share:
        from_numba(number)
    assert stressing.is_right(number, definition(number)(x)), number
    assert float(spread(wide)) == right
    assert threading_layer.STATE[threading_layer.POOL] == 0 and nx.get_threads() == 1

current = [stressing.steady(choose)] * working
others = [threading.Thread(target=compile_all, args=(place,), daemon=True) for place in range(working)]
for thread in others:
    thread.start()
while not all(counts):
    time.sleep(0.01)
alive, hung, failed, longest = {}, 0, 0, 0.0
for turn in range(forks):
    time.sleep(choose.random() * 0.02)
    kind = choose.random()
    number = current[choose.randrange(working)] if kind < 0.5 else stressing.steady(choose)
    begin = time.perf_counter()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            faulthandler.dump_traceback_later(patience - 5)
            in_child(number, choose.random())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    longest = max(longest, time.perf_counter() - begin)
    alive[pid] = time.monotonic() + patience
    while alive and (len(alive) > 3 or turn == forks - 1):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            failed += status != 0
            del alive[pid]
        for pid, end in list(alive.items()):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                del alive[pid]
                hung += 1
        time.sleep(0.001)
stop.set()
for thread in others:
    thread.join(60)
print("end", hung, failed, sum(counts), round(longest, 3))
"""


def forked(forks, seed, working=THREADS, from_numba=0.05):
    """Fork so often; how many children hung and failed, programs compiled meanwhile, the longest wait for a fork.

    `from_numba` is the share of threads and children that have Numba compile a function, which some must import first.
    """
    arguments = forks, seed, working, PATIENCE, from_numba
    printed, said = stressing.run(SCRIPT, *arguments, seconds=300 + 10 * forks)
    hung, failed, compiled, longest = printed.splitlines()[-1].split()[1:]
    if said:
        print(said, file=sys.stderr)
    return int(hung), int(failed), int(compiled), float(longest)
