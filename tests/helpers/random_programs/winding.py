"""Steps of a random program that go through complex numbers: real values come in, a part of the result comes out."""

import math

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import constant
from random_programs.core import Core
from random_programs.known import MANTISSA, Known, rounded, summed

NUMBERS = [0.5 - 1j, 2j, -1.0, 0.25 + 0.5j]


class Winding(Core):
    """Complex numbers; what is known of one holds for both of its parts."""

    def wind(self):
        node = self.any(lambda n: n.type in (types.f32, types.f64))
        if node is None:
            return
        parts = [self.clipped(node, 8), self.clipped(self.like(node), 8)]
        z = self.make(p.make_complex, *parts)
        self.known[z] = Known.either(*[self.known[part] for part in parts])
        for _ in range(self.choose.integer(1, 4)):
            z = self.choose.pick([self.wound, self.wound, self.moved, self.total, self.turned, self.wider])(z)
        result = self.make(self.choose.pick([p.real, p.imag]), z)
        self.keep(result, self.known[z])

    def partner(self, z):
        """A complex value of the same type and shape."""
        if self.choose.chance(40):
            number = self.choose.pick(NUMBERS)
            other, known = constant(number, z.type, z.shape), Known(2.0, 2)
        else:
            other, known = self.make(self.choose.pick([p.conjugate, p.negate]), z), self.known[z]
        self.known[other] = known
        return other

    def wound(self, z):
        """A product, a sum, or the choice between two values."""
        other = self.partner(z)
        a, b = self.known[z], self.known[other]
        primitive = self.choose.pick([p.multiply, p.multiply, p.add, p.subtract, p.select])
        if primitive is p.select:
            mask = self.fitted(z)
            if mask is None or mask.type.is_complex or not self.known[mask].exact:
                return z
            result = self.make(p.select, mask, z, other)
            self.known[result] = Known.either(a, b)
            return result
        if primitive is p.multiply and a.bound * b.bound > 1e4:
            primitive = p.add
        result = self.make(primitive, z, other)
        if primitive is p.multiply:
            bound, places = 2 * a.bound * b.bound, a.places + b.places
            error = 2 * (a.bound * b.error + b.bound * a.error + a.error * b.error)
        else:
            bound, places, error = a.bound + b.bound, max(a.places, b.places), a.error + b.error
        self.known[result] = rounded(types.to_real(z.type), bound, places, error, [a, b])
        return result

    def moved(self, z):
        """The elements in another order, or some of them."""
        axes = tuple(range(len(z.shape)))
        if self.choose.chance(50):
            result = self.make(p.transpose, z, axes=axes[::-1])
        else:
            ends = [(0, n, 1) if self.choose.chance(50) else (n - 1, n, -2) for n in z.shape]
            starts, lengths, strides = zip(*ends, strict=True) if ends else ((), (), ())
            result = self.make(p.slice_, z, starts=starts, lengths=lengths, strides=strides)
        self.known[result] = self.known[z]
        return result

    def total(self, z):
        """The sum along some axes."""
        axes = tuple(a for a in range(len(z.shape)) if self.choose.chance(50))
        count, known, real = math.prod(z.shape[a] for a in axes), self.known[z], types.to_real(z.type)
        result = self.make(p.sum_, z, axes=axes, keep_axes=self.choose.chance(50))
        error = known.error * count
        if not known.exact:
            error += count * known.bound * 2.0 ** -MANTISSA[real]
        self.known[result] = summed(real, known, count, error, [known])
        return result

    def turned(self, z):
        """The conjugate or the opposite."""
        result = self.make(self.choose.pick([p.conjugate, p.negate]), z)
        self.known[result] = self.known[z]
        return result

    def wider(self, z):
        """The same numbers in c128."""
        if z.type is types.c128:
            return z
        result = self.make(p.as_type, z, type=types.c128)
        self.known[result] = self.known[z]
        return result
