"""Steps of a random program that go element by element."""

import math

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.shapes import unnamed
from random_programs.core import Core
from random_programs.known import LARGE, MANTISSA, Known, rounded

BINARY = [p.add, p.subtract, p.multiply, p.maximum, p.minimum]
WHOLE = [*BINARY, p.quotient, p.remainder, p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.left_shift, p.right_shift]
WHOLE_ONE = [p.negate, p.absolute, p.sign, p.bitwise_not, p.population_count, p.count_leading_zeros]
COMPARE = [p.equal, p.not_equal, p.less, p.less_equal, p.greater, p.greater_equal]
LOGIC = [p.logical_and, p.logical_or, p.logical_xor]
ROUND = [p.floor, p.ceil, p.truncate, p.round_half_away, p.round_half_even, p.sign]
#: Functions whose slope is at most about one, with the bound of what they give.
GENTLE = {p.sin: 1, p.cos: 1, p.tanh: 1, p.sigmoid: 1, p.atan: 2, p.asinh: LARGE, p.erf: 1.2}
#: Functions of ``abs(x) + 1`` whose slope is at most about one there.
OF_POSITIVE = [p.sqrt, p.log, p.rsqrt, p.cbrt, p.log1p, p.log2, p.acosh]


class Elementwise(Core):
    """Arithmetic, comparisons, functions and conversions."""

    def binary(self):
        left = self.any()
        right = self.like(left)
        primitive = self.choose.pick([p_ for p_ in BINARY if left.type is not types.bool_ or p_ in BINARY[3:]])
        if self.choose.chance(50):
            left, right = right, left
        self.combine(primitive, left, right)

    def combine(self, primitive, left, right):
        if primitive in (p.maximum, p.minimum) and self.is_kinked(left, right):
            primitive = p.subtract
        if left.type.is_float and primitive is p.multiply and not (self.known[left].exact and self.known[right].exact):
            left, right = self.tame(left), self.tame(right)
        a, b = self.known[left], self.known[right]
        node = self.make(primitive, left, right)
        if primitive is p.multiply:
            bound, places = a.bound * b.bound, a.places + b.places
            error = a.bound * b.error + b.bound * a.error + a.error * b.error
        elif primitive in (p.add, p.subtract):
            bound, places, error = a.bound + b.bound, max(a.places, b.places), a.error + b.error
        else:
            bound, places, error = max(a.bound, b.bound), max(a.places, b.places), max(a.error, b.error)
        return self.keep(node, rounded(node.type, bound, places, error, [self.known[left], self.known[right]]))

    def back(self):
        """A value of the shape of an input and of one with fewer axes: what has been reduced meets what was."""
        node = self.choose.pick(self.values)
        other = self.fitted(node)
        if other is not None and node.type is not types.bool_:
            self.combine(self.choose.pick(BINARY), node, self.convert(other, node.type))

    def unary(self):
        node = self.any(lambda n: n.type is not types.bool_)
        if node is None:
            return
        known = self.known[node]
        if node.type.is_integer:
            self.keep(self.make(self.choose.pick(WHOLE_ONE), node), Known())
        elif known.exact and self.choose.chance(50):
            result = self.make(self.choose.pick(ROUND), node)
            self.keep(result, rounded(result.type, math.ceil(known.bound), 0, 0.0, [self.known[node]]))
        else:
            self.keep(
                self.make(p.negate if self.is_kinked(node) else self.choose.pick([p.negate, p.absolute]), node), known
            )

    def compare(self):
        left = self.exact()
        if left is None:
            return
        if left.type.is_float and self.choose.chance(30):
            self.keep(self.make(self.choose.pick([p.is_nan, p.is_infinity]), left), Known())
            return
        right = self.like(left)
        if self.known[right].exact:
            self.keep(self.make(self.choose.pick(COMPARE), left, right), Known())

    def truth(self):
        left = self.exact()
        if left is None:
            return
        right = self.like(left)
        if self.choose.chance(40):
            self.keep(self.make(p.logical_not, left), Known())
        elif self.known[right].exact:
            self.keep(self.make(self.choose.pick(LOGIC), left, right), Known())

    def select(self):
        then = self.any()
        otherwise = self.like(then)
        mask = self.like(self.number(0, then)) if self.choose.chance(30) else self.fitted(then)
        if mask is None or not self.known[mask].exact:
            return
        known = Known.either(self.known[then], self.known[otherwise])
        self.keep(self.make(p.select, mask, then, otherwise), known)

    def floating(self):
        """A float that is no infinity."""
        node = self.any(lambda n: n.type.is_float)
        return None if node is None else self.tame(node)

    def gentle(self):
        node = self.floating()
        if node is None:
            return
        primitive = self.choose.pick([*GENTLE, p.exp, p.expm1])
        if primitive in (p.exp, p.expm1):
            node = self.clipped(node, 2)
        known = self.known[node]
        slope = 8 if primitive in (p.exp, p.expm1) else 1.2
        result = self.make(primitive, node)
        bound = GENTLE.get(primitive, 8.0)
        self.keep(result, rounded(result.type, bound, math.inf, slope * known.error + 1e-30, [self.known[node]]))

    def above_one(self, node):
        known = self.known[node]
        if self.is_kinked(node):
            square = self.make(p.add, self.make(p.multiply, node, node), self.number(1.0, node))
            result = self.make(p.sqrt, square)
        else:
            result = self.make(p.add, self.make(p.absolute, node), self.number(1.0, node))
        self.known[result] = rounded(result.type, known.bound + 1, known.places, known.error, [self.known[node]])
        return result

    def positive(self):
        node = self.floating()
        if node is None:
            return
        operand = self.above_one(node)
        # The inverse of cosh has no slope at one.
        primitive = self.choose.pick(OF_POSITIVE[:-1] if self.smooth else OF_POSITIVE)
        error = self.known[operand].error
        # The inverse of cosh is steep at one.
        slack = math.sqrt(2 * error) + 2.0 ** (-MANTISSA[node.type] / 2) if primitive is p.acosh else 2 * error
        result = self.make(primitive, operand)
        bound = self.known[operand].bound
        self.keep(result, rounded(result.type, bound, math.inf, slack + 1e-30, [self.known[operand]]))

    def divide(self):
        left = self.floating()
        if left is None:
            return
        primitive = self.choose.pick([p.divide, p.atan2, p.power, p.remainder])
        known = self.known[left]
        if primitive is p.remainder:
            if known.exact:
                self.keep(self.make(primitive, left, self.number(self.choose.pick([1.0, 1.5, -2.0]), left)), known)
            return
        right = self.above_one(self.tame(self.like(left)))
        other = self.known[right]
        if primitive is p.power:
            # A base of at least one, an exponent of at most two.
            left, right = right, self.clipped(left, 2)
            bound = other.bound**2
            error = 2 * other.bound * other.error + bound * math.log(other.bound + 1) * known.error
        else:
            bound, error = (known.bound if primitive is p.divide else 3.2), known.error + known.bound * other.error
        result = self.make(primitive, left, right)
        self.keep(result, rounded(result.type, bound, math.inf, error + 1e-30, [self.known[left], self.known[right]]))

    def whole(self):
        left = self.any(lambda n: n.type.is_integer and n.type is not types.bool_)
        if left is None:
            return
        right = self.like(left)
        if self.choose.chance(10):
            right = self.make(p.bitwise_and, right, self.number(3, right))
            self.keep(self.make(p.power, left, right), Known())
        else:
            self.keep(self.make(self.choose.pick(WHOLE), left, right), Known())

    def typed(self):
        node = self.any()
        type_ = self.choose.pick(self.input_types())
        if type_.is_float or node.type.is_integer or self.known[node].exact:
            converted = self.convert(node, type_)
            self.keep(converted, self.known[converted])

    def bits(self):
        node = self.any(lambda n: n.type.is_integer and n.type.kind != "bool")
        if node is not None:
            twin = {"u": "s", "s": "u"}[node.type.kind]
            self.keep(self.make(p.bitcast, node, type=types.TYPES[f"{twin}{node.type.bits}"]), Known())

    def iota(self):
        node = self.any(lambda n: len(n.shape) > 0)
        if node is None:
            return
        axis = self.choose.integer(0, len(node.shape) - 1)
        type_ = self.choose.pick(self.input_types())
        result = self.make(p.iota, type=type_, shape=node.shape, names=unnamed(node.shape), axis=axis)
        self.known[result] = Known(math.inf, 0) if type_.is_float else Known()
        result = self.clipped(result, 8) if type_.is_float else result
        self.keep(result, self.known[result])
