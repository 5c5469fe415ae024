"""One call of each function of SciPy's that its documentation says JAX compiles: the arrays, and what is called."""

import numpy as np

_GEN = np.random.default_rng(7)
X = np.linspace(0.3, 2.7, 7)
Y = np.linspace(1.2, 3.1, 7)[::-1].copy()
P = np.linspace(0.05, 0.9, 7)
SIGNED = np.linspace(-1.7, 2.3, 7)
WHOLE = np.arange(1, 8)
DATA = _GEN.normal(size=(24, 3))
ONE = _GEN.normal(size=24)
OTHER = 0.6 * ONE + _GEN.normal(size=24)
POSITIVE = _GEN.uniform(0.5, 2.0, size=24)
ANGLES = _GEN.uniform(0.0, 6.0, size=24)
SIGNAL = _GEN.normal(size=64)
IMAGE = _GEN.normal(size=(9, 8))
KERNEL = _GEN.normal(size=(3, 2))
COMPLEX = ONE[:16] + 1j * OTHER[:16]
#: Distances between six points, and the tree of clusters that they make.
DISTANCES = _GEN.uniform(1.0, 2.0, size=15)
TREE = np.array([[0, 1, 0.5, 2], [2, 3, 0.7, 2], [4, 6, 1.1, 3], [5, 7, 1.5, 3], [8, 9, 2.2, 6]], float)
COUNTS = TREE[:, :3] + [1, 1, 0]
STATES = np.array([[0.0, 1.0], [-2.0, -3.0]])
SECTIONS = np.array([[0.2, 0.4, 0.2, 1.0, -0.5, 0.2], [1.0, 1.0, 0.0, 1.0, -0.3, 0.0]])
#: How many coefficients of a linear equation belong to the numerator.
NUMERATOR, DENOMINATOR = np.array([1.0, 2.0]), np.array([1.0, 0.5, 0.25])


def _of(*arrays, **options):
    """A call with arrays by position and options by name."""
    return arrays, lambda function, *given: function(*given, **options)


def _call(*arrays, by):
    return arrays, by


_LINKED = _of(DISTANCES)
_WINDOW = ((), lambda function: function(9))

SPECIAL = {
    "betainc": _of(X, Y, P), "betaincc": _of(X, Y, P), "chdtr": _of(X, Y), "chdtrc": _of(X, Y), "entr": _of(X),
    "erfinv": _of(P), "expn": _of(WHOLE, Y), "hyp1f1": _of(X, Y, P), "kl_div": _of(X, Y), "ndtri": _of(P),
    "poch": _of(X, Y), "rel_entr": _of(X, Y), "spence": _of(X), "stdtr": _of(X, SIGNED), "expi": _of(X),
    "expit": _of(SIGNED), "gamma": _of(X), "gammaln": _of(X), "logit": _of(P), "psi": _of(X), "i0": _of(SIGNED),
    "i0e": _of(SIGNED), "i1": _of(SIGNED), "i1e": _of(SIGNED), "betaln": _of(X, Y), "gammasgn": _of(SIGNED),
    "gammainc": _of(X, Y), "gammaincc": _of(X, Y), "erf": _of(SIGNED), "erfc": _of(SIGNED), "ndtr": _of(SIGNED),
    "log_ndtr": _of(SIGNED), "xlogy": _of(X, Y), "xlog1py": _of(X, Y), "digamma": _of(X),
    "polygamma": _of(WHOLE, Y), "zeta": _of(Y, X), "logsumexp": _of(DATA, axis=1), "softmax": _of(DATA, axis=1),
    "log_softmax": _of(DATA, axis=1), "multigammaln": _call(X + 2.0, by=lambda function, a: function(a, 3)),
}  # fmt: skip

