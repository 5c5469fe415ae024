"""Aligning the vectorized axes of several operands: their union, and each operand broadcast to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nxkernel import primitives, shapes
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, VectorizedExpr, constant, node_with
from nxkernel.operand import Operand, VectorizedAxes, entry_spec, vectorized_spec, whole_spec
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import Tensor


def names_and_sizes(axes: Any, auto: bool = False) -> list[tuple[str, Any]]:
    """Vectorized axes from the forms that users may pass, as name and size; size None if not given, or ``"auto"`` if
    allowed.
    """
    if isinstance(axes, str):
        axes = [axes]
    if isinstance(axes, Mapping):
        axes = list(axes.items())
    if not isinstance(axes, list | tuple):
        raise NxTypeError(
            message(
                f"vectorized axes are a name, a list of names, or a dict of sizes, got {shapes.describe(axes)}.",
                'For example "x", ["x", "y"] or {"x": 2}.',
            )
        )
    pairs: list[tuple[str, Any]] = []
    for axis in axes:
        name, size = axis if isinstance(axis, tuple) and len(axis) == 2 else (axis, None)
        if not isinstance(name, str):
            raise NxTypeError(f"the name of a vectorized axis is a str, got {shapes.describe(name)}")
        if name in dict(pairs):
            raise NxValueError(f"the name {name!r} stands for two vectorized axes; names must differ")
        if size is not None and not (auto and size == "auto"):
            size = shapes.static_int(size, f"the size of the vectorized axis {name!r}")
            if size < 1:
                raise NxValueError(f"the size of a vectorized axis is at least 1, got {size} for {name!r}")
        pairs.append((name, size))
    return pairs


def sized(axes: Any, auto: bool = False) -> VectorizedAxes:
    """Vectorized axes from the forms that users may pass, each of which must have a size."""
    pairs = names_and_sizes(axes, auto)
    for name, size in pairs:
        if size is None:
            raise NxValueError(f"the vectorized axis {name!r} needs a size: write {{{name!r}: 2}}")
    return tuple(pairs)


def union(operands: Iterable[Operand]) -> VectorizedAxes:
    """The union of the operands' vectorized axes, in order of appearance.

    Raises
    ------
    NxValueError
        For an axis with two sizes of which none is 1.
    """
    met: dict[str, tuple[int, Any]] = {}
    for operand in operands:
        for name, size in operand.vectorized_axes:
            before, other = met.get(name, (1, None))
            if before == 1:
                met[name] = size, operand
            elif size not in (1, before):
                raise NxValueError(
                    message(
                        f"the vectorized axis {name!r} has size {before} in {other.spec} and size {size} in "
                        f"{operand.spec}.",
                        "Sizes must be equal, or one of them 1.",
                        "nx.revectorize(t, {...}) gives vectorized axes other names and sizes.",
                    )
                )
    return tuple([(name, size) for name, (size, _) in met.items()])


def whole(value: Operand) -> Tensor | Expr:
    """A value with its vectorized axes turned into plain, unnamed leading axes."""
    if type(value) is VectorizedExpr:
        return value.node
    trace = tracing.current()
    if not value.vectorized_axes:
        return value if trace is None else trace.node(value)
    return value.with_spec(whole_spec(value.spec)) if trace is None else trace.outermost.node(value)


def vectorized(value: Tensor | Expr, axes: VectorizedAxes, entry: Spec) -> Operand:
    """The inverse of :func:`whole`: the leading axes become the vectorized `axes`."""
    spec = vectorized_spec(entry, axes)
    if tracing.current() is None:
        return value.with_spec(spec)
    parts = whole_spec(spec)
    if value.spec.names != parts.names:
        value = apply(primitives.reshape, value, shape=parts.shape, names=parts.names)
    return node_with(value, spec)


def aligned(value: Operand, axes: VectorizedAxes) -> Tensor | Expr:
    """A value as a plain one with leading axes `axes`, which include its vectorized axes; unchanged if it has none."""
    own = value.vectorized_axes
    return _spread(whole(value), own, axes) if own else value


def broadcast(value: Operand, axes: VectorizedAxes) -> Operand:
    """A value broadcast along vectorized axes."""
    own = value.vectorized_axes
    return value if own == axes else vectorized(_spread(whole(value), own, axes), axes, entry_spec(value.spec))


def _spread(value: Tensor | Expr, own: VectorizedAxes, axes: VectorizedAxes) -> Tensor | Expr:
    """A plain value with leading axes `own`, transposed and broadcast to leading axes `axes`."""
    if own == axes:
        return value
    names = [name for name, _ in axes]
    positions = tuple([names.index(name) for name, _ in own])
    sizes = tuple([size for _, size in axes])
    inner = len(value.shape) - len(own)
    if len(own) == len(axes) and all(
        size == sizes[position] for (_, size), position in zip(own, positions, strict=True)
    ):
        order = sorted(range(len(own)), key=positions.__getitem__)
        return apply(primitives.transpose, value, axes=(*order, *range(len(own), len(own) + inner)))
    shape = sizes + value.shape[len(own) :]
    parts = (None,) * len(sizes) + value.names[len(own) :]
    if type(value) is Expr and value.primitive is primitives.constant:
        return constant(value.params["value"], value.type, shape, parts)
    positions += tuple(range(len(sizes), len(shape)))
    return apply(primitives.broadcast, value, shape=shape, axes=positions, names=parts)
