"""Interrupts at chosen moments: at the n-th point of a call at which Python would run a signal handler.

Python does so where a function begins and where one written in C has returned; a profiler is told of both.
"""

import linecache
import os
import random
import sys
import threading

import numpy as np

import nxkernel as nx
from nxkernel import nn, types
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.graph import tracing

_TEXTS = {
    "map": "return nx.exp(x) * {c} + x",
    "reduction": "return nx.sum(x * {c}) + nx.reduce_max(x)",
    "loop": """
        s, i = x * 0, 0
        while i < 10:
            s = s + x * {c}
            if nx.sum(s) > 1e9:
                s = s / 2
            i += 1
        return s
    """,
    "NumPy program": """
        y = np.zeros(8)
        for i in range(8):
            y[i] = x[i] * {c}
        y[2:4] += 1
        return y
    """,
    "gradient": "return nx.grad(lambda t: nx.sum(nx.tanh(t) ** 2) * {c})(x)",
    "rows": "return nx.vmap(lambda t: nx.sin(t) * {c})(x)",
    "solution": "return nx.linalg.solve(x[:, None] * x[None, :] + {c} * nx.eye(8) * 20, x)",
    "network": """
        net = nn.serial(nn.dense(4), nn.relu, nn.dense(1))
        return net(net.init(nx.random.key(0), x[:, None]), x[:, None]) * {c}
    """,
    "random numbers": "return nx.random.normal(nx.random.key(3), shape=(8,))[0] * {c} + x",
    "hook": "return nx.hook(x * {c}, 'seen') + 1",
    "captured": "return nx.scan(lambda s, row: (s + row * {c}, s), nx.sum(x) * 0, x + held['by name'])[1]",
    "assignment": """
        x[1:3] = x[1:3] * {c}
        return x
    """,
}
NAMES = list(_TEXTS)
_ENTRIES = ("__enter__", "__exit__", "acquire", "release", "append", "pop", "update", "set", "clear", "remove")


class Moments:
    """Counts the moments of a call, and interrupts at one of them.

    Parameters
    ----------
    at : int, optional
        At which one.
    seldom : bool
        Whether only those count at which something is entered or left, which are few and where more can go wrong.
    """

    def __init__(self, at=None, seldom=False):
        self.at, self.seldom, self.count, self.where = at, seldom, 0, None

    def __call__(self, frame, event, argument):
        if event not in ("call", "c_return"):
            return
        name = frame.f_code.co_name if event == "call" else getattr(argument, "__name__", "")
        if self.seldom and name not in _ENTRIES and frame.f_code.co_name not in _ENTRIES:
            return
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            file = os.path.basename(frame.f_code.co_filename)
            self.where = f"{event} of {name}, {file} line {frame.f_lineno}"
            raise KeyboardInterrupt

    def follow(self, function, argument):
        """Call a function, and follow it."""
        sys.setprofile(self)
        try:
            return function(argument)
        finally:
            sys.setprofile(None)


def made(name, number):
    """A function that was never there before, as from a cell: the plain one."""
    body = _TEXTS[name].replace("{c}", str(1 + number / 1e6))
    lines = [line[8:] if "\n" in body else line for line in body.strip("\n").split("\n")]
    text = "\n".join(["def f(x):", *[f"    {line}" for line in lines]]) + "\n"
    file = f"<moment {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"nx": nx, "np": np, "nn": nn, "held": {"by name": np.arange(8.0)}}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def argument():
    """What the functions are called with; some assign into it."""
    return np.arange(8.0) / 8 + 0.1


def faults(function, f):
    """What is wrong after an interrupt of f."""
    found = []
    right = np.asarray(nx.defn(compiler="evaluator")(function)(argument()))
    if tracing.current() is not None:
        found.append("a trace is still active")
    if types.follows_numpy():
        found.append("the rules of types are NumPy's")
    answers = []

    def ask():
        try:
            answers.append(np.asarray(f(argument())))
        except BaseException as error:
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(60)
    for who, answer in [("another thread", answers[0] if answers else None), ("the same call", f(argument()))]:
        if not isinstance(answer, BaseException | None) and np.allclose(np.asarray(answer), right, 1e-5):
            continue
        found.append(f"{who}: {'waits for ever' if answer is None else answer}, where {right} is right")
    if float(nx.add(1, 2.5)) != 3.5 or nx.add(1, 2.5).type != "f32":
        found.append("plain calls are not what they were")
    if code_store._building:
        found.append(f"being built: {code_store._building}")
    return found


def interrupt_all(count, seed, seldom):
    """Interrupt functions at random moments; gives how often, and every fault with the moment."""
    choose, counts, found, hits = random.Random(seed), {}, [], 0
    for number in range(count):
        name = choose.choice(NAMES)
        if name not in counts:
            for turn in range(2):
                code_store.forget()
                first = Moments(seldom=seldom)
                first.follow(nx.defn(made(name, 1_000_000 + number + turn * 500_000)), argument())
            counts[name] = first.count
        code_store.forget()
        function = made(name, number)
        f, moment = nx.defn(function), Moments(choose.randint(1, counts[name]), seldom)
        error = None
        try:
            moment.follow(f, argument())
        except KeyboardInterrupt as raised:
            # As a notebook does, which keeps the last traceback with everything that it holds.
            error = raised
        hits += error is not None
        try:
            wrong = faults(function, f)
        except Exception as raised:
            wrong = [f"{type(raised).__name__}: {raised}"]
        if wrong:
            found.append(f"{name}, interrupted at {moment.where}: {'; '.join(wrong)}")
            tracing._state.trace = None
    return hits, counts, found


if __name__ == "__main__":
    hits, counts, found = interrupt_all(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "seldom")
    print(hits, sum(counts.values()), "\n".join(found), sep="\n")
