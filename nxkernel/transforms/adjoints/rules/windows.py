"""Gradients of window reductions, which add up where windows overlap, and of convolutions, which are convolutions."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, bare, rule, shaped, spread, total

#: Windows of up to so many elements along an axis are added one after the other, in one pass over the result.
FEW = 16
#: Elements of the windows' results, with those between them, for each of their own, up to which results are spread out.
SPARSE = 16
#: The same where windows lie apart, as they could be put one after the other instead.
SPARSE_APART = 4
#: Channels up to which the gradient of a kernel is a product of matrices, where there are features enough for one, and
#: elements that the windows may have together for that.
FEW_CHANNELS, SOME_FEATURES, MOST = 4, 4, 1 << 25


@rule(p.windows)
def _windows(at: AdjointSite) -> list[Gain]:
    shape, gain = at.node.operands[0].shape, at.g
    if not shapes.size(shape) or not shapes.size(gain.shape):
        return [at.zeros(0)]
    window, strides, dilations = (at.params[name] for name in ("window", "strides", "dilations"))
    disjoint = all((n - 1) * gap < step for n, step, gap in zip(window, strides, dilations, strict=True))
    if shapes.size(strides) <= (SPARSE_APART if disjoint else SPARSE):
        gain_of_windows = _WindowFactors(at).total(gain)
        if gain_of_windows is not None:
            return [gain_of_windows]
    for axis, each in enumerate(zip(shape, window, strides, dilations, strict=True)):
        gain = _overlap_add(gain, axis, len(shape), *each)
    return [gain]


class _WindowFactors:
    """Splits a cotangent of window elements into factors of the element and factors of the window.

    Each element then adds up what it gains in the windows that it is in, and nothing is kept for all elements of all
    windows. What belongs to a window is found by windows that go over it the other way.
    """

    def __init__(self, at: AdjointSite) -> None:
        self.at, self.shape = at, at.node.operands[0].shape
        self.rank, self.full = len(self.shape), (*self.shape, *at.params["window"])
        self._results: dict[Expr, Expr | None] = {}

    def total(self, gain: Expr) -> Expr | None:
        """The sum of the cotangent over windows; None if it depends on something else."""
        picked = self._of(gain)
        if picked is None:
            return None
        if not self._is_cleared(gain):
            inside = self._seen(filled(1, types.u8, gain.shape[: self.rank]))
            picked = apply(p.select, inside, picked, filled(0, picked.type, self.full))
        return total(picked, range(self.rank, 2 * self.rank))

    def _of(self, node: Expr) -> Expr | None:
        if node not in self._results:
            self._results[node] = self._collected(node)
        return self._results[node]

    def _collected(self, node: Expr) -> Expr | None:
        if node is self.at.node:
            return spread(bare(node.operands[0]), self.full, range(self.rank))
        if node.primitive is p.constant:
            return filled(node.params["value"], node.type, self.full)
        if self._is_a_windows(node):
            one = node.operands[0]
            return self._seen(spread(bare(one), node.shape[: self.rank], node.params["axes"]))
        if node.primitive is p.reshape and node.operands[0].shape == node.shape:
            return self._of(node.operands[0])
        if node.primitive.family != "elementwise":
            return None
        operands = [self._of(operand) for operand in node.operands]
        return None if any(one is None for one in operands) else apply(node.primitive, *operands, **node.params)

    def _is_a_windows(self, node: Expr) -> bool:
        return node.primitive is p.broadcast and all(axis < self.rank for axis in node.params["axes"])

    def _seen(self, value: Expr) -> Expr:
        """For each element, the values of the windows that contain it; zero where there is no such window."""
        names = ("window", "strides", "dilations")
        window, strides, dilations = (self.at.params[name] for name in names)
        config = tuple(
            ((n - 1) * gap, size - (count - 1) * step - 1, step - 1)
            for size, count, n, step, gap in zip(self.shape, value.shape, window, strides, dilations, strict=True)
        )
        value = apply(p.pad, value, filled(0, value.type, ()), config=config)
        return apply(p.windows, value, window=window, strides=(1,) * self.rank, dilations=dilations)

    def _is_cleared(self, node: Expr) -> bool:
        """Whether a value is zero where there is no window."""
        if self._is_a_windows(node):
            return True
        cleared = [self._is_cleared(operand) for operand in node.operands]
        if node.primitive is p.multiply:
            return any(
                mine and (its or _is_finite(other))
                for mine, its, other in zip(cleared, reversed(cleared), reversed(node.operands), strict=True)
            )
        return node.primitive in (p.negate, p.add, p.subtract, p.as_type, p.reshape) and all(cleared)


def _is_finite(node: Expr) -> bool:
    type_ = node.operands[0].type if node.primitive is p.as_type else node.type
    return not (type_.is_float or type_.is_complex)


def _overlap_add(gain: Expr, axis: int, window_axis: int, size: int, window: int, stride: int, dilation: int) -> Expr:
    """Window elements (along `window_axis`) added up at the positions of `axis` that they were taken from."""
    rank = len(gain.shape)
    others = [a for a in range(rank) if a not in (axis, window_axis)]
    count, reach = gain.shape[axis], (window - 1) * dilation + 1
    if window == 1:
        gain = shaped(gain, tuple(n for a, n in enumerate(gain.shape) if a != window_axis))
        return _padded(gain, axis, 0, size - (count - 1) * stride - 1, stride - 1)
    if reach <= stride:
        # Windows lie apart: one after the other they are the axis.
        gain = apply(
            p.transpose,
            gain,
            axes=(*[a for a in others if a < axis], axis, window_axis, *[a for a in others if a > axis]),
        )
        gain = _padded(gain, axis + 1, 0, stride - reach, dilation - 1)
        gain = shaped(gain, (*gain.shape[:axis], count * stride, *gain.shape[axis + 2 :]))
        return _padded(gain, axis, 0, size - count * stride, 0)
    if window <= FEW:
        return _sum_by_window_element(gain, axis, window_axis, size, stride, dilation)
    return _overlap_add_by_skewing(gain, axis, window_axis, size, stride, dilation)


def _sum_by_window_element(gain: Expr, axis: int, window_axis: int, size: int, stride: int, dilation: int) -> Expr:
    """Overlap-add as a sum over window elements: the first of all windows, the second, …, each shifted into place."""
    count, sum_ = gain.shape[axis], None
    for number in range(gain.shape[window_axis]):
        starts = tuple(number if a == window_axis else 0 for a in range(len(gain.shape)))
        lengths = tuple(1 if a == window_axis else n for a, n in enumerate(gain.shape))
        part = apply(p.slice_, gain, starts=starts, lengths=lengths, strides=(1,) * len(lengths))
        part = shaped(part, tuple(n for a, n in enumerate(gain.shape) if a != window_axis))
        first = number * dilation
        part = _padded(part, axis, first, size - first - (count - 1) * stride - 1, stride - 1)
        sum_ = part if sum_ is None else sum_ + part
    return sum_


def _overlap_add_by_skewing(gain: Expr, axis: int, window_axis: int, size: int, stride: int, dilation: int) -> Expr:
    """As :func:`_overlap_add` for many elements: windows as rows, each shifted by one more, by a reshape of other
    width.
    """
    rank, window = len(gain.shape), gain.shape[window_axis]
    others = [a for a in range(rank) if a not in (axis, window_axis)]
    gain = apply(p.transpose, gain, axes=(*others, window_axis, axis))
    gain = _padded(gain, rank - 1, 0, size + dilation - (gain.shape[-1] - 1) * stride - 1, stride - 1)
    lead = gain.shape[:-2]
    gain = shaped(gain, (*lead, window * (size + dilation)))
    gain = _padded(gain, len(lead), 0, -window * dilation, 0)
    gain = total(shaped(gain, (*lead, window, size)), (len(lead),))
    order = [*others, axis]
    return apply(p.transpose, gain, axes=tuple(order.index(a) for a in range(rank) if a != window_axis))


def _padded(value: Expr, axis: int, low: int, high: int, between: int) -> Expr:
    if not (low or high or between):
        return value
    config = tuple((low, high, between) if a == axis else (0, 0, 0) for a in range(len(value.shape)))
    return apply(p.pad, value, filled(0, value.type, ()), config=config)


# Convolutions ----------------------------------------------------------------------------------------------------


@rule(p.conv)
def _conv(at: AdjointSite) -> list[Gain]:
    if not shapes.size(at.node.shape) or not all(shapes.size(operand.shape) for operand in at.node.operands):
        return [at.zeros(0), at.zeros(1)]
    return [_of_operand(at) if at.wanted[0] else None, _of_kernel(at) if at.wanted[1] else None]


def _ends(at: AdjointSite) -> list[tuple[int, int]]:
    """For each spatial axis the extent of the kernel, and the number of trailing elements that no window covers."""
    ends = []
    for axis, ((low, high), stride, gap, dilation) in enumerate(
        zip(*(at.params[name] for name in ("padding", "strides", "input_dilation", "kernel_dilation")), strict=True)
    ):
        size, window, count = (value.shape[2 + axis] for value in (*at.node.operands, at.node))
        reach = (window - 1) * dilation + 1
        ends.append((reach, (size - 1) * gap + 1 + low + high - reach - (count - 1) * stride))
    return ends


def _of_operand(at: AdjointSite) -> Expr:
    """The gradient of a convolution's operand: the cotangent convolved with the flipped kernel."""
    x, kernel, params = at.node.operands[0], at.x(1), at.params
    parts, groups = params["batch_groups"], params["feature_groups"]
    features, depth, *window = kernel.shape
    blocks = parts * groups
    kernel = shaped(kernel, (blocks, features // blocks, depth, *window))
    kernel = apply(p.transpose, kernel, axes=(0, 2, 1, *range(3, 3 + len(window))))
    kernel = shaped(kernel, (blocks * depth, features // blocks, *window))
    kernel = apply(p.reverse, kernel, axes=tuple(range(2, 2 + len(window))))
    padding = tuple(
        (reach - 1 - low, reach - 1 + left - high)
        for (reach, left), (low, high) in zip(_ends(at), params["padding"], strict=True)
    )
    result = apply(
        p.conv,
        at.g,
        kernel,
        padding=padding,
        strides=params["input_dilation"],
        input_dilation=params["strides"],
        kernel_dilation=params["kernel_dilation"],
        feature_groups=blocks,
        batch_groups=1,
    )
    if parts == 1:
        return result
    # The features of each part of the batch came out as channels of the first.
    batch, _, *space = result.shape
    result = shaped(result, (batch, parts, depth * groups, *space))
    return shaped(apply(p.transpose, result, axes=(1, 0, *range(2, len(result.shape)))), x.shape)


def _of_kernel(at: AdjointSite) -> Expr:
    """The gradient of a convolution's kernel: operand convolved with cotangent, batch and channels exchanged."""
    x, params = at.x(0), at.params
    features, depth, *window = at.node.operands[1].shape
    products = shapes.size(x.shape[:2]) * shapes.size(window) * shapes.size(at.node.shape[2:])
    each = features // (params["batch_groups"] * params["feature_groups"])
    if depth <= FEW_CHANNELS and each >= SOME_FEATURES and products <= MOST:
        return _of_few_channels(at)
    swap = (1, 0, *range(2, len(x.shape)))
    padding = tuple((low, high - left) for (_, left), (low, high) in zip(_ends(at), params["padding"], strict=True))
    result = apply(
        p.conv,
        apply(p.transpose, x, axes=swap),
        apply(p.transpose, at.g, axes=swap),
        padding=padding,
        strides=params["kernel_dilation"],
        input_dilation=params["input_dilation"],
        kernel_dilation=params["strides"],
        feature_groups=params["batch_groups"],
        batch_groups=params["feature_groups"],
    )
    return apply(p.transpose, result, axes=swap)


def _of_few_channels(at: AdjointSite) -> Expr:
    """The gradient of a kernel with few channels: products of the cotangent with the operand's windows, summed.

    A convolution would have too few rows that share what it reads.
    """
    x, params = at.x(0), at.params
    features, depth, *window = at.node.operands[1].shape
    parts, groups, count = params["batch_groups"], params["feature_groups"], len(window)
    samples, _, *space = at.node.shape
    around = [
        (low, high, gap - 1) for (low, high), gap in zip(params["padding"], params["input_dilation"], strict=True)
    ]
    if any(map(any, around)):
        x = apply(p.pad, x, filled(0, x.type, ()), config=((0, 0, 0), (0, 0, 0), *around))
    lead = (parts, samples, groups)
    views = apply(
        p.windows,
        x,
        window=(1, 1, *window),
        strides=(1, 1, *params["strides"]),
        dilations=(1, 1, *params["kernel_dilation"]),
    )
    # [batch, channels, space, 1, 1, window] → [parts, samples, groups, channels and window, space]
    order = (0, 1, *range(2 + count, 4 + 2 * count), *range(2, 2 + count))
    views = apply(p.transpose, views, axes=order)
    views = shaped(views, (*lead, depth * shapes.size(window), shapes.size(space)))
    each = features // (parts * groups)
    gain = shaped(at.g, (samples, parts, groups, each, shapes.size(space)))
    gain = apply(p.transpose, gain, axes=(1, 0, 2, 3, 4))
    product = apply(p.dot, gain, views, contract=((4,), (4,)), batch=((0, 1, 2), (0, 1, 2)))
    return shaped(total(product, (1,)), (features, depth, *window))
