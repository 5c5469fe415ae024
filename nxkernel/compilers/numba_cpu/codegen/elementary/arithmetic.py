"""The notation of the elementary functions: Python operators on vectors with a fixed number of lanes.

A `Lanes` pairs a value of the program under construction with the builder that extends it, so that a formula
reads as the maths. Nothing here is marked ``contract``: a product and a sum are two roundings and `fma` is one,
whatever surrounds the function and however many lanes it has. Every number of lanes gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel import element_types
from nxkernel.compilers.numba_cpu.codegen.fused_multiply_add import fused
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, RangeLoop
from nxkernel.element_types import FloatFormat

#: By LLVM's names of their types.
FORMATS = {"float": element_types.FORMATS["f32"], "double": element_types.FORMATS["f64"]}


@dataclass(frozen=True, eq=False, slots=True)
class Lanes:
    """An IR vector of floats, integers or truth values, with Python's operators.

    Comparisons of floats are false for NaN, and ``!=`` is its negation of ``==``; those of integers are signed.
    ``>>`` shifts zeros in. A Python number stands for itself in every lane.
    """

    b: FunctionBuilder
    value: IRValue

    @property
    def element(self) -> str:
        """The LLVM name of the element type."""
        return self.value.element

    @property
    def format(self) -> FloatFormat:
        """The floating-point format: sizes of exponent and mantissa."""
        return FORMATS[self.element]

    def wrap(self, value: IRValue) -> Lanes:
        """An IR value as a value of this class, of the same builder."""
        return Lanes(self.b, value)

    def constant(self, number: float) -> Lanes:
        """A constant of this type in every lane."""
        return self.wrap(self.b.constant(self.element, number, self.value.lanes))

    def _lift(self, other: Lanes | float) -> Lanes:
        return other if isinstance(other, Lanes) else self.constant(other)

    def _compute(self, instruction: str, other: Lanes | float) -> Lanes:
        return self.wrap(self.b.integer(instruction, self.value, self._lift(other).value))

    def _compare(self, predicate: str, other: Lanes | float) -> Lanes:
        other = self._lift(other)
        if self.element in FORMATS:
            ordered = "une" if predicate == "ne" else "o" + predicate
            return self.wrap(self.b.fcmp(ordered, self.value, other.value))
        signed = predicate if predicate in ("eq", "ne") else "s" + predicate
        return self.wrap(self.b.icmp(signed, self.value, other.value))

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._compute("fadd" if self.element in FORMATS else "add", other)

    def __radd__(self, other: float) -> Lanes:
        return self._lift(other) + self

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._compute("fsub" if self.element in FORMATS else "sub", other)

    def __rsub__(self, other: float) -> Lanes:
        return self._lift(other) - self

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._compute("fmul" if self.element in FORMATS else "mul", other)

    def __rmul__(self, other: float) -> Lanes:
        return self._lift(other) * self

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._compute("fdiv", other)

    def __rtruediv__(self, other: float) -> Lanes:
        return self._lift(other) / self

    def __neg__(self) -> Lanes:
        return self.wrap(self.b.fneg(self.value))

    def __abs__(self) -> Lanes:
        return self.intrinsic("fabs")

    def __and__(self, other: Lanes | int) -> Lanes:
        return self._compute("and", other)

    def __or__(self, other: Lanes | int) -> Lanes:
        return self._compute("or", other)

    def __xor__(self, other: Lanes | int) -> Lanes:
        return self._compute("xor", other)

    def __invert__(self) -> Lanes:
        return self ^ (1 if self.element == "i1" else -1)

    def __lshift__(self, other: int) -> Lanes:
        return self._compute("shl", other)

    def __rshift__(self, other: int) -> Lanes:
        return self._compute("lshr", other)

    def __lt__(self, other: Lanes | float) -> Lanes:
        return self._compare("lt", other)

    def __le__(self, other: Lanes | float) -> Lanes:
        return self._compare("le", other)

    def __gt__(self, other: Lanes | float) -> Lanes:
        return self._compare("gt", other)

    def __ge__(self, other: Lanes | float) -> Lanes:
        return self._compare("ge", other)

    def __eq__(self, other: Lanes | float) -> Lanes:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: Lanes | float) -> Lanes:  # type: ignore[override]
        return self._compare("ne", other)

    def intrinsic(self, name: str, *others: Lanes | float) -> Lanes:
        """An LLVM intrinsic applied to operands of this type."""
        return self.wrap(self.b.intrinsic(name, self.value, *(self._lift(other).value for other in others)))

    def bits(self) -> Lanes:
        """The bits of floats, as integers of equal width."""
        return self.wrap(self.b.bitcast(self.value, f"i{self.format.width}"))

    def floats(self) -> Lanes:
        """The floats that have these bits."""
        element = "float" if self.element == "i32" else "double"
        return self.wrap(self.b.bitcast(self.value, element))

    def choose(self, then: Lanes | float, otherwise: Lanes | float) -> Lanes:
        """Lane by lane, `then` where this is true and `otherwise` elsewhere; one of them is a `Lanes`."""
        like = then if isinstance(then, Lanes) else otherwise
        return like.wrap(self.b.select(self.value, like._lift(then).value, like._lift(otherwise).value))

    def copysign(self, other: Lanes) -> Lanes:
        """The magnitude of this and the sign of another."""
        return self.intrinsic("copysign", other)

    def at_most(self, limit: float) -> Lanes:
        """The minimum of this and a bound; NaN stays NaN."""
        return where(self > limit, limit, self)

    def at_least(self, limit: float) -> Lanes:
        """The maximum of this and a bound; NaN stays NaN."""
        return where(self < limit, limit, self)


def fma(left: Lanes | float, right: Lanes | float, third: Lanes | float) -> Lanes:
    """``left * right + third`` with one rounding; at least one operand is a `Lanes`."""
    like = next(operand for operand in (left, right, third) if isinstance(operand, Lanes))
    return like.wrap(fused(like.b, like._lift(left).value, like._lift(right).value, like._lift(third).value))


def where(condition: Lanes, then: Lanes | float, otherwise: Lanes | float) -> Lanes:
    """Lane by lane, one of two values, at least one of which is a `Lanes`."""
    return condition.choose(then, otherwise)


def polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """A polynomial by Horner's rule, the constant coefficient first."""
    *rest, first = coefficients
    result = x.constant(first)
    for coefficient in reversed(rest):
        result = fma(result, x, coefficient)
    return result


