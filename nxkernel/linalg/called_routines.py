"""Functions of NumPy's and SciPy's that a program calls for matrices, with their gradients.

References
----------
N. J. Higham, "Functions of Matrices", 2008: the derivative of the square root.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.library_functions import HostFunction
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery.dispatch import apply, convert
from nxkernel.ops.shapes.shaping import new_axis
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.types import Type


def bare_spec(type_: Type, *shape: int) -> Spec:
    """A type and a shape without names."""
    return Spec(type_, shape, unnamed(shape))


def scipys(name: str) -> Any:
    """A function of ``scipy.linalg``, which is imported when a program first asks for it."""
    return getattr(importlib.import_module("scipy.linalg"), name)


def call(
    name: str, run: Callable[..., Sequence[Any]], values: Sequence[Operand], ranks: Sequence[int], outputs: Any,
    adjoint: Any = None, more: tuple[Any, ...] = (), library: str = "scipy",
) -> Any:  # fmt: skip
    """The results of a function of a library's for each index of the axes in front, which all arrays have.

    Parameters
    ----------
    name : str
        Of the function, in the library's ``linalg``.
    run : callable
        Gives a sequence of arrays for one of each.
    values : sequence of operands
    ranks : sequence of int
        How many axes of each it takes.
    outputs : tuple of Spec
        Of one call.
    adjoint : callable, optional
        Its gradient rule.
    more : tuple, optional
        What tells the function from others of its name.
    library : str, optional
    """
    batch = values[0].shape[: len(values[0].shape) - ranks[0]]
    function = HostFunction(
        f"{library}.linalg.{name}", (library, name, *more), run, outputs, len(outputs) == 1, adjoint, batch=batch
    )
    return apply(p.njit_call, *values, function=function)


def transposed(value: Any) -> Any:
    """Matrices with their axes exchanged."""
    rank = len(value.shape)
    return apply(p.transpose, value, axes=(*range(rank - 2), rank - 1, rank - 2))


# Square roots ----------------------------------------------------------------------------------------------------


def square_root(value: Operand, strict: bool) -> Operand:
    """The principal square root of matrices of a float type, in their type.

    Parameters
    ----------
    value : operand
    strict : bool
        Whether a real matrix whose root is complex is an error, instead of NaN.
    """
    n = value.shape[-1]
    run = functools.partial(_root, is_complex=value.type.is_complex, strict=strict)
    return call("sqrtm", run, [value], [2], (bare_spec(value.type, n, n),), _root_adjoint, more=(strict,))


def _root(a: Any, is_complex: bool, strict: bool) -> list[Any]:
    if not np.isfinite(a).all():
        return [np.full_like(a, np.nan)]
    root = scipys("sqrtm")(a)
    if np.iscomplexobj(root) and not is_complex:
        if np.any(root.imag):
            if not strict:
                return [np.full_like(a, np.nan)]
            raise NxValueError(
                message(
                    "sqrtm: the square root of this real matrix is complex.",
                    "Take that of a complex one: scipy.linalg.sqrtm(a.astype(complex)).",
                )
            )
        root = root.real
    return [root.astype(a.dtype)]


def _root_adjoint(at: Any) -> list[Any]:
    root = transposed(at.y)
    n = root.shape[-1]
    run = lambda x, g: [scipys("solve_sylvester")(x, x, g)]  # noqa: E731
    return [call("solve_sylvester", run, [root, at.g], [2, 2], (bare_spec(root.type, n, n),))]


# Eigenvalues -----------------------------------------------------------------------------------------------------


def eigenpairs(value: Operand, run: Callable[..., Sequence[Any]], library: str) -> tuple[Operand, Operand]:
    """Eigenvalues and eigenvectors of square matrices of a float type, both complex.

    Parameters
    ----------
    value : operand
    run : callable
        Gives both for one matrix.
    library : str
        Whose function that is.
    """
    n, type_ = value.shape[-1], types.to_complex(value.type)
    outputs = (bare_spec(type_, n), bare_spec(type_, n, n))
    return call("eig", run, [value], [2], outputs, _eig_adjoint, library=library)


def _eig_adjoint(at: Any) -> list[Any]:
    of_values, of_vectors = at.cotangents
    if of_vectors is not None:
        raise at.refusal("The derivative of eigenvalues is known, that of eigenvectors of symmetric matrices alone.")
    # λ = (v⁻¹ a v) on the diagonal.
    turned = transposed(at.result(1))
    gain = apply(p.solve, turned, elementwise.multiply(new_axis(of_values, -1), turned))
    x = at.node.operands[0]
    return [gain if x.type.is_complex else convert(apply(p.real, gain), x.type)]
