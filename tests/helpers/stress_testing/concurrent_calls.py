"""Threads that call, redefine, ask and forget the same definitions, each as it comes to its mind.

What a call gives must be what one of the definitions gives that there were between its begin and its end: versions are
whole numbers that only grow, and a result tells its version.
"""

import linecache
import random
import sys
import threading
import time
import traceback

import numpy as np

import nxkernel as nx
from nxkernel import optim, training
from nxkernel.compilers.numba_cpu.runtime import code_store

#: What cells define, of which each version gives another number.
CELLS = {
    "f": """
@nx.defn(compiler="{compiler}")
def f(t, *, n=1):
    y = t * 0 + {version}
    for _ in range(n):
        y += {more}
    return y - n * {more}
""",
    "helper": """
def helper(t):
    return t * 0 + {version} + {more} - {more}
""",
    "curve": """
def curve(t):
    return nx.sum(nx.sin(t * 0) * {more} + t * {version}.0)
""",
    "h": """
import numpy as np

def h(a, k):
    a[k] = {version}
    a[1::2] += {more}
    total = 0.0
    for value in a:
        if value < 0:
            break
        total += value
    return total - a.sum() + a[k]
""",
    "rate": "rate = {version}.0",
    "weights": "import numpy as np\nweights = np.full(3, {version}.0)",
    "registry": """
registry = registry if {version} > 1 else {{}}
registry["rate"] = {version}.0
registry["name {version}"] = 1
registry.pop("name %d" % ({version} - 20), None)
""",
    "settings": "settings = {{'rates': [{version}.0, {more}], 'name': 'settings'}}",
}
READERS = """
@nx.defn(compiler="numba_cpu")
def of_helper(t):
    return nx.exp(t * 0) * between(t)

def between(t):
    return helper(t)

@nx.defn(compiler="numba_cpu")
def of_rate(t):
    return t * 0 + rate

@nx.defn(compiler="numba_cpu")
def of_weights(t):
    return t * 0 + weights

@nx.defn(compiler="numba_cpu")
def of_registry(t):
    return t * 0 + registry.get("rate")

@nx.defn(compiler="numba_cpu")
def of_settings(t):
    return t * 0 + settings["rates"][0]
"""


def watched(t):
    return nx.hook(t / 2, "half") + 1


#: Of a square matrix, by loops, by BLAS and LAPACK, and by routines of our own.
LARGE = (
    lambda t: nx.sum(nx.exp(-t * t), axes=[0]),
    lambda t: nx.dot(t, nx.tanh(t)) + t,
    lambda t: nx.linalg.solve(nx.dot(t, nx.transpose(t)) + 300 * nx.eye(300), t[0]),
    lambda t: nx.sort(nx.reshape(t, (90_000,))),
    lambda t: nx.real(nx.fft(t)) + nx.cumulative_sum(t, axis=1),
)


class Version:
    """The number of a name's present definition, while threads define it anew."""

    def __init__(self, define):
        self._define, self._one = define, threading.Lock()
        self.begun = self.done = 0
        self.renew()

    def renew(self):
        with self._one:
            self.begun += 1
            self._define(self.begun)
            self.done = self.begun

    def check(self, call):
        """Assert that all numbers that a call gives are a version that there was between its begin and its end."""
        first = self.done
        found = np.unique(np.asarray(call()))
        last = self.begun
        assert found.size == 1, f"a result of several versions: {found}"
        assert first <= found[0] <= last, f"version {found[0]}, of those from {first} to {last}"


