"""NumPy takes axis 0 and -1 of an array without axes for all of it, in most of its functions; the others refuse."""

import numpy as np
import pytest

import nxkernel as nx

#: Functions, and what they are called with beside the array.
TAKEN = {
    "sum": (), "prod": (), "max": (), "min": (), "any": (), "all": (), "argmax": (), "argmin": (), "ptp": (),
    "count_nonzero": (), "nansum": (), "nanmax": (), "nanmean": (), "nanstd": (), "cumsum": (), "cumprod": (),
    "cumulative_sum": (), "nancumsum": (), "argsort": (), "squeeze": (), "repeat": (2,), "take": ([0, 0],),
}  # fmt: skip
REFUSED = ["mean", "var", "std", "sort", "flip", "diff", "median"]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("axis", [0, -1, 1])
@pytest.mark.parametrize("name", TAKEN)
def test_axis_of_a_number(name, axis):
    function, others = getattr(np, name), TAKEN[name]

    def program(x):
        return function(x, *others, axis=axis)

    for x in (np.float64(3), np.array(3.0)):
        try:
            expected = program(x)
        except (TypeError, np.exceptions.AxisError):
            with pytest.raises(nx.errors.NxError):
                nx.jit(program)(x)
            continue
        result = nx.jit(program)(x)
        assert (np.shape(result), np.asarray(result).dtype) == (np.shape(expected), np.asarray(expected).dtype)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", REFUSED)
def test_axis_that_a_number_has_not(name):
    def program(x):
        return getattr(np, name)(x, axis=0)

    with pytest.raises((np.exceptions.AxisError, ValueError)):
        program(np.float64(3))
    with pytest.raises((nx.errors.NxIndexError, nx.errors.NxValueError)):
        nx.jit(program)(np.float64(3))


def test_running_sums_of_a_number_are_refused():
    with pytest.raises(nx.errors.NxTypeError, match=r"^add\.accumulate of a number, which has no axes\."):
        nx.jit(lambda x: np.add.accumulate(x))(np.float64(3))


def test_slices_by_a_list_of_conditions():
    x = np.arange(6.0).reshape(2, 3)
    for condition in ([True, False, True], (0, 1), []):
        result = nx.jit(lambda x, condition=condition: np.compress(condition, x, axis=1))(x)
        np.testing.assert_array_equal(result, np.compress(condition, x, axis=1))
