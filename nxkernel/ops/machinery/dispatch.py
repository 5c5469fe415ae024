"""Dispatch of primitives: executed at once on tensors, or recorded in the active trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from nxkernel import element_types, numpy_promotion, primitives, shapes, types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import Number, cast_number, number_of
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError, message
from nxkernel.graph import deferred_calls, python_numbers, tracing
from nxkernel.graph.expr import Expr, constant
from nxkernel.operand import Operand, Proxy
from nxkernel.primitives import Primitive, Spec
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.foreign_arrays import array_of_numbers
from nxkernel.tensor.tensor import StoredTensor, Template, Tensor
from nxkernel.types import Type, s64

TypeRule = Callable[[Type], Type]

#: Families of primitives whose results may stand for numbers again, or that take none.
_KEEPS_NUMBERS = frozenset({"elementwise", "control", "tuple", "leaf", "creation"})


def apply(primitive: Primitive, *operands: Operand, **params: Any) -> Any:
    """Apply a primitive: execute it on tensors, or record it; a multi-result primitive gives a tuple.

    Rules and parameters are those of one entry of vectorized axes, which :mod:`nxkernel.ops.machinery.batching_rules`
    takes care of.
    """
    trace = tracing.current()
    if trace is not None:
        for operand in operands:
            if type(operand) is not Expr and operand.vectorized_axes and trace.sees_vectors(operand):
                return _over_vectors(primitive, operands, params)
        if python_numbers.are_whole() and primitive.family not in _KEEPS_NUMBERS and all(map(tracing.weak, operands)):
            operands = tuple([convert(operand, counted(operand)) for operand in operands])
        return trace.record(primitive, operands, params)
    for operand in operands:
        if type(operand) is not Tensor:
            if type(operand) is DeviceTensor:
                return _on_device(primitive, operands, params)
            _refuse(operand)
        if type(operand.spec) is not Spec:
            return _over_vectors(primitive, operands, params)
    spec = primitive.rule(*[operand.spec for operand in operands], **params)
    try:
        data = MEANING[primitive](spec, *[operand.data for operand in operands], **params)
    except (OverflowError, ValueError):
        _check_size(primitive, spec)
        raise
    if type(spec) is tuple:
        return tuple(map(Tensor.wrap, data, spec))
    return Tensor.wrap(data, spec)


def _on_device(primitive: Primitive, operands: tuple[Operand, ...], params: dict[str, Any]) -> Any:
    """Execute a primitive on the device that some of its operands are on."""
    for operand in operands:
        if not isinstance(operand, StoredTensor):
            _refuse(operand)
        if operand.vectorized_axes:
            return _over_vectors(primitive, operands, params)
    from nxkernel.definitions.devices import eager_operations

    spec = primitive.rule(*[operand.spec for operand in operands], **params)
    result = eager_operations.run(primitive, operands, params)
    if type(spec) is tuple:
        return tuple(map(DeviceTensor.wrap, result, spec))
    return DeviceTensor.wrap(result[0], spec)


def _check_size(primitive: Primitive, spec: Spec | tuple[Spec, ...]) -> None:
    for one in spec if type(spec) is tuple else [spec]:
        if shapes.size(one.shape) * one.type.size >= 2**63:
            raise NxValueError(f"{primitive} would give {one}, which no memory can hold") from None


def _over_vectors(primitive: Primitive, operands: tuple[Operand, ...], params: dict[str, Any]) -> Any:
    from nxkernel.ops.machinery.batching_rules import over_vectors

    return over_vectors(primitive, operands, params)


def _refuse(operand: Operand) -> NoReturn:
    if isinstance(operand, Template):
        raise NxTypeError(
            message(f"{operand!r} has no data.", "Templates are for nx.compile; make a tensor with nx.tensor.")
        )
    raise TracedValueError(
        message(
            f"a traced value of type {operand.spec} is used after its definition was traced.",
            "It was probably stored in a global, a list or an attribute: return it from the definition instead.",
        )
    )


def is_number(value: Any) -> bool:
    """Whether a value is a Python number, which is weakly typed; NumPy's scalars are tensors."""
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def is_operand(value: Any) -> bool:
    """Whether :func:`operand` accepts the value: a tensor, number, array, list, or what offers a NumPy array."""
    return isinstance(value, Operand | Proxy | list | tuple | np.ndarray | np.generic) or (
        is_number(value) or hasattr(value, "__array__")
    )


