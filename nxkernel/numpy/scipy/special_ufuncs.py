"""Element-wise functions of SciPy: made of primitives, C functions in kernels, or calls of SciPy on whole arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.library_functions import HostFunction, element_function
from nxkernel.numpy.arrays.casting import cast, filled_as
from nxkernel.numpy.functions.ufunc import Ufunc
from nxkernel.numpy.scipy import derivatives
from nxkernel.numpy.scipy.compositions import COMPOSITIONS
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, is_number, spread
from nxkernel.primitives import Spec
from nxkernel.shapes import broadcast_shapes, unnamed
from nxkernel.types import Type


class SpecialUfunc(Ufunc):
    """A ufunc of SciPy's on traced arrays.

    Parameters
    ----------
    theirs : numpy.ufunc
    """

    def __init__(self, theirs: np.ufunc) -> None:
        super().__init__(theirs.__name__, theirs.nin, self._of_one_type, types.to_floating)
        self._theirs, self.nout = theirs, theirs.nout

    def _of_one_type(self, *values: Operand) -> Any:
        return self.on_operands(*values)

    def on_operands(self, *values: Any, dtype: Any = None) -> Any:
        """Apply the function to operands or numbers; the result is an operand, or a tuple of them."""
        inputs, results = self._loop(values, dtype)
        shape: tuple[int, ...] = ()
        for value in values:
            shape = shape if is_number(value) else broadcast_shapes(shape, value.shape)
        operands = [
            spread(filled_as(value, type_, ()) if is_number(value) else cast(value, type_), shape)
            for value, type_ in zip(values, inputs, strict=True)
        ]
        found = call(self._theirs, operands, results)
        wanted = results if types.follows_numpy() else [self._by_rules_in_force(values, one) for one in results]
        found = [convert(one, type_) for one, type_ in zip(found, wanted, strict=True)]
        return tuple(found) if self.nout > 1 else found[0]

    def _loop(self, values: Sequence[Any], dtype: Any) -> tuple[list[Type], list[Type]]:
        """The types that SciPy converts arguments to, and those of its results."""
        chosen = {} if dtype is None else {"signature": (*[None] * self.nin, *[np.dtype(dtype)] * self.nout)}
        given = tuple(map(_dtype, values))
        try:
            resolved = self._theirs.resolve_dtypes((*given, *[None] * self.nout), **chosen)
        except TypeError:
            listed = ", ".join(getattr(one, "name", getattr(one, "__name__", "")) for one in given)
            raise NxTypeError(
                message(
                    f"scipy.special.{self.__name__} takes no numbers of these types: {listed}.",
                    "Convert them: x.astype(float), or x.real of complex numbers.",
                )
            ) from None
        found = [types.normalize(one) for one in resolved]
        return found[: self.nin], found[self.nin :]

    def _by_rules_in_force(self, values: Sequence[Any], result: Type) -> Type:
        known = [value.type for value in values if not is_number(value)]
        if not known or not result.is_float:
            return result
        return types.to_floating(functools.reduce(types.merge, known))


def _dtype(value: Any) -> Any:
    """What NumPy goes by: a type of Python's for what is weak."""
    if is_number(value):
        return np.dtype(bool) if isinstance(value, bool) else type(value)
    if tracing.weak(value) and value.type is not types.bool_:
        return complex if value.type.is_complex else float if value.type.is_float else int
    return np.dtype(np.float32) if value.type is types.bf16 else value.type.dtype


def call(theirs: np.ufunc, operands: Sequence[Operand], results: Sequence[Type]) -> list[Operand]:
    """The results of a ufunc of SciPy's for operands of one shape, in the types that one of its loops takes."""
    name = theirs.__name__
    if not any(value.type.is_complex for value in operands):
        if name in COMPOSITIONS and all(value.type.is_float for value in operands):
            return [COMPOSITIONS[name](*operands)]
        wide = [value if value.type.is_integer else convert(value, types.f64) for value in operands]
        adjoint = derivatives.adjoint(name, functions) if theirs.nout == 1 else None
        places = range(theirs.nout)
        found = [element_function(theirs, [value.type for value in wide], place, adjoint) for place in places]
        if all(found):
            return [
                convert(apply(p.njit, *wide, function=one, type=one.result), type_)
                for one, type_ in zip(found, results, strict=True)
            ]
    return _on_the_host(theirs, operands, results)


def _on_the_host(theirs: np.ufunc, operands: Sequence[Operand], results: Sequence[Type]) -> list[Operand]:
    shape = operands[0].shape
    single = theirs.nout == 1
    function = HostFunction(
        theirs.__name__,
        ("scipy.special", theirs.__name__),
        (lambda *arrays: (theirs(*arrays),)) if single else theirs,
        tuple([Spec(type_, shape, unnamed(shape)) for type_ in results]),
        single,
        derivatives.adjoint(theirs.__name__, functions) if single else None,
        elementwise=True,
    )
    found = apply(p.njit_call, *operands, function=function)
    return [found] if single else list(found)


class _Functions:
    """Special functions of f64 by name, for rules of derivatives."""

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(sys.modules.get("scipy.special._ufuncs"), name, None)
        if theirs is None:
            raise AttributeError(f"scipy.special has no {name!r}")
        return lambda *operands: call(theirs, operands, [types.f64])[0]


functions = _Functions()


@functools.cache
def of(theirs: np.ufunc) -> SpecialUfunc:
    """The counterpart of a ufunc of SciPy's."""
    return SpecialUfunc(theirs)


def is_special(function: Any) -> bool:
    """Whether a function is a ufunc of ``scipy.special``, which does not tell where it is from."""
    module = sys.modules.get("scipy.special._ufuncs")
    return isinstance(function, np.ufunc) and module is not None and vars(module).get(function.__name__) is function
