"""Cases of element-wise primitives."""

import numpy as np

from elementary_references import BY_PRIMITIVE
from nxkernel import primitives as p
from nxkernel import types
from random_primitives.cases import Case, case_of, epsilon
from random_primitives.values import ALL, COMPLEX, FLOATS, REAL, WHOLE, array, shape

NUMBERS = [*REAL, *COMPLEX]
PARTS = [*FLOATS, *COMPLEX]
#: Two operands of one type.
BINARY = {
    p.add: NUMBERS, p.subtract: NUMBERS, p.multiply: NUMBERS, p.divide: PARTS, p.power: NUMBERS, p.remainder: REAL,
    p.quotient: WHOLE, p.atan2: FLOATS, p.maximum: [*REAL, types.bool_], p.minimum: [*REAL, types.bool_],
    p.bitwise_and: [*WHOLE, types.bool_], p.bitwise_or: [*WHOLE, types.bool_], p.bitwise_xor: [*WHOLE, types.bool_],
    p.left_shift: WHOLE, p.right_shift: WHOLE, p.equal: ALL, p.not_equal: ALL, p.greater: [*REAL, types.bool_],
    p.less: [*REAL, types.bool_], p.greater_equal: [*REAL, types.bool_], p.less_equal: [*REAL, types.bool_],
    p.logical_and: ALL, p.logical_or: ALL, p.logical_xor: ALL, p.after: ALL,
}  # fmt: skip
#: One operand.
UNARY = {
    p.stop_grad: ALL, p.logical_not: ALL, p.is_nan: ALL, p.is_infinity: ALL, p.negate: NUMBERS,
    p.sign: REAL, p.floor: REAL, p.ceil: REAL, p.round_half_away: REAL, p.round_half_even: REAL, p.truncate: REAL,
    p.conjugate: PARTS, p.absolute: NUMBERS,
    p.real: PARTS, p.imag: PARTS, p.phase: PARTS, p.bitwise_not: [*WHOLE, types.bool_], p.population_count: WHOLE,
    p.count_leading_zeros: WHOLE,
    **{p.TABLE[name]: PARTS if function.complex else FLOATS for name, function in p.ELEMENTARY.items()},
}  # fmt: skip
#: Functions of floats that are not rounded correctly: units in the last place, ours and those of NumPy or SciPy.
ULPS = {primitive: row.ulps[2] for primitive, row in BY_PRIMITIVE.items()} | {p.power: 8, p.atan2: 8, p.phase: 1}
#: What is computed of complex numbers part by part, without rounding in between.
BY_PARTS = {p.add, p.subtract, p.negate, p.conjugate, p.real, p.imag, p.stop_grad, p.after}
PREDICATES = {
    p.equal, p.not_equal, p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.is_nan, p.is_infinity,
}  # fmt: skip


@case_of(*UNARY)
def _unary(choose, primitive):
    type_ = choose.pick(UNARY[primitive])
    return _case(choose, primitive, type_, 1)


@case_of(*BINARY)
def _binary(choose, primitive):
    type_ = choose.pick(BINARY[primitive])
    return _case(choose, primitive, type_, 2)


def _case(choose, primitive, type_, count):
    around = shape(choose)
    careful = type_.is_complex and primitive not in BY_PARTS | PREDICATES
    kind = "tame" if careful else None
    arrays = tuple(array(choose, type_, around, special=not careful, kind=kind) for _ in range(count))
    if careful:
        return Case(primitive, arrays, error=_of_complex(primitive, arrays))
    ulps = ULPS.get(primitive, 0) if type_.is_float else 0
    return Case(primitive, arrays, ulps=min(ulps, 1) if type_.bits == 16 else ulps)


def _of_complex(primitive, arrays):
    """How far functions of complex numbers may be apart: so many roundings of the greatest number on the way."""
    type_ = types.normalize(arrays[0].dtype)
    greatest = float(np.max([np.abs(x).max(initial=0) for x in arrays]))
    least = float(np.min([np.abs(x).min(initial=1) for x in arrays]))
    if primitive in (p.power, p.exp, p.expm1, p.sinh, p.cosh):
        greatest = np.exp(greatest * (1 + np.log(2 + greatest)))
    elif primitive in (p.divide, p.tan, p.tanh, p.rsqrt, p.sigmoid, p.atanh, p.atan):
        greatest = (1 + greatest) ** 2 / min(least, 0.05) ** 2
    else:
        greatest = (1 + greatest) ** 2
    return 64 * epsilon(type_) * greatest


@case_of(p.select)
def _select(choose, primitive):
    around, type_ = shape(choose), choose.pick(ALL)
    mask = array(choose, choose.pick(ALL), around, kind="grid")
    return Case(primitive, (mask, array(choose, type_, around), array(choose, type_, around)))


@case_of(p.as_type)
def _as_type(choose, primitive):
    source, target = choose.pick(ALL), choose.pick(ALL)
    return Case(primitive, (array(choose, source, shape(choose)),), {"type": target})


@case_of(p.bitcast)
def _bitcast(choose, primitive):
    source = choose.pick(REAL)
    target = choose.pick([type_ for type_ in REAL if type_.bits == source.bits])
    return Case(primitive, (array(choose, source, shape(choose)),), {"type": target})


@case_of(p.make_complex)
def _make_complex(choose, primitive):
    type_, around = choose.pick([types.f32, types.f64]), shape(choose)
    return Case(primitive, (array(choose, type_, around), array(choose, type_, around)))


@case_of(p.threefry2x32)
def _threefry(choose, primitive):
    around = shape(choose)
    words = tuple(array(choose, types.u32, around) for _ in range(4))
    return Case(primitive, words, {"word": choose.integer(0, 1)})