def operand(value: Any, argument: str = "") -> Tensor | Expr:
    """An argument as a tensor or traced value: a number, list, array or tensor.

    Arrays are shared, not copied: see :func:`lasting` for results that keep the memory. In the body of a primitive a
    value from outside is one entry of its vectorized axes, which are gone over there.

    Raises
    ------
    NxTypeError
        Naming the argument, for what is none of these.
    """
    if type(value) is Expr:
        return value
    if isinstance(value, Operand):
        if type(value.spec) is not Spec and (trace := tracing.current()) is not None and not trace.sees_vectors(value):
            return trace.node(value)
        return value
    if isinstance(value, Proxy):
        return value.__nx_operand__()
    if is_number(value):
        return filled(value, types.infer(value), ())
    if isinstance(value, list | tuple):
        from nxkernel.ops.tensors.creation import tensor

        if type(value) is tuple and len(value) == 2 and _is_sampled(*value):
            raise NxTypeError(
                message(
                    f"expected a tensor, got a tuple of one ({value[0].spec}) and a key of nx.random.",
                    "Samplers return both: write samples, key = nx.random.normal(key, shape=…).",
                )
            )
        return tensor(value)
    if isinstance(value, np.ndarray) and tracing.current() is not None:
        # The array itself, not a view of it, is what a trace knows its captures by.
        array_of_numbers(value, argument)
        return tracing.current().capture(value)
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        return Tensor.from_numpy(array_of_numbers(value, argument))
    raise NxTypeError(
        message(
            f"expected a tensor, an array or a number{f' for {argument!r}' if argument else ''}, "
            f"got {shapes.describe(value)}.",
            *([] if value is None or isinstance(value, str | bytes) else [_OF_LISTS]),
        )
    )


_OF_LISTS = "Lists and nested lists of numbers become tensors with nx.tensor([...])."


def _is_sampled(samples: Any, key: Any) -> bool:
    """Whether two values look like the pair that a sampler of nx.random returns."""
    if not isinstance(samples, Operand) or not isinstance(key, Operand):
        return False
    if key.type is not types.u32 or key.shape[-1:] != (2,):
        return False
    return samples.shape != key.shape or samples.type is not key.type


def lasting(value: Any, argument: str = "") -> Tensor | Expr:
    """As :func:`operand`, but a writeable array is copied: for results that share its memory."""
    if isinstance(value, np.ndarray) or (not isinstance(value, Operand | Proxy) and hasattr(value, "__array__")):
        array = array_of_numbers(value, argument)
        if not _is_frozen(array):
            value = array.copy()
    return operand(value, argument)


