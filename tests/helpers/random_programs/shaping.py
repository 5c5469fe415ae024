"""Steps of a random program that move elements."""

import math

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import constant
from nxkernel.shapes import unnamed
from random_programs.core import Core
from random_programs.known import MOST, Known


class Shaping(Core):
    """Shapes, slices, concatenations and paddings."""

    def reshape(self):
        node = self.any()
        total = math.prod(node.shape)
        sizes = []
        while total > 1 and len(sizes) < 3:
            divisors = [n for n in range(1, total + 1) if total % n == 0] if total <= 5000 else [total]
            sizes.append(self.choose.pick(divisors))
            total //= sizes[-1]
        if total > 1 or self.choose.chance(20):
            sizes.append(total)
        shape = tuple(sizes)
        if self.choose.chance(40):
            # Only axes of size one are added or dropped.
            shape = tuple(n for n in node.shape if n != 1)
            place = self.choose.integer(0, len(shape))
            shape = (*shape[:place], 1, *shape[place:])
        self.keep(self.make(p.reshape, node, shape=shape, names=unnamed(shape)), self.known[node])

    def transpose(self):
        node = self.any(lambda n: len(n.shape) > 1)
        if node is None:
            return
        axes = list(range(len(node.shape)))
        for place in range(len(axes) - 1):
            other = self.choose.integer(place, len(axes) - 1)
            axes[place], axes[other] = axes[other], axes[place]
        self.keep(self.make(p.transpose, node, axes=tuple(axes)), self.known[node])

    def broadcast(self):
        node = self.any(lambda n: len(n.shape) < 4)
        if node is None:
            return
        shape, axes = [], []
        for size in node.shape:
            while self.choose.chance(30):
                shape.append(self.choose.integer(1, 6))
            axes.append(len(shape))
            shape.append(self.choose.integer(1, 9) if size == 1 else size)
        if self.choose.chance(50):
            shape.append(self.choose.integer(1, 20))
        if math.prod(shape) <= MOST:
            params = {"shape": tuple(shape), "axes": tuple(axes), "names": unnamed(shape)}
            self.keep(self.make(p.broadcast, node, **params), self.known[node])

    def slice(self):
        node = self.any(lambda n: len(n.shape) > 0)
        if node is None:
            return
        starts, lengths, strides = [], [], []
        for n in node.shape:
            if self.choose.chance(40):
                start, length, stride = 0, n, 1
            else:
                stride = self.choose.pick([1, 1, 2, 3, -1, -2])
                start = self.choose.integer(0, n - 1)
                length = self.choose.integer(1, n - start if stride > 0 else start + 1)
            starts.append(start)
            lengths.append(length)
            strides.append(stride)
        params = {"starts": tuple(starts), "lengths": tuple(lengths), "strides": tuple(strides)}
        self.keep(self.make(p.slice_, node, **params), self.known[node])

    def dynamic(self):
        node = self.any(lambda n: len(n.shape) > 0)
        starts = [self.start() for _ in node.shape] if node is not None else [None]
        if None in starts:
            return
        lengths = tuple(self.choose.integer(1, n) for n in node.shape)
        strides = tuple(self.choose.pick([1, 1, 2]) for _ in node.shape)
        self.keep(self.make(p.dynamic_slice, node, *starts, lengths=lengths, strides=strides), self.known[node])

    def start(self):
        """A scalar whole number."""
        scalar = self.any(lambda n: n.shape == () and n.type.is_integer and n.type is not types.bool_)
        if scalar is not None and self.choose.chance(50):
            return scalar
        node = self.any(lambda n: n.type.is_integer and n.type is not types.bool_)
        if node is None:
            return constant(self.choose.integer(-2, 5), types.s64)
        ones = (1,) * len(node.shape)
        first = self.make(p.slice_, node, starts=(0,) * len(node.shape), lengths=ones, strides=ones)
        return self.make(p.reshape, first, shape=(), names=())

    def reverse(self):
        node = self.any()
        axes = tuple(a for a in range(len(node.shape)) if self.choose.chance(50))
        self.keep(self.make(p.reverse, node, axes=axes), self.known[node])

    def concatenate(self):
        node = self.any(lambda n: len(n.shape) > 0)
        if node is None:
            return
        axis = self.choose.integer(0, len(node.shape) - 1)
        rest = (*node.shape[:axis], *node.shape[axis + 1 :])
        others = [
            n
            for n in self.values
            if n.type is node.type
            and len(n.shape) == len(node.shape)
            and (*n.shape[:axis], *n.shape[axis + 1 :]) == rest
        ]
        parts = [node] + [self.choose.pick(others) for _ in range(self.choose.integer(1, 2))]
        if sum(math.prod(part.shape) for part in parts) > MOST:
            return
        self.keep(self.make(p.concatenate, *parts, axis=axis), Known.either(*[self.known[part] for part in parts]))

    def pad(self):
        node = self.any()
        config = []
        for n in node.shape:
            inner = self.choose.pick([0, 0, 1, 2])
            wide = n + (n - 1) * inner
            low = self.choose.pick([0, 0, 1, 3, -1, -2])
            high = self.choose.pick([0, 0, 2, -1, -3])
            if wide + low + high < 1:
                low, high = max(low, 0), max(high, 0)
            config.append((low, high, inner))
        scalar = self.number(self.choose.pick([0, 1]), node, ())
        if self.choose.chance(30):
            found = self.any(lambda n: n.shape == () and n.type is node.type)
            scalar = scalar if found is None else found
        result = self.make(p.pad, node, scalar, config=tuple(config))
        if math.prod(result.shape) <= MOST:
            self.keep(result, Known.either(self.known[node], self.known.get(scalar, Known(1.0))))
