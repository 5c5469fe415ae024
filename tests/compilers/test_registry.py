"""The registry of compilers, and one that another distribution brings: that of the page about compilers."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from nxkernel.compilers import registry
from nxkernel.errors import NxValueError


def test_names():
    assert registry.names() == ["evaluator", "numba", "numba_cpu", "numba_cuda"]
    assert [registry.get(name).name for name in registry.names()] == registry.names()


def test_a_compiler_is_made_once_and_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_made", {})
    made = []

    class Mine:
        name = "mine"

        def __init__(self):
            made.append(self)

    registry.register("mine", Mine)
    assert made == []
    assert registry.get("mine") is registry.get("mine") is made[0]
    assert len(made) == 1


def test_a_compiler_that_there_is_not():
    with pytest.raises(NxValueError) as error:
        registry.get("numba_gpu")
    known = "'auto', 'evaluator', 'numba', 'numba_cpu', 'numba_cuda', and 'numba_cuda:1' for a second GPU"
    assert str(error.value) == (
        f"there is no compiler 'numba_gpu'.\n  Did you mean 'numba_cuda'?\n  The compilers are {known}."
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("cuda", "numba_cuda"), ("GPU", "numba_cuda"), ("cuda:1", "numba_cuda:1"), ("cpu", "numba_cpu"),
        ("njit", "numba"), ("numba_cqu", "numba_cpu"), ("numpy", "evaluator"), ("autp", "auto"),
    ],
)  # fmt: skip
def test_what_a_compiler_is_called_elsewhere(given, meant):
    with pytest.raises(NxValueError, match=f"no compiler '{given}'.\n  Did you mean '{meant}'\\?"):
        registry.get(given)


@pytest.mark.parametrize("given", ["gcc", 3, "x"])
def test_names_that_are_near_none(given):
    with pytest.raises(NxValueError) as error:
        registry.get(given)
    assert "Did you mean" not in str(error.value)


def test_a_compiler_for_another_device():
    assert registry.get("numba_cuda:1") is registry.get("numba_cuda:1")
    assert (registry.get("numba_cuda:1").name, registry.get("numba_cuda:1").which) == ("numba_cuda:1", 1)
    assert registry.get("numba_cuda").which == 0


PAGE = (Path(__file__).parents[2] / "docs" / "compilers.rst").read_text("utf-8")
#: What is run in another process, where the distribution is on the path.
ASKED = """
import nxkernel as nx
import numpy as np
import sys

from nxkernel.compilers import registry
from nxkernel.errors import CompilationError, NxValueError
from nxkernel_lab import to_text

print("plain_numpy" in sys.modules, registry.names())


@nx.defn(compiler="plain_numpy")
def softmax(t):
    return nx.exp(t) / nx.sum(nx.exp(t))


@nx.defn(compiler="plain_numpy")
def halvings(x):
    while nx.sum(x) > 1.0:
        x = x / 2.0
    return x


@nx.defn(compiler="plain_numpy")
def assign(x):
    x[0] = 5.0
    return x


x = np.array([0.0, np.log(3.0)])
print(softmax.why(x))
print(np.round(softmax(x).to_numpy(), 6))
print(softmax.why(x[:1]))

print([(event.kind, event.function) for event in nx.events()])
(view,) = softmax.compilations()
print(view)
print(view.kernels[0].texts["graph"]())
print(to_text(view).partition('\\n\\n')[0])
found = softmax.measure(x).measurement
print(sorted(found.kernels), found.how)
print(assign(np.zeros(2)).tolist(), x[0])
nx.set_threads(1)
for name in ("plain_numpi", "plain_numpy:1"):
    try:
        nx.default_options(compiler=name)
    except NxValueError as error:
        print(error)
try:
    halvings(x)
except CompilationError as error:
    print(error)
"""
#: What that prints.
TOLD = """\
False ['evaluator', 'numba', 'numba_cpu', 'numba_cuda', 'plain_numpy']
softmax would compile: first call
  kernel 1 (4 calls of NumPy): new
  Nx's rules: it computes with nx.exp
[0.25 0.75]
softmax would compile: argument t: f64[2] → f64[1]
  kernel 1 (4 calls of NumPy): new
  closest: compiled SO_MUCH ago in asked.py, line 33, called 1 time
  Nx's rules: it computes with nx.exp
