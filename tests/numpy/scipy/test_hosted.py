"""Functions of SciPy's that are called: what they give, how they are told apart, what they refuse."""

import numpy as np
import pytest
import scipy.cluster.hierarchy
import scipy.ndimage
import scipy.spatial.distance
import scipy.stats

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.numpy.scipy.hosted import hosted

RNG = np.random.default_rng(4)
IMAGE, POINTS = RNG.normal(size=(6, 5)), RNG.normal(size=(6, 2))


def doubled(x, factor=2, *, more=None):
    """A function without a program of its own."""
    return {"sum": x.sum()} if more == "dict" else x[x > 0] if more == "some" else (x * factor, (x.shape[0], x.max()))


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_values_are_scipys(compiler):
    def all_of_them(image, points):
        distances = scipy.spatial.distance.pdist(points)
        tree = scipy.cluster.hierarchy.linkage(distances)
        return (
            scipy.ndimage.gaussian_filter(image, 1.5), scipy.ndimage.sobel(image, axis=0), tree,
            *scipy.cluster.hierarchy.cophenet(tree, distances), scipy.spatial.distance.cdist(points, points + 1),
            scipy.stats.rankdata(image, axis=1),
        )  # fmt: skip

    found = nx.jit(all_of_them, compiler=compiler)(IMAGE, POINTS)
    for one, other in zip(found, all_of_them(IMAGE, POINTS), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_results_keep_their_structure():
    function = hosted(doubled, {})
    double, (rows, greatest) = nx.jit(lambda x: function(x, factor=3), promotion="numpy")(IMAGE)
    np.testing.assert_array_equal(double, IMAGE * 3)
    assert (rows, greatest) == (6, IMAGE.max())
    assert type(nx.jit(lambda x: scipy.stats.kendalltau(x, x * 2)[0])(IMAGE[0])) is np.float64


def test_known_arguments_tell_calls_apart():
    function = hosted(doubled, {})
    both = nx.jit(lambda x: (function(x, 2)[0], function(x, 2.0)[0], function(x, [1])[0]), promotion="numpy")(IMAGE)
    for one, factor in zip(both, (2, 2.0, 1), strict=True):
        np.testing.assert_array_equal(one, IMAGE * factor)


def test_captured_arrays_are_read_anew():
    weights = np.array([1.0, 0.0, 0.0])
    smooth = nx.jit(lambda x: scipy.ndimage.convolve1d(x, weights))
    np.testing.assert_array_equal(smooth(IMAGE), scipy.ndimage.convolve1d(IMAGE, weights))
    weights[:] = [0.25, 0.5, 0.25]
    np.testing.assert_array_equal(smooth(IMAGE), scipy.ndimage.convolve1d(IMAGE, weights))


def test_entries_are_called_one_after_the_other():
    found = nx.vmap(lambda row: scipy.ndimage.median_filter(row, 3))(IMAGE)
    np.testing.assert_array_equal(found, scipy.ndimage.median_filter(IMAGE, (1, 3)))


def test_what_is_refused():
    function = hosted(doubled, {})
    with pytest.raises(NxTypeError, match=r"test_hosted\.doubled\(\) gives dict, which is no array"):
        nx.jit(lambda x: function(x, more="dict"), promotion="numpy")(IMAGE)
    with pytest.raises(NxValueError, match=r"doubled gave float64 of the shape \(\d+,\), expected was f64\[30\]"):
        nx.jit(lambda x: function(x, more="some"), promotion="numpy")(IMAGE)
    with pytest.raises(NxTypeError, match=r"scipy\.ndimage\.zoom of f64\[6\]\[5\] has no gradient"):
        nx.grad(lambda x: scipy.ndimage.zoom(x, 2).sum())(IMAGE)
    with pytest.raises(
        NxTypeError, match=r"cdist\(\) gives no results for arrays of these shapes and types: ValueError"
    ):
        nx.jit(lambda x: scipy.spatial.distance.cdist(x, x[:, :1]))(IMAGE)
