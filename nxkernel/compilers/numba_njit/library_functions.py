"""What Numba lacks as functions of NumPy, which a program's source calls in the interpreter.

They take batches of matrices, and none of them raises: where there is no result the elements are NaN.
"""

from __future__ import annotations

#: By the name of the primitive.
FUNCTIONS: dict[str, str] = {
    "fft": '''\
def fft(x, axes, inverse):
    """The Fourier transform along axes."""
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=axes) if axes else x
''',
    "cholesky": '''\
def cholesky(a):
    """The lower factor; NaN for a matrix that is not positive definite."""
    result = np.full_like(a, np.nan)
    for place in np.ndindex(a.shape[:-2]):
        try:
            result[place] = np.linalg.cholesky(a[place])
        except np.linalg.LinAlgError:
            pass
    return result
''',
    "solve": '''\
def solve(a, b):
    """The solution of a x = b; NaN for a singular matrix."""
    result = np.full_like(b, np.nan)
    for place in np.ndindex(a.shape[:-2]):
        try:
            result[place] = np.linalg.solve(a[place], b[place])
        except np.linalg.LinAlgError:
            pass
    return result
''',
    "inverse": '''\
def inverse(a):
    """The inverse; NaN for a singular matrix."""
    result = np.full_like(a, np.nan)
    for place in np.ndindex(a.shape[:-2]):
        try:
            result[place] = np.linalg.inv(a[place])
        except np.linalg.LinAlgError:
            pass
    return result
''',
    "determinant": """\
def determinant(a):
    return np.asarray(np.linalg.det(a))
""",
    "triangular_solve": '''\
def triangular_solve(a, b, lower, transform):
    """The solution of op(a) x = b for a triangular matrix, row by row; NaN where the diagonal has a zero."""
    if transform != "none":
        a, lower = np.swapaxes(a, -1, -2), not lower
    if transform == "conjugate":
        a = np.conj(a)
    x, size = b.copy(), a.shape[-1]
    with np.errstate(all="ignore"):
        for row in range(size) if lower else reversed(range(size)):
            known = slice(0, row) if lower else slice(row + 1, size)
            x[..., row, :] -= (a[..., row, None, known] @ x[..., known, :])[..., 0, :]
            x[..., row, :] /= a[..., row, row, None]
    x[(np.diagonal(a, axis1=-2, axis2=-1) == 0).any(axis=-1)] = np.nan
    return x
''',
    "lu": '''\
def lu(a):
    """Both factors in one matrix, and the order of rows."""
    packed = np.ascontiguousarray(a).copy()
    order = np.empty(a.shape[:-1], np.int64)
    size = a.shape[-1]
    for place in np.ndindex(a.shape[:-2]):
        m, rows = packed[place], np.arange(size)
        for step in range(size):
            pivot = step + np.argmax(np.abs(m[step:, step].real) + np.abs(m[step:, step].imag))
            m[[step, pivot]], rows[[step, pivot]] = m[[pivot, step]], rows[[pivot, step]]
            if m[step, step] != 0:
                m[step + 1 :, step] /= m[step, step]
            m[step + 1 :, step + 1 :] -= np.outer(m[step + 1 :, step], m[step, step + 1 :])
        order[place] = rows
    return packed, order
''',
    "qr": """\
def qr(a, mode):
    q, r = np.linalg.qr(a, mode=mode)
    return np.ascontiguousarray(q), np.ascontiguousarray(r)
""",
    "eigh": '''\
def eigh(a):
    """Eigenvalues in ascending order and eigenvectors in columns; NaN where none were found."""
    values, vectors = np.full(a.shape[:-1], np.nan, a.real.dtype), np.full_like(a, np.nan)
    for place in np.ndindex(a.shape[:-2]):
        try:
            values[place], vectors[place] = np.linalg.eigh(a[place])
        except np.linalg.LinAlgError:
            pass
    return values, vectors
''',
    "svd": '''\
def svd(a, full_matrices):
    """Singular values and vectors; NaN where none were found."""
    try:
        u, s, v = np.linalg.svd(a, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        u, s, v = (np.full_like(part, np.nan) for part in np.linalg.svd(np.zeros_like(a), full_matrices=full_matrices))
    return np.ascontiguousarray(u), np.ascontiguousarray(s), np.ascontiguousarray(v)
''',
}
