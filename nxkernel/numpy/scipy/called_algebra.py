"""Functions of ``scipy.linalg`` that a program calls on the matrices that it has computed, and their gradients.

References
----------
N. J. Higham, "Functions of Matrices", 2008: the derivatives of the exponential and of the square root.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.linalg import called_routines
from nxkernel.linalg.called_routines import bare_spec, call, scipys, square_root, transposed
from nxkernel.linalg.matrix_functions import exponential
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.creation import zeros_like
from nxkernel.numpy.functions.joining import concatenate, pad, stack
from nxkernel.numpy.functions.products import matmul
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.types import Type

__all__ = ["eig", "eigvals", "expm", "expm_frechet", "schur", "solve_banded", "solve_sylvester", "sqrtm"]


def _square(name: str, a: Any) -> Operand:
    value = operand(as_value(a))
    if len(value.shape) < 2 or value.shape[-1] != value.shape[-2]:
        raise NxValueError(f"{name}: expected square matrices in the last two axes, got {value.spec}")
    return convert(value, types.to_floating(value.type))


def expm(A: Any) -> ArrayValue:  # noqa: N803 - SciPy's name
    """The exponential of matrices, as :func:`scipy.linalg.expm`."""
    return wrap(exponential(_square("expm", A)))


def expm_frechet(
    A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: Any = True,  # noqa: N803 - SciPy's names
) -> Any:  # fmt: skip
    """The exponential of a matrix and its derivative in a direction, as :func:`scipy.linalg.expm_frechet`."""
    matrix, direction = (wrap(_square("expm_frechet", value)) for value in (A, E))
    if matrix.shape != direction.shape:
        raise NxValueError(f"expm_frechet: A and E have one shape, got {matrix.shape} and {direction.shape}")
    rows = [[matrix, direction], [zeros_like(matrix), matrix]]
    n, whole = matrix.shape[-1], expm(concatenate([concatenate(row, -1) for row in rows], axis=-2))
    derivative = whole[..., :n, n:]
    return (whole[..., :n, :n], derivative) if compute_expm else derivative


def solve_sylvester(a: Any, b: Any, q: Any) -> ArrayValue:
    """The solution of ``a @ x + x @ b = q``, as :func:`scipy.linalg.solve_sylvester`."""
    values = [operand(as_value(value)) for value in (a, b, q)]
    type_ = types.to_floating(functools.reduce(types.merge, [value.type for value in values]))
    return wrap(_sylvester(*[convert(value, type_) for value in values]))


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    run = lambda *given: [scipys("solve_sylvester")(*given)]  # noqa: E731
    outputs = (bare_spec(q.type, *q.shape[-2:]),)
    return call("solve_sylvester", run, [a, b, q], [2, 2, 2], outputs, _sylvester_adjoint)


def _sylvester_adjoint(at: Any) -> list[Any]:
    share = _sylvester(transposed(at.x(0)), transposed(at.x(1)), at.g)
    x, gain = wrap(transposed(at.y)), wrap(share)
    return [operand(e.negative(matmul(gain, x))), operand(e.negative(matmul(x, gain))), share]


def sqrtm(A: Any, *_: Any, **__: Any) -> ArrayValue:  # noqa: N803 - SciPy's name
    """The square root of matrices, as :func:`scipy.linalg.sqrtm`; of real ones where it is real."""
    return wrap(square_root(_square("sqrtm", A), strict=True))


def schur(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: Any = False, sort: Any = None,
    check_finite: Any = True,
) -> tuple[ArrayValue, ArrayValue]:  # fmt: skip
    """The Schur decomposition, as :func:`scipy.linalg.schur`."""
    value = _square("schur", a)
    if sort is not None:
        raise NxTypeError(message("schur(sort=...) is not there in a program.", "Call it before the definition."))
    n, type_ = value.shape[-1], types.to_complex(value.type) if output in ("complex", "c") else value.type
    run = lambda matrix: scipys("schur")(matrix, output)  # noqa: E731
    return tuple(map(wrap, call("schur", run, [value], [2], (bare_spec(type_, n, n),) * 2, more=(output,))))


def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    """Eigenvalues and eigenvectors, as :func:`scipy.linalg.eig`; both are complex."""
    if b is not None or left or homogeneous_eigvals:
        what = "b" if b is not None else "left=True" if left else "homogeneous_eigvals=True"
        raise NxTypeError(message(f"eig({what}) is not there in a program.", "Call it before the definition."))
    values, vectors = eigenpairs(a, lambda matrix: scipys("eig")(matrix), "scipy")
    return (values, vectors) if right else values


def eigenpairs(a: Any, run: Callable[..., Sequence[Any]], library: str) -> tuple[ArrayValue, ArrayValue]:
    """Eigenvalues and eigenvectors of square matrices, as those of `called_routines`."""
    values, vectors = map(wrap, called_routines.eigenpairs(_square("eig", a), run, library))
    return values, vectors


def eigvals(a: Any, b: Any = None, *_: Any, **__: Any) -> ArrayValue:
    """Eigenvalues, as :func:`scipy.linalg.eigvals`."""
    return eig(a, b, right=False)


# Banded matrices -------------------------------------------------------------------------------------------------


def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, check_finite: Any = True
) -> ArrayValue:
    """The solution of equations with a banded matrix, as :func:`scipy.linalg.solve_banded`."""
    lower, upper = int(l_and_u[0]), int(l_and_u[1])
    values = [as_value(one) for one in (ab, b)]
    type_ = types.to_floating(types.merge(values[0].type, values[1].type))
    bands, right = (convert(operand(one), type_) for one in values)
    if len(bands.shape) != 2 or bands.shape[0] != lower + upper + 1:
        raise NxValueError(f"solve_banded: ab has {lower + upper + 1} rows, got {bands.spec}")
    return wrap(_banded(lower, upper, bands, right))


def _banded(lower: int, upper: int, bands: Any, right: Any) -> Any:
    run = lambda ab, b: [scipys("solve_banded")((lower, upper), ab, b)]  # noqa: E731
    adjoint = functools.partial(_banded_adjoint, lower, upper)
    outputs = (bare_spec(right.type, *right.shape),)
    ranks = len(bands.shape), len(right.shape)
    return call("solve_banded", run, [bands, right], ranks, outputs, adjoint, (lower, upper))


def _banded_adjoint(lower: int, upper: int, at: Any) -> list[Any]:
    if at.params["function"].batch:
        raise at.refusal("Of several matrices at once its derivative is not there.")
    bands, x = wrap(at.x(0)), wrap(at.y)
    # The diagonals of the transposed matrix are the same, in the other order, and begin elsewhere.
    rows = [_shifted(bands[row], row - upper) for row in range(lower + upper, -1, -1)]
    share = wrap(_banded(upper, lower, operand(stack(rows)), at.g))
    if not at.wanted[0]:
        return [None, operand(share)]
    columns, others = ((one[:, None] if one.ndim == 1 else one) for one in (x, share))
    moved = [_shifted(others.T, upper - row).T for row in range(lower + upper + 1)]
    gains = [e.negative(reductions.sum(e.multiply(one, columns), axis=1)) for one in moved]
    return [operand(stack(gains)), operand(share)]


def _shifted(line: ArrayValue, steps: int) -> ArrayValue:
    """Vectors in the last axis moved to the right, with zeros where they were."""
    size = line.shape[-1]
    steps = max(-size, min(size, steps))
    axes = [(0, 0)] * (line.ndim - 1)
    if steps >= 0:
        return pad(line[..., : size - steps], [*axes, (steps, 0)])
    return pad(line[..., -steps:], [*axes, (0, -steps)])


def gtsv(name: str, type_: Type) -> Callable[..., Any]:
    """LAPACK's solver of tridiagonal equations, as ``scipy.linalg.lapack.dgtsv``.

    Parameters
    ----------
    name : str
        Of the routine.
    type_ : Type
        Of its numbers.
    """

    def solve(dl: Any, d: Any, du: Any, b: Any, *_: Any, **__: Any) -> tuple[ArrayValue, ...]:
        return tuple(map(wrap, _tridiagonal(name, *[convert(operand(as_value(one)), type_) for one in (dl, d, du, b)])))

    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = f"As :func:`scipy.linalg.lapack.{name}`."
    return solve


def _tridiagonal(name: str, *values: Any) -> Any:
    run = lambda *given: getattr(sys.modules["scipy.linalg.lapack"], name)(*given)  # noqa: E731
    outputs = (*[bare_spec(one.type, *one.shape) for one in (values[0], *values[1:])], bare_spec(types.s64))
    ranks = [len(one.shape) for one in values]
    return call(name, run, values, ranks, outputs, functools.partial(_tridiagonal_adjoint, name))


def _tridiagonal_adjoint(name: str, at: Any) -> list[Any]:
    if at.params["function"].batch:
        raise at.refusal("Of several matrices at once its derivative is not there.")
    if any(g is not None for place, g in enumerate(at.cotangents) if place != 3):
        raise at.refusal("The derivative of the solution x is known, and that of the factors is not.")
    low, diagonal, high = (at.x(place) for place in range(3))
    share = _tridiagonal(name, high, diagonal, low, at.cotangents[3])[3]
    one, other = ((value[:, None] if value.ndim == 1 else value) for value in map(wrap, (share, at.result(3))))
    gains = [e.multiply(one[1:], other[:-1]), e.multiply(one, other), e.multiply(one[:-1], other[1:])]
    return [*[operand(e.negative(reductions.sum(gain, axis=1))) for gain in gains], share]
