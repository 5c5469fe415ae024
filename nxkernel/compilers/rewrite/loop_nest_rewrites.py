"""Rewrites before scheduling: primitives that nests cannot or should not compute are replaced, large reductions cut in
two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial as bound
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.compilers.analysis import matrix_products
from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.analysis.reduction_table import ARGUMENTS, LOGIC, REDUCTIONS
from nxkernel.compilers.analysis.scalars import is_single
from nxkernel.compilers.rewrite import convolutions
from nxkernel.compilers.rewrite.powers import written_out
from nxkernel.compilers.rewrite.small_matrices import SMALL
from nxkernel.graph.expr import Expr, SourceLocation, constant
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Primitive, Spec
from nxkernel.shapes import unnamed

#: On a processor, see `Limits`.
SPLIT_FROM, BLOCK, ENOUGH_ROWS, COLUMNS_A_ROW, ROWS_A_BLOCK, MOST_BLOCKS = 1 << 17, 1 << 13, 64, 512, 16, 4096
SMALL_PRODUCT = 4096
#: The length from which an axis is cut, and how many blocks there have to be where only the last one is left.
SHORT_AXIS, FEW_BLOCKS = 32, 8


@dataclass(frozen=True)
class MachineLimits:
    """Thresholds of the rewrites; they depend on the kind of machine only, so that results are reproducible.

    Parameters
    ----------
    split_from : int
        A reduction of at least this many elements with little else to run in parallel is cut into blocks.
    block : int
        Elements of one such block, about.
    enough_rows : int
        Outer elements from which rows are parallel enough by themselves.
    columns_a_row : int
        How many columns, which are reduced side by side, count as one row.
    rows_a_block : int
        Fewest rows of a block whose results are rows themselves, so that they are few beside what is read.
    most_blocks : int
        Most blocks of one reduction.
    small_product : int
        Products of matrices up to this many multiplications become loops: calling a library would cost more.
    """

    split_from: int
    block: int
    enough_rows: int
    columns_a_row: int
    rows_a_block: int
    most_blocks: int
    small_product: int


#: For a hundred multiprocessors and more, each of which runs several blocks of some hundred threads at a time.
ON_GPU = MachineLimits(
    split_from=1 << 15,
    block=1 << 12,
    enough_rows=1024,
    columns_a_row=8,
    rows_a_block=64,
    most_blocks=1 << 13,
    small_product=4096,
)


def on_processor() -> MachineLimits:
    """The limits for the threads of a processor."""
    return MachineLimits(SPLIT_FROM, BLOCK, ENOUGH_ROWS, COLUMNS_A_ROW, ROWS_A_BLOCK, MOST_BLOCKS, SMALL_PRODUCT)


_VIEWS = frozenset([p.reshape, p.broadcast, p.transpose])


def make(primitive: Primitive, *operands: Expr, source: SourceLocation | None = None, **params: Any) -> Expr:
    """A node of a primitive, with the spec that its rule gives; a view of a constant becomes a constant."""
    spec = primitive.rule(*[o.spec for o in operands], **params)
    if primitive in _VIEWS and operands[0].primitive is p.constant:
        return constant(operands[0].params["value"], spec.type, spec.shape, spec.names)
    return Expr(primitive, operands, params, spec, source)


def prepare(
    outputs: Sequence[Expr],
    blas: frozenset[types.Type],
    own: bool = True,
    limits: MachineLimits | None = None,
    converting_scans: bool = False,
) -> tuple[list[Expr], dict[Expr, Expr]]:
    """The rewritten outputs, and for each new node the node of the graph that it came from.

    Parameters
    ----------
    outputs : sequence of Expr
    blas : frozenset of Type
        The types for which a library multiplies matrices; products of others become loops. Narrow floats that are not
        among them are multiplied in the type that they compute in.
    own : bool
        Whether an output that is an input must be a copy of it.
    limits : MachineLimits, optional
        Those of a processor unless given.
    converting_scans : bool
        Whether cumulative operations can convert what they read.
    """
    limits = limits or on_processor()
    reduced = bound(_reduction, limits=limits)
    new: dict[int, Expr] = {}
    origin: dict[Expr, Expr] = {}
    for node in post_order(outputs):
        operands = tuple([new[id(operand)] for operand in node.operands])
        same = all(a is b for a, b in zip(operands, node.operands, strict=True))
        current = node if same else Expr(node.primitive, operands, node.params, node.spec, node.source)
        if node.primitive is p.conv:
            current = _conv(current, reduced)
        elif node.primitive in REWRITES:
            current = REWRITES[node.primitive](current)
        elif node.primitive.family == "reduction":
            current = reduced(current)
        elif node.primitive.family == "cumulative" and converting_scans:
            current = _converting(current)
        elif node.primitive is p.dot:
            current = _dot(current, blas, limits)
        new[id(node)] = current
        stack = [current]
        while stack:
            one = stack.pop()
            if one not in origin:
                origin[one] = node
                stack.extend(one.operands)
    return [_own(new[id(output)]) if own else new[id(output)] for output in outputs], origin


def _own(output: Expr) -> Expr:
    """A copy of an output that is an input, or a reshape of one: results never share the caller's memory."""
    node = output
    while node.primitive is p.reshape:
        node = node.operands[0]
    if node.primitive is not p.parameter:
        return output
    axes = tuple(range(len(output.shape)))
    return make(p.broadcast, output, shape=output.shape, axes=axes, names=output.names, source=output.source)


