"""The one place where a primitive meets its operands: it runs now on tensors, or is recorded when a trace is active."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import Number, cast_number, number_of
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, constant
from nxkernel.operand import Operand, Proxy
from nxkernel.primitives import Primitive, Spec
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.foreign_arrays import array_of_numbers
from nxkernel.tensor.tensor import Template, Tensor
from nxkernel.types import Type

TypeRule = Callable[[Type], Type]


def apply(primitive: Primitive, *operands: Operand, **params: Any) -> Any:
    """Run a primitive on tensors, or record it; one with several results gives a tuple of them.

    Rules and parameters are those of one entry of vectorized axes, which :mod:`nxkernel.ops.machinery.batching_rules`
    takes care of.
    """
    trace = tracing.current()
    if trace is not None:
        for operand in operands:
            if type(operand) is not Expr and operand.vectorized_axes and trace.sees_vectors(operand):
                return _over_vectors(primitive, operands, params)
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
    """Run a primitive on tensors of which some are on a device: there, where its results stay."""
    for operand in operands:
        if not isinstance(operand, Tensor):
            _refuse(operand)
        if operand.vectorized_axes:
            return _over_vectors(primitive, operands, params)
    from nxkernel.definitions.devices import eager_operations

    spec = primitive.rule(*[operand.spec for operand in operands], **params)
    made = eager_operations.run(primitive, operands, params)
    if type(spec) is tuple:
        return tuple(map(DeviceTensor.wrap, made, spec))
    return DeviceTensor.wrap(made[0], spec)


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
    """Whether a value is a Python number, which is weak in types; NumPy's scalars are tensors."""
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def is_operand(value: Any) -> bool:
    """Whether :func:`operand` takes the value: a tensor, number, array, list, or what offers NumPy an array."""
    return isinstance(value, Operand | Proxy | list | tuple | np.ndarray | np.generic) or (
        is_number(value) or hasattr(value, "__array__")
    )


def operand(value: Any, argument: str = "") -> Tensor | Expr:
    """A tensor or traced value out of what a person passed: a number, a list, an array or a tensor.

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
            "Lists and nested lists of numbers become tensors with nx.tensor([...]).",
        )
    )


def _is_sampled(samples: Any, key: Any) -> bool:
    """Whether two values look like what a sampler of nx.random returns, and are of one kind only by chance."""
    if not isinstance(samples, Operand) or not isinstance(key, Operand):
        return False
    if key.type is not types.u32 or key.shape[-1:] != (2,):
        return False
    return samples.shape != key.shape or samples.type is not key.type


def lasting(value: Any, argument: str = "") -> Tensor | Expr:
    """As :func:`operand`, with a copy of an array that somebody may write to: for results that share its memory."""
    if isinstance(value, np.ndarray) or (not isinstance(value, Operand | Proxy) and hasattr(value, "__array__")):
        array = array_of_numbers(value, argument)
        if not _is_frozen(array):
            value = array.copy()
    return operand(value, argument)


def _is_frozen(array: np.ndarray) -> bool:
    """Whether nobody can write into the memory of an array: neither it nor what it is a view of is writeable."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)


def filled(value: Number, type_: Type, shape: tuple[int, ...], names: Any = None) -> Tensor | Expr:
    """One number in every element: a constant of the graph, or a tensor."""
    if tracing.current() is not None:
        return constant(number_of(value, type_), type_, shape, names)
    data = np.full(shape, cast_number(value, type_))
    data.flags.writeable = False
    return Tensor.wrap(data, Spec(type_, shape, shapes.unnamed(shape) if names is None else names))


def filled_like(value: Number, type_: Type, tensor: Operand) -> Tensor | Expr:
    """One number in every element, in the shape, names and vectorized axes of a tensor, and where that is."""
    made = filled(value, type_, tensor.shape, tensor.names)
    made = spread_vectors(made, tensor) if tensor.vectorized_axes else made
    return made.to_backend(tensor.device) if type(tensor) is DeviceTensor and isinstance(made, Tensor) else made


def spread_vectors(value: Operand, like: Operand) -> Tensor | Expr:
    """A tensor repeated along the vectorized axes of another one that it does not have."""
    from nxkernel.ops.machinery import axis_alignment

    axes = axis_alignment.union([like, value])
    return axis_alignment.broadcast(value, axes)


def _beside(value: Number, type_: Type, shape: tuple[int, ...]) -> Tensor | Expr:
    """A number as the other operand of an element-wise primitive: one element that stands for all."""
    if tracing.current() is not None:
        return constant(number_of(value, type_), type_, shape)
    data = np.ndarray(shape, type_.dtype, cast_number(value, type_), strides=(0,) * len(shape))
    return Tensor.wrap(data, Spec(type_, shape, shapes.unnamed(shape)))


def convert(value: Operand, type_: Type) -> Tensor | Expr:
    """The operand in another type; nothing happens when it has it."""
    if value.spec.type is type_:
        return value
    if type(value) is Expr and value.primitive is primitives.constant:
        return constant(number_of(value.params["value"], type_), type_, value.spec.shape, value.spec.names)
    return apply(primitives.as_type, value, type=type_)


def spread(value: Operand, shape: tuple[int, ...], names: Any = None) -> Tensor | Expr:
    """The operand broadcast to a shape, aligned at the last axis; nothing happens when it has it."""
    spec = value.spec
    if spec.shape == shape:
        return value
    shift = len(shape) - len(spec.shape)
    if names is None:
        names = (None,) * shift + spec.names
    if type(value) is Expr and value.primitive is primitives.constant:
        return constant(value.params["value"], spec.type, shape, names)
    axes = tuple(range(shift, len(shape)))
    return apply(primitives.broadcast, value, shape=shape, axes=axes, names=names)


def together(left: Any, right: Any) -> tuple[Operand, Operand, Type]:
    """Two operands in one shape, and the type that they merge to; neither is converted yet.

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
    """The type that two operands merge to; one that stands for a Python number takes that of the other."""
    weak = tracing.weak(left), tracing.weak(right)
    if weak[0] is weak[1]:
        return types.merge(left.spec.type, right.spec.type)
    return types.merge_weak(*((right.spec.type, left.spec.type) if weak[0] else (left.spec.type, right.spec.type)))


def elementwise(primitive: Primitive, left: Any, right: Any, type_rule: TypeRule | None = None) -> Tensor | Expr:
    """A binary element-wise primitive on anything: broadcast, merge the types, apply."""
    left, right, type_ = together(left, right)
    if type_rule is not None:
        type_ = type_rule(type_)
    return apply(primitive, convert(left, type_), convert(right, type_))


def arithmetic(type_: Type) -> Type:
    """The type that arithmetic gives: bool counts as u8, and as a whole number by NumPy's rules."""
    if type_ is types.bool_:
        return types.s64 if types.follows_numpy() else types.u8
    return type_


def whole(name: str) -> TypeRule:
    """The type rule of a function of integers; `name` tells the error which."""

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


def ordered(name: str, rule: TypeRule = arithmetic) -> TypeRule:
    """The type rule of a function that complex numbers have no answer to, since they have no order."""

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
    """A unary element-wise primitive on anything, in the type that the rule gives."""
    value = operand(value, "tensor")
    return apply(primitive, convert(value, type_rule(value.spec.type)))
