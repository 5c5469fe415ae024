"""Cases of Fourier transforms and of linear algebra: matrices of which the answers are known well."""

import math

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from random_primitives.cases import EPSILON, Case, case_of, epsilon
from random_primitives.references import reference_of, sample
from random_primitives.values import COMPLEX, FLOATS, array, shape

PARTS = [*FLOATS, *COMPLEX]
SIZES = [0, 1, 2, 3, 4, 5, 8, 9, 17]


@case_of(p.fft)
def _fft(choose, primitive):
    x = array(choose, choose.pick(PARTS), shape(choose, 1, 3, empty=False, total=3000), special=False, kind="tame")
    axes = choose.some(range(x.ndim)) or (x.ndim - 1,)
    error = 64 * epsilon(types.normalize(x.dtype)) * float(np.linalg.norm(x.astype("c16")) + 1)
    return Case(primitive, (x,), {"axes": axes, "inverse": choose.chance(50)}, error=error)


def _matrices(choose, type_, rows, columns, batch=None):
    """Matrices far from being singular: their diagonal outweighs the rest."""
    batch = _batch(choose) if batch is None else batch
    x = array(choose, type_, (*batch, rows, columns), special=False, kind="tame")
    heavy = 4 * max(rows, columns) * np.eye(rows, columns)
    return (x.astype("c16" if type_.is_complex else "f8") + heavy).astype(type_.dtype)


def _batch(choose):
    return choose.pick([(), (), (1,), (3,), (2, 2), (70,), (0,)])


def _bound(type_, *arrays):
    """How far solutions and factors may be apart."""
    sizes = [float(np.abs(x.astype("c16")).max(initial=1)) * max(x.shape[-2:]) for x in arrays]
    wide = 200 * epsilon(type_) * max(sizes)
    return wide if type_.bits != 16 else wide + 2.0**-8 * max(sizes)


def _square(choose, *, symmetric=False):
    type_, n = choose.pick(PARTS), choose.pick(SIZES)
    x = _matrices(choose, type_, n, n)
    if symmetric:
        wide = x.astype("c16" if type_.is_complex else "f8")
        x = ((wide + np.conj(np.swapaxes(wide, -1, -2))) / 2).astype(type_.dtype)
    return type_, x


@case_of(p.cholesky)
def _cholesky(choose, primitive):
    type_, x = _square(choose, symmetric=True)
    if choose.chance(20) and x.size:
        x = -x if x.ndim == 2 else np.where(np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1)) % 2, x, -x)
    return Case(primitive, (x.astype(type_.dtype),), error=_bound(type_, x))


@case_of(p.eigh)
def _eigh(choose, primitive):
    type_, x = _square(choose, symmetric=True)
    return Case(primitive, (x,), error=_bound(type_, x))


@case_of(p.lu, p.inverse)
def _lu(choose, primitive):
    type_, x = _square(choose)
    if x.shape[-1]:
        x = x[..., list(choose.order(x.shape[-1])), :]
    return Case(primitive, (np.ascontiguousarray(x),), error=_bound(type_, x))


@case_of(p.determinant)
def _determinant(choose, primitive):
    type_, x = _square(choose)
    # So small that no type overflows; the product of the lengths of rows bounds what it is.
    x = (x.astype("c16" if type_.is_complex else "f8") / (4 * max(x.shape[-1], 1))).astype(type_.dtype)
    most = np.prod(np.linalg.norm(x.astype("c16"), axis=-1), axis=-1).max(initial=1)
    return Case(primitive, (x,), error=_bound(type_, x) * float(most))


@case_of(p.solve, p.triangular_solve)
def _solve(choose, primitive):
    type_, x = _square(choose)
    right = array(choose, type_, (*x.shape[:-1], choose.pick([1, 2, 7, 0])), special=False, kind="tame")
    params = {}
    if primitive is p.triangular_solve:
        params = {"lower": choose.chance(50), "transform": choose.pick(["none", "transpose", "conjugate"])}
        if choose.chance(15) and x.size:
            x[..., 0, 0] = 0
    return Case(primitive, (x, right), params, error=_bound(type_, x, right))


@case_of(p.qr, p.svd)
def _factors(choose, primitive):
    type_ = choose.pick(PARTS)
    x = _matrices(choose, type_, *[choose.pick(SIZES[1:]) for _ in range(2)])
    params = {"mode": choose.pick(["reduced", "complete"])} if primitive is p.qr else {}
    if primitive is p.svd:
        params = {"full_matrices": choose.chance(50)}
    return Case(primitive, (x,), params, error=_bound(type_, x))


# By definition ---------------------------------------------------------------------------------------------------


