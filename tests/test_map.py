"""What the map of the rooms says is so: its floors are those of the imports, and what it names is there."""

import ast
import functools
import graphlib
import re
from pathlib import Path

import pytest

from nxkernel import passes

ROOT = Path(__file__).resolve().parent.parent
MAP = (ROOT / "nxkernel" / "README.md").read_text()
#: How an elementary function is added, and a primitive.
RECIPES = (ROOT / "nxkernel" / "ops" / "README.md").read_text()
#: Pages that name files.
PAGES = ["docs/decisions.md", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "nxkernel").rglob("README.md"))]
SOURCES = {
    "nxkernel": ROOT / "nxkernel",
    "nxkernel_lab": ROOT / "extension" / "nxkernel_lab",
    "nxkernel_magics": ROOT / "magics" / "nxkernel_magics",
}
#: Imports that go up, all of them in functions, with what asks for them.
UPWARDS = {
    ("element_types", "ops"): "a type that is called makes a tensor",
    ("backends", "graph"): "bodies of reductions, loops and choices are graphs",
    ("ops", "numpy"): "operators in a program that follows NumPy's types",
    ("ops", "definitions"): "primitives on tensors of a device are programs",
    ("compilers", "__init__"): "the version is part of what names files on disk",
    ("__init__", "nxkernel_magics"): "IPython's extension",
    ("passes", "transforms"): "a pass is imported when it first runs",
    ("passes", "compilers"): "a pass is imported when it first runs",
    ("passes", "graph"): "what checks the graph that a pass leaves is imported when it first does",
}
#: Packages of notebooks, which the library does without.
OF_NOTEBOOKS = {"IPython", "ipywidgets", "anywidget", "jupyterlab", "nxkernel_lab"}


def floors():
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", MAP, re.MULTILINE)
    return {
        name.strip("/").rsplit("/")[-1]: int(floor) for floor, names in rows for name in re.findall("`(.+?)`", names)
    }


FLOORS = floors()


def room_of(module):
    """The room of a module by its full name."""
    package, _, rest = module.partition(".")
    if package != "nxkernel":
        return package
    return rest.partition(".")[0] or "__init__"


@functools.cache
def is_module(name):
    """Whether a dotted name is one of our modules or packages."""
    package, _, rest = name.partition(".")
    path = SOURCES.get(package, ROOT / "nowhere").joinpath(*rest.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(path):
    """The modules that a file imports, and whether in a function; those for types alone are none."""
    todo = [(ast.parse(path.read_text()), False)]
    while todo:
        node, waits = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, waits) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from ((name if is_module(name) else node.module, waits) for name in names)
        waits = waits or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        todo += [(child, waits) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]


#: The module of the list of passes, which names their functions and verifiers by strings: `imported` imports them.
PASSES = "nxkernel.passes"


def named_by_passes():
    """The modules that the list of passes names by strings, as imports that wait."""
    listed = [one for compiler in passes.COMPILERS for one in passes.passes_of(compiler)]
    paths = {path for one in listed for path in (one.runs, one.verifier) if path}
    return [(module, True) for module in sorted({f"nxkernel.{path.partition(':')[0]}" for path in paths})]


@functools.cache
def all_imports():
    """By full name of a module, what it imports."""
    found = {
        ".".join([package, *path.relative_to(folder).with_suffix("").parts]): list(imports(path))
        for package, folder in SOURCES.items()
        for path in folder.rglob("*.py")
    }
    found[PASSES] += named_by_passes()
    return found


def crossings():
    """Every import between two rooms: the one that asks, the one that it asks for, whether it waits, and the module."""
    for name, found in all_imports().items():
        for module, waits in found:
            if module.partition(".")[0] in SOURCES and room_of(module) != room_of(name):
                yield room_of(name), room_of(module), waits, name


def is_below(asking, asked):
    """Whether a room may import another one at once; modules on the ground may import each other."""
    ground = FLOORS[asking] == FLOORS[asked] == 0
    return ground or FLOORS[asked] < FLOORS[asking]


