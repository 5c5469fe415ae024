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

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.library_functions import HostFunction
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.creation import zeros_like
from nxkernel.numpy.functions.joining import concatenate, pad, stack
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.types import Type

__all__ = ["eig", "eigvals", "expm", "schur", "solve_banded", "sqrtm"]


def _spec(type_: Type, *shape: int) -> Spec:
    return Spec(type_, shape, unnamed(shape))


def _scipys(name: str) -> Any:
    return getattr(sys.modules["scipy.linalg"], name)


def _square(name: str, a: Any) -> Operand:
    value = operand(as_value(a))
    if len(value.shape) < 2 or value.shape[-1] != value.shape[-2]:
        raise NxValueError(f"{name}: expected square matrices in the last two axes, got {value.spec}")
    return convert(value, types.to_floating(value.type))


def _call(
    name: str, run: Callable[..., Sequence[Any]], values: Sequence[Operand], ranks: Sequence[int], outputs: Any,
    adjoint: Any = None, more: tuple[Any, ...] = (), library: str = "scipy",
) -> Any:  # fmt: skip
    """The results of a function of a library's for each index of the axes in front, which all arrays have."""
    batch = values[0].shape[: len(values[0].shape) - ranks[0]]
    function = HostFunction(
        f"{library}.linalg.{name}", (library, name, *more), run, outputs, len(outputs) == 1, adjoint, batch=batch
    )
    return apply(p.njit_call, *values, function=function)


def _transposed(value: Any) -> Any:
    rank = len(value.shape)
    return apply(p.transpose, value, axes=(*range(rank - 2), rank - 1, rank - 2))


def expm(A: Any) -> ArrayValue:  # noqa: N803 - SciPy's name
    """The exponential of matrices, as :func:`scipy.linalg.expm`."""
    return wrap(_expm(_square("expm", A)))


def _expm(value: Any) -> Any:
    n = value.shape[-1]
    return _call("expm", lambda a: [_scipys("expm")(a)], [value], [2], (_spec(value.type, n, n),), _expm_adjoint)


def _expm_adjoint(at: Any) -> list[Any]:
    # The exponential of [[a, g], [0, a]] has the derivative in the direction g at the upper right.
    turned, n = wrap(_transposed(at.x(0))), at.x(0).shape[-1]
    gain = wrap(at.g)
    whole = concatenate(
        [concatenate([turned, gain], -1), concatenate([zeros_like(turned), turned], -1)], axis=-2
    )  # fmt: skip
    return [operand(wrap(_expm(operand(whole)))[..., :n, n:])]


def sqrtm(A: Any, *_: Any, **__: Any) -> ArrayValue:  # noqa: N803 - SciPy's name
    """The square root of matrices, as :func:`scipy.linalg.sqrtm`; of real ones where it is real."""
    value = _square("sqrtm", A)
    n = value.shape[-1]
    run = functools.partial(_sqrtm, is_complex=value.type.is_complex)
    return wrap(_call("sqrtm", run, [value], [2], (_spec(value.type, n, n),), _sqrtm_adjoint))


def _sqrtm(a: Any, is_complex: bool) -> list[Any]:
    root = _scipys("sqrtm")(a)
    if np.iscomplexobj(root) and not is_complex:
        if np.any(root.imag):
            raise NxValueError(
                message(
                    "sqrtm: the square root of this real matrix is complex.",
                    "Take that of a complex one: scipy.linalg.sqrtm(a.astype(complex)).",
                )
            )
        root = root.real
    return [root.astype(a.dtype)]


def _sqrtm_adjoint(at: Any) -> list[Any]:
    root = _transposed(at.y)
    n = root.shape[-1]
    run = lambda x, g: [_scipys("solve_sylvester")(x, x, g)]  # noqa: E731
    return [_call("solve_sylvester", run, [root, at.g], [2, 2], (_spec(root.type, n, n),))]


def schur(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: Any = False, sort: Any = None,
    check_finite: Any = True,
) -> tuple[ArrayValue, ArrayValue]:  # fmt: skip
    """The Schur decomposition, as :func:`scipy.linalg.schur`."""
    value = _square("schur", a)
    if sort is not None:
        raise NxTypeError(message("schur(sort=...) is not there in a program.", "Call it before the definition."))
    n, type_ = value.shape[-1], types.to_complex(value.type) if output in ("complex", "c") else value.type
    run = lambda matrix: _scipys("schur")(matrix, output)  # noqa: E731
    return tuple(map(wrap, _call("schur", run, [value], [2], (_spec(type_, n, n),) * 2, more=(output,))))


def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    """Eigenvalues and eigenvectors, as :func:`scipy.linalg.eig`; both are complex."""
    if b is not None or left or homogeneous_eigvals:
        what = "b" if b is not None else "left=True" if left else "homogeneous_eigvals=True"
        raise NxTypeError(message(f"eig({what}) is not there in a program.", "Call it before the definition."))
    values, vectors = eigenpairs(a, lambda matrix: _scipys("eig")(matrix), "scipy")
    return (values, vectors) if right else values


def eigenpairs(a: Any, run: Callable[..., Sequence[Any]], library: str) -> tuple[ArrayValue, ArrayValue]:
    """Eigenvalues and eigenvectors of square matrices, both complex.

    Parameters
    ----------
    a : array
    run : callable
        Gives both for one matrix.
    library : str
        Whose function that is.
    """
    value = _square("eig", a)
    n, type_ = value.shape[-1], types.to_complex(value.type)
    outputs = (_spec(type_, n), _spec(type_, n, n))
    values, vectors = map(wrap, _call("eig", run, [value], [2], outputs, _eig_adjoint, library=library))
    return values, vectors


def eigvals(a: Any, b: Any = None, *_: Any, **__: Any) -> ArrayValue:
    """Eigenvalues, as :func:`scipy.linalg.eigvals`."""
    return eig(a, b, right=False)


def _eig_adjoint(at: Any) -> list[Any]:
    of_values, of_vectors = at.cotangents
    if of_vectors is not None:
        raise at.refusal("The derivative of eigenvalues is known, and that of eigenvectors by scipy.linalg.eigh alone.")
    # λ = (v⁻¹ a v) on the diagonal.
    vectors = wrap(at.result(1))
    weighed = e.multiply(wrap(of_values)[..., :, None], wrap(_transposed(operand(vectors))))
    gain = apply(p.solve, _transposed(operand(vectors)), operand(weighed))
    x = at.node.operands[0]
    return [gain if x.type.is_complex else convert(apply(p.real, gain), x.type)]


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
    run = lambda ab, b: [_scipys("solve_banded")((lower, upper), ab, b)]  # noqa: E731
    adjoint = functools.partial(_banded_adjoint, lower, upper)
    outputs = (_spec(right.type, *right.shape),)
    ranks = len(bands.shape), len(right.shape)
    return _call("solve_banded", run, [bands, right], ranks, outputs, adjoint, (lower, upper))


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
    outputs = (*[_spec(one.type, *one.shape) for one in (values[0], *values[1:])], _spec(types.s64))
    ranks = [len(one.shape) for one in values]
    return _call(name, run, values, ranks, outputs, functools.partial(_tridiagonal_adjoint, name))


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
