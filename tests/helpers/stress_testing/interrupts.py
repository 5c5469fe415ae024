"""Work to interrupt, and what has to hold afterwards: the session goes on as if nothing had been."""

import os
import random
import signal
import threading
import time

import numpy as np

import nxkernel as nx
from nxkernel import nn, optim, training
from nxkernel.compilers.numba_cpu.runtime import code_store, executable_memory, thread_pool, threading_layer
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import stream
from nxkernel.graph import tracing
from stress_testing import stressing

_x = np.linspace(-2.0, 2.0, 1_000_000)
_matrix = np.sin(np.arange(200.0 * 200).reshape(200, 200))


@nx.defn
def maps(x):
    return nx.exp(nx.sin(x)) * nx.cos(x) + nx.tanh(x) * nx.log1p(nx.abs(x))


@nx.defn
def reductions(x):
    rows = nx.reshape(x, (1000, -1))
    return nx.sum(nx.exp(x)), nx.reduce_max(rows, axes=[1]), nx.standard_deviation(rows, axes=[0]), nx.argmax(x)


@nx.defn
def numbers(turns):
    i, s = 0, 0.5
    while i < turns:
        s = 3.9 * s * (1 - s)
        i += 1
    return s


@nx.defn
def arrays(u, turns):
    for _ in range(turns):
        u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
    return u


@nx.defn
def pixels(turns):
    counts = np.zeros((40, 50))
    for i in range(40):
        for j in range(50):
            c = (j / 25 - 1.5) + (i / 20 - 1.0) * 1j
            z, n = 0j, 0
            while n < turns and abs(z) <= 2:
                z = z * z + c
                n += 1
            counts[i, j] = n
    return counts


@nx.defn
def routines(m):
    return nx.linalg.svd(m)[1], nx.linalg.solve(m + 20 * nx.eye(200), m), nx.abs(nx.fft(nx.as_type(m, "c128")))


@nx.defn
def products(m):
    for _ in range(20):
        m = nx.dot(m, m) / 200
    return m


@nx.defn
def sorted_(x):
    return nx.sort(nx.sin(x * 1000))


@nx.defn
def draws(seed):
    values, key = nx.random.normal(nx.random.key(seed), shape=(500_000,))
    return nx.sum(values), nx.random.randint(key, 0, 10, shape=(100_000,))[0]


@nx.defn
def slopes(x):
    return nx.grad(lambda t: nx.sum(nx.tanh(t * t) * nx.exp(-t)))(x)


_net = nn.serial(nn.dense(16), nn.relu, nn.dense(1))
_inputs = np.linspace(0, 1, 256, dtype="f4")[:, None]
_params = _net.init(nx.random.key(0), _inputs)


def fits(epochs):
    """A training; one that was interrupted says so and raises nothing."""
    fitted = training.fit(
        _net, nn.losses.mean_squared_error, optim.adam(1e-2), _params,
        training.batches(_inputs, np.sin(6 * _inputs), 64), epochs=epochs, progress=False,
    )  # fmt: skip
    if fitted.stopped.startswith("interrupted"):
        raise KeyboardInterrupt
    return fitted.params["dense"]["kernel"]


#: Of each work what to interrupt, and what to check: the same program, for as long as one can wait.
WORKS = {
    "maps": (lambda: maps(_x), lambda: maps(_x)),
    "reductions": (lambda: reductions(_x), lambda: reductions(_x)),
    "a loop of numbers": (lambda: numbers(10**9), lambda: numbers(1000)),
    "a loop of arrays": (lambda: arrays(_x.copy(), 10**6), lambda: arrays(_x.copy(), 3)),
    "loops over pixels": (lambda: pixels(10**7), lambda: pixels(30)),
    "library routines": (lambda: routines(_matrix), lambda: routines(_matrix)),
    "products": (lambda: products(_matrix), lambda: products(_matrix)),
    "sorting": (lambda: sorted_(_x), lambda: sorted_(_x)),
    "random numbers": (lambda: draws(3), lambda: draws(3)),
    "gradients": (lambda: slopes(_x), lambda: slopes(_x)),
    "training.fit": (lambda: fits(1000), lambda: fits(2)),
}
_DEFINITIONS = [maps, reductions, numbers, arrays, pixels, routines, products, sorted_, draws, slopes]
#: What each work gave when nobody interrupted it.
_right = {}
#: Seconds that what is interrupted takes at the most.
PATIENCE = 0.5


