"""`grad` and `value_and_grad`, of functions and inside of definitions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.keys import callables, containers
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.numpy import forwarding
from nxkernel.ops.machinery.dispatch import filled
from nxkernel.shapes import describe
from nxkernel.transforms.adjoints.rule_table import tangent_type
from nxkernel.transforms.gradient import gradients

#: Which positional arguments gradients are for.
Places = int | Sequence[int]


@overload
def value_and_grad(
    function: Callable[Parameters, Result],
    /,
    *,
    argnums: Places = 0,
    has_aux: bool = False,
    promotion: str | None = None,
) -> Definition[Parameters, tuple[Result, Any]]: ...
@overload
def value_and_grad(
    given: Any,
    function: Callable[..., Any],
    /,
    transform: Callable[[Any], Any] | None = None,
    *,
    promotion: str | None = None,
) -> tuple[Any, Any]: ...
def value_and_grad(
    function: Any,
    second: Any = None,
    /,
    transform: Callable[[Any], Any] | None = None,
    *,
    argnums: Places = 0,
    has_aux: bool = False,
    promotion: str | None = None,
) -> Any:
    """A function's value together with its gradient.

    Given a function, the result is a function of the same arguments. Inside of a definition, and outside, variables
    and a function of them can be given instead, as in Nx: ``value_and_grad(vars, fun)``.

    A plain function is traced as it stands, so each iteration of its Python loops is a part of the program, which takes
    long to compile for hundreds of iterations. In a function with ``@nx.defn`` they are loops of the program. What the
    function assigns into its arguments stays in it: the arrays that are passed do not change.

    Parameters
    ----------
    function : callable, or container of tensors
        What to differentiate, or the variables.
    second : int, sequence of int or callable, optional
        `argnums` as a positional argument, or the function of the variables.
    transform : callable, optional
        With variables: takes the loss out of the function's result, such as ``lambda result: result[1]`` for
        ``(predictions, loss)``.
    argnums : int or sequence of int
        Which positional arguments gradients are for.
    has_aux : bool
        Whether the function returns a pair whose second part is not differentiated.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable, or (value, gradient)
        The gradient has the structure of the argument, and the type of each leaf; that of integers is f32, by NumPy's
        rules f64. A value that is no scalar counts as the sum of its elements. With `has_aux` the value is
        ``(value, aux)``.

    Raises
    ------
    NxTypeError
        Where the value depends on an argument in a way that has no gradient, with the operation and its line.

    Examples
    --------
    >>> nx.value_and_grad(lambda x: x**2)(3.0)
    (Tensor(9.0, f32), Tensor(6.0, f32))
    >>> @nx.defn
    ... def step(w, x):
    ...     loss, slope = nx.value_and_grad(w, lambda w: nx.sum((x * w["a"] + w["b"]) ** 2))
    ...     return loss, slope
    >>> loss, slope = step({"a": 1.0, "b": 0.0}, nx.tensor([1.0, 2.0]))
    >>> float(slope["a"]), float(slope["b"])
    (10.0, 6.0)
    """
    if not _is_function_form(function, second, "value_and_grad"):
        _check_variables(transform, argnums, has_aux, "value_and_grad")
        return _of_variables(function, second, transform, promotion)
    if transform is not None:
        raise _no_transform("value_and_grad")
    return _gradient(function, second if second is not None else argnums, has_aux, promotion, with_value=True)


@overload
def grad(
    function: Callable[Parameters, Any], /, *, argnums: Places = 0, has_aux: bool = False, promotion: str | None = None
) -> Definition[Parameters, Any]: ...
@overload
def grad(given: Any, function: Callable[..., Any], /, *, promotion: str | None = None) -> Any: ...
def grad(
    function: Any,
    second: Any = None,
    /,
    *,
    argnums: Places = 0,
    has_aux: bool = False,
    promotion: str | None = None,
) -> Any:
    """The gradient of a function.

    Parameters
    ----------
    function, second, argnums, has_aux, promotion
        As :func:`value_and_grad` takes them.

    Returns
    -------
    callable, or gradient
        With `has_aux` it gives ``(gradient, aux)``.

    Examples
    --------
    >>> slope = nx.grad(nx.sin)
    >>> float(slope(0.0))
    1.0
    >>> float(nx.grad(nx.grad(lambda x: x**3))(2.0))
    12.0
    >>> nx.grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 5.0)
    (Tensor(5.0, f32), Tensor(2.0, f32))
    """
    if not _is_function_form(function, second, "grad"):
        _check_variables(None, argnums, has_aux, "grad")
        return _of_variables(function, second, None, promotion)[1]
    return _gradient(function, second if second is not None else argnums, has_aux, promotion, with_value=False)


def _is_function_form(function: Any, second: Any, name: str) -> bool:
    if callable(second):
        if callable(function) and containers.inside(function) is None:
            raise _no_transform(name)
        return False
    if not callable(function):
        raise NxTypeError(
            message(
                f"nx.{name} takes a function, or variables and a function of them, got {describe(function)}.",
                f"Write nx.{name}(lambda x: …)(x), or nx.{name}(x, lambda x: …).",
            )
        )
    return True


def _no_transform(name: str) -> NxTypeError:
    return NxTypeError(
        message(
            f"nx.{name} got two functions: a transform goes with variables, nx.value_and_grad(vars, fun, transform).",
            "With a function, has_aux=True passes on what is no loss: nx.value_and_grad(fun, has_aux=True)(x), where",
            "fun gives (loss, aux).",
        )
    )


def _check_variables(transform: Any, argnums: Places, has_aux: bool, name: str) -> None:
    """Refuse arguments that only the form with a function has, and a transform that is no function."""
    if transform is not None and not callable(transform):
        raise NxTypeError(
            message(
                f"nx.{name}: the transform takes the loss out of a result, got {describe(transform)} for it.",
                "Write nx.value_and_grad(vars, fun, lambda result: result[1]).",
            )
        )
    if has_aux or argnums != 0:
        raise NxTypeError(
            message(
                f"nx.{name}: {'has_aux' if has_aux else 'argnums'} goes with a function, as in nx.{name}(fun, "
                f"{'has_aux=True' if has_aux else 'argnums=1'})(x), and variables were given.",
                "With variables, put all of them in a container;",
                "nx.value_and_grad(vars, fun, lambda result: result[0]) takes the loss out of (loss, aux).",
            )
        )


def _gradient(
    function: Callable[..., Any], argnums: Places, has_aux: bool, promotion: str | None, with_value: bool
) -> Definition:
    several = not isinstance(argnums, int)
    positions, name = differentiated_variables.argument_positions(argnums), callables.name(function)
    function = differentiated_variables.inlined(forwarding.traceable(function))

    @differentiated_variables.transform(f"grad({name})")
    @functools.wraps(function, updated=())
    def differentiated(*args: Any, **options: Any) -> Any:
        args, options = differentiated_variables.by_position(function, args, options)
        picked, copies = (
            differentiated_variables.selected(f"grad of {name}", args, positions),
            differentiated_variables.separate_copies(args),
        )
        call = differentiated_variables.guard_shared_arrays(function, f"grad of {name}", args, options)

        def of(*values: Any) -> Any:
            for position, value in zip(picked, values, strict=True):
                copies[position] = value
            return call(*copies, **options)

        value, aux, gradients_ = differentiate(of, [args[position] for position in picked], has_aux, f"grad of {name}")
        slope = tuple(gradients_) if several else gradients_[0]
        if with_value:
            return ((value, aux) if has_aux else value), slope
        return (slope, aux) if has_aux else slope

    return differentiated_variables.of(function, differentiated, promotion)


def _check_takes_one(function: Callable[..., Any]) -> None:
    """Refuse a function of several arguments: all variables are one argument, a container."""
    try:
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        return
    names = [p.name for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(names) > 1:
        taken = ", ".join(names)
        raise NxTypeError(
            message(
                f"grad of {callables.name(function)}: variables are one argument, and the function takes "
                f"{len(names)}: {taken}.",
                f"Write lambda variables: … and {taken} = variables in it,",
                f"or nx.grad(function, argnums={tuple(range(len(names)))})({taken}).",
            )
        )


def _of_variables(
    variables: Any, function: Callable[..., Any], transform: Callable[[Any], Any] | None, promotion: str | None = None
) -> Any:
    if tracing.current() is None:

        @differentiated_variables.transform(f"grad({callables.name(function)})")
        def of_variables(variables: Any) -> Any:
            return _of_variables(variables, function, transform)

        return differentiated_variables.of(function, of_variables, promotion)(variables)
    _check_takes_one(function)
    results: list[Any] = []
    name = f"grad of {callables.name(function)}"
    call = differentiated_variables.guard_shared_arrays(function, name, [variables])

    def of(values: Any) -> Any:
        results[:] = [call(values)]
        return (transform(results[0]) if transform is not None else results[0]), results[0]

    value, result, (slope,) = differentiate(of, [variables], True, name)
    return (value if transform is None else result), slope


def differentiate(
    function: Callable[..., Any], arguments: Sequence[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """Call a function in the active trace: returns its value, its aux, and the gradient by each argument."""
    structures, values, copies = differentiated_variables.as_variables(arguments, name)
    result = function(*copies)
    if has_aux and not (isinstance(result, tuple) and len(result) == 2):
        raise NxTypeError(
            message(
                f"{name}: with has_aux=True the function gives a pair (value, aux), got {describe(result)}.",
                "Return a tuple of two, of which the first is differentiated.",
            )
        )
    value, aux = result if has_aux else (result, None)
    outputs: list[tuple[str, Any]] = []
    shape = containers.flatten(value, "the value", outputs, differentiated_variables.no_value(name))
    if shape != containers.LEAF:
        raise NxTypeError(
            message(
                f"{name}: the value is one tensor, got {containers.describe(shape)}.",
                "value_and_grad(vars, fun, lambda result: result[1]) takes the loss out of it;",
                "with has_aux=True the function gives (value, aux).",
            )
        )
    more: list[tuple[str, Any]] = []
    rest = containers.flatten(aux, "aux", more, differentiated_variables.no_value(name)) if has_aux else None
    results = [differentiated_variables.node(leaf) for _, leaf in (*outputs, *more)]
    loss = results[0]
    one = filled(1, tangent_type(loss.type), loss.shape)
    slopes, together = gradients([loss], [one], [differentiated_variables.node(one) for one in values], results)
    values_out = [
        differentiated_variables.like(leaf, node) for (_, leaf), node in zip((*outputs, *more), together, strict=True)
    ]
    supply = iter(
        [differentiated_variables.like(leaf, node, tangent=True) for leaf, node in zip(values, slopes, strict=True)]
    )
    gradients_ = [containers.rebuild(structure, supply) for structure in structures]
    return values_out[0], containers.rebuild(rest, iter(values_out[1:])) if has_aux else None, gradients_
