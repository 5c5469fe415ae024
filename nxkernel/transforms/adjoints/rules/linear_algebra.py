"""Gradients of Fourier transforms and linear algebra, for batches of matrices.

The rules of factorizations say how the loss rises: in which direction it does so fastest, which is the conjugate of the
cotangent. Matrices of which only a triangle is read count as symmetric.

References
----------
M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008.
M. Seeger et al., "Auto-differentiating linear algebra", 2017. Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for
complex valued SVD", 2019.
"""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.ops.tensors.creation import eye, tril, triu
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.rule_table import (
    AdjointSite,
    Gain,
    IndexedCotangent,
    plain,
    refusal,
    rule,
    shaped,
    spread,
    zeros,
)


def _times(left: Expr, right: Expr) -> Expr:
    """Matrix products, for each index of the batch axes."""
    batch = tuple(range(len(left.shape) - 2))
    last = len(batch) + 1
    return apply(p.dot, left, right, contract=((last,), (last - 1,)), batch=(batch, batch))


def _swapped(value: Expr) -> Expr:
    rank = len(value.shape)
    return apply(p.transpose, value, axes=(*range(rank - 2), rank - 1, rank - 2))


def _conj(value: Expr) -> Expr:
    return apply(p.conjugate, value) if value.type.is_complex else value


def _adjoint(value: Expr) -> Expr:
    return _conj(_swapped(value))


def _real(value: Expr) -> Expr:
    return apply(p.real, value) if value.type.is_complex else value


def _in_type(value: Expr, like: Expr) -> Expr:
    return convert(value, like.type)


def _rows_of(vector: Expr, shape: tuple[int, ...]) -> Expr:
    """Matrices of a shape in which each row is the vector."""
    rank = len(shape)
    return spread(vector, shape, (*range(rank - 2), rank - 1))


def _columns_of(vector: Expr, shape: tuple[int, ...]) -> Expr:
    """Matrices of a shape in which each column is the vector."""
    return spread(vector, shape, range(len(shape) - 1))


def _unit(like: Expr) -> Expr:
    return eye(like.shape, type=like.type)


def _diagonal(vector: Expr, like: Expr) -> Expr:
    """Diagonal matrices of vectors, in the type of `like`."""
    square = (*vector.shape, vector.shape[-1])
    return _rows_of(_in_type(vector, like), square) * eye(square, type=like.type)


def _on_diagonal(value: Expr) -> Expr:
    """The diagonal of square matrices."""
    rank = len(value.shape)
    return apply(p.sum_, value * _unit(value), axes=(rank - 1,), keep_axes=False)


def _inverse_or_zero(value: Expr) -> Expr:
    """The reciprocal of each element; zero where it is zero."""
    none = apply(p.equal, value, filled(0, value.type, value.shape))
    safe = apply(p.select, none, filled(1, value.type, value.shape), value)
    return apply(p.select, none, filled(0, value.type, value.shape), 1 / safe)


def _hermitian(value: Expr) -> Expr:
    return (value + _adjoint(value)) * 0.5


def _triangle(value: Expr, lower: bool) -> Expr:
    return tril(value) if lower else triu(value)


@rule(p.fft)
def _fft(at: AdjointSite) -> list[Gain]:
    # The matrix of a transform is symmetric, and so is that of its inverse.
    gain = apply(p.fft, at.g, axes=at.params["axes"], inverse=at.params["inverse"])
    x = at.node.operands[0]
    return [gain if x.type.is_complex else convert(_real(gain), at.zeros(0).type)]


# Equations -------------------------------------------------------------------------------------------------------


@rule(p.solve)
def _solve(at: AdjointSite) -> list[Gain]:
    right = apply(p.solve, _swapped(at.x(0)), at.g)
    return [-_times(right, _swapped(at.y)) if at.wanted[0] else None, right]


@rule(p.inverse)
def _inverse(at: AdjointSite) -> list[Gain]:
    transposed = _swapped(at.y)
    return [-_times(_times(transposed, at.g), transposed)]


