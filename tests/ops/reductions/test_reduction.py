"""Reductions."""

import re

import numpy as np
import pytest
import scipy.special

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

X = np.array([[[3.0, -1.0, 0.5], [2.0, 2.0, 7.0]], [[0.0, 4.0, -2.5], [1.0, 9.0, -6.0]]])
AXES = [None, [0], [-1], [0, 2], [2, 0], [0, 1, 2], []]


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sum", np.sum), ("product", np.prod), ("reduce_max", np.max), ("reduce_min", np.min), ("all", np.all),
        ("any", np.any), ("mean", np.mean), ("variance", np.var), ("standard_deviation", np.std),
        ("logsumexp", scipy.special.logsumexp),
    ],
)  # fmt: skip
def test_values_are_numpys(name, function, axes, keep):
    if name == "logsumexp" and axes == []:
        expected = X
    else:
        expected = function(X, axis=None if axes is None else tuple(axes), keepdims=keep)
    found = getattr(nx, name)(X, axes=axes, keep_axes=keep)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.shape == np.shape(expected)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("sum", "u8", "u64"), ("sum", "s16", "s64"), ("sum", "bool", "s64"), ("sum", "f16", "f16"),
        ("sum", "c64", "c64"),
        ("product", "s8", "s64"), ("reduce_max", "u8", "u8"), ("reduce_min", "bool", "bool"), ("all", "f32", "bool"),
        ("any", "c64", "bool"), ("mean", "s64", "f32"), ("mean", "bf16", "bf16"), ("variance", "u8", "f32"),
        ("variance", "f16", "f16"), ("variance", "c128", "f64"), ("standard_deviation", "f64", "f64"),
        ("logsumexp", "s8", "f32"), ("argmax", "f64", "s64"),
    ],
)  # fmt: skip
def test_types(name, given, expected):
    assert getattr(nx, name)(nx.as_type([1, 2], given)).type == expected


def test_names_go_with_their_axes():
    tensor = nx.iota((2, 3), names=["a", "b"])
    assert nx.sum(tensor, axes=["a"]).names == ("b",)
    assert nx.sum(tensor, axes=["a"], keep_axes=True).names == ("a", "b")
    assert nx.argmax(tensor, axis="b").names == ("a",)
    assert nx.logsumexp(tensor, axes=["b"]).names == ("a",)


def test_the_mean_of_f16_does_not_overflow():
    big = nx.broadcast(nx.f16(60000), (8,))
    assert nx.mean(big).to_list() == 60000
    assert nx.sum(big).to_list() == np.inf
    assert nx.variance(nx.f16([0, 600])).to_list() == np.inf
    assert nx.standard_deviation(nx.bf16([0, 600])).to_list() == 300


def test_axes_are_checked():
    with pytest.raises(NxIndexError, match=re.escape("axis 3 is out of range for the shape [2][2][3].")):
        nx.sum(X, axes=[3])
    with pytest.raises(NxValueError, match=re.escape("axes must differ, got [0, 0] for the shape [2][2][3]")):
        nx.sum(X, axes=[0, 0])


def test_a_tensor_is_no_axis(record):
    with pytest.raises(
        NxTypeError, match=re.escape("axes is a list of axes, got a tensor (s64[1]); write axes=[0, 1]")
    ):
        nx.sum(X, axes=nx.tensor([0]))
    with pytest.raises(NxTypeError, match=re.escape("A static whole number (a shape, an axis, range())")):
        record(lambda x, n: nx.sum(x, axes=[n]), nx.template((2,), "f32"), nx.template((), "s64"))


def test_nothing_has_no_maximum():
    with pytest.raises(NxValueError) as error:
        nx.reduce_max(nx.broadcast(0.0, (2, 0)), axes=[1])
    assert str(error.value) == "reduce_max of f32[2][0]: axis 1 has no elements, so there is no answer"
    assert nx.sum(nx.broadcast(0.0, (2, 0)), axes=[1]).to_list() == [0.0, 0.0]


