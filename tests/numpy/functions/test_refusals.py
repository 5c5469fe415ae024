"""What NumPy refuses is refused, with an error of the class that NumPy's has."""

import pickle

import numpy as np
import pytest

import nxkernel as nx

X = np.array([1.5, 2.5, 0.5])

REFUSED = {
    "array of another type without a copy": lambda x: np.array(x, dtype=np.float32, copy=False),
    "list without a copy": lambda x: np.asarray([x, x], copy=False),
    "no bins": lambda x: np.histogram(x, bins=0)[0],
    "percentile of truth values": lambda x: np.percentile(x > 1, 30),
    "hstack of nothing": lambda x: np.hstack([]) + x,
    "stack of nothing": lambda x: np.stack([]) + x,
    "apply along no lines": lambda x: np.apply_along_axis(np.sum, 0, x[:0][:, None].T),
    "inverse of float16": lambda x: np.linalg.inv(np.eye(2, dtype=np.float16) * x[0].astype(np.float16)),
    "axis of a scalar": lambda x: np.sort(x[0]),
    "axis": lambda x: x.sum(axis=2),
    "transpose": lambda x: np.transpose(x, (1, 0)),
    "not square": lambda x: np.linalg.inv(np.ones((2, 3)) * x[0]),
    "no matrix": lambda x: np.linalg.det(x),
    "another number of equations": lambda x: np.linalg.solve(np.eye(2) * x[0], x),
    "one side": lambda x: np.where(x > 0, x),
    "negative sizes": lambda x: np.empty((2, -3))[0] * x[0],
    "negative size": lambda x: np.zeros(-3) + x[0],
    "a list as often as a number": lambda x: [1, 2] * x[0],
    "a number beyond the type": lambda x: x.astype(np.uint8) * -2,
    "points without values": lambda x: np.interp(x, [1.0, 2.0], [1.0]),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_it_is_of_the_class_of_numpys(function):
    with pytest.raises(Exception) as expected:
        function(X)
    with pytest.raises(expected.type):
        nx.jit(function)(X)


def test_whole_numbers_of_what_is_not_finite():
    compiled = nx.jit(lambda x: int(x[0]))
    assert compiled(X) == 1
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        compiled(np.array([np.nan]).repeat(3))
    with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
        compiled(np.array([np.inf]).repeat(3))


def test_an_axis_that_is_not_there_is_told_with_its_line():
    with pytest.raises(np.exceptions.AxisError) as caught:
        nx.jit(REFUSED["axis"])(X)
    assert str(caught.value).startswith("axis 2 is out of range for an array.\n  test_refusals.py, line ")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
