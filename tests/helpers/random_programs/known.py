"""What is known of a value of a random program before it runs."""

import dataclasses
import math

from nxkernel import types

#: Bits of the mantissa of each float.
MANTISSA = {types.bf16: 8, types.f16: 11, types.f32: 24, types.f64: 53}
FLOATS = list(MANTISSA)
INTEGERS = [type_ for type_ in types.TYPES.values() if type_.is_integer]
#: Bound of the magnitudes of floats; beyond it values are clipped.
LARGE = 600.0
#: Elements of a value; larger ones are not made.
MOST = 20_000


@dataclasses.dataclass(frozen=True)
class Known:
    """``|x| <= bound``, a multiple of ``2**-places``, off by at most ``error``, may be infinite if ``special``."""

    bound: float = 0.0
    places: float = 0
    error: float = 0.0
    special: bool = False

    @property
    def exact(self):
        return self.error == 0

    @staticmethod
    def either(*known):
        """One of several values."""
        return Known(
            max(k.bound for k in known),
            max(k.places for k in known),
            max(k.error for k in known),
            any(k.special for k in known),
        )


def rounded(type_, bound, places, error, operands):
    """A result that is exact as long as its type has enough bits for it, and as long as what it comes from was."""
    if not type_.is_float:
        return Known()
    special = any(known.special for known in operands)
    if error == 0 and math.log2(max(bound, 1e-30)) + places <= MANTISSA[type_]:
        return Known(bound, places, 0.0, special)
    return Known(bound, math.inf, error + 4 * bound * 2.0 ** -MANTISSA[type_], special)


def summed(type_, one, count, error, operands):
    """A sum of `count` terms of which one is known: narrow floats are summed in f32 and rounded once."""
    if not type_.is_float:
        return Known()
    wide, bound = MANTISSA[types.compute_type(type_)], one.bound * count
    if one.exact and math.log2(max(bound, 1e-30)) + one.places <= wide:
        return rounded(type_, bound, one.places, 0.0, operands)
    error += count * bound * 2.0**-wide + 2 * bound * 2.0 ** -MANTISSA[type_]
    return Known(bound, math.inf, error, any(known.special for known in operands))
