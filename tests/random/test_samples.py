"""What samplers share: shapes that are drawn."""

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
