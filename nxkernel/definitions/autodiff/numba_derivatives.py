"""Derivatives of functions of single numbers that Numba compiled, from their Python text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nxkernel import numba_functions
from nxkernel.definitions.autodiff.grad import grad
from nxkernel.definitions.autodiff.vmap import vmap
from nxkernel.definitions.calls.decorators import defn
from nxkernel.graph.expr import Expr
from nxkernel.numba_functions import ScalarFunction
from nxkernel.numpy.arrays.array import as_value
from nxkernel.ops import reshape


def slopes(function: ScalarFunction, operands: Sequence[Expr], places: Sequence[int]) -> list[Expr]:
    """The derivatives at each element of traced arrays of one shape, recorded in the active trace.

    Parameters
    ----------
    function : ScalarFunction
    operands : sequence of Expr
        Its arguments.
    places : sequence of int
        By which of them.

    Returns
    -------
    list of Expr
        One for each place, of the shape of the operands.

    Raises
    ------
    NxError
        Where the text cannot be traced, or has no derivative.
    """
    if not places:
        return []
    shape = operands[0].shape
    flat = [reshape(operand, (math.prod(shape),)) for operand in operands]
    text = defn(promotion="numpy")(numba_functions.python_function(function.call))
    found = vmap(grad(text, argnums=tuple(places)))(*flat)
    return [reshape(as_value(slope), shape) for slope in found]


numba_functions.DERIVATIVES.append(slopes)
