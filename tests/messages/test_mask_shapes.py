"""Masks that do not have the shape of what they pick from: outside, in definitions, and assigned."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as xp
from nxkernel.errors import NxIndexError, NxValueError
from nxkernel.messages import mask_shapes

SHORT = np.array([True, False, True])
LINE, MATRIX = np.arange(4.0), np.zeros((4, 3))
HINT = "It has the shape of the axes that it picks from, here [4], as x{} > 0 has."


@pytest.mark.parametrize(
    ("mask", "shape", "axis", "hints"),
    [
        ((3,), (4,), 0, [HINT.format("")]),
        ((3,), (4, 3), 0, [HINT.format("[:, 0]"), "x[:, mask] picks along axis 1."]),
        ((3,), (2, 4), 1, [HINT.format("[0, :]")]),
        ((2, 4), (4, 2), 0, ["It has the shape of the axes that it picks from, here [4][2], as x > 0 has."]),
        ((2, 3), (4,), 0, ["It has the shape of the axes that it picks from."]),
    ],
)
def test_texts(mask, shape, axis, hints):
    first, *rest = str(mask_shapes.unfit(mask, "an array", shape, axis)).split("\n  ")
    assert first.endswith(" does not fit an array.")
    assert rest == hints


def put(x, mask, value=0.0):
    x[mask] = value
    return x


def add(x, mask):
    x[mask] += 1.0
    return x


@pytest.mark.parametrize("mask", [SHORT, nx.tensor(SHORT), SHORT.tolist()], ids=["array", "tensor", "list"])
@pytest.mark.parametrize(
    "call",
    [
        lambda mask: nx.tensor(LINE)[mask],
        lambda mask: nx.jit(lambda x: nx.sum(x[mask]))(LINE),
        lambda mask: nx.jit(lambda x: np.sum(x[mask]))(LINE),
        lambda mask: nx.defn(put, promotion="nx")(nx.tensor(LINE), np.asarray(mask)),
        lambda mask: nx.defn(put, promotion="numpy")(LINE.copy(), np.asarray(mask)),
        lambda mask: nx.defn(add, promotion="numpy")(LINE.copy(), np.asarray(mask)),
        lambda mask: xp.asarray(LINE)[xp.asarray(mask)],
        lambda mask: put(xp.asarray(LINE), xp.asarray(mask)),
    ],
)
def test_wherever_a_mask_is_too_short(call, mask):
    with pytest.raises(NxIndexError) as raised:
        call(mask)
    first, *_, last = str(raised.value).split("\n  ")
    assert first.startswith("a mask of shape [3] does not fit a")
    assert first.endswith(("array of shape [4].", "type f64[4].", "type f32[4]."))
    assert last == HINT.format("")


@pytest.mark.parametrize("key", [(..., SHORT), (slice(None), SHORT), (0, SHORT), (None, SHORT[[0, 1, 2, 0]])])
def test_masks_that_fit_beside_other_entries(key):
    np.testing.assert_array_equal(np.asarray(xp.asarray(MATRIX)[key]), MATRIX[key])
    with pytest.raises(NxIndexError, match=r"^a mask of shape \[2\] does not fit an array of shape \[4\]\[3\]\."):
        xp.asarray(MATRIX)[(*key[:-1], SHORT[:2])]


def test_more_values_than_a_mask_could_pick():
    with pytest.raises(NxValueError) as raised:
        nx.defn(put, promotion="numpy")(LINE.copy(), LINE > 1, np.arange(5.0))
    first, *_, last = str(raised.value).split("\n  ")
    assert first == "x[mask] = v got 5 values, and a mask of shape [4] picks at most 4."
    assert last == "v has one value for each element that the mask picks, or one for all."


@pytest.mark.parametrize("mask", [(4, 0), (0,), (0, 3), (0, 0)])
def test_masks_without_elements_pick_nothing(mask):
    mask = np.empty(mask, bool)

    def read(x, mask):
        x[mask] = 5.0
        return x[mask], x

    for call in (read, nx.jit(read, promotion="numpy"), lambda x, mask: read(xp.asarray(x), xp.asarray(mask))):
        picked, whole = map(np.asarray, call(MATRIX.copy(), mask))
        assert picked.shape == MATRIX[mask].shape
        np.testing.assert_array_equal(whole, MATRIX)
    with pytest.raises(NxValueError, match=r"^cannot assign \[2\] to a part of the shape \[0\]"):
        xp.asarray(MATRIX)[xp.asarray(mask)] = [1.0, 2.0]
