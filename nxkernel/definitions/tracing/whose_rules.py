"""Whose rules hold, Nx's or NumPy's: what the text of a function says of it, and the values that it is called with.

A function has the rules of the library whose functions it computes with; one that computes with neither has those of
what it is called with.
"""

from __future__ import annotations

import contextlib
import types as python
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.definitions.keys import bytecode_reads, callables, containers, source_locations
from nxkernel.definitions.keys.static_values import installed
from nxkernel.errors import PromotionWarning, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import SourceLocation
from nxkernel.numpy import forwarding
from nxkernel.ops.machinery import dispatch
from nxkernel.ops.tensors import inspection
from nxkernel.tensor.tensor import StoredTensor, Template

NX, NUMPY = "nx", "numpy"
#: What people are told.
NAMES = {NX: "Nx's", NUMPY: "NumPy's"}


def of(function: Any, default: str | None = None) -> str | None:
    """The dialect that the text of a function says: that of the library whose functions it computes with.

    With functions of both it is Nx's. Of nxkernel's own functions it is Nx's, too. `default` is what somebody has asked
    for in place of what texts say.

    Returns
    -------
    str or None
        None where it computes with neither: what a call passes decides (:func:`of_values`).
    """
    text = _text_of(function)
    if text is None:
        module = callables.module_of(callables.without_partials(function))
        return NUMPY if module.startswith("nxkernel.numpy") else _LIBRARIES.get(_root(module))
    if default is not None:
        return default
    libraries = computes_with(text)
    return NX if NX in libraries else NUMPY if libraries else None


def _text_of(function: Any) -> python.FunctionType | None:
    """The Python function whose text says whose rules hold; None for functions of the libraries themselves."""
    plain, function = callables.plain(function), callables.without_partials(function)
    is_library = _root(callables.module_of(function)) == "nxkernel" or isinstance(function, forwarding.Forwarded)
    return None if is_library or not isinstance(plain, python.FunctionType) else plain


def of_values(values: Iterable[Any]) -> str | None:
    """The dialect that values ask for: Nx's with a tensor among them, NumPy's with its arrays and scalars.

    Returns
    -------
    str or None
        None for Python's numbers alone.
    """
    values = tuple(values)
    if {*map(type, values)} == _ARRAYS_ALONE:  # most calls, where the loop below would cost a quarter of them
        return NUMPY
    return (None, NUMPY, NX)[_met(values)]


def are_numbers(values: Iterable[Any]) -> bool:
    """Whether nothing but Python's numbers is among values, or in containers among them."""
    return _met(values) == _NUMBERS


def holds_tensors(values: Iterable[Any]) -> bool:
    """Whether a tensor is among values, or in containers among them."""
    return _met(values) == _TENSORS


#: What is met among values, by how much it says.
_NUMBERS, _ARRAYS, _TENSORS = range(3)
_ARRAYS_ALONE = {np.ndarray}
_TENSOR_TYPES = (StoredTensor, Template)


def _met(values: Iterable[Any]) -> int:
    found, waiting, seen = _NUMBERS, list(values), set()
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind in _OF_PYTHON:
            continue
        if kind is np.ndarray:
            found = _ARRAYS
        elif kind is StoredTensor or isinstance(value, _TENSOR_TYPES):
            return _TENSORS
        else:
            inner = containers.members(value)
            if inner is None:
                found = max(found, _ARRAYS * containers.is_leaf(value))
            elif id(value) not in seen:
                # One may hold itself: that is refused later.
                seen.add(id(value))
                waiting += inner
    return found


#: What says nothing of whose rules hold.
_OF_PYTHON = frozenset({bool, int, float, complex, str, type(None)})
#: Functions of nxkernel that tell of a tensor what holds in both dialects.
_TELLING = frozenset({*inspection.__all__, "is_tensor", "template", "to_template", "type"})


def told(dialect: str | None, function: Any, asked: str | None = None) -> str:
    """Whose rules hold and what says so, for people.

    Parameters
    ----------
    dialect : str or None
        None where what is passed decides.
    function : callable
        The one whose text counts.
    asked : str, optional
        What somebody has asked for.

    Examples
    --------
    >>> total = eval("lambda x: np.sum(x)", {"np": np})  # as a module of somebody else has it
    >>> told("numpy", total), told(None, lambda x: x + 1)
    ("NumPy's rules: it computes with np.sum", 'the rules of what it is called with')
    """
    if dialect is None:
        return "the rules of what it is called with"
    rules, text = f"{NAMES[dialect]} rules", _text_of(function)
    if asked is not None:
        return f"{rules}, as promotion={asked!r} says"
    if text is None:
        return rules
    libraries = computes_with(text)
    if not libraries:
        helper = _helper_with_numpy(function) if dialect == NUMPY else None
        return f"{rules}: {helper or f'it computes with neither np nor nx, and {_MET[dialect]}'}"
    other = libraries.get(NUMPY if dialect == NX else NX)
    return f"{rules}: it computes with {libraries[dialect]}{f', and with {other}, too' if other else ''}"


