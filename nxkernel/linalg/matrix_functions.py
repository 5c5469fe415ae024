"""Functions of matrices: the exponential and the square root.

References
----------
N. J. Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM Journal on Matrix Analysis
and Applications 26, 2005; "Functions of Matrices", 2008.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from nxkernel import primitives, types
from nxkernel.graph.expr import Expr
from nxkernel.linalg._matrices import back, computed, matrices, multiply, unnamed
from nxkernel.linalg.called_routines import square_root, transposed
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.arithmetic.comparison import less, less_equal, logical_and, select
from nxkernel.ops.arithmetic.elementary import log2
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.ops.programs.control_flow import run_while
from nxkernel.ops.programs.own_gradients import with_gradient
from nxkernel.ops.reductions.reduction import reduce_max
from nxkernel.ops.reductions.reduction import sum as sum_
from nxkernel.ops.shapes.shaping import concatenate
from nxkernel.ops.tensors.creation import eye
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

#: By the type of real parts, the degree of the Padé approximant, and the greatest norm for which it is exact enough.
_APPROXIMANTS = {types.f32: (7, 3.925724783138660), types.f64: (13, 5.371920351148152)}
#: The most squarings: what asks for more has a norm beyond 1e20.
_MOST = 64


def expm(tensor: Any) -> Tensor | Expr:
    """The exponential of square matrices: the sum of their powers, each divided by the factorial of its number.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    Tensor
        Of the same shape, without names; integers become f32. NaN for a matrix with a norm beyond 1e20.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Notes
    -----
    Scaling, a Padé approximant (of degree 13 for f64 and 7 for f32), and as many squarings as the norm of the greatest
    matrix asks for.

    Examples
    --------
    >>> nx.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).to_list()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    matrix, type_ = computed(unnamed(matrices(tensor, "expm", square=True)))
    return back(exponential(matrix), type_)


def exponential(matrix: Operand, orders: int = 2) -> Operand:
    """The exponential of matrices of f32, f64, c64 or c128.

    Parameters
    ----------
    matrix : operand
    orders : int, optional
        How many derivatives have a formula; those of higher order go through the squarings, which keep all of them.
    """
    if 0 in matrix.shape:
        return matrix
    if not orders:
        return _scaled_and_squared(matrix)
    n = matrix.shape[-1]

    def backward(g: Expr) -> Operand:
        # The exponential of [[a, g], [0, a]] has the derivative in the direction g at the upper right.
        turned = transposed(matrix)
        rows = [[turned, g], [filled(0, matrix.type, matrix.shape), turned]]
        whole = concatenate([concatenate(row, axis=-1) for row in rows], axis=-2)
        return exponential(whole, orders - 1)[..., :n, n:]

    return with_gradient(_scaled_and_squared(matrix), matrix, backward)


def _scaled_and_squared(matrix: Operand) -> Operand:
    real = types.to_real(matrix.type)
    degree, most = _APPROXIMANTS[real]
    norm = reduce_max(sum_(elementwise.abs(matrix), axes=[-2]), axes=[-1])
    halvings = elementwise.ceil(log2(elementwise.max(norm / most, 1.0)))
    # Not a number, where a norm is not finite or beyond all bounds.
    scale = select(less_equal(halvings, _MOST), elementwise.pow(2.0, -halvings), math.nan)
    shape, halvings = matrix.shape, convert(elementwise.clip(halvings, 0, _MOST), types.s64)
    result = _approximant(elementwise.multiply(matrix, convert(_over(scale, shape), matrix.type)), degree, matrix.type)
    count = reduce_max(halvings)

    def square(state: Any) -> list[Operand]:
        done, value = state
        return [done + 1, select(_over(less(done, halvings), shape), multiply(value, value), value)]

    def going_on(state: Any) -> Operand:
        # Bounded by a number, so that gradients know how many there are at most.
        return logical_and(less(state[0], _MOST), less(state[0], count))

    return run_while([filled(0, types.s64, ()), result], going_on, square, ["squarings", "exponential"])[1]


def _over(number: Operand, shape: tuple[int, ...]) -> Operand:
    """A number for each matrix, spread over its elements."""
    axes = tuple(range(len(number.shape)))
    return apply(primitives.broadcast, number, shape=shape, axes=axes, names=(None,) * len(shape))


def _approximant(a: Operand, degree: int, type_: Type) -> Operand:
    """The diagonal Padé approximant of the exponential of a degree: 7 or 13."""
    b = [math.factorial(2 * degree - j) * math.comb(degree, j) / math.factorial(degree) for j in range(degree + 1)]
    square = multiply(a, a)
    fourth = multiply(square, square)
    sixth = multiply(fourth, square)
    powers = [convert(eye(a.shape, type="u8"), type_), square, fourth, sixth]
    odd, even = _weighed(powers, b[1:8:2]), _weighed(powers, b[0:7:2])
    if degree == 13:
        # What comes then is the sixth power times others.
        odd = elementwise.add(odd, multiply(sixth, _weighed(powers[1:], b[9::2])))
        even = elementwise.add(even, multiply(sixth, _weighed(powers[1:], b[8::2])))
    odd = multiply(a, odd)
    return apply(primitives.solve, elementwise.subtract(even, odd), elementwise.add(even, odd))


def _weighed(powers: Sequence[Operand], factors: Sequence[float]) -> Operand:
    """The sum of matrices times numbers."""
    return functools.reduce(elementwise.add, map(elementwise.multiply, powers, factors))


def sqrtm(tensor: Any) -> Tensor | Expr:
    """The principal square root of square matrices: times itself it is the matrix, and no eigenvalue is negative.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    Tensor
        Of the same shape and type, without names; integers become f32. NaN for a real matrix whose root is complex:
        ``nx.linalg.sqrtm(nx.as_type(t, "c128"))`` gives it.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Notes
    -----
    SciPy's function, by the Schur decomposition, which the running program calls once for each matrix.

    Examples
    --------
    >>> nx.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).to_list()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    matrix, type_ = computed(unnamed(matrices(tensor, "sqrtm", square=True)))
    return back(matrix if 0 in matrix.shape else square_root(matrix, strict=False), type_)