def _reverse(node: Expr) -> Expr:
    (operand,), axes = node.operands, node.params["axes"]
    shape = operand.shape
    return make(
        p.slice_,
        operand,
        starts=tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape)),
        lengths=shape,
        strides=tuple(-1 if a in axes else 1 for a in range(len(shape))),
        source=node.source,
    )


def _scatter(node: Expr) -> Expr:
    """A scatter that joins half-width floats, rewritten to join in the type of arithmetic and to round once."""
    wide = types.compute_type(node.type)
    if node.params["combine"] == "put" or wide is node.type:
        return node
    target, updates, *indices = node.operands
    widened = [make(p.as_type, value, type=wide) for value in (target, updates)]
    return make(p.as_type, make(p.scatter, *widened, *indices, source=node.source, **node.params), type=node.type)


def _fold(node: Expr) -> Expr:
    """A fold over one element, replaced by its body; other folds stay, and are never cut."""
    operand, *scalars = node.operands
    body, shape, names = node.params["body"], node.shape, node.names
    if shapes.size([operand.shape[a] for a in node.params["axes"]]) != 1:
        return node
    arguments = [make(p.reshape, operand, shape=shape, names=names, source=node.source)]
    arguments += [make(p.broadcast, x, shape=shape, axes=(), names=names, source=node.source) for x in scalars]
    values = dict(zip(body.parameters, arguments, strict=True))
    (output,) = body.outputs
    for one in post_order([output]):
        if one.primitive is p.constant:
            values[one] = constant(one.params["value"], one.type, shape, names)
        elif one not in values:
            spec = Spec(one.type, shape, names)
            values[one] = Expr(one.primitive, tuple(values[o] for o in one.operands), one.params, spec, node.source)
    return values[output]


def _reduction(node: Expr, limits: MachineLimits) -> Expr:
    """A reduction over one element, replaced by that; a large one with few rows, cut into two steps."""
    operand = node.operands[0]
    if node.primitive.name in ARGUMENTS and node.type is not types.s64:
        wide = make(node.primitive, operand, source=node.source, **{**node.params, "type": types.s64})
        return make(p.as_type, _reduction(wide, limits), type=node.type, source=node.source)
    wide = types.compute_type(node.type)
    if node.primitive in (p.sum_, p.product) and wide is not node.type:
        # Narrow floats are summed in the type that they compute in, and rounded once.
        widened = make(node.primitive, make(p.as_type, operand, type=wide), source=node.source, **node.params)
        result = _reduction(widened, limits)
        return make(p.as_type, result, type=node.type, source=node.source)
    axes = node.params.get("axes", (node.params.get("axis"),))
    keep = node.params.get("keep_axes", node.params.get("keep_axis", False))
    count = shapes.size([operand.shape[a] for a in axes])
    if count == 1:
        return _of_one(node, operand)
    rows = shapes.size(operand.shape) // max(count, 1)
    lanes_inner = operand.shape and len(operand.shape) - 1 in axes
    parallel = rows if lanes_inner else shapes.ceil_div(rows, limits.columns_a_row)
    if count * rows < limits.split_from or parallel >= limits.enough_rows:
        return node
    first = _cut_axis(operand.shape, axes)
    axes = (first, *(axis for axis in axes if axis != first))
    rest = count // operand.shape[first] * (1 if lanes_inner else rows)
    length, least = operand.shape[first], 1 if lanes_inner else limits.rows_a_block
    block = max(shapes.ceil_div(limits.block, max(rest, 1)), shapes.ceil_div(length, limits.most_blocks), least)
    blocks = shapes.ceil_div(length, block)
    if blocks < 2:
        return node
    common = {"axes": axes, "block": block, "blocks": blocks, "tie": node.params.get("tie_break", "")}

    def cut(reduce: Primitive, type_: types.Type) -> Expr:
        return make(partial, operand, reduce=reduce, type=type_, source=node.source, **common)

    if node.primitive.name in ARGUMENTS:
        result = _best_block(node, cut)
    else:
        part = cut(node.primitive, node.type)
        result = make(node.primitive, part, axes=(0,), keep_axes=False, source=node.source)
    if keep or result.spec != node.spec:
        return make(p.reshape, result, shape=node.shape, names=node.names, source=node.source)
    return result


