"""Every name of ``jax.scipy.linalg`` and ``jax.scipy.special`` has a twin: SciPy's, in a compiled program."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.special as sp

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
S = A @ A.T
V = np.array([1.0, 2.0, -0.5, 3.0])
B = RNG.normal(size=(4, 2))
X = np.linspace(0.1, 0.9, 5)
WHOLE = np.array([0, 1, 2, 3, 5])

#: By name of ``jax.scipy.linalg``, a function that calls SciPy's, and what it is called with.
LINALG = {
    "block_diag": (lambda a, b: sl.block_diag(a, b), A, B),
    "cho_factor": (lambda a: np.triu(sl.cho_factor((a + a.T) / 2)[0]), S),
    "cho_solve": (lambda a, b: sl.cho_solve(sl.cho_factor((a + a.T) / 2), b), S, B),
    "cholesky": (lambda a: sl.cholesky((a + a.T) / 2), S),
    "circulant": (lambda v: sl.circulant(v), V),
    "companion": (lambda v: sl.companion(v), V),
    "convolution_matrix": (lambda v: sl.convolution_matrix(v, 5, mode="same"), V),
    "det": (lambda a: sl.det(a), A),
    "dft": (lambda v: abs(sl.dft(4) @ v), V),
    "eigh": (lambda a: sl.eigh((a + a.T) / 2)[0], S),
    "eigh_tridiagonal": (lambda d, e: sl.eigh_tridiagonal(d, e, eigvals_only=True), V, V[:3]),
    "expm": (lambda a: sl.expm(a / 4), A),
    "expm_frechet": (lambda a, e: sl.expm_frechet(a / 4, e)[1], A, S),
    "fiedler": (lambda v: sl.fiedler(v), V),
    "fiedler_companion": (lambda v: sl.fiedler_companion(v), V),
    "funm": (lambda a: sl.funm(a, np.exp), A),
    "hadamard": (lambda v: sl.hadamard(4) @ v, V),
    "hankel": (lambda v: sl.hankel(v, v[::-1]), V),
    "helmert": (lambda v: sl.helmert(4) @ v, V),
    "hessenberg": (lambda a: sl.hessenberg(a), A),
    "hilbert": (lambda v: sl.hilbert(4) @ v, V),
    "inv": (lambda a: sl.inv(a), A),
    "invhilbert": (lambda v: sl.invhilbert(4) @ v, V),
    "invpascal": (lambda v: sl.invpascal(4) @ v, V),
    "leslie": (lambda f, s: sl.leslie(f, s), V, V[:3]),
    "lu": (lambda a: sl.lu(a)[2], A),
    "lu_factor": (lambda a: sl.lu_factor(a)[0], A),
    "lu_solve": (lambda a, b: sl.lu_solve(sl.lu_factor(a), b), A, B),
    "pascal": (lambda v: sl.pascal(4) @ v, V),
    "polar": (lambda a: sl.polar(a)[0] + sl.polar(a, side="left")[1], A),
    "qr": (lambda a: sl.qr(a)[1], A),
    "qr_multiply": (lambda a, b: sl.qr_multiply(a, b, "right")[0], A, S),
    "rsf2csf": (lambda a: sl.rsf2csf(*sl.schur(a))[0], A),
    "schur": (lambda a: sl.schur(a)[0], A),
    "solve": (lambda a, b: sl.solve(a, b), A, B),
    "solve_sylvester": (lambda a, s, q: sl.solve_sylvester(a, s, q), A, S, A),
    "solve_triangular": (lambda a, b: sl.solve_triangular(a, b), A, B),
    "sqrtm": (lambda a: sl.sqrtm(a), S),
    "svd": (lambda a: sl.svd(a)[1], A),
    "toeplitz": (lambda v: sl.toeplitz(v), V),
}
#: Of these the gradient is refused by name: they are calls of SciPy's.
WITHOUT_GRADIENT = {
    "eigh_tridiagonal", "fiedler_companion", "funm", "hessenberg", "qr_multiply", "rsf2csf", "schur",
}  # fmt: skip

#: Names of ``jax.scipy.special`` that SciPy has not, or takes no arrays for, with what to call or why there is none.
OTHERWISE = {
    "bessel_jn": "scipy.special.jv(order, x), which takes one order or an array of them",
    "bernoulli": "numbers that are known before: scipy.special.bernoulli(n) takes an int",
}
#: Arguments of those that do not take as many numbers between 0 and 1 as they have parameters.
ARGUMENTS = {
    "multigammaln": (X + 5, 3), "sph_harm_y": (WHOLE, WHOLE - 2, X, X), "polygamma": (2, X), "expn": (WHOLE, X),
    "zeta": (X + 1, X), "comb": (WHOLE + 4.0, WHOLE), "factorial": (WHOLE + 0.5,), "i0": (X,), "hyp2f1": (X, X, X, X),
    "hyp1f1": (X, X, X), "betainc": (X, X, X),
}  # fmt: skip
TWO = {"beta", "betaln", "boxcox", "boxcox1p", "gammainc", "gammaincc", "kl_div", "owens_t", "poch", "rel_entr"} | {
    "xlog1py", "xlogy",
}  # fmt: skip
ONE = {
    "dawsn", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp1", "expi", "expit", "fresnel", "gamma",
    "gammaln", "gammasgn", "i0e", "i1", "i1e", "log_ndtr", "log_softmax", "loggamma", "logit", "logsumexp", "ndtr",
    "ndtri", "sici", "softmax", "spence", "wofz",
}  # fmt: skip
SPECIAL = sorted({*ARGUMENTS, *TWO, *ONE})


def names_of(module):
    """What a module of JAX's has for people to call."""
    jax = pytest.importorskip(f"jax.scipy.{module}", reason="JAX comes with the extra `bench`")
    return {name for name in dir(jax) if not name.startswith("_") and callable(getattr(jax, name))}


