"""The functions that people call to define, compile and look at numerical definitions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from nxkernel.defn import containers, definition, options, trace
from nxkernel.defn.definition import Definition
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.graph.printing import print_graph
from nxkernel.ops import dispatch
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import Template, Tensor
from nxkernel.transforms.simplify import simplify_nodes


@overload
def defn(function: Callable[..., Any], /) -> Definition: ...
@overload
def defn(*, compiler: str | None = None) -> Callable[[Callable[..., Any]], Definition]: ...
def defn(function: Callable[..., Any] | None = None, /, *, compiler: str | None = None) -> Any:
    """Make a function a numerical definition.

    Positional arguments become tensors, keyword-only arguments are static options. Called by another definition, it
    becomes part of that definition's graph.

    Parameters
    ----------
    function : callable
    compiler : str, optional
        ``"numba_cpu"`` or ``"evaluator"``; the default option when not given.

    Returns
    -------
    Definition

    Examples
    --------
    >>> @nx.defn
    ... def softmax(t):
    ...     e = nx.exp(t - nx.reduce_max(t))
    ...     return e / nx.sum(e)
    >>> print(nx.sum(softmax(nx.tensor([1.0, 2.0, 3.0]))).to_numpy())
    1.0
    """
    if function is None:
        return functools.partial(_define, compiler=compiler)
    return _define(function, compiler=compiler)


def _define(function: Callable[..., Any], compiler: str | None) -> Definition:
    if isinstance(function, Definition):
        function = function.__nx_function__
    if not callable(function):
        raise NxTypeError(f"nx.defn makes a function a definition, got a {type(function).__name__}")
    return Definition(function, compiler=compiler)


def deftransform(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as plain host code: inside a definition it runs while that is traced, on traced values.

    Examples
    --------
    >>> @deftransform
    ... def show(t):
    ...     print("tracing", t.spec)
    ...     return t
    >>> _ = nx.jit(lambda t: show(t) + 1)(nx.tensor([1.0, 2.0]))
    tracing f32[2]
    """
    function.__nx_transform__ = True
    return function


def jit(function: Callable[..., Any], *, compiler: str | None = None, on_conflict: str = "raise") -> Definition:
    """Compile a function when it is called, by the types and shapes of its arguments.

    Parameters
    ----------
    function : callable
        Traced as it stands.
    compiler : str, optional
        ``"numba_cpu"`` or ``"evaluator"``; the default option when not given.
    on_conflict : {"raise", "force", "reuse"}
        What a call does while another function is being traced: an error, a compilation of its own, or a part of that
        function's graph.

    Returns
    -------
    Definition

    Examples
    --------
    >>> nx.jit(lambda t: t + 1)(nx.tensor([1, 2]))
    #Nx.Tensor<
      s64[2]
      [2, 3]
    >
    """
    if on_conflict not in ("raise", "force", "reuse"):
        raise NxValueError(f"on_conflict is 'raise', 'force' or 'reuse', got {on_conflict!r}")
    if not callable(function):
        raise NxTypeError(
            message(
                f"nx.jit takes a function, got a {type(function).__name__}.",
                "To compile and call at once, write nx.jit_apply(fun, [arguments]).",
            )
        )
    if isinstance(function, Definition):
        function = function.__nx_function__
    return Definition(function, compiler=compiler, on_conflict=on_conflict)


def jit_apply(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    compiler: str | None = None,
    on_conflict: str = "raise",
) -> Any:
    """Compile a function and call it: ``nx.jit(function)(*arguments, **options)``.

    Examples
    --------
    >>> float(nx.jit_apply(nx.multiply, [2.0, 3.0]))
    6.0
    """
    return jit(function, compiler=compiler, on_conflict=on_conflict)(*arguments, **(options or {}))


