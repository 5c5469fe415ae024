"""Tensors as HTML."""

import base64
import re
import struct
import zlib
from html import unescape

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.tensor import html


def picture(tensor):
    """The palette places of the picture in a page."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)\"", tensor._repr_html_())[1])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind], place = body, place + 12 + length
    columns, rows = struct.unpack(">II", chunks[b"IHDR"][:8])
    assert len(chunks[b"PLTE"]) == 3 * 256
    return np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, columns + 1)[:, 1:]


@pytest.mark.parametrize(
    ("tensor", "line"),
    [
        (nx.tensor(1.5), "f32 scalar"),
        (nx.iota(3, names=["x"]), "s64 vector of 3 (x: 3)"),
        (nx.iota((2, 3)), "s64 matrix of 2 × 3"),
        (nx.iota((2, 3, 4), type="u8"), "u8 tensor of 2 × 3 × 4"),
    ],
)
def test_the_first_line_tells_type_and_shape(tensor, line):
    assert html.headline(tensor) == line
    assert f">{line}<" in tensor._repr_html_()


def numbers(page):
    """The lines of numbers in a page."""
    return unescape(re.search("<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[1]).splitlines()


def test_numbers_are_shown_as_repr_shows_them():
    page = nx.tensor([[1, 2], [3, 4]])._repr_html_()
    assert numbers(page) == ["[[1, 2],", " [3, 4]]"]
    assert "<img" not in page
    assert "<details" not in page
    assert numbers(nx.f64([1 / 3, 0.5])._repr_html_()) == ["[0.3333333333333333, 0.5               ]"]
    assert numbers(nx.tensor(1.5)._repr_html_()) == ["1.5"]
    assert numbers(nx.iota((2, 2, 2))._repr_html_()) == ["[[[0, 1],", "  [2, 3]],", "", " [[4, 5],", "  [6, 7]]]"]
    assert numbers(nx.broadcast(0, (0, 3))._repr_html_()) == ["[]"]


def test_all_entries_along_vectorized_axes_are_shown():
    page = nx.vectorize(nx.tensor([[1, 2], [3, 4]]), {"x": 2})._repr_html_()
    assert ">s64 vector of 2, vectorized over x: 2<" in page
    assert numbers(page) == ["[[1, 2],", " [3, 4]]"]
    assert picture(nx.vectorize(nx.iota((8, 9)), "x")).shape == (8, 9)


def test_of_many_numbers_the_beginning_and_the_end_are_shown():
    assert numbers(nx.iota(300)._repr_html_()) == ["[  0,   1,   2, ..., 297, 298, 299]"]
    assert numbers(nx.iota((40, 4))._repr_html_())[-1] == " [156, 157, 158, 159]]"


def test_names_are_escaped():
    page = nx.iota((2,), names=["<script>"])._repr_html_()
    assert "<script>" not in page
    assert "(&lt;script&gt;: 2)" in page


def test_matrices_are_pictures():
    places = picture(nx.iota((8, 9), type="f32"))
    assert places.shape == (8, 9)
    assert (places[0, 0], places[-1, -1]) == (1, 255)
    assert (np.diff(places.reshape(-1).astype(int)) >= 0).all()
    assert "dark 0, light 71" in nx.iota((8, 9))._repr_html_()


def test_the_line_below_a_picture_tells_the_least_and_the_greatest_number():
    def told(array):
        return nx.tensor(array)._repr_html_()

    assert "dark 0, light 998700<" in told(np.linspace(0, 998_700, 100).reshape(10, 10))
    assert "dark 0.1235, light 1.5e+12<" in told(np.geomspace(0.12345, 1.5e12, 100).reshape(10, 10))
    assert "all elements 0<" in told(np.zeros((10, 10)))
    assert "all elements 0.3333<" in told(np.full((10, 10), 1 / 3))
    assert "no finite element<" in told(np.full((10, 10), np.nan))


def test_large_matrices_are_averaged():
    x = np.arange(300 * 500.0).reshape(300, 500)
    tensor = nx.tensor(x)
    assert picture(tensor).shape == (html.CELLS, html.CELLS)
    assert "each cell is the mean of about 3 × 5 elements" in tensor._repr_html_()


def test_a_page_is_small_and_the_same_from_run_to_run():
    noise = nx.tensor(np.random.default_rng(0).normal(size=(1000, 1000)))
    assert len(noise._repr_html_()) < 40_000
    assert noise._repr_html_() == noise._repr_html_()


@pytest.mark.parametrize("type_", ["bool", "u8", "bf16", "f64"])
def test_every_real_type_has_a_picture(type_):
    assert picture(nx.eye(8, type=type_)).tolist() == (1 + 254 * np.eye(8)).tolist()


def test_missing_and_infinite_elements():
    x = np.zeros((8, 8))
    x[0, 0], x[0, 1], x[0, 2], x[0, 3] = np.nan, np.inf, -np.inf, 10
    assert picture(nx.tensor(x))[0, :5].tolist() == [0, 255, 1, 255, 1]
    assert "no finite element" in nx.tensor(np.full((8, 8), np.nan))._repr_html_()
    assert picture(nx.tensor(np.zeros((8, 8))))[0, 0] == 128


def test_numbers_are_wrapped_where_the_page_is_narrow():
    style = re.search('<pre style="([^"]*)"', nx.tensor(np.full((1, 8), -1.3e-8))._repr_html_())[1]
    assert "white-space:pre-wrap" in style
    assert "overflow-x:auto" in style


def test_the_numbers_of_a_small_picture_are_below_it_and_those_of_a_large_one_folded():
    small = nx.iota((8, 9))._repr_html_()
    assert "<details" not in small
    assert small.index("<img") < small.index("<pre")
    assert numbers(small)[0] == "[[ 0,  1,  2,  3,  4,  5,  6,  7,  8],"
    large = nx.iota((20, 20))._repr_html_()
    assert large.index("<img") < large.index("<details><summary") < large.index("<pre")
    assert numbers(large)[0] == "[[  0,   1,   2, ...,  17,  18,  19],"


@pytest.mark.parametrize(
    "image",
    [
        np.arange(300, dtype=np.uint8).reshape(10, 10, 3),
        np.linspace(0, 1, 300, dtype=np.float32).reshape(10, 10, 3),
        np.linspace(0, 1, 300).reshape(10, 10, 3).astype(nx.types.bf16.dtype),
    ],
)
def test_colour_images(image):
    page = nx.tensor(image)._repr_html_()
    found = image if image.dtype == np.uint8 else np.rint(image.astype(np.float64) * 255).astype(np.uint8)
    np.testing.assert_array_equal(colours(page), found)
    assert "red, green and blue in the last axis" in page
    assert page.count("<img") == 1


def colours(page):
    """The pixels of a picture in red, green and blue."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)\"", page)[1])
    columns, rows, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (8, 2)
    length = struct.unpack(">I", data[33:37])[0]
    assert data[37:41] == b"IDAT"
    lines = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(rows, -1)
    assert set(lines[:, 0]) == {2}
    return np.add.accumulate(lines[:, 1:], axis=0, dtype=np.uint8).reshape(rows, columns, 3)