HIERARCHY = {
    **dict.fromkeys(("average", "centroid", "complete", "median", "single", "ward", "weighted", "linkage"), _LINKED),
    "cophenet": _of(TREE), "correspond": _of(TREE, DISTANCES), "from_mlab_linkage": _of(COUNTS),
    "inconsistent": _of(TREE), "is_isomorphic": _of(np.array([1, 1, 2]), np.array([2, 2, 1])),
    "is_monotonic": _of(TREE), "is_valid_im": _of(np.abs(TREE)), "is_valid_linkage": _of(TREE),
    "leaves_list": _of(TREE), "maxRstat": _call(TREE, np.abs(TREE), by=lambda function, z, r: function(z, r, 3)),
    "maxdists": _of(TREE), "maxinconsts": _of(TREE, np.abs(TREE)), "num_obs_linkage": _of(TREE),
    "optimal_leaf_ordering": _of(TREE, DISTANCES), "to_mlab_linkage": _of(TREE),
}  # fmt: skip

CONSTANTS = {
    "convert_temperature": _call(X, by=lambda function, x: function(x, "Celsius", "Kelvin")),
    "lambda2nu": _of(X), "nu2lambda": _of(X),
}  # fmt: skip

FFT = {
    **dict.fromkeys(("fft", "ifft", "hfft", "fftshift", "ifftshift"), _of(COMPLEX)),
    **dict.fromkeys(("rfft", "ihfft", "idct", "idst"), _of(ONE)), "irfft": _of(COMPLEX),
    **dict.fromkeys(("fft2", "ifft2", "fftn", "ifftn", "hfft2", "hfftn", "irfft2", "irfftn"), _of(IMAGE + 1j)),
    **dict.fromkeys(("rfft2", "rfftn", "ihfft2", "ihfftn", "dctn", "idctn", "dstn", "idstn"), _of(IMAGE)),
    **dict.fromkeys(("fftfreq", "rfftfreq"), _WINDOW),
    **dict.fromkeys(("fht", "ifht"), _call(SIGNAL[:16], by=lambda function, a: function(a, 0.1, 0.5))),
}  # fmt: skip

INTEGRATE = {"cumulative_trapezoid": _of(Y, X), "romb": _of(SIGNAL[:17])}
SMALL = {"fiedler": _of(X)}
NDIMAGE = {"map_coordinates": _of(IMAGE, np.array([[1.5, 2.25], [0.5, 6.0]]), order=1)}
OPTIMIZE = {"rosen": _of(X), "rosen_hess": _of(X)}

SIGNALS = {
    "abcd_normalize": _call(STATES, STATES[:, :1], STATES[:1], by=lambda function, a, b, c: function(a, b, c)),
    **dict.fromkeys(("besselap", "buttap"), ((), lambda function: function(4))),
    "bode": _call(by=lambda function: function(([1.0], [1.0, 1.0]))),
    **dict.fromkeys(("cheb1ap", "cheb2ap"), ((), lambda function: function(4, 2.0))),
    "ellipap": _call(by=lambda function: function(4, 2.0, 30.0)),
    "choose_conv_method": _of(SIGNAL, X), **dict.fromkeys(("convolve", "correlate", "fftconvolve"), _of(SIGNAL, X)),
    **dict.fromkeys(("convolve2d", "correlate2d"), _of(IMAGE, KERNEL)), "detrend": _of(SIGNAL), "envelope": _of(SIGNAL),
    "filtfilt": _of(NUMERATOR, DENOMINATOR, SIGNAL),
    "freqz_zpk": _call(NUMERATOR / 4, DENOMINATOR / 4, by=lambda function, z, p: function(z, p, 1.5)),
    "gammatone": _call(by=lambda function: function(440, "iir", fs=16000)),
    "gauss_spline": _call(SIGNED, by=lambda function, x: function(x, 3)),
    "get_window": _call(by=lambda function: function("hann", 9)),
    "iirdesign": _call(by=lambda function: function(0.2, 0.3, 1.0, 40.0)),
    **dict.fromkeys(("iirnotch", "iirpeak"), ((), lambda function: function(0.3, 30.0))),
    "impulse": _call(by=lambda function: function(([1.0], [1.0, 1.0]))),
    "lfiltic": _of(NUMERATOR, DENOMINATOR, X[:2], Y[:1]),
    "place_poles": _call(
        STATES, STATES[:, 1:], np.array([-1.0, -2.5]), by=lambda function, *given: function(*given).gain_matrix
    ),
    "savgol_coeffs": _call(by=lambda function: function(7, 3)), "sosfilt": _of(SECTIONS, SIGNAL),
    "sosfilt_zi": _of(SECTIONS),
}  # fmt: skip

