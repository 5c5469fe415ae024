"""What is data for a network, and what it is traced with."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.nn.application import check_key, is_data, replaced, specs_of


def test_tensors_are_data_and_numbers_are_static():
    x = nx.tensor([1.0])
    assert all(map(is_data, (x, np.ones(2), [x, x], {"a": (x,)}, np.float32(1))))
    assert not any(map(is_data, (1, 2.0, True, None, "x", [], {}, [x, None], (1, 2))))


def test_specs():
    structure, specs, static = specs_of("net", (nx.tensor([1.0]), {"a": 2}), {"mask": np.ones((2, 3)), "rate": 0.5})
    assert [str(spec) for spec in specs] == ["f32[1]", "s64", "f64[2][3]"]
    assert static == (("rate", 0.5),)
    assert hash(structure) == hash(specs_of("net", (nx.tensor([2.0]), {"a": 3}), {"mask": np.ones((2, 3))})[0])


def test_a_tree_with_something_else_at_a_path():
    tree = {"a": {"b": 1, "c": 2}, "d": 3}
    assert replaced(tree, ("a", "b"), 5) == {"a": {"b": 5, "c": 2}, "d": 3}
    assert replaced(tree, (), 5) == 5
    assert tree == {"a": {"b": 1, "c": 2}, "d": 3}


@pytest.mark.parametrize(("key", "got"), [(0, "0"), (nx.tensor([1, 2]), r"s64\[2\]"), ("x", "'x'")])
def test_keys(key, got):
    with pytest.raises(TypeError, match=rf"net: the key is u32\[2\], got {got}.\n  nx.random.key\(0\) makes one"):
        check_key("net", key)
    check_key("net", nx.random.key(3))
