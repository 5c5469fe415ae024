"""What samplers share: shapes that are drawn."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


def test_a_shape_without_its_name_is_told():
    with pytest.raises(NxTypeError) as caught:
        nx.random.normal(nx.random.key(0), (3, 4))
    assert str(caught.value) == (
        "normal: mean is the tuple (3, 4).\n"
        "  A shape goes by name: nx.random.normal(key, shape=(3, 4)). "
        "Numbers are given as a list or a tensor: mean=[3, 4]."
    )
    assert nx.random.normal(nx.random.key(0), [3, 4])[0].shape == (2,)


def test_numbers_are_parameters_in_the_type_that_is_drawn():
    key = nx.random.key(1)
    assert nx.random.normal_split(key, 0.1, 0.0, type="f64").to_number() == 0.1
    unit = nx.random.uniform_split(key, shape=(9,), type="f64").to_numpy()
    low, high = 1 / 3, 2 / 3
    drawn = nx.random.uniform_split(key, low, high, shape=(9,), type="f64").to_numpy()
    np.testing.assert_allclose(drawn, low + unit * (high - low), rtol=1e-15)
