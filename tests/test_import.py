"""What importing nxkernel brings in: nothing that only a compilation or a notebook needs."""

import subprocess
import sys

import pytest

LATER = ["IPython", "anywidget", "ipywidgets", "jax", "llvmlite", "numba", "scipy"]


def loaded_after(code):
    """Which of the packages that should wait are loaded after some code in a new process."""
    ask = f"import sys; print(*[name for name in {LATER!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import nxkernel",
        "import nxkernel as nx; nx.sum(nx.exp(nx.tensor([1.0]))).to_numpy(); repr(nx.iota((2, 2)))",
        "import nxkernel as nx; f = nx.defn(lambda t: t + 1); f.cache_info(); nx.events(); repr(f)",
        "import nxkernel as nx; nx.jit(lambda t: t + 1, compiler='evaluator')(1.0)",
    ],
)
def test_what_waits_until_it_is_needed(code):
    assert loaded_after(code) == []


def test_a_compilation_brings_in_what_it_needs():
    found = loaded_after("import nxkernel as nx; nx.jit(lambda t: t + 1, compiler='numba_cpu')(1.0)")
    assert "llvmlite" in found
    assert not {"IPython", "anywidget", "ipywidgets", "jax"} & set(found)
