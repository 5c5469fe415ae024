import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.spatial.transform
import scipy.stats
from scipy.interpolate import CubicSpline, interp1d

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.linspace(0.1, 2.0, 20) + 0.01 * np.sin(np.arange(20))
POINTS = np.linspace(0.0, 3.0, 9)
VALUES = np.sin(POINTS)
SPLINE, LINE = CubicSpline(POINTS, VALUES), interp1d(POINTS, VALUES)
FAR = interp1d(POINTS + 100, VALUES)


def agrees(function, *arguments):
    found, expected = nx.defn(function, promotion="numpy")(*arguments), function(*arguments)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert ours.dtype == np.asarray(theirs).dtype


@pytest.mark.parametrize("function", [
    lambda x: SPLINE(x) + SPLINE(x, 1), lambda x: LINE(x), lambda x: FAR(x + 100),
    lambda x: scipy.signal.welch(x, nperseg=8), lambda x: scipy.signal.hilbert(x),
    lambda x: scipy.signal.csd(x, x, nperseg=8)[1],
    lambda x: scipy.stats.norm.pdf(x, 1.0, scale=2.0), lambda x: scipy.stats.skew(x), lambda x: scipy.stats.zscore(x),
    lambda x: scipy.integrate.simpson(x, dx=0.1), lambda x: scipy.spatial.distance.euclidean(x, x[::-1]),
])  # fmt: skip
def test_functions_and_objects_that_are_known(function):
    agrees(function, X)


@pytest.mark.parametrize("function", [
    lambda p, v, x: CubicSpline(p, v)(x), lambda p, v, x: CubicSpline(p, v, bc_type="natural").derivative()(x),
    lambda p, v, x: interp1d(p, v)(x), lambda p, v, x: interp1d(p, v, kind="cubic")(x),
    lambda p, v, x: interp1d(p, v, bounds_error=False, fill_value="extrapolate")(2 * x),
    lambda p, v, x: scipy.interpolate.splev(x, scipy.interpolate.splrep(p, v)),
    lambda p, v, x: CubicSpline(p, v).c,
])  # fmt: skip
def test_objects_that_are_made_of_traced_arrays(function):
    agrees(function, POINTS, VALUES, X)


def test_objects_are_arguments_and_factors():
    def turned(a, b, v):
        rotation = scipy.spatial.transform.Rotation
        first, second = rotation.from_euler("xyz", a), rotation.from_rotvec(b)
        return (first * second).apply(v), first.as_matrix()

    agrees(turned, np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.1, 0.2]), np.array([1.0, 2.0, 3.0]))


def test_results_with_names():
    def program(x):
        found = scipy.stats.pearsonr(x, x**2)
        statistic, pvalue = scipy.stats.ttest_ind(x, x**2)
        return found.statistic + found[1], statistic, pvalue

    agrees(program, X)
    with pytest.raises(NxTypeError, match=r"an object that scipy\.stats\.pearsonr gives: take its arrays out of it"):
        nx.defn(lambda x: scipy.stats.pearsonr(x, x**2))(X)


def test_in_loops_and_of_entries():
    def program(x):
        for _ in range(30):
            x = x + 0.01 * LINE(x)
        return x

    agrees(program, X / 2)
    found = nx.vmap(lambda row: scipy.stats.skew(row))(X.reshape(4, 5))
    np.testing.assert_allclose(found, scipy.stats.skew(X.reshape(4, 5), axis=1))


def test_what_depends_on_values_is_refused():
    for function in (scipy.signal.find_peaks, scipy.linalg.orth):
        with pytest.raises(NxTypeError, match=rf"\.{function.__name__}\(\) asks for the data of a traced value"):
            nx.defn(lambda x, function=function: function(x)[0])(np.eye(3) if function is scipy.linalg.orth else X)
    with pytest.raises(NxTypeError, match=r"CubicSpline\.roots gives .* or none for arrays of these shapes") as told:
        nx.defn(lambda p, v: CubicSpline(p, v).roots())(POINTS, VALUES)
    assert "nx.host_call(function, like, x)" in str(told.value)


def test_other_types_at_a_run_are_an_error():
    program = nx.defn(lambda x: scipy.linalg.fractional_matrix_power(x, 0.5))
    np.testing.assert_allclose(program(4.0 * np.eye(2)), 2.0 * np.eye(2))
    with pytest.raises(NxValueError, match=r"gave complex128 of the shape \(2, 2\), expected was f64\[2\]\[2\]"):
        program(-4.0 * np.eye(2))


def test_gradients_are_refused():
    with pytest.raises(NxTypeError, match=r"scipy\.stats\.skew of f64\[20\] has no gradient"):
        nx.grad(lambda x: scipy.stats.skew(x))(X)


def test_functions_of_packages_upon_scipy_are_called():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import pairwise_distances
    from sklearn.preprocessing import StandardScaler

    assert sklearn
    points = np.random.default_rng(0).normal(size=(20, 3))
    model = LinearRegression().fit(points, points[:, 0] + 1)

    def nearest(x):
        return pairwise_distances(x, x[:4] * 2).argmin(axis=1)

    def predicted(x):
        return model.predict(np.sin(x)) + 1

    def scaled(x):
        return StandardScaler().fit_transform(x * 2)

    def read_afterwards(x):
        scaler = StandardScaler()
        return scaler.fit_transform(x) * scaler.scale_

    for function in (nearest, predicted, scaled):
        compiled = nx.jit(function)
        for x in (points, points + 1):
            np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)
        assert compiled.cache_info().misses == 1
    with pytest.raises(AttributeError, match="scale_"):
        nx.jit(read_afterwards)(points)
    with pytest.raises(NxTypeError, match=r"^sklearn.linear_model.fit\(\) asks for the data of a traced value"):
        nx.jit(lambda x: LinearRegression().fit(x, x[:, 0]).coef_)(points)
