"""Opaque operations (library calls, routines) as NumPy source, for display."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Primitive


def in_numpy(node: Expr, operands: Sequence[str]) -> str:
    """An opaque operation or matrix product as a NumPy expression; an empty text for other nodes.

    Parameters
    ----------
    node : Expr
    operands : sequence of str
        What its operands are called.

    Returns
    -------
    str

    Examples
    --------
    >>> from nxkernel.graph.expr import constant
    >>> from nxkernel.types import f32
    >>> a = constant(1.0, f32, (3, 3))
    >>> in_numpy(Expr(p.qr, (a,), {"mode": "reduced"}, None), ["a"])
    "np.linalg.qr(a, mode='reduced')"
    """
    writer = _WRITERS.get(node.primitive)
    return writer(node, *operands) if writer else ""


def _scan(function: str) -> Callable[[Expr, str], str]:
    def write(node: Expr, x: str) -> str:
        axis = node.params["axis"]
        if not node.params["reverse"]:
            return f"{function}({x}, axis={axis})"
        return f"np.flip({function}(np.flip({x}, {axis}), axis={axis}), {axis})"

    return write


def _sort(node: Expr, x: str) -> str:
    axis = node.params["axis"]
    ascending = f"np.sort({x}, axis={axis}, stable=True)"
    return ascending if node.params["direction"] == "asc" else f"np.flip({ascending}, {axis})"


def _argsort(node: Expr, x: str) -> str:
    axis = node.params["axis"]
    if node.params["direction"] == "asc":
        return f"np.argsort({x}, axis={axis}, stable=True)"
    # Turned twice, so that equal elements keep their order.
    turned = f"np.flip(np.argsort(np.flip({x}, {axis}), axis={axis}, stable=True), {axis})"
    return f"{x}.shape[{axis}] - 1 - {turned}"


def _fft(node: Expr, x: str) -> str:
    name, axes = "ifft" if node.params["inverse"] else "fft", node.params["axes"]
    return f"np.fft.{name}({x}, axis={axes[0]})" if len(axes) == 1 else f"np.fft.{name}n({x}, axes={axes})"


def _triangular_solve(node: Expr, a: str, b: str) -> str:
    trans = {"none": "N", "transpose": "T", "conjugate": "C"}[node.params["transform"]]
    return f"scipy.linalg.solve_triangular({a}, {b}, lower={node.params['lower']}, trans={trans!r})"


def _dot(node: Expr, left: str, right: str) -> str:
    ranks = [len(operand.shape) for operand in node.operands]
    (contract_left, contract_right), (batch_left, batch_right) = node.params["contract"], node.params["batch"]
    rows = list(string.ascii_lowercase[: ranks[0]])
    columns = list(string.ascii_lowercase[ranks[0] : sum(ranks)])
    shared = zip((*contract_right, *batch_right), (*contract_left, *batch_left), strict=True)
    for own, other in shared:
        columns[own] = rows[other]
    result = [rows[axis] for axis in batch_left]
    for letters, taken in ((rows, (*contract_left, *batch_left)), (columns, (*contract_right, *batch_right))):
        result += [letter for axis, letter in enumerate(letters) if axis not in taken]
    if ranks == [2, 2] and (contract_left, contract_right) == ((1,), (0,)):
        return f"{left} @ {right}"
    return f"np.einsum('{''.join(rows)},{''.join(columns)}->{''.join(result)}', {left}, {right})"


_WRITERS: dict[Primitive, Callable[..., str]] = {
    p.cumulative_sum: _scan("np.cumsum"),
    p.cumulative_product: _scan("np.cumprod"),
    p.cumulative_max: _scan("np.maximum.accumulate"),
    p.cumulative_min: _scan("np.minimum.accumulate"),
    p.sort: _sort,
    p.argsort: _argsort,
    p.fft: _fft,
    p.dot: _dot,
    p.triangular_solve: _triangular_solve,
    p.cholesky: lambda node, a: f"np.linalg.cholesky({a})",
    p.solve: lambda node, a, b: f"np.linalg.solve({a}, {b})",
    p.inverse: lambda node, a: f"np.linalg.inv({a})",
    p.determinant: lambda node, a: f"np.linalg.det({a})",
    p.lu: lambda node, a: f"scipy.linalg.lu_factor({a})  # with its row swaps as a permutation",
    p.qr: lambda node, a: f"np.linalg.qr({a}, mode={node.params['mode']!r})",
    p.eigh: lambda node, a: f"np.linalg.eigh({a})",
    p.njit_call: lambda node, *operands: f"{node.params['function']}({', '.join(operands)})",
    p.svd: lambda node, a: f"np.linalg.svd({a}, full_matrices={node.params['full_matrices']})",
}