@reference_of(p.fft)
def _transformed(case, result):
    # In more digits than the type's: sums of equal numbers cancel, and would have a greater error than what they check.
    (x,), axes = case.arrays, case.params["axes"]
    x = x.astype(np.clongdouble)
    turn, scale = (2j, 1 / math.prod(x.shape[axis] for axis in axes)) if case.params["inverse"] else (-2j, 1)
    half = turn * np.arccos(np.longdouble(-1))
    for number in sample(result.size, 10):
        at = np.unravel_index(number, result.shape)
        terms = x
        for axis, place in enumerate(at):
            n = x.shape[axis]
            if axis in axes:
                powers = np.exp(half * (np.arange(n) * place % n) / n)
                terms = (np.moveaxis(terms, axis, -1) * powers).sum(-1, keepdims=True)
            else:
                terms = np.take(np.moveaxis(terms, axis, -1), [place], -1)
            terms = np.moveaxis(terms, -1, axis)
        assert abs(result[at] - terms.item() * scale) <= case.error


def _near(case, found, expected):
    # Factors are rounded to the type, and what they make has one error for each of the numbers added up.
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=0, atol=4 * case.error)


def _turned(x):
    return np.conj(np.swapaxes(x, -1, -2))


def _orthonormal(case, x):
    type_ = types.normalize(case.arrays[0].dtype)
    near = 200 * (epsilon(type_) if type_.bits != 16 else EPSILON[type_])
    made = _turned(x) @ x
    np.testing.assert_allclose(made, np.broadcast_to(np.eye(x.shape[-1]), made.shape), atol=near)


def _wide(*arrays):
    return [x.astype("c16" if x.dtype.kind == "c" else "f8") for x in arrays]


@reference_of(p.cholesky)
def _rooted(case, result):
    a, root = _wide(case.arrays[0], result)
    for place in np.ndindex(a.shape[:-2]):
        if np.linalg.eigvalsh(a[place]).min(initial=1) < 0:
            assert np.isnan(root[place]).all()
        else:
            _near(case, root[place] @ _turned(root[place]), a[place])
            assert not np.triu(root[place], 1).any()


@reference_of(p.solve)
def _solved(case, result):
    a, b, x = _wide(*case.arrays, result)
    _near(case, a @ x, b)


@reference_of(p.inverse)
def _inverted(case, result):
    a, x = _wide(*case.arrays, result)
    _near(case, a @ x, np.broadcast_to(np.eye(a.shape[-1]), a.shape))


@reference_of(p.determinant)
def _determined(case, result):
    a, found = _wide(*case.arrays, result)
    _near(case, found, np.linalg.det(a))


@reference_of(p.triangular_solve)
def _solved_triangle(case, result):
    a, b, x = _wide(*case.arrays, result)
    a = np.tril(a) if case.params["lower"] else np.triu(a)
    turned = {"none": a, "transpose": np.swapaxes(a, -1, -2), "conjugate": _turned(a)}[case.params["transform"]]
    for place in np.ndindex(a.shape[:-2]):
        if a[place].diagonal().all():
            _near(case, turned[place] @ x[place], b[place])
        else:
            assert np.isnan(x[place]).all()


@reference_of(p.lu)
def _eliminated(case, results):
    a, packed = _wide(case.arrays[0], results[0])
    lower, upper = np.tril(packed, -1) + np.eye(a.shape[-1]), np.triu(packed)
    _near(case, lower @ upper, np.take_along_axis(a, results[1][..., None], axis=-2))
    # LAPACK's pivots of complex numbers are the greatest by the sum of their parts.
    assert np.abs(lower).max(initial=0) <= (1.42 if a.dtype.kind == "c" else 1)


@reference_of(p.qr)
def _made_orthogonal(case, results):
    a, q, r = _wide(case.arrays[0], *results)
    _near(case, q @ r, a)
    _orthonormal(case, q)
    assert not np.tril(r, -1).any()


@reference_of(p.eigh)
def _own_vectors(case, results):
    a, values, vectors = _wide(case.arrays[0], *results)
    _near(case, a @ vectors, vectors * values[..., None, :])
    _orthonormal(case, vectors)
    assert (np.diff(values) >= 0).all()


@reference_of(p.svd)
def _own_directions(case, results):
    a, left, values, right = _wide(case.arrays[0], *results)
    least = values.shape[-1]
    _near(case, left[..., :least] * values[..., None, :] @ right[..., :least, :], a)
    _orthonormal(case, left)
    _orthonormal(case, _turned(right))
    assert (np.diff(values) <= 0).all()
    assert (values >= 0).all()
