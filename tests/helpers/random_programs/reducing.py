"""Steps of a random program that reduce axes."""

import math

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.shapes import unnamed
from random_programs.core import Core
from random_programs.known import MANTISSA, MOST, Known, summed

REDUCE = [p.sum_, p.reduce_max, p.reduce_min]


class Reducing(Core):
    """Reductions, products of matrices, and what people build of them."""

    def axes(self, node):
        axes = tuple(a for a in range(len(node.shape)) if self.choose.chance(50))
        return axes or ((self.choose.integer(0, len(node.shape) - 1),) if node.shape else ())

    def reduce(self):
        node = self.any(lambda n: n.type is not types.bool_)
        if node is None:
            return
        primitive = self.choose.pick([*REDUCE, p.sum_, p.product, p.all_, p.any_])
        known = self.known[node]
        if primitive in (p.all_, p.any_) and not known.exact:
            primitive = p.sum_
        if primitive in REDUCE and self.is_kinked(node):
            primitive = p.sum_
        axes = self.axes(node)
        count = math.prod(node.shape[a] for a in axes)
        if primitive is p.product and node.type.is_float:
            if not known.exact:
                return
            # Powers of two and minus one multiply exactly.
            sign = self.make(p.sign, node)
            node = self.make(p.select, self.make(p.is_nan, sign), self.number(-1.0, node), sign)
            self.known[node] = known = Known(1.0, 0)
        result = self.make(primitive, node, axes=axes, keep_axes=self.choose.chance(50))
        if primitive in (p.all_, p.any_) or not result.type.is_float:
            self.keep(result, Known())
        elif primitive is p.sum_:
            error = known.error * count
            if not known.exact:
                error += count * known.bound * 2.0 ** -MANTISSA[node.type]
            self.keep(result, summed(result.type, known, count, error, [known]))
        else:
            self.keep(result, known)

    def arg(self):
        node = self.exact(lambda n: len(n.shape) > 0 and n.type is not types.bool_)
        if node is None:
            return
        params = {
            "axis": self.choose.integer(0, len(node.shape) - 1),
            "keep_axis": self.choose.chance(50),
            "tie_break": self.choose.pick(["low", "high"]),
            "type": self.choose.pick([types.s64, types.s64, types.s32, types.u8]),
        }
        self.keep(self.make(self.choose.pick([p.argmax, p.argmin]), node, **params), Known())

    def dot(self):
        left = self.any(lambda n: n.type is not types.bool_)
        if left is None:
            return
        pairs = []
        for right in self.values[-8:]:
            if right.type is left.type:
                pairs += [(right, a, b) for a, n in enumerate(left.shape) for b, m in enumerate(right.shape) if n == m]
        if not pairs:
            return
        right, a, b = self.choose.pick(pairs)
        # Of the other axes some of equal size are batches, some are contracted too.
        contract, batch, used_a, used_b = [(a, b)], [], {a}, {b}
        for i, n in enumerate(left.shape):
            for j, m in enumerate(right.shape):
                if n == m and i not in used_a and j not in used_b and self.choose.chance(50):
                    (batch if self.choose.chance(60) else contract).append((i, j))
                    used_a.add(i)
                    used_b.add(j)
        if not left.type.is_integer:
            left, right = self.tame(left), self.tame(right)
        result = self.make(
            p.dot,
            left,
            right,
            contract=tuple(zip(*contract, strict=True)),
            batch=tuple(zip(*batch, strict=True)) if batch else ((), ()),
        )
        if math.prod(result.shape) > MOST:
            return
        count = math.prod(left.shape[i] for i, _ in contract)
        x, y = self.known[left], self.known[right]
        error = count * (x.bound * y.error + y.bound * x.error)
        one = Known(x.bound * y.bound, x.places + y.places, x.error + y.error)
        self.keep(result, summed(result.type, one, count, error, [x, y]))

    def normalize(self):
        """A softmax or a standardization, as people write them."""
        node = self.floating()
        if node is None or not node.shape:
            return
        node = self.clipped(node, 2)
        known = self.known[node]
        axes = self.axes(node)
        places = tuple(range(len(node.shape)))

        def reduced(primitive, value):
            small = self.make(primitive, value, axes=axes, keep_axes=True)
            return self.make(p.broadcast, small, shape=node.shape, axes=places, names=unnamed(node.shape))

        count = math.prod(node.shape[a] for a in axes)
        if self.choose.chance(50):
            e = self.make(p.exp, self.make(p.subtract, node, reduced(p.reduce_max, node)))
            result = self.make(p.divide, e, reduced(p.sum_, e))
            bound = 1.0
        else:
            mean = self.make(p.divide, reduced(p.sum_, node), self.number(float(count), node))
            moved = self.make(p.subtract, node, mean)
            square = self.make(p.multiply, moved, moved)
            spread = self.make(p.add, reduced(p.sum_, square), self.number(1.0, node))
            result = self.make(p.multiply, moved, self.make(p.rsqrt, spread))
            bound = 4.0
        epsilon = 2.0 ** -MANTISSA[node.type]
        error = 40 * (known.error + epsilon * (8 + count / (1 if node.type.bits > 16 else 2**16))) * (1 + known.bound)
        if self.choose.chance(50):
            self.keep(mean if bound == 4.0 else e, Known(8.0, math.inf, error))
        self.keep(result, Known(bound, math.inf, error))