def test_every_room_is_on_a_floor():
    found = {
        path.stem for path in SOURCES["nxkernel"].iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set(FLOORS) == found | {"nxkernel_lab", "nxkernel_magics"}


def test_rooms_import_from_floors_below():
    assert [(*rooms, name) for *rooms, waits, name in crossings() if not waits and not is_below(*rooms)] == []


def test_what_goes_up_waits_for_a_call_and_is_listed():
    assert {tuple(rooms) for *rooms, waits, _ in crossings() if waits and not is_below(*rooms)} == set(UPWARDS)


#: Folders with folders in them, and how many of these may import each other, pair by pair.
ARROWS = {
    "definitions": 40, "definitions.flow": 9, "compilers": 28, "compilers.numba_cpu": 13, "compilers.numba_cuda": 10,
    "numpy": 38, "ops": 24, "transforms.adjoints": 9,
}  # fmt: skip
#: Modules of a folder at most.
MOST = 15
#: Imports of our own modules that wait in functions until they are called, with what they wait for.
WAITING = {
    "a pass is imported when it first runs, and its verifier when that first checks": [
        ("passes", "compilers.evaluator"),
        ("passes", "compilers.numba_cpu.program.compilation"),
        ("passes", "compilers.numba_cpu.program.graph_compilation"),
        ("passes", "compilers.numba_cpu.program.verify"),
        ("passes", "compilers.numba_njit.executable"),
        ("passes", "compilers.numba_njit.module_source"),
        ("passes", "compilers.numba_cuda.program.executable"),
        ("passes", "compilers.numba_cuda.program.graph_compilation"),
        ("passes", "compilers.numba_cuda.program.host_steps"),
        ("passes", "compilers.numba_cuda.program.launch_modes"),
        ("passes", "compilers.plan.planner"),
        ("passes", "compilers.plan.verify"),
        ("passes", "compilers.plan.verify_draft"),
        ("passes", "compilers.rewrite.array_layouts"),
        ("passes", "compilers.rewrite.columns.interchange"),
        ("passes", "graph.verify"),
        ("passes", "transforms.simplify"),
    ],
    "a notebook asks for them": [
        ("__init__", "nxkernel_magics"),
    ],
    "Numba asks for the type of a tensor, and has been imported then": [
        ("tensor.tensor", "tensor.numba_types"),
    ],
    "one of both: CuPy is there with a GPU, Numba's simulator without one": [
        ("backends.cuda.devices", "backends.cuda.gpu_device"),
        ("backends.cuda.devices", "backends.cuda.simulated_device"),
        ("compilers.numba_cuda.language.intrinsics", "compilers.numba_cuda.language.simulated_intrinsics"),
        ("compilers.numba_cuda.language.intrinsics", "compilers.numba_cuda.toolchain.device_intrinsics"),
    ],
    "a graph has primitives, and some primitives have graphs": [
        ("backends.graph_evaluation", "backends.__init__"),
        ("backends.graph_evaluation", "graph.traverse"),
    ],
    "the compiler that is built in names the files, and reads them": [
        ("compilers.cache.disk_cache", "__init__"),
        ("compilers.cache.disk_cache", "compilers.registry"),
    ],
    "a program or kernel that is on disk does without": [
        ("compilers.numba_cpu.codegen.lower_nest", "compilers.numba_cpu.codegen.register_tiles"),
        ("compilers.numba_cpu.compiler", "compilers.numba_cpu.codegen.object_code"),
        ("compilers.numba_cpu.compiler", "compilers.numba_cpu.program.compilation"),
        ("compilers.numba_cpu.compiler", "compilers.numba_cpu.program.graph_compilation"),
        ("compilers.numba_cpu.program.executable", "compilers.plan.nested_plans"),
        ("compilers.numba_cpu.program.graph_compilation", "compilers.numba_cpu.codegen.lower_nest"),
        ("compilers.numba_cpu.program.graph_compilation", "compilers.numba_cpu.codegen.object_code"),
        ("compilers.numba_cpu.program.program_writer", "compilers.numba_cpu.codegen.inlined_kernels"),
        ("compilers.numba_cpu.routines.cumulative_plan", "compilers.numba_cpu.routines.scan_kernels"),
        ("compilers.numba_cpu.routines.sort_plan", "compilers.numba_cpu.routines.radix_sort"),
        ("compilers.numba_cpu.routines.sort_plan", "compilers.numba_cpu.routines.sorting_network"),
        ("compilers.numba_cpu.runtime.code_store", "compilers.numba_cpu.codegen.object_code"),
        ("compilers.numba_cpu.runtime.code_version", "compilers.numba_cpu.target.target_processor"),
        ("compilers.numba_cpu.runtime.loader", "compilers.numba_cpu.runtime.orc_linker"),
    ],
    "a measurement or a report asks for it": [
        ("compilers.numba_cpu.program.executable", "compilers.numba_cpu.program.kernel_clocks"),
        ("compilers.numba_cuda.program.executable", "compilers.numba_cuda.program.kernel_clocks"),
        ("compilers.numba_cuda.program.executable", "compilers.numba_cuda.program.occupancy"),
    ],
    "a special form of what is written, and written with it": [
        ("compilers.numba_cpu.codegen.lower_nest", "compilers.numba_cpu.codegen.row_reductions"),
        ("compilers.numba_cpu.codegen.user_functions", "compilers.numba_cpu.codegen.object_code"),
        ("compilers.numba_cpu.program.program_writer", "compilers.numba_cpu.program.parallel_loops"),
        ("compilers.numba_cpu.program.program_writer", "compilers.numba_cpu.program.step_interpreter"),
    ],
    "Numba CUDA is imported where kernels are compiled": [
        ("compilers.numba_cuda.toolchain.nvvm", "compilers.numba_cuda.toolchain.python_to_llvm"),
    ],
    "eigenvalues are those that NumPy's function gives the running program": [
        ("numpy.linalg", "numpy.scipy.called_algebra"),
    ],
    "masked arrays are rare": [
        ("numpy.arrays.array", "numpy.masked.masked_array"),
        ("numpy.dispatch_table", "numpy.masked.functions"),
    ],
    "who looks at a program, or calls a function of SciPy's, imports what is for that": [
        ("definitions.calls.content_identity", "definitions.calls.program_views"),
        ("numpy.dispatch_table", "numpy.scipy.counterparts"),
    ],
    "importing nxkernel imports nothing of GPUs": [
        ("definitions.devices.device_programs", "backends.cuda.availability"),
        ("definitions.devices.transfer", "backends.cuda.devices"),
        ("tensor.device", "backends.cuda.devices"),
        ("tensor.dlpack", "backends.cuda.devices"),
        ("ops.machinery.dispatch", "definitions.devices.eager_operations"),
    ],
    "the trace runs the function whose calls ask for it": [
        ("definitions.flow.operators.call_dispatch", "definitions.tracing.syntax_runtime"),
        ("definitions.flow.operators.output_calls", "definitions.tracing.hooks"),
    ],
    "a type that is called makes a tensor": [
        ("element_types", "ops.tensors.creation"),
    ],
    "a node tells what it is, and where it was made": [
        ("graph.expr", "graph.printing"),
        ("graph.expr", "graph.tracing"),
    ],
    "lists of traced values are joined": [
        ("numpy.arrays.array", "numpy.functions.joining"),
        ("numpy.arrays.subscripts", "numpy.arrays.array"),
        ("ops.machinery.dispatch", "ops.tensors.creation"),
        ("ops.tensors.creation", "ops.shapes.shaping"),
    ],
    "a mask picks of a part": [
        ("numpy.arrays.dynamic_slices", "numpy.arrays.masked_elements"),
    ],
    "the table is of the package's names": [
        ("numpy.dispatch_table", "numpy.__init__"),
    ],
    "a polynomial is fitted by least squares": [
        ("numpy.functions.index_tricks", "numpy.linalg"),
    ],
    "np.vectorize maps a function over entries": [
        ("definitions.flow.operators.call_dispatch", "definitions.autodiff.vmap"),
    ],
    "vectorized axes go by rules that apply primitives": [
        ("ops.machinery.dispatch", "ops.machinery.axis_alignment"),
        ("ops.machinery.dispatch", "ops.machinery.batching_rules"),
    ],
    "operators in a program that follows NumPy's types": [
        ("ops.tensor_methods", "numpy.functions.elementwise"),
        ("ops.tensor_methods", "numpy.functions.integer_powers"),
    ],
    "tables of other libraries are rare": [
        ("tensor.foreign_arrays", "tensor.dataframes"),
    ],
    "a tensor is copied to a device, where it is of another class": [
        ("tensor.tensor", "tensor.device"),
    ],
}
#: At most as many imports, of which a module may have several of one kind; those of the list of passes apart.
MOST_WAITING = 62


def arrows(package):
    """Pairs of folders, or modules, of a package of which the first imports the second, and whether at once."""
    prefix = f"nxkernel.{package}."
    found = {}
    for name, imported in all_imports().items():
        for module, waits in imported:
            if name.startswith(prefix) and module.startswith(prefix):
                pair = tuple(each[len(prefix) :].partition(".")[0] for each in (name, module))
                if pair[0] not in (pair[1], "__init__"):
                    found[pair] = found.get(pair, False) or not waits
    return found


@pytest.mark.parametrize("package", ARROWS)
def test_folders_import_downward(package):
    found = arrows(package)
    assert len(found) <= ARROWS[package]
    at_once = {}
    for asking, asked in (pair for pair, now in found.items() if now):
        at_once.setdefault(asking, set()).add(asked)
    # TopologicalSorter raises CycleError, which names the circle.
    assert list(graphlib.TopologicalSorter(at_once).static_order())


def test_folders_are_small():
    counts = {
        folder.relative_to(ROOT).as_posix(): len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        for source in SOURCES.values()
        for folder in [source, *source.rglob("*/")]
    }
    assert {folder: count for folder, count in counts.items() if count > MOST} == {}


def short(module):
    """The name of a module within the library; the names of the two other packages stay whole."""
    name = module.removeprefix("nxkernel.")
    return "__init__" if name == "nxkernel" else f"{name}.__init__" if (SOURCES["nxkernel"] / name).is_dir() else name


def test_few_imports_wait_and_are_listed():
    waiting = [
        (short(name), short(module))
        for name, found in all_imports().items()
        for module, waits in found
        if waits and module.partition(".")[0] in SOURCES
    ]
    assert len(waiting) <= MOST_WAITING + len(named_by_passes())
    listed = {pair for pairs in WAITING.values() for pair in pairs}
    assert set(waiting) == listed


def test_nothing_outside_compilers_imports_one_by_name():
    kinds = [f"nxkernel.compilers.{kind}" for kind in ("evaluator", "numba_cpu", "numba_cuda", "numba_njit")]
    found = {
        (name, module)
        for name, imported in all_imports().items()
        for module, _ in imported
        for kind in kinds
        if f"{module}.".startswith(f"{kind}.") and not f"{name}.".startswith(f"{kind}.")
    }
    # The list of passes is that of each compiler.
    assert {name for name, _ in found} == {PASSES}
    assert {(module, True) for _, module in found} <= set(named_by_passes())


def test_the_library_does_without_notebooks():
    found = {
        (name, module)
        for name, found in all_imports().items()
        for module, _ in found
        if name.startswith("nxkernel.") and module.partition(".")[0] in OF_NOTEBOOKS
    }
    assert found == set()


@pytest.mark.parametrize("page", PAGES)
def test_what_it_names_is_there_once(page):
    """A file is named by as much of its path as tells it from others, but for those of tests and benchmarks."""
    text = (ROOT / page).read_text()
    parts = [*SOURCES.values(), ROOT / "docs", ROOT / "tests", ROOT / "benchmarks"]
    there = {f"/{path.relative_to(ROOT).as_posix()}" for folder in parts for path in folder.rglob("*.*")}
    folders = {f"/{path.relative_to(ROOT).as_posix()}/" for folder in parts for path in [folder, *folder.rglob("*/")]}
    wrong = {}
    for name in re.findall(r"`([\w./-]+\.(?:py|js|ts|txt))`", text):
        matches = [path for path in there if path.endswith(f"/{name}")]
        matches = [path for path in matches if not path.startswith(("/tests", "/benchmarks"))] or matches
        if len(matches) != 1 and not (ROOT / name).is_file():
            wrong[name] = matches
    for name in re.findall(r"`([\w./-]+/)`", text):
        if not any(folder.endswith(f"/{name.removeprefix('../')}") for folder in folders):
            wrong[name] = []
    assert wrong == {}


def test_the_map_is_one_page():
    assert len(MAP.splitlines()) <= 70


#: Python's own functions of a number, which definitions may call, are listed there.
OF_PYTHON = "nxkernel/definitions/flow/operators/python_math.py"


def test_an_elementary_function_is_named_in_the_files_of_its_recipe_alone():
    recipe = re.search(r"^An elementary function of one number.*?(?=\n\n#)", RECIPES, re.MULTILINE | re.DOTALL)[0]
    told = re.findall(r"`([\w/]+\.py)`(?=[:,])", recipe.partition("\n\n")[2])
    assert len(told) == 6
    files = [*SOURCES["nxkernel"].rglob("*.py"), *(ROOT / "tests" / "helpers").rglob("*.py")]
    # What has the names of SciPy's functions is apart.
    files = [path for path in files if "scipy" not in path.relative_to(ROOT).as_posix()]
    naming = {path.relative_to(ROOT).as_posix() for path in files if re.search(r"\berfc\b", path.read_text())}
    assert len(naming) == 7
    assert {path for path in naming if not path.endswith(tuple(told))} == {OF_PYTHON}
