"""Derivatives of solutions by the equations that they solve: `custom_root`, `custom_linear_solve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.autodiff.custom_gradients import with_derivatives
from nxkernel.definitions.autodiff.linear_maps import alike
from nxkernel.definitions.flow.operators.call_dispatch import seen
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph, node_with
from nxkernel.graph.traverse import replayed
from nxkernel.operand import Operand, VectorizedSpec, entry_spec
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.transforms.adjoints.backward_pass import pullback
from nxkernel.transforms.adjoints.rule_table import bare, tangent_spec, tangent_type
from nxkernel.transforms.adjoints.rules.control_flow import graph_of, twin
from nxkernel.transforms.forward_mode import pushed


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
    *,
    promotion: str | None = None,
) -> Any:
    """A root of a function, with the derivative that the equation implies: not that of the steps to it.

    Parameters
    ----------
    f : callable
        Whose root is sought; gives values of the structure and shapes of its argument. What it captures is what the
        root is differentiated by.
    initial_guess : tensor or container of tensors
        Through which no gradient flows.
    solve : callable
        ``solve(f, initial_guess)`` gives the root, by loops of any kind.
    tangent_solve : callable
        ``tangent_solve(g, y)`` gives the solution `x` of ``g(x) = y`` for a linear function `g`, which is `f`
        linearized at the root: of numbers ``lambda g, y: y / g(1.0)``, of vectors
        ``lambda g, y: nx.linalg.solve(nx.jacobian(g)(y), y)``, or :func:`custom_linear_solve`.
    has_aux : bool, optional
        Whether `solve` returns a pair whose second part is handed through, without derivatives.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    tensor or container of tensors
        The root; with `has_aux` a pair of it and aux.

    Raises
    ------
    NxTypeError
        If `f`, `solve` or `tangent_solve` gives another structure than that of the guess, or other shapes.

    Examples
    --------
    >>> def newton(f, x):
    ...     for _ in range(10):
    ...         value, slope = nx.jvp(f, (x,), (1.0,))
    ...         x = x - value / slope
    ...     return x
    >>> def square_root(a):
    ...     return nx.custom_root(lambda x: x**2 - a, a / 2, newton, lambda g, y: y / g(1.0))
    >>> float(square_root(4.0)), float(nx.grad(square_root)(4.0))
    (2.0, 0.25)
    """
    for what, one in (("f", f), ("solve", solve), ("tangent_solve", tangent_solve)):
        _check_function("custom_root", what, one)
    name = f"custom_root of {callables.name(f)}"
    if tracing.current() is None:

        @differentiated_variables.transform(name)
        def rooted(guess: Any) -> Any:
            return custom_root(f, guess, solve, tangent_solve, has_aux)

        return differentiated_variables.of(f, rooted, promotion)(initial_guess)
    found, aux = _parted(seen(solve)(f, initial_guess), has_aux, f"{name}: solve")
    root = _Vectors(found, f"{name}: the root")
    graph, outside = root.graph_of(seen(f), f"{name}: what f gives")
    count, end = len(root.values), len(root.values) + len(outside)

    def forward(*nodes: Expr) -> list[Expr]:
        moved, at, around = nodes[: end - count], nodes[end - count : end], nodes[end:]
        values = [*at, *around]
        changes = pushed(graph, values, dict(enumerate(moved, count)))

        def linear(vector: Any) -> Any:
            along = root.leaves(vector, f"{name}: what the linear function takes")
            return root.built(pushed(graph, values, dict(enumerate(along))))

        solved = seen(tangent_solve)(linear, root.built(changes))
        return [-one for one in root.leaves(solved, f"{name}: what tangent_solve gives")]

    specs = [entry_spec(operand(value).spec) for value in outside]
    inside = [*map(tangent_spec, specs), *root.specs, *specs]
    refuse = differentiated_variables.no_value(name)
    tangent, more, _ = subgraphs.traced("tangent", forward, [("x", spec) for spec in inside], refuse)
    params = {"results": count, "inputs": len(outside), "forward": tangent}
    result = root.built(with_derivatives(p.custom_jvp, [*root.values, *outside, *more], params))
    return (result, aux) if has_aux else result


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
    *,
    promotion: str | None = None,
) -> Any:
    """The solution of linear equations by a method of one's own, with the derivative that the equations imply.

    Parameters
    ----------
    matvec : callable
        The linear function; what it gives has the structure and shapes of its argument. The solution is differentiated
        by what it captures, and by `b`.
    b : tensor or container of tensors
        The right side.
    solve : callable
        ``solve(matvec, b)`` gives the solution `x` of ``matvec(x) = b``, by loops of any kind.
    transpose_solve : callable, optional
        The same of the transposed linear function, which it is given: ``transpose_solve(vecmat, b)``. Gradients ask
        for it.
    symmetric : bool, optional
        Whether the transposed function is the function itself, so that `solve` does for it.
    has_aux : bool, optional
        Whether `solve` and `transpose_solve` return pairs whose second parts are handed through, without derivatives.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    tensor or container of tensors
        The solution, in the structure of `b`; with `has_aux` a pair of it and aux.

    Raises
    ------
    NxTypeError
        If one of the functions gives another structure than that of `b`, or other shapes; if a gradient is asked for
        without `transpose_solve`.

    Examples
    --------
    >>> def iterated(matvec, b):
    ...     return nx.fori(0, 60, lambda k, x: x + 0.4 * (b - matvec(x)), b * 0)
    >>> def solution(scale):
    ...     return nx.sum(nx.custom_linear_solve(lambda x: scale * x, nx.tensor([1.0, 2.0]), iterated, symmetric=True))
    >>> round(float(solution(2.0)), 5), round(float(nx.grad(solution)(2.0)), 5)
    (1.5, -0.75)
    """
    functions = [("matvec", matvec), ("solve", solve)]
    functions += [] if transpose_solve is None else [("transpose_solve", transpose_solve)]
    for what, one in functions:
        _check_function("custom_linear_solve", what, one)
    name = f"custom_linear_solve of {callables.name(matvec)}"
    if tracing.current() is None:

        @differentiated_variables.transform(name)
        def solved(right: Any) -> Any:
            return custom_linear_solve(matvec, right, solve, transpose_solve, symmetric, has_aux)

        return differentiated_variables.of(matvec, solved, promotion)(b)
    right = _Vectors(b, f"{name}: b", floating=True)
    count = len(right.values)
    of_matvec = right.graph_of(seen(matvec), f"{name}: what matvec gives")
    solution, aux = _parted(seen(solve)(matvec, right.built(right.values)), has_aux, f"{name}: solve")
    solution = right.leaves(solution, f"{name}: what solve gives")

    def vecmat(vector: Any) -> Any:
        """The transposed linear function."""
        graph, outside = of_matvec
        leaves = right.leaves(vector, f"{name}: what the transposed function takes")
        # Where a linear function is taken makes no difference.
        values = [*leaves, *map(tracing.current().node, outside)]
        outputs = replayed(graph.outputs, dict(zip(graph.parameters, values, strict=True)))
        gains, replacing = pullback(outputs, leaves, leaves)
        return right.built(replayed(gains, {}, replacing))

    def solving(method: Callable[..., Any], function: Callable[[Any], Any], what: str) -> tuple[Graph, list[Any]]:
        def run(vector: Any) -> Any:
            return _parted(seen(method)(function, vector), has_aux, f"{name}: {what}")[0]

        return right.graph_of(run, f"{name}: what {what} gives")

    parts = {"matvec": of_matvec, "solve": solving(solve, matvec, "solve")}
    if symmetric:
        parts["transpose_solve"] = parts["solve"]
    elif transpose_solve is not None:
        parts["transpose_solve"] = solving(transpose_solve, vecmat, "transpose_solve")
    graphs, around = _of_all_values(parts, count)
    params = {"results": count, "transpose_solve": None} | graphs
    result = right.built(with_derivatives(p.linear_solve, [*solution, *right.values, *around], params))
    return (result, aux) if has_aux else result


def _check_function(name: str, what: str, given: Any) -> None:
    if not callable(given):
        raise NxTypeError(
            message(
                f"{name}: {what} is a function, got {describe(given)}.",
                f"Write nx.{_WRITTEN[name]}.",
            )
        )


_WRITTEN = {
    "custom_root": "custom_root(f, guess, lambda f, guess: …, lambda g, y: y / g(1.0))",
    "custom_linear_solve": "custom_linear_solve(lambda x: …, b, lambda matvec, b: …, symmetric=True)",
}


def _parted(given: Any, has_aux: bool, what: str) -> tuple[Any, Any]:
    """What a method gives, and what it gives besides."""
    if not has_aux:
        return given, None
    if not isinstance(given, tuple) or len(given) != 2:
        raise NxTypeError(
            message(
                f"{what} gives a pair (solution, aux) with has_aux=True, got {describe(given)}.",
                "Return a tuple of two, of which the second is handed through.",
            )
        )
    return given


class _Vectors:
    """The container of tensors that a solution is, and everything that is built like it.

    Parameters
    ----------
    given : tensor or container
    what : str
        For messages.
    floating : bool, optional
        Whether whole numbers count as floats.

    Attributes
    ----------
    values : list
        Its leaves, without names of axes.
    specs : list of Spec
        Of one entry of their vectorized axes.
    """

    def __init__(self, given: Any, what: str, floating: bool = False) -> None:
        leaves: list[tuple[str, Any]] = []
        self._structure = containers.flatten(given, what, leaves, differentiated_variables.no_tensor(what))
        self._leaves = [leaf for _, leaf in leaves]
        values = [bare(operand(leaf)) for leaf in self._leaves]
        self.values: list[Operand] = [convert(one, tangent_type(one.type)) for one in values] if floating else values
        self.specs: list[Spec] = [entry_spec(value.spec) for value in self.values]

    def built(self, nodes: Sequence[Operand]) -> Any:
        """A container of other leaves."""
        pairs = zip(nodes, self._leaves, strict=True)
        return containers.rebuild(
            self._structure, iter([differentiated_variables.in_dialect(node, leaf) for node, leaf in pairs])
        )

    def _specs(self) -> list[Spec | VectorizedSpec]:
        """As what the trace that is active sees the leaves."""
        sees = tracing.current().sees_vectors
        return [value.spec if sees(value) else spec for value, spec in zip(self.values, self.specs, strict=True)]

    def leaves(self, given: Any, what: str) -> list[Any]:
        """The leaves of a container that is built like it, checked, in the types of tangents."""
        specs = self._specs()
        nodes = alike(given, self._structure, specs, what, "the solution")
        return [node_with(node, spec._replace(type=node.type)) for node, spec in zip(nodes, specs, strict=True)]

    def graph_of(self, function: Callable[[Any], Any], what: str) -> tuple[Graph, list[Any]]:
        """The graph of a function from such containers to such ones, and what it captures."""

        def of(*nodes: Expr) -> list[Expr]:
            return self.leaves(function(self.built(nodes)), what)

        specs = [("x", spec) for spec in self.specs]
        graph, outside, _ = subgraphs.traced(what, of, specs, differentiated_variables.no_value(what))
        return graph, outside


def _of_all_values(parts: dict[str, tuple[Graph, list[Any]]], count: int) -> tuple[dict[str, Graph], list[Any]]:
    """Graphs of vectors and of what they capture as graphs of vectors and of what all of them capture."""
    different = list({id(graph): (graph, outside) for graph, outside in parts.values()}.values())
    made = {}
    for graph, _ in different:
        around = [one if other is graph else twin(one) for other, _ in different for one in other.parameters[count:]]
        made[id(graph)] = graph_of(graph.name, [*graph.parameters[:count], *around], graph.outputs)
    return {name: made[id(graph)] for name, (graph, _) in parts.items()}, [one for _, more in different for one in more]