def _cut_axis(shape: tuple[int, ...], axes: Sequence[int]) -> int:
    """The axis to cut a reduction along: the slowest one that is long enough, so that a block is contiguous.

    The last one, along which vectors run, is cut where no other has blocks enough.
    """
    others = [axis for axis in sorted(axes) if axis != len(shape) - 1]
    longest = max(others, key=shape.__getitem__, default=None)
    if longest is None or shape[longest] < FEW_BLOCKS:
        longest = max(axes, key=shape.__getitem__)
    return next((axis for axis in others if shape[axis] >= SHORT_AXIS), longest)


def _of_one(node: Expr, operand: Expr) -> Expr:
    if node.primitive.name in ARGUMENTS:
        return constant(0, node.type, node.shape, node.names)
    value = make(p.reshape, operand, shape=node.shape, names=node.names, source=node.source)
    if node.primitive.name in LOGIC:
        zero = constant(0, operand.type, node.shape, node.names)
        return make(p.not_equal, value, zero, source=node.source)
    return value


def _best_block(node: Expr, cut: Callable[[Primitive, types.Type], Expr]) -> Expr:
    """An argmax or argmin from the results of its blocks: the block with the best element selects the index."""
    best = p.TABLE[REDUCTIONS[node.primitive.name].element]
    values, indices = cut(best, node.operands[0].type), cut(node.primitive, node.type)
    winner = make(
        node.primitive,
        values,
        axis=0,
        keep_axis=True,
        tie_break=node.params["tie_break"],
        type=types.s64,
        source=node.source,
    )
    block = make(p.iota, type=types.s64, shape=values.shape, names=unnamed(values.shape), axis=0)
    wide = make(
        p.broadcast,
        winner,
        shape=values.shape,
        axes=tuple(range(len(values.shape))),
        names=unnamed(values.shape),
        source=node.source,
    )
    mask = make(p.equal, block, wide, source=node.source)
    chosen = make(p.select, mask, indices, constant(0, node.type, values.shape), source=node.source)
    return make(p.sum_, chosen, axes=(0,), keep_axes=False, source=node.source)