@rule(p.determinant)
def _determinant(at: AdjointSite) -> list[Gain]:
    # The determinant times the inverse, by factors: u^-1 l^-1 in the order of rows. The last pivot, which is 0 where
    # the matrix is singular, is not divided by.
    x = at.x(0)
    size = x.shape[-1]
    if not size:
        return [at.zeros(0)]
    packed, order = apply(p.lu, x)
    unit, shape = _unit(packed), packed.shape
    diagonal = _on_diagonal(packed)
    last = apply(p.equal, _numbers(diagonal.shape), filled(size - 1, types.s64, diagonal.shape))
    one = filled(1, diagonal.type, diagonal.shape)
    before = apply(p.product, apply(p.select, last, one, diagonal), axes=(len(shape) - 2,), keep_axes=False)
    before = before * _in_type(_sign(order), before)
    lead = range(len(shape) - 2)
    inside = spread(before, diagonal.shape, lead)
    scale = apply(p.select, last, one, inside * spread(_last(diagonal), diagonal.shape, lead))
    pivots = apply(p.select, last, 1 / inside, diagonal)
    upper = triu(packed, k=1) + unit * _rows_of(pivots, shape)
    rows = convert(apply(p.equal, _columns_of(order, shape), _numbers(shape)), x.type)
    gain = apply(p.triangular_solve, tril(packed, k=-1) + unit, rows, lower=True, transform="none")
    gain = apply(p.triangular_solve, upper, gain * _columns_of(scale, shape), lower=False, transform="none")
    return [_swapped(gain) * spread(at.g, shape, lead)]


def _numbers(shape: tuple[int, ...]) -> Expr:
    """The index of each element along the last axis."""
    return apply(p.iota, type=types.s64, shape=shape, names=unnamed(shape), axis=len(shape) - 1)


def _last(vectors: Expr) -> Expr:
    """The last element of each vector."""
    return shaped(_columns(vectors, vectors.shape[-1] - 1, vectors.shape[-1]), vectors.shape[:-1])


def _sign(order: Expr) -> Expr:
    """The sign of permutations: 1 if even, -1 if odd."""
    square = (*order.shape, order.shape[-1])
    greater = apply(p.greater, _columns_of(order, square), _rows_of(order, square))
    swapped = triu(convert(greater, types.s64), k=1)
    count = apply(p.sum_, swapped, axes=(len(square) - 2, len(square) - 1), keep_axes=False)
    return 1 - 2 * apply(p.remainder, count, filled(2, types.s64, count.shape))


@rule(p.triangular_solve)
def _triangular_solve(at: AdjointSite) -> list[Gain]:
    a, lower, transform = at.x(0), at.params["lower"], at.params["transform"]
    if transform == "conjugate":
        right = apply(p.triangular_solve, _conj(a), at.g, lower=lower, transform="none")
    else:
        other = "transpose" if transform == "none" else "none"
        right = apply(p.triangular_solve, a, at.g, lower=lower, transform=other)
    if not at.wanted[0]:
        return [None, right]
    if transform == "none":
        gain = _times(right, _swapped(at.y))
    else:
        gain = _times(at.y, _swapped(right))
        gain = _conj(gain) if transform == "conjugate" else gain
    return [-_triangle(gain, lower), right]


# Factorizations --------------------------------------------------------------------------------------------------


@rule(p.cholesky)
def _cholesky(at: AdjointSite) -> list[Gain]:
    factor, gain = at.y, _conj(at.g)
    inner = tril(_times(_adjoint(factor), tril(gain)))
    inner = inner - inner * _unit(inner) * 0.5
    # adjoint(l)^-1 inner l^-1
    left = apply(p.triangular_solve, factor, inner, lower=True, transform="conjugate")
    both = apply(p.triangular_solve, factor, _adjoint(left), lower=True, transform="conjugate")
    return [_conj(_hermitian(both))]


@rule(p.lu)
def _lu(at: AdjointSite) -> list[Gain]:
    packed, order, gain = at.result(0), at.part(1), at.cotangents[0]
    if gain is None:
        return [None]
    lower = tril(packed, k=-1) + _unit(packed)
    inner = tril(_times(_swapped(lower), tril(gain, k=-1)), k=-1) + triu(_times(triu(gain), _swapped(triu(packed))))
    left = apply(p.triangular_solve, lower, inner, lower=True, transform="transpose")
    both = _swapped(apply(p.triangular_solve, packed, _swapped(left), lower=False, transform="none"))
    shape = order.shape
    indices = [apply(p.iota, type=types.s64, shape=shape, names=unnamed(shape), axis=k) for k in range(len(shape) - 1)]
    return [IndexedCotangent(both, (*indices, order), tuple(range(len(shape))))]


