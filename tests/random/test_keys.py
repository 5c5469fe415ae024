"""Keys: the words that seeds, splitting and folding give, and what is refused."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

KEY = nx.random.key(42)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (0, [0, 0]),
        (2**32 + 5, [1, 5]),
        (-1, [2**32 - 1, 2**32 - 1]),
        (nx.tensor(2**64 - 1, type="u64"), [2**32 - 1, 2**32 - 1]),
        (np.int32(-2), [0, 2**32 - 2]),
        (np.int8(-2), [0, 2**32 - 2]),
        (np.int64(-2), [2**32 - 1, 2**32 - 2]),
        (nx.tensor(7, type="u8"), [0, 7]),
    ],
)
def test_a_seed_gives_its_halves(seed, words):
    key = nx.random.key(seed)
    assert (key.type, key.shape) == ("u32", (2,))
    assert key.to_list() == words
    assert nx.jit(nx.random.key)(seed).to_list() == words


def test_the_greatest_seed():
    assert nx.random.key(2**64 - 1).to_list() == [2**32 - 1, 2**32 - 1]


def test_a_static_seed_in_a_definition():
    @nx.defn
    def numbers(x):
        return x + nx.random.uniform_split(nx.random.key(3), shape=(4,))

    expected = nx.random.uniform_split(nx.random.key(3), shape=(4,))
    np.testing.assert_array_equal(numbers(0.0).to_numpy(), expected.to_numpy())


@pytest.mark.parametrize("type_", ["s8", "s16", "s32"])
def test_folding_in_narrow_negative_numbers_is_jaxs(type_):
    assert nx.random.fold_in(KEY, nx.tensor(-1, type=type_)).to_list() == [2398536845, 3890976714]
    assert nx.random.fold_in(KEY, nx.u32(2**32 - 1)).to_list() == [2398536845, 3890976714]


@pytest.mark.parametrize(
    ("seed", "error", "text"),
    [
        (1.5, NxTypeError, "a seed is a whole number, got 1.5."),
        (True, NxTypeError, "a seed is a whole number, got True."),
        (2**64, NxValueError, f"a seed has 64 bits, {2**64} does not fit."),
        (np.float32(1), NxTypeError, "a seed is an integer, got a tensor (f32)."),
        ([1, 2], NxValueError, "a seed is one integer, got a tensor (s64[2])."),
    ],
)
def test_what_is_no_seed(seed, error, text):
    with pytest.raises(error) as raised:
        nx.random.key(seed)
    assert str(raised.value) == (
        f"{text}\n"
        "  Write nx.random.key(12), or pass an integer scalar; nx.random.fold_in(key, t) takes tensors of integers."
    )


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_split(parts):
    keys = nx.random.split(KEY, parts=parts)
    assert (keys.type, keys.shape) == ("u32", (parts, 2))
    np.testing.assert_array_equal(
        nx.jit(lambda key: nx.random.split(key, parts=parts))(KEY).to_numpy(), keys.to_numpy()
    )


def test_split_in_two():
    assert nx.random.split(nx.random.key(1701)).to_list() == [[56197195, 1801093307], [961309823, 1704866707]]


def test_split_in_none():
    with pytest.raises(NxValueError, match=r"^split makes at least one key, got parts=0$"):
        nx.random.split(KEY, parts=0)


HINT = "\n  Make a key with nx.random.key(12), or take one of several: nx.random.split(key, parts=3)[0]."


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (nx.u32([1, 2, 3]), NxValueError, "expected the key to have the shape (2,), got a tensor (u32[3])."),
        (12, NxValueError, "expected the key to have the shape (2,), got a tensor (s64)."),
        (nx.tensor([1, 2]), NxTypeError, "expected a key of u32, got a tensor (s64[2])."),
    ],
)
@pytest.mark.parametrize("draw", [nx.random.uniform, nx.random.split, nx.random.normal_split, nx.random.bits])
def test_what_is_no_key(key, error, text, draw):
    with pytest.raises(error) as raised:
        draw(key)
    assert str(raised.value) == text + HINT


def test_fold_in_of_wide_and_negative_integers():
    parts = [nx.random.fold_in(KEY, number).to_list() for number in (5, 2**32 + 5, -1)]
    assert len({tuple(part) for part in parts}) == 3
    folded = nx.random.fold_in(KEY, nx.tensor([5, 2**32 + 5, -1]))
    assert folded.to_list() == parts
    narrow = nx.random.fold_in(KEY, nx.tensor([5, -1], type="s8"))
    assert narrow.to_list() == [parts[0], nx.random.fold_in(KEY, 2**32 - 1).to_list()]


def test_fold_in_keeps_names_and_compiles():
    data = nx.tensor([[1, 2, 3], [4, 5, 6]], names=["row", None])
    folded = nx.random.fold_in(KEY, data)
    assert folded.names == ("row", None, None)
    np.testing.assert_array_equal(nx.jit(nx.random.fold_in)(KEY, data).to_numpy(), folded.to_numpy())


def test_fold_in_of_floats():
    with pytest.raises(NxTypeError) as raised:
        nx.random.fold_in(KEY, 1.5)
    assert str(raised.value) == 'fold_in takes integers, got a tensor (f32).\n  Convert first: nx.as_type(t, "s64").'


def test_threefry_of_counters():
    counters = nx.iota((2, 3), type="u32")
    # The stream of six words, which is what three keys are split from.
    expected = nx.random.split(KEY, parts=3).to_numpy().reshape(-1)
    np.testing.assert_array_equal(nx.random.threefry2x32_20_concat(counters, KEY).to_numpy(), expected)
    np.testing.assert_array_equal(nx.jit(nx.random.threefry2x32_20_concat)(counters, KEY).to_numpy(), expected)


@pytest.mark.parametrize("counters", [nx.iota((2, 3)), nx.iota((3, 2), type="u32"), nx.iota(2, type="u32")])
def test_threefry_of_what_are_no_counters(counters):
    with pytest.raises(NxValueError) as raised:
        nx.random.threefry2x32_20_concat(counters, KEY)
    assert str(raised.value) == (
        f"counters are u32 of the shape (2, n) or more axes, got a tensor ({counters.spec}).\n"
        '  For instance nx.iota((2, 3), type="u32").'
    )
