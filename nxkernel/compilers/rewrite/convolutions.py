"""Convolutions as sums that loop nests are good at: over the windows of the padded operand, which are a view.

Vectors run along the space that comes out, or along features. The first takes the operands as they lie in memory. The
second wants the features of the kernel side by side, which is worth a copy of it where space is short, as it is for the
gradient of a kernel, and where the channels come last in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.graph.expr import Expr, constant
from nxkernel.primitives import Primitive
from nxkernel.shapes import unnamed

#: Elements of a vector, and how much fuller vectors have to be for the features to be copied.
LANES, FULLER = 16, 1.3
#: Products from which one sum is cut, as what it reads for the vectors of one tile leaves the cache; and how many the
#: parts have at least and at most.
LONG, LEAST_PART, MOST_PART = 4096, 256, 2048
#: Elements of a window from which that is done: of others there are so many that each is read again soon.
LONG_WINDOW = 16


def sum_of_products(node: Expr, reduced: Callable[[Expr], Expr]) -> Expr:
    """A convolution as a sum of products.

    Parameters
    ----------
    node : Expr
        In a type that arithmetic is done in.
    reduced : callable
        What becomes of a sum over many elements.
    """
    return _Sum(node, reduced).result()


class _Sum:
    def __init__(self, node: Expr, reduced: Callable[[Expr], Expr]) -> None:
        self.node, self.reduced = node, reduced
        params, self.kernel = node.params, node.operands[1]
        self.parts, self.groups = params["batch_groups"], params["feature_groups"]
        features, self.depth, *self.window = self.kernel.shape
        self.features, self.batch = features // (self.parts * self.groups), node.shape[0]
        self.out = node.shape[2:]
        self.space = len(self.out)
        self.blocks = self._blocks()

    def result(self) -> Expr:
        """The node that computes the convolution."""
        last = self._features_last()
        lead = (self.blocks, self.batch, self.parts, self.groups)
        added = (self.depth // self.blocks, *self.window)
        results = (*self.out, self.features) if last else (self.features, *self.out)
        full = (*lead, *results, *added)
        feature, first = (4 + self.space, 4) if last else (4, 5)
        inner = tuple(range(5 + self.space, len(full)))
        views = self._spread(self._views(), full, (0, 1, 2, 3, *range(first, first + self.space), *inner))
        kernel = self._spread(
            self._permuted_kernel(last), full, (0, 2, 3, *inner, feature) if last else (0, 2, 3, feature, *inner)
        )
        result = self._total(self._make(p.multiply, views, kernel), inner)
        if self.blocks > 1:
            result = self._total(result, (0,))
        else:
            result = self._shaped(result, result.shape[1:])
        if last:
            result = self._make(p.transpose, result, axes=(0, 1, 2, 3 + self.space, *range(3, 3 + self.space)))
        return self._make(p.reshape, result, shape=self.node.shape, names=self.node.names)

    # How it is done ----------------------------------------------------------------------------------------------

    def _blocks(self) -> int:
        """The number of parts that each sum over a window is cut into."""
        size = shapes.size(self.window)
        if size < LONG_WINDOW or size * self.depth < LONG:
            return 1
        parts = [n for n in range(1, self.depth + 1) if self.depth % n == 0]
        fits = [n for n in parts if n * size >= LEAST_PART and (n == 1 or n * size <= MOST_PART)]
        return self.depth // max(fits) if fits else 1

    def _features_last(self) -> bool:
        """Whether vectors run along output features."""
        features, space = _fullness(self.features), _fullness(self.out[-1])
        _, order = _in_memory(self.node.operands[0])
        channels_last = order[1] == len(order) - 1
        return features > FULLER * space or (channels_last and FULLER * features >= space)

    # The operands ------------------------------------------------------------------------------------------------

    def _views(self) -> Expr:
        """The operand as overlapping windows: ``[blocks, batch, parts, groups, space, channels, window]``."""
        params, count = self.node.params, self.space
        operand, order = _in_memory(self.node.operands[0])
        around = zip(params["padding"], params["input_dilation"], strict=True)
        config = [(0, 0, 0), (0, 0, 0), *((low, high, gap - 1) for (low, high), gap in around)]
        if any(map(any, config)):
            config = tuple(config[order.index(axis)] for axis in range(len(order)))
            operand = self._make(p.pad, operand, constant(0, operand.type), config=config)
        # Batch and channels are divided where they lie in memory.
        divided = {0: (self.parts, self.batch), 1: (self.groups, self.blocks, self.depth // self.blocks)}
        shape, axes_of = [], {}
        for axis, n in enumerate(operand.shape):
            pieces = divided.get(order.index(axis), (n,))
            axes_of[order.index(axis)] = range(len(shape), len(shape) + len(pieces))
            shape += pieces
        operand = self._shaped(operand, shape)
        (part, batch), (group, block, depth) = axes_of[0], axes_of[1]
        axes = (block, batch, part, group, depth, *(axes_of[2 + axis][0] for axis in range(count)))
        operand = self._make(p.transpose, operand, axes=axes)
        flat = (1,) * 5
        views = self._make(
            p.windows,
            operand,
            window=(*flat, *self.window),
            strides=(*flat, *params["strides"]),
            dilations=(*flat, *params["kernel_dilation"]),
        )
        order = (0, 1, 2, 3, *range(5, 5 + count), 4, *range(10 + count, 10 + 2 * count), *range(5 + count, 10 + count))
        views = self._make(p.transpose, views, axes=order)
        return self._shaped(views, views.shape[: 5 + 2 * count])

    def _permuted_kernel(self, last: bool) -> Expr:
        """The kernel: ``[blocks, parts, groups, channels, window, features]``, or features before channels."""
        kernel, order = _in_memory(self.kernel)
        divided = {0: (self.parts, self.groups, self.features), 1: (self.blocks, self.depth // self.blocks)}
        shape, axes_of = [], {}
        for axis, n in enumerate(kernel.shape):
            pieces = divided.get(order.index(axis), (n,))
            axes_of[order.index(axis)] = range(len(shape), len(shape) + len(pieces))
            shape += pieces
        kernel = self._shaped(kernel, shape)
        (part, group, feature), (block, depth) = axes_of[0], axes_of[1]
        window = [axes_of[2 + axis][0] for axis in range(self.space)]
        if not last:
            return self._make(p.transpose, kernel, axes=(block, part, group, feature, depth, *window))
        if feature == len(shape) - 1 and kernel.primitive is p.parameter:
            return self._make(p.transpose, kernel, axes=(block, part, group, depth, *window, feature))
        # A copy, as what goes into a reshape that merges axes is in memory; the slow axes first.
        kernel = self._make(p.transpose, kernel, axes=(block, part, group, depth, *window, feature))
        return self._shaped(self._shaped(kernel, (shapes.size(kernel.shape),)), kernel.shape)

    # Nodes -------------------------------------------------------------------------------------------------------

    def _make(self, primitive: Primitive, *operands: Expr, **params: object) -> Expr:
        spec = primitive.rule(*[operand.spec for operand in operands], **params)
        return Expr(primitive, operands, params, spec, self.node.source)

    def _shaped(self, value: Expr, shape: Sequence[int]) -> Expr:
        shape = tuple(shape)
        if value.shape == shape and not any(value.names):
            return value
        return self._make(p.reshape, value, shape=shape, names=unnamed(shape))

    def _spread(self, value: Expr, full: tuple[int, ...], axes: tuple[int, ...]) -> Expr:
        order = sorted(range(len(axes)), key=axes.__getitem__)
        if order != list(range(len(axes))):
            value, axes = self._make(p.transpose, value, axes=tuple(order)), tuple(sorted(axes))
        return self._make(p.broadcast, value, shape=full, axes=axes, names=unnamed(full))

    def _total(self, value: Expr, axes: tuple[int, ...]) -> Expr:
        return self.reduced(self._make(p.sum_, value, axes=axes, keep_axes=False))


def _in_memory(value: Expr) -> tuple[Expr, tuple[int, ...]]:
    """The value below all transpositions, and for each axis of the transposed one the axis that it is there."""
    order = tuple(range(len(value.shape)))
    while value.primitive is p.transpose:
        order = tuple(value.params["axes"][axis] for axis in order)
        value = value.operands[0]
    return value, order


def _fullness(size: int) -> float:
    """The fraction of the lanes of vectors along an axis that are used."""
    return size / (shapes.ceil_div(size, LANES) * LANES)