def values(result):
    """The arrays of a result."""
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def _same(name, result):
    known = _right[name]
    return len(known) == len(result) and all(map(np.array_equal, known, result))


def begin():
    """Run everything once, and remember the results; seconds for each, to interrupt it within."""
    times = {}
    for name, (_, check) in WORKS.items():
        _right[name] = values(check())
        start = time.perf_counter()
        assert _same(name, values(check()))
        times[name] = min(max(time.perf_counter() - start, 0.02), PATIENCE)
    return times


def forget():
    """Have the next calls trace and compile."""
    for definition in _DEFINITIONS:
        definition.clear_cache()
    graph_cache.clear()
    code_store.forget()


def interrupted(work, seconds):
    """Start a work and interrupt it after so many seconds; seconds until it stopped, and how often it was in vain.

    Seconds are None where the work was at its end before.
    """
    sent, over, ended = [], threading.Lock(), False
    over.acquire()

    def send():
        time.sleep(seconds)
        while True:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
            if over.acquire(timeout=stressing.AGAIN):
                return

    try:
        threading.Thread(target=send, daemon=True).start()
        work()
        ended = True
        while True:
            time.sleep(0.05)
    except KeyboardInterrupt:
        stopped = time.perf_counter()
        over.release()
    return None if ended else stopped - sent[-1], len(sent) - 1


def faults(name):
    """What is wrong after an interrupt: an empty list."""
    found = []
    if tracing.current() is not None:
        found.append("a trace is still active")
    # A lock that this thread was left with would let it go on, and nobody else.
    answers = []

    def ask():
        try:
            answers.append(_same(name, values(WORKS[name][1]())))
        except BaseException as error:
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(60)
    if answers != [True]:
        found.append(f"another thread: {answers or 'waits for ever'}")
        if not answers:
            return found
    if not _same(name, values(WORKS[name][1]())):
        found.append("the same call gives another result")
    if float(nx.add(1, 2.5)) != 3.5 or nx.add(1, 2.5).type != "f32":
        found.append("plain calls are not what they were")
    alive = [thread.name for thread in threading.enumerate() if thread.name.startswith("nxkernel-")]
    if thread_pool.OWN and len(alive) != threading_layer.get_threads() - 1:
        found.append(f"threads that are alive: {alive}")
    if threading_layer.STATE[thread_pool.TAKEN]:
        found.append("the threads are taken")
    locks = (code_store._lock, executable_memory._lock, graph_cache._lock, stream._lock, threading_layer._lock)
    held = [lock for lock in locks if repr(lock).startswith("<locked")]
    if held or code_store._building:
        found.append(f"held: {held} {code_store._building}")
    return found


def interrupt_all(count, seed, tell=print):
    """Interrupt random works at random moments, half of them while they are traced and compiled.

    Returns
    -------
    list of str
        What was wrong.
    dict
        Of each work how often it was stopped, and the seconds of the longest stop.
    int
        How many interrupts Python threw away.
    """
    choose, found, vain, stops = random.Random(seed), [], 0, dict.fromkeys(WORKS, (0, 0.0))
    times = begin()
    for turn in range(count):
        name, anew = choose.choice(list(WORKS)), choose.random() < 0.5
        if anew:
            forget()
        seconds, lost = interrupted(WORKS[name][0], choose.uniform(0, times[name] + 0.1 * anew))
        vain += lost
        if seconds is not None:
            stops[name] = stops[name][0] + 1, max(stops[name][1], seconds)
        wrong = faults(name)
        if wrong:
            found.append(f"{name}{', anew' if anew else ''}: {'; '.join(wrong)}")
        if turn % 50 == 49:
            tell(f"{turn + 1} interrupts")
    return found, stops, vain