_MET = {NX: "gets a tensor, or numbers alone", NUMPY: "gets or reads NumPy's arrays"}


def warning_of_both(function: Any) -> AbstractContextManager[None]:
    """A context that warns of the first type which NumPy's rules would make another one.

    Of functions that compute with both libraries: Nx's rules hold in them, and nobody has said so.
    """
    plain = _text_of(function)
    libraries = computes_with(plain) if plain is not None else {}
    if len(libraries) < 2:
        return contextlib.nullcontext()
    lines: list[SourceLocation] = []

    def told(type_: types.Type, of_numpy: types.Type) -> None:
        source = tracing.user_line()
        if source is None or lines:
            return
        lines.append(source)
        text = message(
            f"{source.function}: this line has {type_} by Nx's rules of types, which hold, and {of_numpy} by NumPy's.",
            f"The function computes with {libraries[NX]} and with {libraries[NUMPY]}.",
            'Say which are meant: promotion="nx" or promotion="numpy", as in @nx.defn(promotion="numpy").',
        )
        source_locations.warn(source, text, PromotionWarning)

    return types.comparing(told)


def computes_with(function: python.FunctionType) -> dict[str, str]:
    """The libraries whose functions a function names, with the first such name: of its text, not of what it calls.

    What only observes or transforms counts for neither, nor do types and constants.
    """
    libraries: dict[str, str] = {}
    for name, value in _named(function):
        library = _LIBRARIES.get(_root(name), "") if value is _IMPORTED else _library(value)
        libraries.setdefault(library, name)
    libraries.pop("", None)
    return libraries


def of_numbers(function: Any) -> str:
    """The dialect for calls with Python's numbers alone of a function whose text leaves it open.

    NumPy's where what it calls of the user's own computes with NumPy and with nothing else: in a program by Nx's rules
    that would be refused.
    """
    return NUMPY if _helper_with_numpy(function) else NX


def _helper_with_numpy(function: Any) -> str | None:
    """What a function calls that computes with NumPy, for people; None where nothing does, or something with Nx."""
    waiting, seen, found = [_text_of(function)], set(), None
    while waiting:
        plain = waiting.pop()
        if plain is None or plain in seen:
            continue
        libraries = computes_with(plain) if seen else {}
        seen.add(plain)
        if NX in libraries:
            return None
        if libraries and found is None:
            found = f"it calls {plain.__name__}, which computes with {libraries[NUMPY]}"
        waiting += [each for _, value in _named(plain) for each in _functions(value)]
    return found


def _functions(value: Any) -> list[python.FunctionType | None]:
    """The functions of the user's that a value which a function names leads to: itself, or the methods of a class."""
    if value is _IMPORTED or installed(value):
        return []
    if isinstance(value, type):
        return [each for each in vars(value).values() if isinstance(each, python.FunctionType)]
    return [_text_of(value)] if callable(value) else []


#: Stands for what a function imports by itself.
_IMPORTED = object()


def _named(function: python.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads by names, and by names in modules: the names, and the values."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for path in bytecode_reads.of_code(function.__code__).paths:
        first, *names = path.names
        value = _IMPORTED if path.root == "import" else None
        if path.root == "global":
            value = function.__globals__.get(first)
        elif path.root == "free":
            with contextlib.suppress(KeyError, ValueError):
                value = cells[first].cell_contents
        for name in names:
            if not isinstance(value, python.ModuleType):
                break
            value = _of_module(value, name)
        yield ".".join(path.names), value


def _of_module(module: python.ModuleType, name: str) -> Any:
    """What a module has under a name; the libraries load some of it when it is asked for, others may do anything."""
    if _root(module.__name__) in _LIBRARIES:
        return getattr(module, name, None)
    return vars(module).get(name)


_LIBRARIES = {"numpy": NUMPY, "scipy": NUMPY, "nxkernel": NX}


def _root(module: str) -> str:
    return module.partition(".")[0]


def _library(value: Any) -> str:
    """The library that a value which a function reads computes with, "" for none."""
    if isinstance(value, type) or dispatch.is_number(value) or isinstance(value, np.ndarray | StoredTensor | Template):
        return ""
    if isinstance(value, python.ModuleType):
        module = value.__name__
    elif isinstance(value, np.ufunc):
        module = "numpy"
    elif callable(value):
        module = str(getattr(value, "__module__", "") or "")
    else:
        module = type(value).__module__
    if module == "nxkernel" or module.startswith(_NO_COMPUTATION):
        return ""
    if module.startswith("nxkernel.numpy"):
        return NUMPY
    if module == "nxkernel.ops" and value.__name__ in _TELLING:
        return ""
    return _LIBRARIES.get(_root(module), "")


_NO_COMPUTATION = (
    "nxkernel.definitions", "nxkernel.element_types", "nxkernel.integrate", "nxkernel.interpolate", "nxkernel.optimize",
    "nxkernel.training", "nxkernel.types",
)  # fmt: skip
