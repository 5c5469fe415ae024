"""Derivatives as linear functions: vjp, jvp, linearize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.autodiff.linear_maps import Call, LinearMap, alike
from nxkernel.definitions.keys import callables, containers
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.messages.grammar import counted
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.shapes import describe
from nxkernel.transforms.forward_mode import tangents as tangents_of


def vjp(
    function: Callable[..., Any], *primals: Any, has_aux: bool = False, promotion: str | None = None
) -> tuple[Any, ...]:
    """The vector-Jacobian product (reverse mode): a value, and the function from its cotangent to the arguments'.

    Parameters
    ----------
    function : callable
    *primals : tensors or containers
        The arguments.
    has_aux : bool, optional
        Whether the function returns a pair whose second part is not differentiated.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    value : tensor or container
    pull : callable
        Takes the cotangent of the value, which has its structure; returns a tuple with the cotangent of each argument.
        Outside of definitions it keeps the intermediate values that it needs.
    aux : container, with `has_aux`

    Examples
    --------
    >>> value, pull = nx.vjp(lambda x, y: x * y, nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0]))
    >>> value.to_list(), [t.to_list() for t in pull(nx.tensor([1.0, 10.0]))]
    ([3.0, 8.0], [[3.0, 40.0], [1.0, 20.0]])
    """
    name, function = _named(function, "vjp")
    _check_arguments(primals, name)
    result, aux, pull = _linearized(function, primals, has_aux, promotion, name, reverse=True)
    return (result, pull, aux) if has_aux else (result, pull)


def linearize(
    function: Callable[..., Any], *primals: Any, has_aux: bool = False, promotion: str | None = None
) -> tuple[Any, ...]:
    """A function's value, and its linear approximation: from changes of the arguments to that of the value.

    Parameters
    ----------
    function : callable
    *primals : tensors or containers
        The arguments.
    has_aux : bool, optional
        Whether the function returns a pair whose second part is not differentiated.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    value : tensor or container
    push : callable
        Takes a tangent for each argument, of its structure; returns that of the value. Outside of definitions it keeps
        the intermediate values that it needs, but for those in loops, which run again.
    aux : container, with `has_aux`

    See Also
    --------
    jvp : Both at once, along one direction.

    Examples
    --------
    >>> value, push = nx.linearize(lambda x: nx.sum(x**2), nx.tensor([1.0, 2.0]))
    >>> float(value), float(push(nx.tensor([1.0, 0.0]))), float(push(nx.tensor([0.0, 1.0])))
    (5.0, 2.0, 4.0)
    """
    name, function = _named(function, "linearize")
    _check_arguments(primals, name)
    result, aux, push = _linearized(function, primals, has_aux, promotion, name, reverse=False)

    def pushed(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise NxValueError(_for_each(name, len(primals), len(tangents)))
        return push(tangents)

    return (result, pushed, aux) if has_aux else (result, pushed)


def _named(function: Any, name: str) -> tuple[str, Any]:
    function = differentiated_variables.checked(function, name)
    return f"{name} of {callables.name(function)}", differentiated_variables.inlined(function)


def _linearized(
    function: Any, primals: Sequence[Any], has_aux: bool, promotion: str | None, name: str, reverse: bool
) -> tuple[Any, Any, Callable[[Any], Any]]:
    """The value, what is given besides it, and the derivative as a function of a cotangent or of all tangents."""
    if tracing.current() is None:

        @differentiated_variables.transform(callables.name(function))
        def value(*values: Any) -> Any:
            made = LinearMap(Call(function, values, name, has_aux), reverse)
            return *made.call.given(made.results), tuple(made.kept)

        @differentiated_variables.transform(name)
        def derivative(given: Any, kept: tuple, *values: Any) -> Any:
            made = LinearMap(Call(function, values, name, has_aux), reverse)
            return made.applied(given, name, list(map(differentiated_variables.node, kept)))

        forward = differentiated_variables.of(function, value, promotion)
        along = differentiated_variables.of(function, derivative, promotion)
        result, aux, kept = forward(*primals)
        return result, aux, lambda given: along(given, kept, *primals)
    made = LinearMap(Call(function, primals, name, has_aux), reverse)
    return *made.call.given(made.results), lambda given: made.applied(given, name)


def _check_arguments(values: Sequence[Any], name: str) -> None:
    refuse = differentiated_variables.no_variable(
        name, "Write a lambda that has everything else in it: lambda x: f(x, other)."
    )
    for value in values:
        containers.flatten(value, "an argument", [], refuse)


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
    *,
    promotion: str | None = None,
) -> tuple[Any, ...]:
    """The Jacobian-vector product (forward mode): a function's value, and its change for a change of the arguments.

    Parameters
    ----------
    function : callable
    primals : sequence of tensors or containers
        The arguments.
    tangents : sequence of tensors or containers
        The direction in which they change, of the same structure.
    has_aux : bool, optional
        Whether the function returns a pair whose second part is not differentiated.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    value, tangent : tensor or container
        The tangent has the structure of the value.
    aux : container, with `has_aux`

    Raises
    ------
    NxTypeError
        Where the value depends on an argument in a way that has no derivative, with the operation and its line.

    Notes
    -----
    Both are computed together, each step of the function with its change: loops of any number of iterations run once,
    and keep nothing.

    Examples
    --------
    >>> value, tangent = nx.jvp(lambda x: x**2, (3.0,), (0.5,))
    >>> float(value), float(tangent)
    (9.0, 3.0)
    """
    name, function = _named(function, "jvp")
    for what, values in (("primals", primals), ("tangents", tangents)):
        if not isinstance(values, list | tuple):
            raise NxTypeError(
                message(
                    f"jvp takes a tuple of {what}, one for each argument, got {describe(values)}.",
                    "Write nx.jvp(fun, (x,), (v,)).",
                )
            )
    if len(primals) != len(tangents):
        raise NxValueError(_for_each("jvp", len(primals), len(tangents)))
    _check_arguments((*primals, *tangents), name)
    if tracing.current() is None:

        @differentiated_variables.transform(name)
        def both(values: Any, directions: Any) -> Any:
            return jvp(function, values, directions, has_aux)

        return differentiated_variables.of(function, both, promotion)(tuple(primals), tuple(tangents))
    call = Call(function, primals, name, has_aux)
    structure = ("tuple", None, tuple(call.structures))
    specs = [operand(leaf).spec for leaf in call.inputs]
    leaves = alike(tuple(tangents), structure, specs, f"{name}: the tangent", "the argument")
    along, results = tangents_of(call.nodes, call.variables, leaves, call.results)
    value, aux = call.given(results)
    change = call.of_value(along)
    return (value, change, aux) if has_aux else (value, change)


def _for_each(name: str, primals: int, tangents: int) -> str:
    return message(
        f"{name}: there {'is' if primals == 1 else 'are'} {counted(primals, 'primal')} and "
        f"{counted(tangents, 'tangent')}.",
        "Each argument has one; that of one which does not change is zero.",
    )