def test_complex_numbers_have_no_maximum():
    with pytest.raises(NxTypeError, match="reduce_max takes no complex numbers"):
        nx.reduce_max([1j])


@pytest.mark.parametrize(("name", "function"), [("argmax", np.argmax), ("argmin", np.argmin)])
def test_arguments(name, function):
    find = getattr(nx, name)
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(find(X, axis=axis), function(X, axis=axis))
    assert find(X).to_list() == function(X)
    assert find(X, keep_axes=True).shape == (1, 1, 1)
    assert find(X, axis=1, keep_axes=True).shape == (2, 1, 3)
    assert find(X, type="u8").type == "u8"
    assert find([5, 5, 5], tie_break="high").to_list() == 2


def test_arguments_refuse():
    with pytest.raises(
        NxValueError, match=re.escape('tie_break is "low" (the first) or "high" (the last), got \'middle\'')
    ):
        nx.argmax(X, tie_break="middle")
    with pytest.raises(NxTypeError, match=r"argmin gives whole numbers, got type=f32; nx\.as_type converts the result"):
        nx.argmin(X, type="f32")


def test_weighted_mean():
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 0.5, 1.0]])
    np.testing.assert_allclose(nx.weighted_mean(X[0], weights), np.average(X[0], weights=weights))
    np.testing.assert_allclose(
        nx.weighted_mean(X, [1.0, 3.0], axes=[1]), np.average(X, axis=1, weights=[1, 3]), rtol=1e-6
    )
    with pytest.raises(
        NxValueError, match=re.escape("weighted_mean: the weights have the shape [2], the tensor has [2][2][3].")
    ):
        nx.weighted_mean(X, [1.0, 3.0])


def test_degrees_of_freedom():
    np.testing.assert_allclose(nx.variance(X, axes=[2], ddof=1), np.var(X, axis=2, ddof=1))


def test_logsumexp_of_extremes():
    assert nx.logsumexp([-np.inf, -np.inf]).to_list() == -np.inf
    assert nx.logsumexp([np.inf, 1.0]).to_list() == np.inf
    assert np.isnan(nx.logsumexp([np.nan, 1.0]).to_list())
    np.testing.assert_allclose(nx.logsumexp(X, exp_scaling_factor=2.0), scipy.special.logsumexp(X, b=2.0))


@pytest.mark.parametrize(
    ("a", "b", "options", "answer"),
    [
        ([1.0, 2.0], [1.0, 2.00001], {}, True),
        ([1.0, 2.0], [1.0, 2.1], {}, False),
        ([1.0], [1.05], {"rtol": 0.1}, True),
        ([np.inf, -np.inf], [np.inf, -np.inf], {}, True),
        ([np.inf], [-np.inf], {}, False),
        ([1.0], [np.inf], {}, False),
        ([np.nan], [np.nan], {}, False),
        ([np.nan], [np.nan], {"equal_nan": True}, True),
        ([1, 2], [[1, 2], [1, 2]], {}, True),
    ],
)
def test_all_close(a, b, options, answer):
    found = nx.all_close(a, b, **options)
    assert (found.type, found.to_list()) == ("bool", answer)


def test_as_many_degrees_of_freedom_as_elements_leave_no_variance():
    for ddof in (3, 99):
        assert nx.variance([1.0, 2.0, 4.0], ddof=ddof).to_list() == np.inf
        assert nx.standard_deviation([1.0, 2.0, 4.0], ddof=ddof).to_list() == np.inf
        assert nx.covariance([[1.0], [2.0], [4.0]], ddof=ddof).to_list() == [[np.inf]]
    for ddof in (-1, "1", None, 1.5):
        with pytest.raises((NxTypeError, NxValueError), match=r"^ddof (is at least 0|must be a whole number)"):
            nx.variance([1.0, 2.0], ddof=ddof)


def test_logsumexp_of_nothing():
    with pytest.raises(
        NxValueError, match=r"^logsumexp of f64\[0\]\[3\]: axis 0 has no elements, so there is no answer$"
    ):
        nx.logsumexp(np.zeros((0, 3)), axes=[0])
