"""A complex number type over LLVM vectors, with Python operators, in which complex functions are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes, fma
from nxkernel.compilers.numba_cpu.codegen.elementary.exponential import LN2
from nxkernel.compilers.numba_cpu.codegen.elementary.logarithm import split
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.primitives import Primitive

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter

#: Primitives that are one of LLVM's intrinsics.
_INTRINSICS = {"sqrt": "sqrt", "round_half_even": "rint"}


@dataclass(frozen=True, eq=False, slots=True)
class LaneNumber(Lanes):
    """Real lanes on which real primitives can be called like methods, for formulas of complex functions."""

    e: Emitter

    def wrap(self, value: IRValue) -> LaneNumber:
        """An IR value as a :class:`LaneNumber`."""
        return LaneNumber(self.b, value, self.e)

    def call(self, primitive: Primitive, *others: LaneNumber) -> LaneNumber:
        """A real primitive applied to this value and others of its type."""
        if primitive.name in _INTRINSICS:
            return self.intrinsic(_INTRINSICS[primitive.name])
        return self.wrap(self.e.elementary(primitive.name, self.value, *[other.value for other in others]))

    def fma(self, factor: LaneNumber | float, term: LaneNumber | float) -> LaneNumber:
        """The product with one value, and another one added, rounded once."""
        return fma(self, factor, term)

    def fms(self, factor: LaneNumber | float, term: LaneNumber) -> LaneNumber:
        """The product with one value, and another one subtracted, rounded once."""
        return fma(self, factor, -term)

    @property
    def ln2(self) -> tuple[float, float]:
        """The logarithm of 2 as a sum of two numbers."""
        return LN2[self.element]

    def split(self) -> tuple[LaneNumber, LaneNumber]:
        """``n, f`` of a positive finite number ``2^n (1 + f)`` with ``sqrt(1/2) <= 1 + f < sqrt(2)``."""
        return split(self)[:2]

    def inverse_power(self) -> LaneNumber:
        """Two to the power of minus this number, which is an integer."""
        form = self.format
        return (((form.shifter + form.bias) - self).bits() << form.digits).floats()