class Compiled:
    """A function compiled for fixed types and shapes; what :func:`nxkernel.compile` returns."""

    def __init__(self, made: Definition, templates: Sequence[Any], opts: Mapping[str, Any]) -> None:
        self._definition, self._options = made, dict(opts)
        self._arguments = made._bind(tuple(templates), self._options)
        self._program = made._miss(self._arguments)
        self.__name__ = made.__name__

    def __repr__(self) -> str:
        return f"<compiled {self._arguments.signature()}>"

    def __call__(self, *args: Any) -> Any:
        leaves: list[tuple[str, Any]] = []
        named = [parameter.name for parameter in self._definition._positional]
        names = [*named, *(f"argument {place + 1}" for place in range(len(named), len(args)))]
        found = tuple(
            containers.flatten(value, name, leaves, self._definition._refuse)
            for name, value in zip(names, args, strict=False)
        )
        expected = list(zip(self._arguments.paths, self._arguments.specs, strict=True))
        given = [(path, trace.spec_of(value)) for path, value in leaves]
        if found != tuple(self._arguments.structures) or given != expected:
            raise NxTypeError(self._mismatch(given, expected))
        arguments = self._definition._bind(args, self._options)
        if arguments.key != self._arguments.key:
            # Something captured has another value than when this was compiled: that answer would be stale.
            return self._definition._call(args, self._options)
        return definition.run(self._program, arguments)

    def _mismatch(self, given: list[tuple[str, Spec]], expected: list[tuple[str, Spec]]) -> str:
        lines = [
            f"{path}: expected {spec}, got {dict(given).get(path, 'nothing')}"
            for path, spec in expected
            if dict(given).get(path) != spec
        ]
        lines += [f"{path}: got {spec}, which is not expected" for path, spec in given if path not in dict(expected)]
        return message(
            f"{self.__name__} was compiled for other arguments.",
            *(lines or ["The containers of the arguments are built differently."]),
            "Compile it again with nx.compile for these, or use nx.jit, which compiles for whatever comes.",
        )


def compile(
    function: Callable[..., Any],
    templates: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    compiler: str | None = None,
) -> Compiled:
    """Compile a function now, for arguments like the templates.

    Parameters
    ----------
    function : callable
    templates : sequence
        Templates, tensors, numbers or containers of them; only their types, shapes and names count.
    options : mapping, optional
        The function's options; they are fixed.
    compiler : str, optional

    Returns
    -------
    Compiled
        Takes arguments of just these types and shapes.

    Raises
    ------
    NxTypeError
        When it is called with others.

    Examples
    --------
    >>> total = nx.compile(nx.sum, [nx.template((2, 2), "s64")], {"axes": [1]})
    >>> total(nx.iota((2, 2))).to_list()
    [1, 5]
    """
    made = _Templated(function.__nx_function__ if isinstance(function, Definition) else function, compiler=compiler)
    return Compiled(made, templates, options or {})


class _Templated(Definition):
    """A definition whose calls may be described by templates."""

    def _bind(self, args: tuple, opts: dict[str, Any]) -> definition.Arguments:
        return super()._bind(tuple(_filled(value) for value in args), opts)


def _filled(value: Any) -> Any:
    """A template becomes a leaf that has its spec; containers are left as they are, their templates too."""
    return _Shape(value.spec) if isinstance(value, Template) else value


class _Shape:
    """A leaf that has a spec and no data."""

    __slots__ = ("spec",)

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NxTypeError("a template has no data")


def debug_expr(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives the traced expression of `function` instead of running it.

    Examples
    --------
    >>> nx.debug_expr(lambda a: nx.tanh(a) + 1)(nx.tensor([1.0, 2.0]))
    #Nx.Tensor<
      f32[2]
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0        f32[2]
      b = tanh a           f32[2]
      c = add b, 1.0       f32[2]
    >
    """
    made = _Templated(function.__nx_function__ if isinstance(function, Definition) else function)

    @functools.wraps(function)
    def debugged(*args: Any, **opts: Any) -> Any:
        graph = made._bind(args, opts).trace().graph
        return graph.rebuild(simplify_nodes(graph.outputs))

    return debugged


def debug_expr_apply(
    function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any] | None = None
) -> Any:
    """The traced expression of ``function(*arguments, **options)``."""
    return debug_expr(function)(*arguments, **(options or {}))


def print_expr(tensor: Any) -> Any:
    """Print the graph of a traced value, once, when the definition is traced; returns the value.

    Examples
    --------
    >>> _ = nx.jit(lambda t: nx.print_expr(t * 2))(1.0)
    #Nx.Tensor<
      f32
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0              f32
      b = multiply a, 2.0        f32
    >
    """
    leaves: list[tuple[str, Any]] = []
    containers.flatten(tensor, "the value", leaves, containers.no_tensor("print_expr"))
    nodes = [value for _, value in leaves if type(value) is Expr]
    print(print_graph(simplify_nodes(nodes)) if nodes else repr(tensor))
    return tensor


def print_value(tensor: Any, label: str = "") -> Any:
    """Print the value of a tensor each time that the compiled program runs; returns the tensor.

    Values are printed when the program has finished, in the order in which the definition asked for them.

    Examples
    --------
    >>> double = nx.jit(lambda t: nx.print_value(t * 2, "twice: "))
    >>> _ = double(4.0)
    twice: #Nx.Tensor<
      f32
      8.0
    >
    """
    run = tracing.current()
    value = dispatch.operand(tensor)
    if run is None:
        print(f"{label}{value!r}")
    elif type(value) is Expr:
        trace.ask_to_print(label, value, run)
    elif isinstance(value, Tensor):
        trace.ask_to_print(label, run.capture(value), run)
    return tensor


keyword = options.keyword