_PLAIN = (
    "boxcar triang parzen bohman blackman nuttall blackmanharris flattop bartlett barthann hamming cosine hann "
    "exponential tukey lanczos"
)
WINDOWS = {
    **dict.fromkeys(_PLAIN.split(), _WINDOW),
    "kaiser": _call(by=lambda function: function(9, 5.0)),
    "kaiser_bessel_derived": _call(by=lambda function: function(8, 5.0)),
    "gaussian": _call(by=lambda function: function(9, 2.0)),
    "general_gaussian": _call(by=lambda function: function(9, 1.5, 2.0)),
    "general_cosine": _call(X[:3], by=lambda function, a: function(9, a)),
    "general_hamming": _call(by=lambda function: function(9, 0.6)),
    "get_window": _call(by=lambda function: function("blackman", 9)),
}

_TAIL = (-1.0, 1.5)
STATS = {
    "alexandergovern": _of(ONE, OTHER, POSITIVE), "bartlett": _of(ONE, OTHER, POSITIVE),
    "boxcox_llf": _call(POSITIVE, by=lambda function, x: function(0.5, x)), "chatterjeexi": _of(ONE, OTHER),
    **dict.fromkeys(("circmean", "circstd", "circvar"), _of(ANGLES)), "differential_entropy": _of(ONE),
    "directional_stats": _call(DATA, by=lambda function, x: _both(function(x))),
    "entropy": _of(POSITIVE), "gmean": _of(POSITIVE), "gstd": _of(POSITIVE),
    "gzscore": _of(POSITIVE), "kstat": _call(ONE, by=lambda function, x: function(x, 3)), "kstatvar": _of(ONE),
    "kurtosistest": _of(ONE), "levene": _of(ONE, OTHER, POSITIVE),
    "monte_carlo_test": _call(
        ONE,
        by=lambda function, x: function(
            x, lambda size: np.linspace(-2.0, 2.0, size[0] * size[1]).reshape(size), _mean, n_resamples=20
        ),
    ),
    "mood": _of(ONE, OTHER), "normaltest": _of(ONE), "pearsonr": _of(ONE, OTHER),
    "permutation_test": _call(
        ONE[:3], OTHER[:3], by=lambda function, x, y: function((x, y), _difference, vectorized=True)
    ),
    "skewtest": _of(ONE), "spearmanrho": _of(ONE, OTHER), "tmax": _of(ONE, 1.5), "tmin": _of(ONE, -1.0),
    **{name: _call(ONE, by=lambda function, x: function(x, _TAIL)) for name in ("tmean", "tsem", "tstd", "tvar")},
    "trim_mean": _call(ONE, by=lambda function, x: function(x, 0.1)), "ttest_ind": _of(ONE, OTHER),
    "ttest_ind_from_stats": _call(X, Y, by=lambda function, x, y: function(x, y, 10, y, x, 12)),
    "variation": _of(POSITIVE), "yeojohnson_llf": _call(ONE, by=lambda function, x: function(0.5, x)),
    "zmap": _of(ONE, OTHER), "zscore": _of(DATA),
}  # fmt: skip


def _both(result):
    return result.mean_direction, result.mean_resultant_length


def _mean(x, axis=-1):
    return x.mean(axis=axis)


def _difference(x, y, axis=-1):
    return x.mean(axis=axis) - y.mean(axis=axis)


#: By module of SciPy's, the calls by name.
CALLS = {
    "scipy.cluster.hierarchy": HIERARCHY, "scipy.cluster.vq": {"whiten": _of(DATA)}, "scipy.constants": CONSTANTS,
    "scipy.fft": FFT, "scipy.integrate": INTEGRATE, "scipy.linalg": SMALL, "scipy.ndimage": NDIMAGE,
    "scipy.optimize": OPTIMIZE, "scipy.signal": SIGNALS, "scipy.signal.windows": WINDOWS, "scipy.special": SPECIAL,
    "scipy.stats": STATS,
}  # fmt: skip
