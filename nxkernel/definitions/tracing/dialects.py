"""The two dialects of a definition: Nx's, with immutable values, and NumPy's, with arrays that are assigned into.

A function has the dialect of the library whose functions it computes with; one that computes with neither has that of
what it is called with.
"""

from __future__ import annotations

import contextlib
import types as python
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel import numpy as nnp
from nxkernel import types
from nxkernel.definitions.flow.values import mutable_arguments
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.keys import argument_identity, bytecode_reads, callables, containers, source_locations
from nxkernel.definitions.keys.leaves import Leaf
from nxkernel.definitions.keys.static_values import CONTAINERS, installed
from nxkernel.errors import NxTypeError, PromotionWarning, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, SourceLocation, TracedValue, VectorizedExpr
from nxkernel.graph.tracing import Trace
from nxkernel.numpy import forwarding
from nxkernel.numpy.arrays.array import BY_LAYOUT, UNORDERED, Array, ArrayValue, Scalar
from nxkernel.ops.machinery import dispatch
from nxkernel.ops.tensors import inspection
from nxkernel.tensor.tensor import StoredTensor, Template

NX, NUMPY = "nx", "numpy"
#: What people are told.
NAMES = {NX: "Nx's", NUMPY: "NumPy's"}


class Dialect:
    """How a function sees its arguments and captured arrays while it is traced: Nx's dialect, as traced values.

    Parameters
    ----------
    run : Trace
        The trace that is active.
    """

    name = NX

    def __init__(self, run: Trace) -> None:
        self.run = run
        #: Position, value before, and the mutable argument, for each one that may be assigned into.
        self._mutable: list[tuple[int, Expr, MutableArgument | Array]] = []

    def rules(self) -> AbstractContextManager[None]:
        """A context in which the type promotion rules of the dialect hold."""
        return types.promotion(self.name)

    def argument(self, position: int, leaf: Leaf, node: Any) -> Any:
        """The value that the function gets for one leaf of its arguments."""
        if type(node) is not Expr:
            return node
        if leaf.assigned:
            argument = MutableArgument(node, leaf.path, leaf.array)
            self._mutable.append((position, argument.root.read(), argument))
            return argument
        if leaf.number and (node.type.is_float or node.type.is_complex):
            self.run.weak.add(node)
        mutable_arguments.remember(self.run, node, leaf.path, leaf.array)
        return node

    def captured(self, name: str, node: Any) -> Any:
        """What the function sees for a captured array."""
        return node

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into, and their final contents."""
        arguments = [(position, before, argument.root.content()) for position, before, argument in self._mutable]
        return [(position, after) for position, before, after in arguments if after is not before]

    def given_shapes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The arguments that were given another shape, and which."""
        return ()

    def copied(self) -> tuple[tuple[int, SourceLocation | None], ...]:
        """The arguments of which a copy was assigned into by `grad`, `vmap` and the like, and where."""
        lines = argument_identity.written(self.run)
        return tuple(
            [(position, lines[argument.root]) for position, _, argument in self._mutable if argument.root in lines]
        )

    def reshaped(self) -> frozenset[int]:
        """The arguments whose elements must be in C order for the program to be right.

        Whether a result such as that of ``reshape`` was a view or a copy depended on it, and later assignments, or the
        value itself, made a difference.
        """
        roots = set()
        for sources, seen in self.run.memory.get(BY_LAYOUT, ()):
            if _matters(seen):
                roots.update(sources)
        for what, seen in self.run.memory.get(UNORDERED, ()):
            if _matters(seen):
                raise NxTypeError(
                    message(
                        f"{what} is seen in another shape, and it or that is assigned into: whether that is a view or "
                        "a copy depends on the order of its elements, and only the running program knows which array "
                        "it is.",
                        "Begin with a copy of it, np.ascontiguousarray(x), or let all that it may be have one order.",
                    )
                )
        return frozenset(position for position, _, argument in self._mutable if argument.root in roots)


def _matters(seen: Sequence[tuple[Any, int]]) -> bool:
    """Whether something was assigned after a memory order was asked for, or the answer was a copy."""
    return not seen or any(root.writes > before for root, before in seen)


