"""Arrays as small PNG pictures."""

import struct
import zlib

import numpy as np

import nxkernel as nx
from nxkernel.tensor import pictures


def test_extremes_are_finite():
    assert pictures.extremes(np.array([1.0, np.nan, np.inf, -3.0])) == (-3.0, 1.0)
    assert pictures.extremes(np.array([np.nan])) is None


def test_blocks_are_means():
    data = np.arange(24.0).reshape(4, 6)
    assert pictures.blocks(data, 2).tolist() == [[4.0, 7.0], [16.0, 19.0]]
    assert pictures.blocks(np.ones((5, 3), bool), 2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    channels = np.stack([data, data + 1], axis=-1)
    np.testing.assert_array_equal(pictures.blocks(channels, 2)[..., 1], pictures.blocks(data + 1, 2))
    assert pictures.blocks(nx.bf16([[1.5]]).data, 4).dtype == np.float64
    whole = np.full((300, 300), 200, np.uint8)
    assert (pictures.blocks(whole, 10) == 200).all()


def test_shades():
    data = np.array([[0.0, 5.0, 10.0, np.nan, np.inf, -np.inf]])
    assert pictures.shades(data, 0, 10).tolist() == [[1, 128, 255, 0, 255, 1]]
    assert pictures.shares(np.array([3.0, np.nan]), 3, 3).tolist() == [0.5, 0.0]


def chunks(data):
    place, found = 8, {}
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        found[kind], place = body, place + 12 + length
    return found


def test_png():
    shades = np.array([[0, 1, 255]], np.uint8)
    found = chunks(pictures.png(shades))
    assert found[b"IHDR"] == struct.pack(">IIBBBBB", 3, 1, 8, 3, 0, 0, 0)
    assert len(found[b"PLTE"]) == 768
    assert zlib.decompress(found[b"IDAT"]) == b"\0\0\1\xff"
    colour = np.array([[[1, 2, 3]], [[0, 4, 3]]], np.uint8)
    found = chunks(pictures.png(colour))
    assert found[b"IHDR"] == struct.pack(">IIBBBBB", 1, 2, 8, 2, 0, 0, 0)
    assert b"PLTE" not in found
    assert zlib.decompress(found[b"IDAT"]) == b"\2\1\2\3\2\xff\2\0"
