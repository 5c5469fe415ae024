"""Elements as bytes, beside NumPy's methods of the same names, on tensors and on traced values."""

import operator

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (16,), (2, 16), (0, 16)]


def numbers(dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(np.random.default_rng(0).integers(0, 250, size, np.uint8).tobytes(), dtype).reshape(shape)


def agree(call, array):
    expected = call(array)
    for found in (call(nx.tensor(array)), nx.jit(call, promotion="nx")(nx.tensor(array))):
        found = np.asarray(found)
        assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("dtype", TYPES)
def test_byteswap(dtype):
    for shape in SHAPES:
        agree(lambda x: x.byteswap(), numbers(dtype, shape))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("dtype", TYPES)
def test_getfield(dtype):
    size = np.dtype(dtype).itemsize
    for part in map(np.dtype, TYPES):
        for offset in {0, size - part.itemsize} if part.itemsize <= size else ():
            agree(operator.methodcaller("getfield", part, offset), numbers(dtype, (3, 2)))


def test_names_of_axes_stay():
    t = nx.u16([[1, 2]], names=["x", "y"])
    assert t.byteswap().names == ("x", "y")
    assert t.base is None
    t.setflags(write=False)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t.getfield("u16", 3), NxValueError, "getfield: an element of f32 has 4 bytes, and no u16 from byte"),
        (lambda t: t.setflags(write=True), NxValueError, "nobody writes into a tensor: setflags takes no write=True."),
        (lambda t: t.item(), NxTypeError, "item() needs a tensor with one element, this one has 3.\n  t[0, 1] takes"),
    ],
)
def test_errors(call, error, text):
    for run in (call, nx.jit(call)):
        with pytest.raises(error) as raised:
            run(nx.f32([1, 2, 3]))
        assert str(raised.value).replace("\n  test_memory.py", "").startswith(text[:40])
    with pytest.raises(error) as raised:
        call(nx.f32([1, 2, 3]))
    assert str(raised.value).startswith(text)


def test_single_elements():
    array = np.arange(6.0).reshape(2, 3)
    for call in (lambda t: t.item(4), lambda t: t.item(1, 2), lambda t: t.item((0, 1)), lambda t: t[:1, :1].item()):
        assert call(nx.tensor(array)) == float(nx.jit(call)(nx.tensor(array))) == call(array)
    with pytest.raises(NxTypeError, match=r"^item\(\) takes one index, or one for each of 2 axes, got 3"):
        nx.jit(lambda t: t.item(0, 0, 0))(nx.tensor(array))

    def turned(t):
        (a, b, c), (d, e, f) = t.tolist()
        return nx.stack([f, e, d, c, b, a])

    assert nx.jit(turned)(nx.tensor(array)).to_list() == [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]


def test_flags_of_traced_values():
    seen = []

    def look(t):
        seen.extend([t.flags, nx.transpose(t).flags])
        return t

    nx.jit(look, promotion="nx")(nx.tensor(np.zeros((2, 3))))
    assert [(each.c_contiguous, each.writeable) for each in seen] == [(True, False)] * 2