@rule(p.qr)
def _qr(at: AdjointSite) -> list[Gain]:
    x = at.x(0)
    rows, columns = x.shape[-2:]
    if at.params["mode"] == "complete" and rows > columns:
        raise refusal(
            at.node,
            "The columns of q beyond those of the matrix are not determined by it.",
            'mode="reduced" leaves them out.',
        )
    q, r = at.result(0), at.result(1)
    of_q = zeros(q.spec) if at.cotangents[0] is None else _conj(at.cotangents[0])
    of_r = zeros(r.spec) if at.cotangents[1] is None else triu(_conj(at.cotangents[1]))
    rest = None
    if columns > rows:
        # The columns behind the first square are turned by the same q.
        behind, right = _columns(x, rows, columns), _columns(of_r, rows, columns)
        rest = _times(q, right)
        of_q = of_q + _times(behind, _adjoint(right))
        r, of_r = _columns(r, 0, rows), _columns(of_r, 0, rows)
    inner = _times(_adjoint(q), of_q) - _times(of_r, _adjoint(r))
    above = triu(inner, k=1)
    both = above + _adjoint(above) + _diagonal(_real(_on_diagonal(inner)), inner)
    outer = of_q - _times(q, both)
    # outer adjoint(r)^-1 is adjoint(r^-1 adjoint(outer))
    gain = _adjoint(apply(p.triangular_solve, r, _adjoint(outer), lower=False, transform="none"))
    if rest is not None:
        gain = apply(p.concatenate, gain, rest, axis=len(x.shape) - 1)
    return [_conj(gain)]


def _columns(value: Expr, first: int, end: int) -> Expr:
    rank = len(value.shape)
    starts = (*[0] * (rank - 1), first)
    return apply(p.slice_, value, starts=starts, lengths=(*value.shape[:-1], end - first), strides=(1,) * rank)


@rule(p.eigh)
def _eigh(at: AdjointSite) -> list[Gain]:
    of_values, of_vectors = at.cotangents
    vectors = at.result(1)
    inner = None if of_values is None else _diagonal(of_values, vectors)
    if of_vectors is not None:
        values = at.result(0)
        # Equal eigenvalues have no vectors of their own: what depends on the choice of them has no gradient.
        gaps = _rows_of(values, vectors.shape) - _columns_of(values, vectors.shape)
        rotated = _times(_adjoint(vectors), _conj(of_vectors)) * _in_type(_inverse_or_zero(gaps), vectors)
        inner = rotated if inner is None else inner + rotated
    gain = _times(_times(vectors, inner), _adjoint(vectors))
    return [_conj(_hermitian(gain))]


@rule(p.svd)
def _svd(at: AdjointSite) -> list[Gain]:
    rows, columns = at.node.operands[0].shape[-2:]
    of_left, of_values, of_right = at.cotangents
    if at.params["full_matrices"] and (
        (rows > columns and of_left is not None) or (columns > rows and of_right is not None)
    ):
        raise refusal(
            at.node,
            "The singular vectors beyond the singular values are not determined by the matrix.",
            "full_matrices=False leaves them out.",
        )
    left, values, right = _reduced(at) if at.params["full_matrices"] and rows != columns else map(at.result, range(3))
    least, right = min(rows, columns), _adjoint(right)
    square = (*values.shape, least)
    middle = zeros(left.spec._replace(shape=square)) if of_values is None else _diagonal(of_values, left)
    beside = _in_type(_rows_of(values, square), left), _in_type(_columns_of(values, square), left)
    gaps = (_rows_of(values, square) + _columns_of(values, square)) * (
        _rows_of(values, square) - _columns_of(values, square)
    )
    gaps = _in_type(_inverse_or_zero(gaps), left)
    shrunk = _inverse_or_zero(values)
    outer = None
    if of_left is not None:
        gain = _conj(of_left)
        rotated = _times(_adjoint(left), gain)
        rotation = gaps * rotated
        middle = middle + (rotation + _adjoint(rotation)) * beside[0]
        if left.type.is_complex:
            phase = apply(p.imag, _on_diagonal(rotated)) * shrunk
            middle = middle + _diagonal(apply(p.make_complex, filled(0, phase.type, phase.shape), phase), left)
        if rows > columns:
            outside = (gain - _times(left, rotated)) * _in_type(_rows_of(shrunk, left.shape), left)
            outer = _times(outside, _adjoint(right))
    if of_right is not None:
        gain = _swapped(of_right)
        rotated = _times(_adjoint(right), gain)
        rotation = gaps * rotated
        middle = middle + beside[1] * (rotation + _adjoint(rotation))
        if columns > rows:
            outside = (gain - _times(right, rotated)) * _in_type(_rows_of(shrunk, right.shape), right)
            outer = _times(left, _adjoint(outside))
    gain_of_x = _times(_times(left, middle), _adjoint(right))
    return [_conj(gain_of_x if outer is None else gain_of_x + outer)]


def _reduced(at: AdjointSite) -> list[Expr]:
    """The decomposition without the vectors beyond the singular values, so that its gradient is differentiable."""
    factors = apply(p.svd, at.node.operands[0], full_matrices=False)
    return [plain(part) for part in factors]