class Storm:
    """What threads share, and what they do to it.

    Parameters
    ----------
    seed : int

    Attributes
    ----------
    done : dict
        How often each action was done.
    failures : list of str
    """

    def __init__(self, seed):
        self.seed, self.failures = seed, []
        self.space, self._files = {"nx": nx, "__name__": "__main__"}, []
        self._lock = threading.Lock()
        self.versions = {name: Version(lambda version, name=name: self._define(name, version)) for name in CELLS}
        self._execute(READERS)
        self.actions = {
            self.redefine: 3, self.call: 6, self.read: 12, self.slope: 3, self.assign: 4, self.count: 6, self.race: 4,
            self.train: 2, self.share: 4, self.map: 2, self.hook: 3, self.ask: 2, self.forget: 1,
        }  # fmt: skip
        self.done = {action.__name__: 0 for action in self.actions}
        self.counted, self.calls = self._new("counted", "nx.sum(t) * n"), 0
        #: By the moment, a function that nobody has called before, and how often it is called.
        self.races = {}
        self._begin = time.monotonic()
        self.step = training.make_step(lambda w, x: nx.tanh(x @ w), lambda y, p: nx.sum((y - p) ** 2), optim.adam(0.1))
        self.losses = self._losses()
        self.matrix = np.random.default_rng(0).normal(size=(300, 300)).astype("f4")
        self.shared = [(nx.jit(one, compiler="numba_cpu"), self._bits(nx.jit(one)(self.matrix))) for one in LARGE]

    def _define(self, name, version):
        compiler = "evaluator" if version % 4 == 0 else "numba_cpu"
        self._execute(CELLS[name].format(version=version, more=f"{version % 3}.5", compiler=compiler))

    def _execute(self, text):
        """Run text as a cell, whose lines can be found."""
        with self._lock:
            # Two threads that took one name would each have the other's text.
            file = f"storm-{id(self)}-{len(self._files)}.py"
            self._files.append(file)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), self.space)

    def _new(self, name, value):
        """A definition that no other storm knows."""
        name = f"{name}_{id(self)}"
        exec(f"def {name}(t, *, n=1):\n    return {value}\n", self.space)
        return nx.jit(self.space[name], compiler="numba_cpu")

    # Actions -----------------------------------------------------------------------------------------------------

    def redefine(self, choose):
        self.versions[choose.choice(list(CELLS))].renew()

    def call(self, choose):
        x, n = np.ones(choose.randint(1, 4)), choose.randint(0, 3)
        self.versions["f"].check(lambda: self.space["f"](x, n=n))

    def read(self, choose):
        name = choose.choice(["helper", "rate", "weights", "registry", "settings"])
        self.versions[name].check(lambda: self.space[f"of_{name}"](np.ones(3)))

    def slope(self, choose):
        x = np.ones(choose.randint(1, 3))
        self.versions["curve"].check(lambda: nx.grad(self.space["curve"])(x))

    def assign(self, choose):
        a, k = np.ones(6), 2 * choose.randint(0, 2)
        self.versions["h"].check(lambda: nx.defn(self.space["h"])(a, k))
        # An element that was assigned, and one that grew.
        assert a[k] >= 1, a
        assert a[1] in (1.5, 2.5, 3.5), a

    def count(self, choose):
        size, n = choose.randint(0, 3), choose.randint(1, 3)
        with self._lock:
            self.calls += 1
        assert float(self.counted(np.ones(size), n=n)) == size * n

    def race(self, choose):
        """The first calls of a function: whoever comes within a moment calls the same one."""
        moment = int(20 * (time.monotonic() - self._begin))
        with self._lock:
            if moment not in self.races:
                self.races[moment] = [self._new(f"race_{moment}", f"t * t + {moment}"), 0]
            self.races[moment][1] += 1
        assert float(self.races[moment][0](3.0)) == moment + 9.0

    def train(self, choose):
        assert self._losses() == self.losses

    def share(self, choose):
        """Work that all processors share; who does not get them does it alone, and gets the same bits."""
        one, bits = choose.choice(self.shared)
        assert self._bits(one(self.matrix)) == bits

    def map(self, choose):
        rows = np.arange(6.0).reshape(3, 2)
        self.versions["curve"].check(lambda: nx.vmap(nx.grad(self.space["curve"]))(rows))

    def hook(self, choose):
        seen, x = [], choose.randint(0, 99)
        found = nx.jit(watched, hooks={"half": lambda half: seen.append(float(half))}, compiler="numba_cpu")(float(x))
        assert (float(found), seen) == (x / 2 + 1, [x / 2])

    def ask(self, choose):
        f = self.space[choose.choice(["f", "of_helper", "of_rate"])]
        assert f.why(np.ones(3)).hit in (True, False)
        assert f.cache_info().misses >= 0
        assert repr(f).startswith("<definition ")
        assert isinstance(nx.events(), list)

    def forget(self, choose):
        one = choose.choice(
            [self.space["f"], self.space["of_helper"], self.space["of_rate"], self.step, self.shared[0][0]]
        )
        one.clear_cache()
        if choose.random() < 0.2:
            code_store.forget()

    def _bits(self, result):
        return result.to_numpy().tobytes()

    def _losses(self):
        rng = np.random.default_rng(1)
        weights, batch = rng.normal(size=(3, 2)), (rng.normal(size=(8, 3)), rng.normal(size=(8, 2)))
        state, losses = optim.adam(0.1).init(weights), []
        for _ in range(3):
            weights, state, loss = self.step(weights, state, batch)
            losses.append(float(loss))
        return losses

    # A run -------------------------------------------------------------------------------------------------------

    def run(self, seconds, count, patience):
        """Let threads act for some seconds; whether all of them came to an end within `patience` more."""
        end, often = time.monotonic() + seconds, sys.getswitchinterval()
        threads = [threading.Thread(target=self._act, args=(place, end), daemon=True) for place in range(count)]
        sys.setswitchinterval(1e-5)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(max(end + patience - time.monotonic(), 0))
        finally:
            sys.setswitchinterval(often)
            for file in self._files:
                linecache.cache.pop(file, None)
        return not any(thread.is_alive() for thread in threads)

    def _act(self, place, end):
        choose = random.Random(f"{self.seed} {place}")
        actions, weights = list(self.actions), list(self.actions.values())
        while time.monotonic() < end and not self.failures:
            (action,) = choose.choices(actions, weights)
            try:
                action(choose)
            except Exception:
                self.failures.append(f"{action.__name__}: {traceback.format_exc()}")
            with self._lock:
                self.done[action.__name__] += 1