def fast_two_sum(large: Lanes, small: Lanes) -> tuple[Lanes, Lanes]:
    """The rounded sum and its exact error, if ``|large| >= |small|`` or `large` is zero (Dekker 1971)."""
    total = large + small
    return total, small - (total - large)


def two_sum(left: Lanes, right: Lanes) -> tuple[Lanes, Lanes]:
    """The rounded sum and its error, exactly (Knuth 1969)."""
    total = left + right
    shift = total - left
    return total, (left - (total - shift)) + (right - shift)


def two_product(left: Lanes, right: Lanes | float) -> tuple[Lanes, Lanes]:
    """The rounded product and its error, exactly."""
    product = left * right
    return product, fma(left, right, -product)


def by_lane(function: str | Callable[[IRModule], str], mask: Lanes, otherwise: Lanes, *operands: Lanes) -> Lanes:
    """A scalar function for the lanes of `mask`, `otherwise` in the others.

    For the rare operands that the vector code cannot take: unless some lane is set, this costs a branch.

    Parameters
    ----------
    function : str or callable
        Its name in the C library, such as ``sinf``; or what puts one of ours into a module and gives its name there.
    mask : Lanes
        Which lanes need it.
    otherwise : Lanes
        The result of the other lanes.
    *operands : Lanes
        What the function takes.

    Returns
    -------
    Lanes
        The result of every lane.
    """
    b, value = otherwise.b, otherwise.value
    name = _rare(b, function, value, len(operands))

    def called() -> Lanes:
        safe = [where(mask, operand, 1.0).value for operand in operands]
        return where(mask, otherwise.wrap(b.call(name, value.element, value.lanes, *safe)), otherwise)

    return rarely(mask, otherwise, called)


def rarely(mask: Lanes, otherwise: Lanes, instead: Callable[[], Lanes]) -> Lanes:
    """`instead()` for all lanes if any lane of `mask` is set, else `otherwise`; for slow paths that are rare."""
    b = otherwise.b
    rare, done, entry = b.label("rare"), b.label("common"), b.block
    b.branch_if(b.any(mask.value), rare, done)
    b.start(rare)
    result, end = instead().value, b.block
    b.branch(done)
    b.start(done)
    phi = b.phi(result.element, result.lanes)
    phi.add(otherwise.value, entry)
    phi.add(result, end)
    return otherwise.wrap(phi.value)


def _rare(b: FunctionBuilder, function: str | Callable[[IRModule], str], like: IRValue, arity: int) -> str:
    """Define, once, an out-of-line function with a loop over lanes that calls a scalar function; marked cold."""
    parameters = [IRValue(like.element, like.lanes, f"%x{position}") for position in range(arity)]
    attributes = "cold nounwind willreturn readnone"
    if isinstance(function, str):
        b.module.declare(function, like.element, [like.element] * arity, attributes)
    else:
        function = function(b.module)
    if like.lanes == 1:
        return function
    name = f"nx.rare.{function}.{like.lanes}"
    if name not in b.module.defined:
        inner = FunctionBuilder(
            b.module,
            name,
            like.type,
            [(parameter.text[1:], parameter.type) for parameter in parameters],
            linkage="internal",
            attributes=f"noinline {attributes}",
        )
        first, last, step = (inner.constant("i64", number) for number in (0, like.lanes, 1))
        loop = RangeLoop(inner, first, last, step, parameters[:1])
        scalars = [inner.extract(parameter, loop.index) for parameter in parameters]
        (result,) = loop.end(inner.insert(loop.values[0], inner.call(function, like.element, 1, *scalars), loop.index))
        inner.do(f"ret {result}")
        inner.finish()
    return name