[('kernel', 'softmax'), ('miss', 'softmax')]
<compilation softmax(t: f64[2]): 1 kernel>
#Nx.Tensor<
  f64[2]

  Nx.Defn.Expr
  parameter a:0                          f64[2]
  b = exp a                              f64[2]
  c = sum b, axes=[0], keep_axes=False   f64
  d = broadcast c, shape=(2,), axes=[]   f64[2]
  e = divide b, d                        f64[2]
>
softmax(t: f64[2])
  compiled by plain_numpy in asked.py, line 33 · trace SO_MUCH, lowering SO_MUCH, native code SO_MUCH · answered 1 call
  first call
  arguments
    a = t   f64[2]
  kernel 1 · 4 calls of NumPy · compiled in SO_MUCH
    b = exp a                              f64[2]              asked.py, line 15: return nx.exp(t) / nx.sum(nx.exp(t))
    c = sum b, axes=[0], keep_axes=False   f64                 asked.py, line 15: return nx.exp(t) / nx.sum(nx.exp(t))
    d = broadcast c, shape=(2,), axes=[]   f64[2]              asked.py, line 15: return nx.exp(t) / nx.sum(nx.exp(t))
    e = divide b, d                        f64[2] → returned   asked.py, line 15: return nx.exp(t) / nx.sum(nx.exp(t))
[0] the median of SO_MUCH in a row on the inputs of your call, which caches may hold
[5.0, 0.0] 0.0
there is no compiler 'plain_numpi'.
  Did you mean 'plain_numpy'?
  The compilers are KNOWN, and 'numba_cuda:1' for a second GPU.
there is no compiler 'plain_numpy:1'.
  Did you mean 'plain_numpy'?
  The compilers are KNOWN, and 'numba_cuda:1' for a second GPU.
plain_numpy has no code for while (asked.py, line 20).
  Run this definition with compiler="numba_cpu".
"""


def code_blocks(language):
    """The blocks of code on the page."""
    blocks = re.findall(rf"\.\. code-block:: {language}\n\n((?:    .*\n|\n)+)", PAGE)
    return [textwrap.dedent(block) for block in blocks]


@pytest.fixture
def packages(tmp_path):
    """A folder where distributions are installed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


def install(packages, name, entry, module=""):
    """A distribution with an entry point, and with a module of its name."""
    information = packages / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[nxkernel.compilers]\n{entry}\n")
    (packages / f"{name}.py").write_text(module)


def printed(packages, code):
    """What code prints in a process that has a folder of distributions on its path."""
    folder = packages.parent
    (folder / "asked.py").write_text(code)
    path = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "asked.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = re.sub(r"[\d.]+ ([µm]s|s)\b|\d+ (seconds?|runs)\b", "SO_MUCH", done.stdout)
    return re.sub(r" +$", "", measured, flags=re.MULTILINE)


@pytest.mark.slow
def test_a_compiler_of_another_distribution(packages):
    module, settings = code_blocks("python")[0], code_blocks("toml")[0]
    assert len(module.splitlines()) < 80
    entry = re.search(r'(\w+) = "(.+)"', settings)
    install(packages, "plain_numpy", f"{entry[1]} = {entry[2]}", module)
    known = "'auto', 'evaluator', 'numba', 'numba_cpu', 'numba_cuda', 'plain_numpy'"
    assert printed(packages, ASKED) == TOLD.replace("KNOWN", known)


def test_compilers_that_cannot_be_used(packages):
    install(packages, "lost", "lost = not_there:Lost")
    install(
        packages,
        "halved",
        "halved = halved:Halved",
        "class Halved:\n    name = 'halved'\n    __repr__ = lambda self: 'Halved'",
    )
    code = """
        from nxkernel.compilers import registry
        from nxkernel.errors import CompilationError

        for name in ("lost", "halved"):
            try:
                registry.get(name)
            except CompilationError as error:
                print(error)
    """
    assert printed(packages, textwrap.dedent(code)) == textwrap.dedent(
        """\
        the compiler 'lost', which lost brings, cannot be loaded: ModuleNotFoundError: No module named 'not_there'
          Its entry point is not_there:Lost; install what it needs, or uninstall it.
        the compiler 'halved', which halved brings, is Halved.
          halved:Halved has to give an instance of nxkernel.compilers.interface.Compiler.
        """
    )
