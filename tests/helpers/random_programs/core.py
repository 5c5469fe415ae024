"""The values of a random program, and how one is found or made that fits another."""

import math

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, constant, parameter
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from random_programs.known import FLOATS, INTEGERS, LARGE, Known, rounded


class Core:
    """A graph in the making, with the inputs that it is run on; `choose` makes the choices."""

    #: Whether gradients are taken: floats are f64 and finite, and what is not exact has no kinks.
    smooth = False

    def __init__(self, choose):
        self.choose = choose
        self.values: list[Expr] = []
        self.known: dict[Expr, Known] = {}
        self.parameters: list[Expr] = []
        self.arrays: list[np.ndarray] = []

    def shape(self):
        rank = self.choose.integer(0, 4)
        most = {0: 1, 1: 300, 2: self.choose.pick([70, 140]), 3: 24, 4: 9}[rank]
        return tuple(1 if self.choose.chance(15) else self.choose.integer(1, most) for _ in range(rank))

    def input(self, shape):
        type_ = self.choose.pick(self.input_types())
        rng = np.random.default_rng(self.choose.integer(0, 1000))
        special = False
        if type_.is_integer:
            low, high = types.limits(type_)
            array = rng.integers(low, high, shape, type_.dtype if type_ is not types.bool_ else np.uint8, endpoint=True)
            if self.choose.chance(60):
                array = array % 7
            array = np.asarray(array).astype(type_.dtype)
        else:
            array = np.asarray(rng.integers(-12, 12, shape) / 4)
            special = self.choose.chance(0 if self.smooth else 25)
            if special:
                odd = rng.integers(0, 40, shape)
                for number, value in enumerate((np.nan, np.inf, -np.inf, -0.0)):
                    array = np.where(odd == number, value, array)
            array = array.astype(type_.dtype)
        spec = Spec(type_, shape, unnamed(shape))
        node = parameter(len(self.parameters), f"x{len(self.parameters)}", spec)
        self.parameters.append(node)
        self.arrays.append(array)
        self.keep(node, Known(3.0, 2, 0.0, special) if type_.is_float else Known())

    def input_types(self):
        return [types.f32, types.f32, *FLOATS, *INTEGERS]

    def make(self, primitive, *operands, **params):
        return Expr(primitive, operands, params, primitive.rule(*[o.spec for o in operands], **params))

    def number(self, value, like, shape=None):
        return constant(value, like.type, like.shape if shape is None else shape)

    def keep(self, node, known):
        """Add a value; floats that have grown large are clipped."""
        self.known[node] = known
        if node.type.is_float and known.bound > LARGE:
            node = self.clipped(node, 8)
        self.values.append(node)
        return node

    def is_kinked(self, *nodes):
        """Whether a kink would make a gradient of what is not exact."""
        return self.smooth and any(node.type.is_float and not self.known[node].exact for node in nodes)

    def clipped(self, node, most):
        known = self.known[node]
        if self.is_kinked(node):
            limit = self.number(most, node)
            result = self.make(p.multiply, limit, self.make(p.tanh, self.make(p.divide, node, limit)))
            self.known[result] = rounded(node.type, min(known.bound, most), math.inf, known.error, [known])
            return result
        low = self.make(p.maximum, node, self.number(-most, node))
        result = self.make(p.minimum, low, self.number(most, node))
        self.known[result] = Known(min(known.bound, most), known.places, known.error, False)
        return result

    def tame(self, node):
        """A float without infinities: in what is not exact, a difference of rounding could become one of NaN."""
        return self.clipped(node, 8) if self.known[node].special and node.type.is_float else node

    def any(self, test=lambda node: True):
        found = [node for node in self.values[-8:] if test(node)] or [node for node in self.values if test(node)]
        return self.choose.pick(found) if found else None

    def exact(self, test=lambda node: True):
        return self.any(lambda node: self.known[node].exact and test(node))

    def like(self, node):
        """A value of the type and shape of another: one that there is, or one that is made to fit."""
        same = [other for other in self.values if other.type is node.type and other.shape == node.shape]
        if len(same) > 1 and self.choose.chance(70):
            return self.choose.pick(same[-6:])
        other = self.fitted(node) if self.choose.chance(60) else None
        return self.convert(other, node.type) if other is not None else self.constant_like(node)

    def constant_like(self, node):
        if node.type.is_integer:
            value = self.choose.integer(0, 1 if node.type is types.bool_ else 5)
            known = Known()
        else:
            value = self.choose.pick([-1.0, 0.5, 1.0, 2.0, -0.25, 3.0, 0.0])
            known = Known(abs(value), 2)
        result = self.number(value, node)
        self.known[result] = known
        return result

    def fitted(self, node):
        """Some value broadcast to the shape of another, if one can be."""

        def fits(other):
            if len(other.shape) > len(node.shape):
                return False
            return all(n in (1, m) for n, m in zip(other.shape[::-1], node.shape[::-1], strict=False))

        other = self.any(fits)
        if other is None or other.shape == node.shape:
            return other
        first = len(node.shape) - len(other.shape)
        axes = tuple(range(first, len(node.shape)))
        wide = self.make(p.broadcast, other, shape=node.shape, axes=axes, names=unnamed(node.shape))
        self.known[wide] = self.known[other]
        return wide

    def convert(self, node, type_):
        if node.type is type_:
            return node
        known = self.known[node]
        if type_.is_integer and node.type.is_float and not known.exact:
            node = self.number(2, node)
            known = self.known[node] = Known(2.0, 0)
        result = self.make(p.as_type, node, type=type_)
        if type_.is_integer:
            self.known[result] = Known()
        elif node.type.is_integer:
            # Any number of that type: rounded once, then small.
            self.known[result] = Known(math.inf, 0)
            result = self.clipped(result, 8)
        else:
            self.known[result] = rounded(result.type, known.bound, known.places, known.error, [self.known[node]])
        return result