def _is_frozen(array: np.ndarray) -> bool:
    """Whether the memory of an array is read-only, through the array and through the bases of its view."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def filled(value: Number, type_: Type, shape: tuple[int, ...], names: Any = None) -> Tensor | Expr:
    """A constant of a shape: a node of the graph, or a tensor."""
    if tracing.current() is not None:
        return constant(number_of(value, type_), type_, shape, names)
    data = np.full(shape, cast_number(value, type_))
    data.flags.writeable = False
    return Tensor.wrap(data, Spec(type_, shape, shapes.unnamed(shape) if names is None else names))


def filled_like(value: Number, type_: Type, tensor: Operand) -> Tensor | Expr:
    """A constant with the shape, names, vectorized axes and device of a tensor."""
    result = filled(value, type_, tensor.shape, tensor.names)
    result = spread_vectors(result, tensor) if tensor.vectorized_axes else result
    return (
        result.to_backend(tensor.device)
        if type(tensor) is DeviceTensor and isinstance(result, StoredTensor)
        else result
    )


def spread_vectors(value: Operand, like: Operand) -> Tensor | Expr:
    """A tensor broadcast along the vectorized axes of another that it lacks."""
    from nxkernel.ops.machinery import axis_alignment

    axes = axis_alignment.union([like, value])
    return axis_alignment.broadcast(value, axes)


def _beside(value: Number, type_: Type, shape: tuple[int, ...]) -> Tensor | Expr:
    """A number as the other operand of an element-wise primitive: a single element that broadcasts."""
    if tracing.current() is not None:
        return constant(number_of(value, type_), type_, shape)
    data = np.ndarray(shape, type_.dtype, cast_number(value, type_), strides=(0,) * len(shape))
    return Tensor.wrap(data, Spec(type_, shape, shapes.unnamed(shape)))


def convert(value: Operand, type_: Type) -> Tensor | Expr:
    """The operand converted to a type; unchanged if it has it."""
    if value.spec.type is type_:
        return value
    if type(value) is Expr and value.primitive is primitives.constant:
        return constant(number_of(value.params["value"], type_), type_, value.spec.shape, value.spec.names)
    if tracing.weak(value):
        python_numbers.check(value.spec.type, type_)
    if type_.is_integer and value.spec.type is s64 and type_ is not types.bool_ and types.follows_numpy():
        _check_range(value, type_)
    return apply(primitives.as_type, value, type=type_)


def _check_range(number: Operand, type_: Type) -> None:
    """Have the program tell of a Python int that the type which it takes does not hold; in loops it goes unchecked."""
    while type(number) is Expr and number.primitive is primitives.broadcast:
        number = number.operands[0]
    if not tracing.weak(number) or number.spec.shape or not deferred_calls.are_checked():
        return
    low, high = types.limits(type_)
    wrong = apply(primitives.less, number, constant(low, s64))
    if high < types.limits(s64)[1]:
        wrong = apply(primitives.logical_or, wrong, apply(primitives.greater, number, constant(high, s64)))
    deferred_calls.raise_if(wrong, [number], functools.partial(_outside, type_))


def _outside(type_: Type, number: int) -> NxTypeError:
    return element_types.outside(type_, number, numpy_promotion.TAKES_TYPE)


def counted(value: Operand) -> Type:
    """The type by which an operand counts where Python's numbers are not weak: alone, a float is an f32."""
    return python_numbers.alone(value.spec.type) if tracing.weak(value) else value.spec.type


def of_type(value: Any, seen: Operand, type_: Type) -> Tensor | Expr:
    """A value, seen as an operand, in a type that counts from here on; a Python number has all digits of the type."""
    if is_number(value):
        return filled(value, type_, ())
    result = convert(seen, type_)
    return strong(result) if python_numbers.are_whole() and tracing.weak(result) else result


def strong(value: Expr) -> Expr:
    """A value that stands for a number as one that counts by its type from here on."""
    params = {"shape": value.spec.shape, "names": value.spec.names}
    return tracing.current().record(primitives.reshape, (value,), params)


def alone(value: Any, argument: str = "") -> Tensor | Expr:
    """As :func:`operand`, for functions of one tensor: a float of Python's is an f32."""
    value = operand(value, argument)
    return convert(value, counted(value)) if python_numbers.are_whole() else value


def spread(value: Operand, shape: tuple[int, ...], names: Any = None) -> Tensor | Expr:
    """The operand broadcast to a shape, aligned at the last axis; unchanged if it has it."""
    spec = value.spec
    if spec.shape == shape:
        return value
    shift = len(shape) - len(spec.shape)
    if names is None:
        names = (None,) * shift + spec.names
    if type(value) is Expr and value.primitive is primitives.constant:
        return constant(value.params["value"], spec.type, shape, names)
    axes = tuple(range(shift, len(shape)))
    if tracing.weak(value):
        # What it is beside decides about its digits, and nothing else is made of it here.
        return tracing.current().record(primitives.broadcast, (value,), {"shape": shape, "axes": axes, "names": names})
    return apply(primitives.broadcast, value, shape=shape, axes=axes, names=names)


