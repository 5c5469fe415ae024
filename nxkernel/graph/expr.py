"""The nodes of an expression graph, and the graph."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from nxkernel import primitives
from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.messages import other_libraries
from nxkernel.operand import Operand, VectorizedSpec
from nxkernel.primitives import Primitive, Spec
from nxkernel.shapes import unnamed
from nxkernel.types import Type


class SourceLocation(NamedTuple):
    """The line of user code that made a node, the network module it is in, and whether a gradient made it."""

    file: str
    line: int
    function: str
    module: str = ""
    gradient: bool = False


def at_line(source: SourceLocation | None) -> str:
    """The source location for the end of an error message; empty if unknown."""
    return f" ({source.file}, line {source.line})" if source else ""


def _printed(outputs: Sequence[Any], parameters: Sequence[Any] = (), note: str = "") -> str:
    from nxkernel.graph.printing import print_graph

    return print_graph(outputs, parameters, note)


#: What tells the whole number that a traced value is for the call, from the module of such numbers.
ANSWERING: list[Callable[..., int | None]] = []


class TracedValue(Operand):
    """A value that exists when the compiled program runs; until then, asking for its data is an error."""

    __slots__ = ()

    source: SourceLocation | None

    #: Higher than that of a DataFrame, which would ask for the elements: ``series * x`` is computed as ``x * series``.
    __pandas_priority__ = 5000

    # Equality is element-wise for people (`==` is an operator), so identity is what graphs and dictionaries go by. Each
    # node that is compiled is looked up hundreds of times, so that this must not be a call of a Python function.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return _printed([self])

    def _no_data(self, asked: str, *instead: str) -> NoReturn:
        error = TracedValueError(
            message(
                f"{asked} asks for the data of a traced value of type {self.spec}{at_line(self.source)}.",
                "While a definition is traced its tensors have a type and a shape but no data yet.",
                *instead,
            )
        )
        error.value = self
        raise error

    def _for_call(self, of_array: bool = False) -> int | None:
        """The whole number that it is for the call, or an array of one element is, where the trace may ask for that."""
        return ANSWERING[0](self, of_array) if ANSWERING else None

    def __bool__(self) -> bool:
        known = self._for_call(of_array=True)
        return (
            bool(known)
            if known is not None
            else self._no_data(
                "A condition (`if`, `while`, `and`, `or`, `not`, bool())",
                "Write nx.select(condition, a, b), or make the condition an option: def f(x, *, flag=True).",
                "`if` and `while` of traced values are part of the program in a function with @nx.defn.",
            )
        )

    def __float__(self) -> float:
        name = _math_function()
        if name is not None:
            self._no_data(f"math.{name}()", f"Write {_MATH.get(name, f'nx.{name}(t)')}, which takes tensors.")
        self._no_data("float()", 'Keep it a tensor: nx.as_type(t, "f64") converts its type.')

    def __int__(self) -> int:
        known = self._for_call()
        hint = 'Keep it a tensor: nx.as_type(t, "s64") converts its type.'
        return known if known is not None else self._no_data("int()", hint)

    def __round__(self, digits: int | None = None) -> NoReturn:
        self._no_data("round()", "Write nx.round(t), or nx.round(t * 100) / 100 for two digits.")

    def __complex__(self) -> complex:
        self._no_data("complex()", 'Keep it a tensor: nx.as_type(t, "c64") converts its type.')

    def __index__(self) -> int:
        known = self._for_call()
        return (
            known
            if known is not None
            else self._no_data(
                "A static whole number (a shape, an axis, range())",
                "Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3).",
            )
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        library, function = _asking_library()
        if library:
            name = function or "function"
            self._no_data(
                f"{library}'s {function}()" if function else library,
                "Call it before the definition and pass what it gives,",
                f"or let the program call it: nx.host_call({name}, like, t), `like` as the result in type and shape.",
            )
        self._no_data(
            "NumPy",
            "Use the function of that name in nxkernel, or call NumPy outside the definition.",
            "A function that computes with np and not with nx is a NumPy program, in which it is there.",
        )

    @property
    def _numba_type_(self) -> NoReturn:
        # Numba asks for it when one of its functions is called.
        self._no_data(
            "A function compiled by Numba",
            "Write nx.njit_map(function, t) for a function of single numbers, which @nx.defn does by itself, or",
            "nx.njit_call(function, t, shape=..., type=...) for one of whole arrays.",
        )

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise NxTypeError(
            message(
                "tensors are immutable: t[...] = v is not possible.",
                "Use nx.put_slice(t, [start], values), which returns a new tensor.",
                "In a function with @nx.defn, `t[...] = v` is part of the program.",
            )
        )

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else self._no_data("A format", "Print it with nx.print_value(t) instead.")

    def __getattr__(self, name: str) -> NoReturn:
        if name == "__array_interface__":
            self.__array__()
        if name in _NEEDS_DATA:
            self._no_data(f".{name}()", "Return the tensor from the definition and read its data there.")
        raise other_libraries.missing(
            f"a traced value of type {self.spec}", name, other_libraries.ATTRIBUTES, dir(type(self)), self
        )


#: What functions of Python's module math are here, where names differ.
_MATH = {
    "fabs": "nx.abs(t)", "fmod": "nx.remainder(a, b)", "isinf": "nx.is_infinity(t)",
    "isnan": "nx.is_nan(t)", "hypot": "nx.sqrt(a * a + b * b)", "exp2": "nx.pow(2.0, t)", "fsum": "nx.sum(t)",
    "trunc": "nx.sign(t) * nx.floor(nx.abs(t))", "radians": "t * (nx.constants.pi() / 180)",
    "degrees": "t * (180 / nx.constants.pi())", "dist": "nx.linalg.norm(a - b)",
}  # fmt: skip


def _math_function() -> str | None:
    """The function of Python's math module in the current user line, from its text: C functions have no frame."""
    from nxkernel.graph.tracing import user_line

    source = user_line()
    line = linecache.getline(source.file, source.line) if source else ""
    names = re.findall(r"\bmath\.(\w+)\(", line)
    return names[0] if len(set(names)) == 1 else None


