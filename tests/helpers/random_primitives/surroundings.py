"""What stands around a primitive in a test: operands that are views and moves of inputs, results that are read on."""

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError
from nxkernel.graph.expr import Expr, Graph, constant, parameter
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from random_primitives.values import array, names, numbers

_BITS = {8: types.u8, 16: types.u16, 32: types.u32, 64: types.s64}


def make(primitive, *operands, **params):
    """A node, its spec by the primitive's rule."""
    return Expr(primitive, operands, params, primitive.rule(*[o.spec for o in operands], **params))


class Surroundings:
    """A graph around a case, and the inputs for which it computes it.

    Attributes
    ----------
    graph : Graph
    arrays : list of ndarray
    """

    def __init__(self, choose, case):
        self.choose, self.exact = choose, case.exact
        self.parameters, self.arrays = [], []
        operands = [self.given(x) for x in case.arrays]
        try:
            # Names of operands may contradict each other.
            self.node = make(case.primitive, *[self.named(operand) for operand in operands], **case.params)
        except NxValueError:
            self.node = make(case.primitive, *operands, **case.params)
        results = [self.node]
        if type(self.node.spec) is tuple:
            results = [make(p.elem, self.node, index=index) for index in range(len(self.node.spec))]
            results = [result for result in results if choose.chance(70)] or results[:1]
        outputs = []
        for result in results:
            outputs.append(self.read(result) if choose.chance(60) else result)
            if choose.chance(20):
                outputs.append(result)
        if operands and choose.chance(25):
            outputs.append(self.beside(operands[0]))
        self.graph = Graph("case", self.parameters, outputs, list)

    # Inputs ----------------------------------------------------------------------------------------------------

    def input(self, x):
        x = np.asarray(x)
        spec = Spec(types.normalize(x.dtype), x.shape, unnamed(x.shape))
        self.parameters.append(parameter(len(self.parameters), f"x{len(self.parameters)}", spec))
        self.arrays.append(np.ascontiguousarray(x).reshape(x.shape))
        return self.parameters[-1]

    def named(self, node):
        wanted = names(self.choose, len(node.shape))
        return make(p.reshape, node, shape=node.shape, names=wanted) if any(wanted) else node

    def junk(self, x, shape):
        """Other numbers of the type of an array."""
        return numbers(np.random.default_rng(1), types.normalize(x.dtype), shape, "wide")

    def given(self, x, depth=0):
        """A node that computes an array, by way of other ones."""
        ways = [self.input]
        if depth < 2:
            if x.size:
                ways += [self.chosen, self.shaped]
            if x.ndim:
                ways += [self.cut, self.turned, self.joined, self.placed, self.dynamic]
            if x.ndim and x.size:
                ways += [self.repeated, self.repeated, self.backwards, self.gathered]
            if x.dtype.kind in "iubf" or x.dtype == types.bf16.dtype:
                ways.append(self.masked)
            if x.size and x.dtype.kind in "iubf" and _single(x):
                ways += [self.constant] * 3
        way = self.input if self.choose.chance(40) else self.choose.pick(ways)
        return way(x) if way == self.input else way(x, depth + 1)

    def constant(self, x, depth):
        spec = Spec(types.normalize(x.dtype), x.shape, unnamed(x.shape))
        return constant(x.flat[0].item(), spec.type, spec.shape)

    def shaped(self, x, depth):
        inner = self.given(x.reshape(-1) if self.choose.chance(70) else x.reshape(*x.shape, 1), depth)
        return make(p.reshape, inner, shape=x.shape, names=unnamed(x.shape))

    def turned(self, x, depth):
        axes = self.choose.order(x.ndim)
        inner = self.given(np.ascontiguousarray(x.transpose(axes)), depth)
        return make(p.transpose, inner, axes=tuple(np.argsort(axes).tolist()))

    def backwards(self, x, depth):
        axes = self.choose.some(range(x.ndim))
        return make(p.reverse, self.given(np.flip(x, axes).copy(), depth), axes=axes)

    def cut(self, x, depth):
        """Every so many elements of a larger array, forwards or backwards."""
        starts, strides, sizes, key = [], [], [], []
        for n in x.shape:
            stride, low, high = self.choose.pick([1, 1, 2, 3]), self.choose.integer(0, 2), self.choose.integer(0, 2)
            back = self.choose.chance(20) and n > 0
            last = low + max(n - 1, 0) * stride
            sizes.append(last + 1 + high)
            starts.append(last if back else low)
            strides.append(-stride if back else stride)
            places = low + stride * np.arange(n)
            key.append(places[::-1] if back else places)
        large = self.junk(x, tuple(sizes))
        large[np.ix_(*key)] = x
        lengths = tuple(max((n - 1) * abs(s) + 1, 0) if n else 0 for n, s in zip(x.shape, strides, strict=True))
        params = {"starts": tuple(starts), "lengths": lengths, "strides": tuple(strides)}
        return make(p.slice_, self.given(large, depth), **params)

    def repeated(self, x, depth):
        """A broadcast, where the array is the same along some axes."""
        same = [axis for axis in range(x.ndim) if x.shape[axis] > 1 and _constant_along(x, axis)]
        axes = tuple(axis for axis in range(x.ndim) if axis not in same)
        keep = self.choose.chance(50)
        first = x
        for axis in reversed(same):
            first = np.take(first, [0], axis) if keep else np.take(first, 0, axis)
        places = tuple(range(x.ndim)) if keep else axes
        inner = self.given(np.ascontiguousarray(first).reshape(np.shape(first)), depth)
        return make(p.broadcast, inner, shape=x.shape, axes=places, names=unnamed(x.shape))

    def joined(self, x, depth):
        axis = self.choose.integer(0, x.ndim - 1)
        cut = self.choose.integer(0, x.shape[axis])
        parts = [np.ascontiguousarray(part) for part in np.split(x, [cut], axis)]
        return make(p.concatenate, *[self.given(part, depth) for part in parts], axis=axis)

    def chosen(self, x, depth):
        mask = numbers(self.choose.rng(), types.u8, x.shape, "wide")
        other = self.junk(x, x.shape)
        then, otherwise = np.where(mask, x, other), np.where(mask, other, x)
        return make(p.select, self.input(mask), self.given(then, depth), self.given(otherwise, depth))

    def masked(self, x, depth):
        """Bits turned over and back."""
        node = self.given(x, depth)
        type_ = node.type
        if not type_.is_integer:
            node = make(p.bitcast, node, type=_BITS[type_.bits])
        key = self.input(numbers(self.choose.rng(), node.type, x.shape, "wide"))
        node = make(p.bitwise_xor, make(p.bitwise_xor, node, key), key)
        return node if type_.is_integer else make(p.bitcast, node, type=type_)

    def gathered(self, x, depth):
        axis = self.choose.integer(0, x.ndim - 1)
        order = self.choose.rng().permutation(x.shape[axis])
        inner = self.given(np.take(x, np.argsort(order), axis), depth)
        node = make(p.gather, inner, self.input(order.astype("i4")), axes=(axis,))
        # The indexed axis has come to the front.
        return make(p.transpose, node, axes=(*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))

    def placed(self, x, depth):
        """A part put into an array that lacks it."""
        lengths = [self.choose.integer(0, n) for n in x.shape]
        starts = [self.choose.integer(0, n - length) for n, length in zip(x.shape, lengths, strict=True)]
        key = tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))
        part, rest = x[key].copy(), x.copy()
        rest[key] = self.junk(x, part.shape)
        places = [self.input(np.int64(start)) for start in starts]
        return make(p.put_slice, self.given(rest, depth), self.given(part, depth), *places)

    def dynamic(self, x, depth):
        lows = [self.choose.integer(0, 2) for _ in x.shape]
        large = self.junk(x, tuple(n + 2 for n in x.shape))
        large[tuple(slice(low, low + n) for low, n in zip(lows, x.shape, strict=True))] = x
        starts = [self.input(np.int64(low)) for low in lows]
        return make(p.dynamic_slice, self.given(large, depth), *starts, lengths=x.shape, strides=(1,) * x.ndim)

    # Readers ---------------------------------------------------------------------------------------------------

    def read(self, node):
        """Something that reads a result."""
        rank, shape = len(node.shape), node.shape
        if node.spec.names != unnamed(shape):
            node = make(p.reshape, node, shape=shape, names=unnamed(shape))
        ways = ["transpose", "broadcast", "reshape", "select"]
        if 0 not in shape and rank:
            ways += ["slice", "pad"]
        if self.exact and not node.type.is_complex:
            ways += ["bits", "equal"]
        way = self.choose.pick(ways)
        if way == "transpose":
            return make(p.transpose, node, axes=self.choose.order(rank))
        if way == "broadcast":
            return make(
                p.broadcast, node, shape=(3, *shape), axes=tuple(range(1, rank + 1)), names=unnamed((3, *shape))
            )
        if way == "reshape":
            flat = (int(np.prod(shape)),)
            return make(p.reshape, node, shape=flat, names=(None,))
        if way == "select":
            mask = self.input(numbers(self.choose.rng(), types.u8, shape, "wide"))
            other = self.input(array(self.choose, node.type, shape, special=False, kind="grid"))
            return make(p.select, mask, node, other)
        if way == "slice":
            starts = tuple(self.choose.integer(0, n - 1) for n in shape)
            lengths = tuple(n - start for n, start in zip(shape, starts, strict=True))
            return make(p.slice_, node, starts=starts, lengths=lengths, strides=(self.choose.pick([1, 2]),) * rank)
        if way == "pad":
            around = tuple((self.choose.pick([0, 1, -1]) if n > 1 else 1, 1, 0) for n in shape)
            return make(p.pad, node, constant(1, node.type), config=around)
        if way == "equal":
            return make(p.equal, node, self.input(array(self.choose, node.type, shape, special=False, kind="grid")))
        return self.beside(node)

    def beside(self, node):
        """An element-wise value of a node, exact."""
        if node.type.is_integer:
            return make(p.bitwise_not, node)
        if node.type.is_complex:
            return make(p.real, node)
        return make(p.logical_not, make(p.bitcast, node, type=_BITS[node.type.bits]))


def _constant_along(x, axis):
    """Whether all bits are the same along an axis."""
    same = np.broadcast_to(np.take(x, [0], axis), x.shape)
    return same.tobytes() == x.tobytes()


def _single(x):
    return not np.isnan(x).any() and all(_constant_along(x, axis) for axis in range(x.ndim))