def _dot(node: Expr, blas: frozenset[types.Type], limits: MachineLimits) -> Expr:
    """A product with a vector, a small one, or one without a library for its type, as a sum of products."""
    left, right = node.operands
    (contract_left, contract_right), (batch_left, batch_right) = node.params["contract"], node.params["batch"]
    free_left = [a for a in range(len(left.shape)) if a not in contract_left and a not in batch_left]
    free_right = [a for a in range(len(right.shape)) if a not in contract_right and a not in batch_right]
    rows, columns = (shapes.size([t.shape[a] for a in free]) for t, free in ((left, free_left), (right, free_right)))
    depth = shapes.size([left.shape[a] for a in contract_left])
    large = min(rows, columns) > 1 and rows * columns * depth > limits.small_product
    if node.type in blas and large and max(rows, columns, depth) <= matrix_products.LONGEST:
        return _for_library(node)
    wide = types.compute_type(node.type)
    if wide is not node.type:
        widened = [make(p.as_type, operand, type=wide) for operand in (left, right)]
        result = _dot(make(p.dot, *widened, source=node.source, **node.params), blas, limits)
        return make(p.as_type, result, type=node.type, source=node.source)
    # Axes of the common space: batch, free left, contracted, free right. The free right axes come last, so that lanes
    # run along consecutive elements of a row-major right operand; without them the contracted ones do.
    nb, nl, nc = len(batch_left), len(free_left), len(contract_left)
    shape = tuple(
        [left.shape[a] for a in (*batch_left, *free_left, *contract_left)] + [right.shape[a] for a in free_right]
    )
    axes_of_left = {axis: position for position, axis in enumerate((*batch_left, *free_left, *contract_left))}
    axes_of_right = {axis: position for position, axis in enumerate(batch_right)}
    axes_of_right |= {axis: nb + nl + position for position, axis in enumerate(contract_right)}
    axes_of_right |= {axis: nb + nl + nc + position for position, axis in enumerate(free_right)}

    def spread(operand: Expr, positions: dict[int, int]) -> Expr:
        order = sorted(positions, key=positions.__getitem__)
        if order != list(range(len(order))):
            operand = make(p.transpose, operand, axes=tuple(order), source=node.source)
        if operand.shape == shape:
            return operand
        axes = tuple(sorted(positions.values()))
        return make(p.broadcast, operand, shape=shape, axes=axes, names=unnamed(shape), source=node.source)

    product = make(
        p.multiply, _anonymous(spread(left, axes_of_left)), _anonymous(spread(right, axes_of_right)), source=node.source
    )
    if not nc:
        result = product
    else:
        axes = tuple(range(nb + nl, nb + nl + nc))
        result = _reduction(make(p.sum_, product, axes=axes, keep_axes=False, source=node.source), limits)
    if result.spec != node.spec:
        result = make(p.reshape, result, shape=node.shape, names=node.names, source=node.source)
    return result


def _conv(node: Expr, reduced: Callable[[Expr], Expr]) -> Expr:
    """A convolution as a sum of products over windows, in the type of arithmetic."""
    (operand, kernel), params = node.operands, node.params
    wide = types.compute_type(node.type)
    if wide is not node.type:
        widened = [make(p.as_type, value, type=wide, source=node.source) for value in (operand, kernel)]
        return make(p.as_type, _conv(make(p.conv, *widened, source=node.source, **params), reduced), type=node.type)
    return convolutions.sum_of_products(node, reduced)


def _for_library(node: Expr) -> Expr:
    """A dot whose operands BLAS can read; one with other strides is transposed into memory first."""
    operands, contract, batch = [], [], []
    for operand, axes in zip(node.operands, matrix_products.axes_of(node), strict=True):
        base, strides = matrix_products.layout(operand)
        if matrix_products.matrix(operand, base, strides, *axes) is None:
            order = [*axes[0], *axes[1], *axes[2]]
            positions = [[order.index(a) for a in group] for group in axes]
            operand = make(p.transpose, operand, axes=tuple(order), source=node.source)
            axes = positions
        operands.append(operand)
        batch.append(tuple(axes[0]))
        contract.append(tuple(axes[2]))
    if all(a is b for a, b in zip(operands, node.operands, strict=True)):
        return node
    return make(p.dot, *operands, contract=tuple(contract), batch=tuple(batch), source=node.source)


def _anonymous(node: Expr) -> Expr:
    if not any(node.names):
        return node
    return make(p.reshape, node, shape=node.shape, names=unnamed(node.shape), source=node.source)


def _converting(node: Expr) -> Expr:
    """A cumulative operation on converted predicates or whole numbers, which reads these as narrow as they are."""
    (operand,) = node.operands
    if operand.primitive is not p.as_type or "type" in node.params:
        return node
    (narrow,) = operand.operands
    if not (narrow.type.is_integer and operand.type.is_integer and narrow.type.size < operand.type.size):
        return node
    return make(node.primitive, narrow, source=node.source, **node.params, type=operand.type)


def _doubled(node: Expr) -> Expr:
    """A single number times 2 as a sum, which has a latency one cycle shorter: scalar loops wait for it."""
    left, right = node.operands
    if is_single(node) and node.type.is_float and node.params.get("rounded"):
        for factor, other in ((left, right), (right, left)):
            if factor.primitive is p.constant and factor.params["value"] == 2:
                return make(p.add, other, other, source=node.source)
    return node


#: Other primitives that are rewritten; a scatter only where its numbers are narrow, matrices where they are small.
REWRITES: dict[Primitive, Callable[..., Expr]] = {
    p.conv: _conv,
    p.multiply: _doubled,
    p.power: written_out,
    p.reduce: _fold,
    p.reverse: _reverse,
    p.scatter: _scatter,
    **SMALL,
}