class NumpyDialect(Dialect):
    """Arguments and captured arrays as NumPy's arrays and scalars."""

    name = NUMPY

    def __init__(self, run: Trace) -> None:
        super().__init__(run)
        self._captured: dict[int, tuple[str, Expr, Array]] = {}

    def argument(self, position: int, leaf: Leaf, node: Any) -> Any:
        """An array, or a scalar for a number or a value without axes; Python numbers stay weakly typed."""
        if leaf.number:
            self.run.weak.add(node)
        if not node.shape and not leaf.array:
            return Scalar(node)
        array = Array.of(node, leaf.path)
        array.root.cell.shared = True
        self._mutable.append((position, array.root.read(), array))
        return array

    def captured(self, name: str, node: Any) -> Any:
        """An array, the same object each time."""
        if not node.shape:
            return Scalar(node)
        key = id(node.node if type(node) is VectorizedExpr else node)
        if key not in self._captured:
            array = Array.of(node, name)
            self._captured[key] = (name, array.root.read(), array)
        return self._captured[key][2]

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into, and their final contents.

        Raises
        ------
        NxTypeError
            When a captured array was assigned into, or given another shape.
        """
        for name, before, array in self._captured.values():
            if array.shape != array.root.shape:
                raise NxTypeError(
                    message(
                        f"{name} is an array from outside of the definition, and it is given the shape {array.shape}.",
                        f"{name}.reshape{array.shape} gives another array, and leaves this one as it is.",
                    )
                )
            if array.root.read() is not before:
                raise NxTypeError(
                    message(
                        f"{name} is an array from outside of the definition, and it is assigned into.",
                        *source_locations.line_of(array.root.read().source),
                        "Pass it as an argument: arrays that are arguments are changed as NumPy would.",
                    )
                )
        return super().changes()

    def given_shapes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The arguments that were given another shape, as by ``x.shape = 3, 2``, and which."""
        return tuple(
            [(position, array.shape) for position, _, array in self._mutable if array.shape != array.root.shape]
        )


DIALECTS: dict[str, type[Dialect]] = {NX: Dialect, NUMPY: NumpyDialect}


def is_static(value: Any) -> bool:
    """Whether a value is a static argument in a NumPy program: no number, array or container of them.

    A list, tuple or dict with text or objects in it is one, and a dataclass is a container where it holds arrays and
    nothing else than data.
    """
    if containers.is_leaf(value) or isinstance(value, TracedValue) or value is containers.LEFT_OUT:
        return False
    if not isinstance(value, CONTAINERS) and (containers.inside(value) is None or _met([value]) == _NUMBERS):
        return True
    try:
        return _taken_apart(value) is None
    except RecursionError:
        return not isinstance(value, CONTAINERS)


def current() -> str:
    """The dialect of the function that is being traced."""
    return NUMPY if types.follows_numpy() else NX


def inside(dialect: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call a definition while another one is traced: values are converted to its dialect, and the result back."""
    around = current()
    if dialect == around:
        return function(*args, **options)
    enter, leave = (_as_array, _as_traced) if dialect == NUMPY else (_as_traced, _as_array)
    entered: dict[int, Any] = {}

    def once(value: Any) -> Any:
        # One array in two places is one for the function, too.
        return entered[id(value)] if id(value) in entered else entered.setdefault(id(value), enter(value))

    with types.promotion(dialect):
        result = function(*[_each(once, value) for value in args], **options)
    return _each(leave, result)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to the leaves of a container; a value that is no container of tensors is returned as it is."""
    parts = _taken_apart(value)
    if parts is None:
        return value
    structure, leaves = parts
    return containers.rebuild(structure, iter([change(leaf) for leaf in leaves]))


class _NotTensorsError(Exception):
    pass


def _taken_apart(value: Any) -> tuple[containers.Structure, list[Any]] | None:
    """The structure and the leaves of a container of tensors, arrays and numbers; None for anything else."""
    leaves: list[tuple[str, Any]] = []
    try:
        structure = containers.flatten(value, "", leaves, lambda path, part: _NotTensorsError())
    except _NotTensorsError:
        return None
    return structure, [leaf for _, leaf in leaves]


def _as_array(value: Any) -> Any:
    if isinstance(value, ArrayValue) or dispatch.is_number(value):
        return value
    return nnp.wrap(dispatch.operand(value))


def _as_traced(value: Any) -> Any:
    return value.__nx_operand__() if isinstance(value, ArrayValue) else value


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


def holds_tensors(values: Iterable[Any]) -> bool:
    """Whether a tensor is among values, or in containers among them."""
    return _met(values) == _TENSORS


#: What is met among values, by how much it says.
_NUMBERS, _ARRAYS, _TENSORS = range(3)
_ARRAYS_ALONE = {np.ndarray}


def _met(values: Iterable[Any]) -> int:
    found, waiting, seen = _NUMBERS, list(values), set()
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind in _OF_PYTHON:
            continue
        if kind is np.ndarray:
            found = _ARRAYS
        elif kind is StoredTensor or isinstance(value, StoredTensor | Template):
            return _TENSORS
        else:
            inner = containers.inside(value)
            if inner is None:
                found = max(found, _ARRAYS * containers.is_leaf(value))
            elif id(value) not in seen:
                # One may hold itself: that is refused later.
                seen.add(id(value))
                waiting += [part for _, part in inner[2]]
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


_NO_COMPUTATION = ("nxkernel.definitions", "nxkernel.element_types", "nxkernel.types", "nxkernel.training")