def test_the_tables_are_whole():
    assert names_of("linalg") == set(LINALG)
    assert names_of("special") == {*SPECIAL, *OTHERWISE}


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(name):
    function, *given = LINALG[name]
    found, expected = nx.jit(function, promotion="numpy")(*given), function(*given)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", LINALG)
def test_gradients(name):
    function, *given = LINALG[name]
    if name in WITHOUT_GRADIENT:
        with pytest.raises(NxTypeError, match=r"scipy\.linalg\.\w+ of .* has no gradient"):
            nx.grad(lambda *x: np.sum(np.abs(function(*x)) ** 2), promotion="numpy")(*given)
    else:
        check_slopes(function, *given, tolerance=1e-4)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    theirs = getattr(sp, name)
    given = ARGUMENTS.get(name, (X, X) if name in TWO else (X,))
    # What is no array is known while the program is made.
    traced = [one for one in given if isinstance(one, np.ndarray)]

    def call(*arrays):
        supply = iter(arrays)
        return theirs(*[next(supply) if isinstance(one, np.ndarray) else one for one in given])

    found, expected = nx.jit(call, promotion="numpy")(*traced), call(*traced)
    several = isinstance(expected, tuple)
    for one, other in zip(found if several else [found], expected if several else [expected], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: sl.polar(x, side="up"), 'polar: side is "right" or "left", got \'up\''),
        (lambda x: sl.circulant(x[None]), "circulant takes a vector of at least 1, got f64[1][4][4]"),
        (lambda x: sl.leslie(x[0], x[0]), "leslie: s has one number less than f, got 4 and 4"),
        (
            lambda x: sl.convolution_matrix(x[0], 3, mode="half"),
            'convolution_matrix: mode is "full", "same" or "valid"',
        ),
        (lambda x: sl.expm_frechet(x, x[:2, :2]), "expm_frechet: A and E have one shape, got (4, 4) and (2, 2)"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(NxValueError) as raised:
        nx.jit(call, promotion="numpy")(A)
    assert str(raised.value).startswith(text)
