"""The reference's pages, one a package, written from what the packages say is public."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

import nxkernel
import nxkernel.numpy
import nxkernel_lab
import nxkernel_magics.subcommands
from nxkernel import errors
from nxkernel.backends.cuda import availability, devices
from nxkernel.backends.cuda import device_interface as device
from nxkernel.ops import __all__ as vocabulary
from nxkernel.ops.numpy_names import aliases

#: Modules of ``nxkernel.ops`` in the order in which people meet them.
_FAMILIES = (
    "tensors.creation", "tensors.literals", "arithmetic.elementwise", "arithmetic.elementary", "arithmetic.comparison",
    "arithmetic.casting", "shapes.shaping", "shapes.indexing", "shapes.gathering",
    "shapes.indexed_updates", "shapes.diagonals", "shapes.padding",
    "reductions.reduction", "reductions.extremes", "reductions.statistics", "reductions.cumulative",
    "reductions.user_reductions", "reductions.windows", "shapes.sorting", "reductions.contraction",
    "reductions.convolution", "reductions.fourier",
    "tensors.vectorized_axes", "shapes.batching", "tensors.inspection", "tensors.python_conversion",
    "programs.numba_functions", "numpy_names.creation", "numpy_names.selection", "numpy_names.axes",
)  # fmt: skip
#: Modules of ``nxkernel.definitions`` and what their sections are called.
_DEFINING = {
    "calls.decorators": "Compiled functions", "calls.compiled": "Compiled once, for fixed types and shapes",
    "calls.definition": "What a definition answers",
    "keys.options": "Options", "keys.tree_functions": "Containers", "devices.transfer": "Where tensors are",
    "flow.control.control_functions": "Loops and branches", "autodiff.grad": "Gradients",
    "autodiff.jvp_vjp": "Linear maps of derivatives", "autodiff.matrices": "Matrices of derivatives",
    "autodiff.custom_gradients": "Gradients of one's own", "autodiff.custom_tangents": "Tangents of one's own",
    "autodiff.implicit_functions": "Derivatives of solutions",
    "autodiff.vmap": "Functions of one entry", "tracing.hooks": "Hooks",
    "tracing.python_calls": "Calls of Python", "tracing.run_time_checks": "Checks", "streams.stream": "Streams",
    "observe.events": "What happened", "observe.compilation_guards": "No surprises",
    "outputs.nan_checks": "Where NaNs come from", "outputs.checked_programs": "Checked programs",
    "keys.default_options": "Default options",
}  # fmt: skip
_NUMPY_FAMILIES = (
    "functions.creation", "constants", "functions.elementwise", "functions.inspection", "functions.shaping",
    "functions.joining", "functions.selection", "functions.reductions", "functions.cumulative", "functions.statistics",
    "functions.products", "functions.sorting", "functions.signals", "functions.index_tricks", "called_functions",
    "standard.sets", "standard.data_types", "standard.devices",
)  # fmt: skip
_NUMPY_PACKAGES = ("linalg", "fft")


@dataclass
class Section:
    """Objects that belong together: what they are, and where each is imported from."""

    title: str
    about: str
    names: list[str] = field(default_factory=list)


@dataclass
class Page:
    """One package."""

    file: str
    title: str
    about: str
    sections: list[Section] = field(default_factory=list)
    extra: str = ""


def _first_line(module: ModuleType) -> str:
    # In reStructuredText `while_` alone would be a link.
    return re.sub(r"(?<!`)\b(\w+_)(?!\w)", r"``\1``", (module.__doc__ or "").strip().splitlines()[0])


def _section(title: str, module: ModuleType, prefix: str, names: Iterable[str]) -> Section:
    return Section(title, _first_line(module), [f"{prefix}.{name}" for name in names])


def _family(package: str, name: str, public: Iterable[str], title: str = "") -> Section:
    module = importlib.import_module(f"nxkernel.{package}.{name}")
    owned = getattr(module, "__all__", None)
    if owned is None:
        owned = [each for each in public if _home(getattr(nxkernel, each)) == module.__name__]
    return _section(
        title or name.rpartition(".")[2].replace("_", " ").capitalize(),
        module,
        "nxkernel",
        sorted(each for each in owned if each in public),
    )


def _home(value: Any) -> str | None:
    return getattr(inspect.unwrap(value) if callable(value) else value, "__module__", None)


def _room(path: str, file: str, title: str, *parts: str, prefix: str = "") -> Page:
    """A page of a package by its modules, and of the parts of it that are namespaces of their own."""
    package, prefix = importlib.import_module(path), prefix or path
    grouped: dict[str, list[str]] = {}
    for name in package.__all__:
        value = getattr(package, name)
        if not inspect.ismodule(value):
            grouped.setdefault(_home(value) or path, []).append(f"{prefix}.{name}")
    sections = []
    for home, names in grouped.items():
        module = importlib.import_module(home)
        sections.append(Section(home.split(".")[-1].strip("_").capitalize(), _first_line(module), sorted(names)))
    for part in parts:
        module = importlib.import_module(f"{path}.{part}")
        sections.append(_section(part.capitalize(), module, f"{path}.{part}", module.__all__))
    return Page(file, title, _first_line(package), sections)


def all_pages() -> list[Page]:
    """Every page but the index."""
    public = [name for name in nxkernel.__all__ if not inspect.ismodule(getattr(nxkernel, name))]
    types = [f"nxkernel.{name}" for name in public if isinstance(getattr(nxkernel, name), nxkernel.types.Type)]
    return [
        Page(
            "definitions",
            "Definitions",
            "What becomes a compiled program, and what is told about it.",
            [
                *[_family("definitions", name, public, title) for name, title in _DEFINING.items()],
                Section("Own classes", "Classes whose objects hold tensors.", ["nxkernel.container"]),
                Section(
                    "Threads", "How many threads kernels run on.", ["nxkernel.get_threads", "nxkernel.set_threads"]
                ),
            ],
        ),
        Page(
            "vocabulary",
            "Functions of tensors",
            "The vocabulary of definitions, which can be called outside of them, too.",
            [
                _family("ops", name, [each for each in vocabulary if f"nxkernel.{each}" not in types])
                for name in _FAMILIES
            ]
            + [_section("Other names", aliases, "nxkernel", aliases.ALIASES)],
        ),
        Page(
            "tensors",
            "Tensors, types, constants",
            "What functions take and give.",
            [Section("Tensors", "Arrays that never change.", ["nxkernel.Tensor", "nxkernel.Template"])],
            _methods() + _types(types) + _constants(),
        ),
        _room("nxkernel.linalg", "linalg", "Linear algebra"),
        _room("nxkernel.random", "random", "Random numbers"),
        _room("nxkernel.nn", "nn", "Networks", "losses", "metrics", "initializers"),
        _room("nxkernel.optim", "optim", "Optimizers"),
        _room("nxkernel.training", "training", "Training"),
        _room("nxkernel.integrate", "integrate", "Integrals and differential equations"),
        _room("nxkernel.interpolate", "interpolate", "Functions through points"),
        _room("nxkernel.optimize", "optimize", "Minima, least squares and roots"),
        _room("nxkernel.formats", "formats", "Files and bytes", prefix="nxkernel"),
        _gpus(),
        Page("numpy", "NumPy programs", _first_line(nxkernel.numpy), [], _numpy_names()),
        Page("notebooks", "Notebooks", "Magics, and views of compilations.", [_lab()], _magics()),
        Page("errors", "Errors and warnings", _first_line(errors), [_errors()]),
    ]


def _gpus() -> Page:
    package = "nxkernel.backends.cuda"
    return Page(
        "gpus",
        "GPUs",
        "What there is of GPUs and of their memory. Tensors are brought there by functions of "
        ":doc:`definitions <definitions>`, and the compiler ``numba_cuda`` makes programs run there.",
        [
            _section("Is there one?", availability, f"{package}.availability", ["is_available", "require", "state"]),
            _section("By number", devices, f"{package}.devices", ["count", "device", "simulating", "use_simulator"]),
            _section("A device", device, f"{package}.device_interface", ["Device", "DeviceMemory"]),
        ],
    )


def _lab() -> Section:
    return _section("Views", nxkernel_lab, "nxkernel_lab", nxkernel_lab.__all__)


def _errors() -> Section:
    classes = [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Warning | Exception)
    ]
    return Section(
        "By name",
        "All of Nx's errors are errors of Python's kinds, too.",
        [f"nxkernel.errors.{n}" for n in sorted(classes)],
    )


def _heading(text: str, under: str = "-") -> str:
    return f"{text}\n{under * len(text)}\n\n"


def _methods() -> str:
    """Functions that are methods of tensors, too."""
    tensor = nxkernel.tensor([1.0])
    names = [name for name in sorted(vocabulary) if callable(getattr(tensor, name, None))]
    about = (
        "Functions of tensors are methods, too, with the tensor in front: ``t.exp()`` is ``nx.exp(t)``. Of the names "
    )
    about += "of NumPy's parameters those that mean the same are taken, too: ``t.sum(axis=0, keepdims=True)`` is "
    about += "``t.sum(axes=[0], keep_axes=True)``, and ``dtype=`` is ``type=``.\n\n"
    return _heading("Methods") + about + ", ".join(f":func:`~nxkernel.{name}`" for name in names) + "\n\n"


def _types(names: list[str]) -> str:
    text = _heading("Types") + _directive("nxkernel.types.Type")
    for name in names:
        short = name.split(".")[-1]
        kind = getattr(nxkernel, short)
        about = f"NumPy's ``{kind.dtype}``, {kind.bits} bits. ``nx.{short}(…)`` makes a tensor of it."
        text += f".. py:data:: {name}\n\n   {about}\n\n"
    for name in nxkernel.types.__all__:
        value = getattr(nxkernel.types, name)
        if inspect.isfunction(value):
            text += _directive(f"nxkernel.types.{name}")
    return text


def _constants() -> str:
    text = _heading("Constants") + _first_line(nxkernel.constants) + "\n\n"
    return text + "".join(_directive(f"nxkernel.constants.{name}") for name in nxkernel.constants.__all__)


def numpy_names() -> dict[str, list[str]]:
    """The names of NumPy that NumPy programs may use, by the package of NumPy and by families."""
    found = {}
    for family in _NUMPY_FAMILIES:
        module = importlib.import_module(f"nxkernel.numpy.{family}")
        found[f"numpy: {family.rpartition('.')[2].replace('_', ' ')}"] = sorted(
            set(module.__all__) & set(nxkernel.numpy.__all__) & set(dir(numpy))
        )
    for package in _NUMPY_PACKAGES:
        ours = getattr(nxkernel.numpy, package)
        found[f"numpy.{package}"] = [name for name in getattr(numpy, package).__all__ if hasattr(ours, name)]
    return found


def missing_numpy_names() -> list[str]:
    """Functions of NumPy that there are not."""
    packages = {"numpy": (numpy, nxkernel.numpy)}
    packages |= {
        f"numpy.{package}": (getattr(numpy, package), getattr(nxkernel.numpy, package)) for package in _NUMPY_PACKAGES
    }
    return [
        f"{package}.{name}"
        for package, (theirs, ours) in packages.items()
        for name in sorted(theirs.__all__)
        if inspect.isroutine(getattr(theirs, name)) or isinstance(getattr(theirs, name), numpy.ufunc)
        if not hasattr(ours, name)
    ]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"``{name}``" for name in names) + "\n\n"


def _numpy_names() -> str:
    text = (
        "A definition that names ``np``, or a cell of ``%%jit``, is traced with these functions in the place of\n"
        "NumPy's. Each means what NumPy's means; types, views and assignments follow NumPy's rules.\n\n"
    )
    for title, names in numpy_names().items():
        text += _heading(title) + _names(names)
    methods = [
        name for name in dir(numpy.ndarray) if not name.startswith("_") and hasattr(nxkernel.numpy.ndarray, name)
    ]
    text += _heading("Methods and attributes of arrays") + _names(methods)
    text += _heading("Not there")
    text += "What ``numpy.random`` draws, the running program asks NumPy for, one call at a time; faster numbers come\n"
    text += "from the keys of :func:`nxkernel.random.key`. And these, which are refused by name:\n\n"
    return text + _names(missing_numpy_names())


def _magics() -> str:
    text = _heading("Commands of %nx")
    for name, command in sorted(nxkernel_magics.subcommands.COMMANDS.items()):
        about = inspect.cleandoc(command.__doc__ or "").splitlines()
        text += f"``%nx {name}``\n" + "".join(f"   {line}\n" if line else "\n" for line in about) + "\n"
    return text


def _directive(name: str) -> str:
    package, _, last = name.rpartition(".")
    value = getattr(importlib.import_module(package), last)
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    members = "   :members:\n" if kind == "class" and last not in ("Tensor", "Type") else ""
    return f".. auto{kind}:: {name}\n{members}\n"


def _text(page: Page) -> str:
    parts = [_heading(page.title, "="), page.about + "\n\n"]
    for section in page.sections:
        if section.names:
            parts += [_heading(section.title), section.about + "\n\n", *map(_directive, section.names)]
    return "".join(parts) + page.extra


#: Pages that stand in a file of their own beside this one.
_WRITTEN = ("compilers", "trust", "one-sitting")


def write(folder: Path) -> None:
    """Write the pages' sources, and an index of them, into a folder that is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = all_pages()
    index = _heading("nxkernel", "=") + _first_line(nxkernel) + "\n\n.. toctree::\n   :maxdepth: 2\n\n"
    names = [*(page.file for page in pages), *_WRITTEN]
    (folder / "index.rst").write_text(index + "".join(f"   {name}\n" for name in names), encoding="utf-8")
    for name in _WRITTEN:
        shutil.copy(Path(__file__).with_name(f"{name}.rst"), folder)
    for page in pages:
        (folder / f"{page.file}.rst").write_text(_text(page), encoding="utf-8")
