"""What stress tests share: how often, programs that compile anew, child processes, and what is told meanwhile."""

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

from nxkernel.compilers.cache import disk_cache, user_key

#: Operations of random programs: what nxkernel does, and what NumPy does.
_STEPS = {
    "square": ("t * t", "t * t"),
    "tanh": ("nx.tanh(t)", "np.tanh(t)"),
    "shift": ("t + x", "t + x"),
    "half": ("t * 0.5", "t * 0.5"),
    "abs": ("nx.abs(t)", "np.abs(t)"),
    "sine": ("nx.sin(t)", "np.sin(t)"),
    "centre": ("t - nx.mean(t)", "t - np.mean(t)"),
    "greater": ("nx.max(t, x)", "np.maximum(t, x)"),
    "turn": ("nx.reverse(t)", "t[::-1]"),
}
#: Enough that graphs have records on disk, too.
LENGTH = 34
#: Seconds after which a person would interrupt again: Python throws an interrupt away that strikes where something is
#: collected (in ``__del__`` and where weak references go).
AGAIN = 10


def many(name, default):
    """How often something is done: by an environment variable, ``NXKERNEL_STRESS_<NAME>``, or as given."""
    return int(os.environ.get(f"NXKERNEL_STRESS_{name}", default))


def program(number):
    """A function of one array whose kernels nobody else has: for nxkernel, and the same for NumPy."""
    chosen = random.Random(number).choices(list(_STEPS), k=LENGTH)
    made = []
    for side in (0, 1):
        lines = [f"    t = {_STEPS[name][side]}" for name in chosen]
        space = {"np": np}
        if not side:
            import nxkernel as nx

            space["nx"] = nx
        exec("\n".join(["def f(x):", "    t = x", *lines, "    return t"]), space)
        made.append(space["f"])
    return made


def argument():
    """What programs are called with."""
    return np.linspace(-1.5, 1.5, 101)


def steady(choose):
    """The number of a program that does not make much of how its operations round, as some do."""
    while True:
        number = choose.randrange(10**9)
        function, x = program(number)[1], argument()
        with np.errstate(all="ignore"):
            if np.allclose(function(x), function(x * (1 + 1e-14)), rtol=1e-11, atol=1e-11):
                return number


def is_right(number, result):
    """Whether a program gave what NumPy gives."""
    return np.allclose(np.asarray(result), program(number)[1](argument()), rtol=1e-9, atol=1e-9)


def variables(folder, more=()):
    """The environment of a process that imports what this one does, with a cache folder of its own, or without one."""
    inherited = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": inherited, "NXKERNEL_CACHE_DIR": str(folder), **dict(more)}


def start(text, *arguments, folder="off", environment=(), **more):
    """Start a new Python process that runs a text, and hears interrupts where this one, in the background, does not."""
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-c", heard + textwrap.dedent(text), *map(str, arguments)]
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
    return subprocess.Popen(command, env=variables(folder, environment), **more)


def run(text, *arguments, seconds=300, **more):
    """Run a text in a new process to its end; what it printed, and what it said as a warning or an error."""
    process = start(text, *arguments, **more)
    try:
        printed, said = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert process.returncode == 0, f"the process ended with {process.returncode}:\n{printed}\n{said}"
    return printed, said


def kept(folder):
    """The files of a cache folder: whole ones, and temporary ones."""
    files = [path for path in Path(folder).glob("*/*") if path.is_file()]
    temporary = [path for path in files if path.name.startswith(disk_cache._TEMPORARY)]
    return [path for path in files if path not in temporary], temporary


def is_whole(path):
    """Whether a file of the cache is what was written."""
    place = disk_cache.CacheFolder(None, user_key.key(user_key.place()))
    return place.opened(path.name, path.read_bytes()) is not None
