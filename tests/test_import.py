"""What importing nxkernel brings in: nothing that only a compilation or a notebook needs."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import nxkernel
import nxkernel_lab
import nxkernel_magics

LATER = ["IPython", "anywidget", "ipywidgets", "jax", "llvmlite", "numba", "scipy"]
#: Of Python and NumPy: what few programs need, and what takes a millisecond or more.
SELDOM = ["_decimal", "fractions", "numpy.random", "nxkernel.formats", "uuid", "zipfile"]


def loaded_after(code):
    """Which of the packages that should wait are loaded after some code in a new process."""
    ask = f"import sys; print(*[name for name in {LATER + SELDOM!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_compilation_brings_in_what_it_needs():
    found = loaded_after("import nxkernel as nx; nx.jit(lambda t: t + 1, compiler='numba_cpu')(1.0)")
    assert "llvmlite" in found
    assert not {"IPython", "anywidget", "ipywidgets", "jax", "numba"} & set(found)


def imported(path, names):
    """The modules of the package that a module imports when it is itself imported."""
    found, todo = set(), [ast.parse(path.read_text("utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in names else node.module for name in whole}
        todo.extend(ast.iter_child_nodes(node))
    return found & names


@pytest.mark.slow
@pytest.mark.parametrize("package", [nxkernel, nxkernel_lab, nxkernel_magics], ids=lambda package: package.__name__)
def test_modules_import_no_circle(package):
    folder = Path(package.__file__).parent
    files = {".".join(path.relative_to(folder.parent).with_suffix("").parts): path for path in folder.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    imports = {name: imported(path, set(files)) - {name} for name, path in files.items()}
    # TopologicalSorter raises CycleError, which names the circle.
    assert len(list(graphlib.TopologicalSorter(imports).static_order())) == len(files)
