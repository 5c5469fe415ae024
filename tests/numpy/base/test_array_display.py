"""Arrays as text."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp

SHOWN = {
    "Array([1, 2])": lambda: nnp.asarray([1, 2]),
    "Array([0.5, 1. ])": lambda: nnp.asarray([0.5, 1]),
    "Array([1, 2], dtype=int8)": lambda: nnp.asarray([1, 2], dtype=nnp.int8),
    "Array([[1., 2.],\n       [3., 4.]], dtype=float32)": lambda: nnp.asarray([[1, 2], [3, 4]], dtype=nnp.float32),
    "Array([1.5], dtype=bf16)": lambda: nnp.asarray(nx.tensor([1.5], type="bf16")),
    "Array(True)": lambda: nnp.asarray(True),
    "Array([], dtype=float64)": lambda: nnp.zeros(0),
    "Array([], shape=(2, 0), dtype=int64)": lambda: nnp.zeros((2, 0), dtype=int),
    "Array([1.+2.j])": lambda: nnp.asarray([1 + 2j]),
}


@pytest.mark.parametrize("text", SHOWN)
def test_representation(text):
    assert repr(SHOWN[text]()) == text


def test_text_is_numpys():
    x = np.arange(6.0).reshape(2, 3)
    assert str(nnp.asarray(x)) == str(x)


def test_traced_ones_show_their_node():
    seen = []
    nx.jit(lambda x: (seen.append(nnp.asarray(x).__repr__()), x)[1])(np.ones(2))
    assert seen[0].startswith("Array(")
    assert "f64[2]" in seen[0]