def test_large_images_are_made_smaller():
    rng = np.random.default_rng(0)
    page = nx.tensor(rng.integers(0, 256, (400, 300, 3), dtype=np.uint8))._repr_html_()
    assert "made smaller, to 96 pixels a side" in page
    assert colours(page).shape == (96, 96, 3)
    assert len(page) < 60_000


@pytest.mark.parametrize("scale", [-1, 2, np.nan])
def test_what_is_no_image_is_no_picture_of_one(scale):
    page = nx.tensor(np.full((10, 10, 3), scale))._repr_html_()
    assert "<img" not in page
    assert "<details" not in page


def test_stacks_of_matrices_are_small_pictures_in_one_scale():
    stack = np.zeros((12, 10, 9))
    stack[1] = 5
    page = nx.tensor(stack)._repr_html_()
    assert page.count("<img") == html.STACKED
    assert "dark 0, light 5; the first 8 of 12 matrices" in page
    first, second = (base64.b64decode(found) for found in re.findall(r'base64,([^"]+)"', page)[:2])
    assert first != second
    noise = nx.tensor(np.random.default_rng(0).normal(size=(9, 300, 200)))
    assert len(noise._repr_html_()) < 60_000
    assert "<img" not in nx.iota((4, 7, 9))._repr_html_()
    assert "<img" not in nx.broadcast(0, (0, 9, 9))._repr_html_()


def test_a_picture_has_the_sides_of_its_matrix_whatever_the_page_wants():
    tag = re.search("<img[^>]*>", nx.iota((512, 64))._repr_html_())[0]
    assert 'width="35" height="280" style="height:280px;' in tag