def _asking_library() -> tuple[str, str]:
    """The library between the user's line and what asks for data, NumPy aside, and its function that was called."""
    library, function = "", ""
    frame = sys._getframe(2)
    while frame is not None:
        root, name = str(frame.f_globals.get("__name__")).partition(".")[0], frame.f_code.co_qualname
        if root != "nxkernel" and "site-packages" not in frame.f_code.co_filename:
            break
        if root not in ("nxkernel", "numpy"):
            library = root
            # Wrappers of decorators have names of their own, and operators none to call.
            name = name.removesuffix(".__init__")
            function = function if "<locals>" in name or "_" in (part[0] for part in name.split(".")) else name
        frame = frame.f_back
    return library, function


class Expr(TracedValue):
    """A node of a graph.

    Parameters
    ----------
    primitive : Primitive
        What computes it.
    operands : tuple of Expr
        From what.
    params : dict
        The static parameters of the primitive.
    spec : Spec
        Type, shape and names.
    source : SourceLocation, optional
        The user's line.
    """

    __slots__ = ("operands", "params", "primitive", "source", "spec")

    def __init__(
        self,
        primitive: Primitive,
        operands: tuple[Expr, ...],
        params: dict[str, Any],
        spec: Spec,
        source: SourceLocation | None = None,
    ) -> None:
        self.primitive, self.operands, self.params, self.spec, self.source = primitive, operands, params, spec, source


class NotedExpr(Expr):
    """A node that is printed with a note about its graph.

    Parameters
    ----------
    node : Expr
    note : str
        Such as whose rules of types hold in it.
    """

    __slots__ = ("note",)

    def __init__(self, node: Expr, note: str) -> None:
        super().__init__(node.primitive, node.operands, node.params, node.spec, node.source)
        self.note = note

    def __repr__(self) -> str:
        return _printed([self], note=self.note)


class VectorizedExpr(TracedValue):
    """A traced value with vectorized axes.

    Parameters
    ----------
    node : Expr
        All entries; the vectorized axes are its first axes.
    spec : VectorizedSpec
    """

    __slots__ = ("node", "spec")

    def __init__(self, node: Expr, spec: VectorizedSpec) -> None:
        self.node, self.spec = node, spec

    @property
    def source(self) -> SourceLocation | None:
        """The source location of the node."""
        return self.node.source


def node_of(value: Any) -> Any:
    """The expression of a traced value, also of one over vectorized axes and of an array; other values as they are."""
    # Asked for an attribute that it lacks, an expression looks for one that was meant.
    return value if isinstance(value, Expr) else getattr(value, "node", value)


def node_with(node: Expr, spec: Spec | VectorizedSpec) -> Expr | VectorizedExpr:
    """A node as a value of the given spec: itself, or with its leading axes vectorized."""
    return VectorizedExpr(node, spec) if type(spec) is VectorizedSpec else node


_NEEDS_DATA = frozenset(
    [
        "to_numpy",
        "to_list",
        "to_number",
        "to_flat_list",
        "to_binary",
        "to_batched",
        "to_heatmap",
        "ctypes",
        "data",
        "dumps",
        "numpy",
        "tobytes",
        "__dlpack__",
    ]
)


def constant(value: Any, type_: Type, shape: tuple[int, ...] = (), names: Any = None) -> Expr:
    """A constant node: one Python number in every element."""
    spec = Spec(type_, shape, unnamed(shape) if names is None else names)
    return Expr(primitives.constant, (), {"value": value, "spec": spec}, spec)


def parameter(index: int, name: str, spec: Spec, captured: bool = False) -> Expr:
    """A parameter node: an input of a graph."""
    return Expr(primitives.parameter, (), {"index": index, "name": name, "captured": captured, "spec": spec}, spec)


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced function: parameters and output nodes.

    Parameters
    ----------
    name : str
        The function's.
    parameters : list of Expr
        In the order in which a program takes them: arguments, then captured values.
    outputs : list of Expr
        The leaves of what the function returned.
    rebuild : callable
        Makes the function's result out of the output leaves.
    updates : tuple of (int, int)
        Parameters that the function assigns into, each with the output that is in them at the end.
    traced : Graph, optional
        What it was before it was simplified, for those who want to see that.
    """

    name: str
    parameters: Sequence[Expr]
    outputs: Sequence[Expr]
    rebuild: Callable[[list[Any]], Any] = field(repr=False, compare=False)
    updates: tuple[tuple[int, int], ...] = ()
    traced: Graph | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return _printed(self.outputs, self.parameters)
