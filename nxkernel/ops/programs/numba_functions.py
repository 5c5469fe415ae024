"""Numba functions as parts of definitions: applied to each element, or to whole arrays."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import numba_functions as numba
from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, is_operand, operand, spread
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import StoredTensor, Template, Tensor
from nxkernel.types import Type

__all__ = ["njit_call", "njit_map"]


def njit_map(function: Callable[..., Any], *arguments: Any, **options: Any) -> Tensor | Expr:
    """Apply a Numba function of scalars to each element; compiled programs fuse it into the surrounding loops.

    In a definition, ``function(t)`` says the same. Errors that the function raises are raised when the program has come
    back.

    Parameters
    ----------
    function : numba.njit or numba.vectorize function
        Compiled for the types of the arguments. It is called once for each element, in any order.
    *arguments : tensor or number
        Their shapes are broadcast. An int is a whole number of 64 bits, a float has the widest type of the arguments
        that are floats, else 64 bits; elements of f16 and bf16 are given as f32.
    **options : tensor or number
        Arguments by name.

    Returns
    -------
    Tensor
        Of the type that the function returns.

    Raises
    ------
    NxTypeError
        When Numba cannot compile it for single numbers, or it returns anything but a number.

    Examples
    --------
    >>> import numba
    >>> @numba.njit
    ... def collatz(n):
    ...     steps = 0
    ...     while n > 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> nx.njit_map(collatz, [1, 6, 27]).to_list()
    [0, 8, 111]
    """
    if not numba.is_compiled(function):
        raise NxTypeError(
            message(
                f"njit_map takes a function that numba.njit or numba.vectorize made, got {shapes.describe(function)}.",
                "Write @numba.njit above its def, or apply it with nx.map.",
            )
        )
    given = numba.bound(function, arguments, options)
    if not given:
        raise NxTypeError(f"njit_map applies {numba.name_of(function)} to elements, but it takes no arguments")
    values = _operands(function, given)
    compiled = numba.scalar_function(function, [value.type for value in values])
    shape = functools.reduce(shapes.broadcast_shapes, [value.shape for value in values])
    over = [spread(convert(value, own), shape) for value, own in zip(values, compiled.types, strict=True)]
    return apply(p.njit, *over, function=compiled, type=compiled.result)


def _operands(function: Any, arguments: Sequence[Any]) -> list[Tensor | Expr]:
    """The arguments as operands; Python numbers take their types from the others."""
    name = numba.name_of(function)
    for position, value in enumerate(arguments):
        if not is_operand(value):
            raise NxTypeError(
                message(
                    f"{name} is called for each element, and got {shapes.describe(value)} as argument {position}.",
                    "Called element by element, a Numba function takes tensors and numbers.",
                )
            )
    operands = [None if is_number(value) else _wide(operand(value)) for value in arguments]
    floats = [value.type for value in operands if value is not None and value.type.is_float]
    widest = types.f64 if types.f64 in floats or not floats else types.f32
    return [
        filled(number, _type_of(number, widest), ()) if value is None else value
        for number, value in zip(arguments, operands, strict=True)
    ]


def _wide(value: Tensor | Expr) -> Tensor | Expr:
    return convert(value, types.f32) if value.type in (types.f16, types.bf16) else value


def _type_of(number: Any, floats: Type) -> Type:
    if isinstance(number, bool):
        return types.bool_
    if isinstance(number, int):
        return types.s64
    return floats if isinstance(number, builtins.float) else types.to_complex(floats)


def njit_call(
    function: Callable[..., Any],
    *arguments: Any,
    shape: Any = None,
    type: Any = None,
    names: Sequence[str | None] | None = None,
    templates: Sequence[Any] | None = None,
) -> Any:
    """Call a Numba function of whole arrays; it is one step of a compiled program, on the program's memory.

    Python is asked once for each call, whatever the number of elements. What the function does besides returning its
    result is lost: it may be called any number of times, and is given arrays that are not the caller's.

    Parameters
    ----------
    function : numba.njit function
    *arguments : tensor or number
        The function gets a C-ordered array for each, read-only if it can be compiled for that, and a number for what
        has no axes.
    shape : tuple of int, optional
        Of the array that it returns; ``()`` for a number.
    type : type, optional
        Of its elements.
    names : list of str, optional
        Of its axes.
    templates : list, optional
        Instead of these: tensors or templates like what it returns, for a function that returns a tuple.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    NxTypeError
        When Numba cannot compile it, or it does not return what was declared.
    NxValueError
        When the program runs, for other shapes than those that were declared.

    Examples
    --------
    >>> import numba
    >>> @numba.njit
    ... def running(x):
    ...     out = np.empty_like(x)
    ...     total = 0.0
    ...     for i in range(x.size):
    ...         total = 0.5 * total + x[i]
    ...         out[i] = total
    ...     return out
    >>> nx.njit_call(running, nx.tensor([4.0, 2.0, 1.0]), shape=(3,), type="f32").to_list()
    [4.0, 4.0, 3.0]
    """
    results = _declared(shape, type, names, templates)
    values = []
    for value in arguments:
        if is_number(value):
            values.append(filled(value, _type_of(value, types.f64), ()))
        else:
            values.append(operand(value))
        if values[-1].vectorized_axes:
            raise NxTypeError(
                message(
                    f"njit_call takes no vectorized axes, got {values[-1].spec}.",
                    "nx.devectorize(t) makes plain axes of them, which the function then gets.",
                )
            )
    single = templates is None
    compiled = numba.array_function(function, [value.spec for value in values], results, single)
    return apply(p.njit_call, *values, function=compiled)


def _declared(shape: Any, type: Any, names: Any, templates: Any) -> tuple[Spec, ...]:
    if templates is not None:
        if shape is not None or type is not None or names is not None:
            raise NxTypeError("njit_call takes templates, or shape= and type=, not both")
        if not isinstance(templates, list | tuple) or not all(
            isinstance(one, Template | StoredTensor) for one in templates
        ):
            raise NxTypeError(
                message(
                    f"templates is a list of templates, got {shapes.describe(templates)}.",
                    'For example templates=[nx.template((3,), "f32"), nx.template((), "s64")].',
                )
            )
        return tuple([one.spec for one in templates])
    if shape is None or type is None:
        raise NxTypeError(
            message(
                "njit_call has to be told what the function returns.",
                'Write shape=(3,), type="f32", or templates=[...] for a function that returns a tuple.',
            )
        )
    shape = shapes.normalize_shape(shape)
    return (Spec(types.normalize(type), shape, shapes.normalize_names(names, shape)),)
