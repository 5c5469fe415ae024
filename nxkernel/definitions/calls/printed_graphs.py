"""Graphs to look at: `debug_expr` and `print_expr`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel.definitions.calls.decorators import jit
from nxkernel.definitions.calls.definition import Definition, Parameters
from nxkernel.definitions.calls.explanations import TracedFunction
from nxkernel.definitions.keys import containers
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import TracedValue, VectorizedExpr, node_with
from nxkernel.graph.printing import print_graph
from nxkernel.shapes import describe
from nxkernel.transforms.simplify import simplify_nodes


def debug_expr(function: Callable[Parameters, Any], *, promotion: str | None = None) -> Callable[Parameters, Any]:
    """A function that returns the traced expression of `function` instead of running it.

    Parameters
    ----------
    function : callable or definition
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        It takes the arguments of `function`, or templates, and returns traced values, which print as their graph, with
        what says so where NumPy's rules hold. Its own repr says whose rules hold, too.

    Examples
    --------
    >>> nx.debug_expr(lambda a: nx.tanh(a) + 1)(nx.tensor([1.0, 2.0]))
    #Nx.Tensor<
      f32[2]
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0    f32[2]
      b = tanh a       f32[2]
      c = add b, 1.0   f32[2]
    >
    """
    definition = function
    if not isinstance(function, Definition) or promotion is not None:
        definition = jit(function, promotion=promotion)
    return TracedFunction(definition, function)


def debug_expr_apply(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    promotion: str | None = None,
) -> Any:
    """The traced expression of ``function(*arguments, **options)``.

    Parameters
    ----------
    function : callable or definition
    arguments : list
        Its positional arguments.
    options : dict, optional
        Its options.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    traced value or container
        It prints as its graph.

    Examples
    --------
    >>> nx.debug_expr_apply(nx.tanh, [nx.tensor(1.0)])
    #Nx.Tensor<
      f32
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0   f32
      b = tanh a      f32
    >
    """
    if not isinstance(arguments, list | tuple):
        raise NxTypeError(
            message(f"debug_expr_apply takes a list of arguments, got {describe(arguments)}.", "One is written [x].")
        )
    if not isinstance(options, Mapping | None):
        raise NxTypeError(f"debug_expr_apply takes options in a dict, got {describe(options)}")
    return debug_expr(function, promotion=promotion)(*arguments, **(options or {}))


def print_expr(tensor: Any) -> Any:
    """Print the graph of a traced value, once, when the definition is traced; returns the value.

    Parameters
    ----------
    tensor : tensor or container

    Returns
    -------
    tensor or container
        `tensor`.

    Examples
    --------
    >>> _ = nx.jit(lambda t: nx.print_expr(t * 2))(1.0)
    #Nx.Tensor<
      f32
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0         f32
      b = multiply a, 2.0   f32
    >
    """
    leaves: list[tuple[str, Any]] = []
    containers.flatten(tensor, "the value", leaves, containers.no_tensor("print_expr"))
    traced = [value for _, value in leaves if isinstance(value, TracedValue)]
    nodes = simplify_nodes([value.node if type(value) is VectorizedExpr else value for value in traced])
    values = [node_with(node, value.spec) for node, value in zip(nodes, traced, strict=True)]
    print(print_graph(values) if values else repr(tensor))
    return tensor