def together(left: Any, right: Any) -> tuple[Operand, Operand, Type]:
    """Two operands broadcast to one shape, and the type that they promote to; neither is converted yet.

    A Python number beside a tensor is weak, as :func:`nxkernel.types.merge_number` says.
    """
    if is_number(right):
        if is_number(left):
            type_ = types.merge(types.infer(left), types.infer(right))
            return filled(left, type_, ()), filled(right, type_, ()), type_
        left = operand(left, "left")
        type_ = _merged_number(left, right)
        return left, _beside(right, type_, left.spec.shape), type_
    if is_number(left):
        right = operand(right, "right")
        type_ = _merged_number(right, left)
        return _beside(left, type_, right.spec.shape), right, type_
    left, right = operand(left, "left"), operand(right, "right")
    type_ = merged(left, right)
    if left.spec.shape != right.spec.shape:
        shape = shapes.broadcast_shapes(left.spec.shape, right.spec.shape, left.spec.names, right.spec.names)
        left, right = spread(left, shape), spread(right, shape)
    return left, right, type_


def _merged_number(value: Operand, number: Number) -> Type:
    if tracing.weak(value):
        return types.merge(value.spec.type, types.infer(number))
    return types.merge_number(value.spec.type, number)


def merged(left: Operand, right: Operand) -> Type:
    """The type that two operands promote to; a weak number takes the type of the other."""
    weak = tracing.weak(left), tracing.weak(right)
    if weak[0] is weak[1]:
        return types.merge(left.spec.type, right.spec.type)
    number, other = (left.spec.type, right.spec.type) if weak[0] else (right.spec.type, left.spec.type)
    type_ = types.merge_weak(other, number)
    python_numbers.check(number, type_)
    return type_


def elementwise(primitive: Primitive, left: Any, right: Any, type_rule: TypeRule | None = None) -> Tensor | Expr:
    """Apply a binary element-wise primitive: broadcast, promote the types, apply."""
    left, right, type_ = together(left, right)
    if type_rule is not None:
        type_ = type_rule(type_)
    return apply(primitive, convert(left, type_), convert(right, type_))


def arithmetic(type_: Type) -> Type:
    """The result type of arithmetic: a truth value counts as an s64."""
    return types.s64 if type_ is types.bool_ else type_


def whole(name: str) -> TypeRule:
    """The type rule of functions that take integers only; `name` is for the error."""

    def rule(type_: Type) -> Type:
        if not type_.is_integer:
            raise NxTypeError(
                message(
                    f"{name} takes integers, got {type_}.",
                    'Convert first: nx.as_type(t, "s64") cuts fractions off.',
                )
            )
        return type_

    return rule


def unchanged(type_: Type) -> Type:
    """The type rule of functions that compute no numbers: the type stays."""
    return type_


def ordered(name: str, rule: TypeRule = unchanged) -> TypeRule:
    """The type rule of functions that need an order, which refuses complex numbers."""

    def checked(type_: Type) -> Type:
        if type_.is_complex:
            raise NxTypeError(
                message(
                    f"{name} takes no complex numbers, got {type_}.",
                    "Take nx.real(t), nx.imag(t), nx.abs(t) or nx.phase(t) of them first.",
                )
            )
        return rule(type_)

    return checked


def unary(primitive: Primitive, value: Any, type_rule: TypeRule) -> Tensor | Expr:
    """Apply a unary element-wise primitive in the type that the rule gives."""
    value = operand(value, "tensor")
    return apply(primitive, convert(value, type_rule(value.spec.type)))
