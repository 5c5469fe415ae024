"""The stream of random words: which Threefry block, and which of its two words, each element takes.

A stream of n words numbers its places; the block of counter ``(i, i + n/2)`` gives the words of both places. So every
word is an element-wise expression of its place, and a sampler is one loop over its result. The streams are those of
``jax.random`` with ``jax_threefry_partitionable`` switched off.
"""

from __future__ import annotations

from typing import NamedTuple

from nxkernel import primitives, shapes
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import select
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand, spread
from nxkernel.ops.shapes.shaping import concatenate, reshape
from nxkernel.shapes import Shape, describe, unnamed
from nxkernel.types import Type, u32, u64

#: Words from which a stream that is drawn at once is put together from its halves.
_LONG = 4096


class KeyWords(NamedTuple):
    """A key as its two u32 words, both scalars."""

    first: Operand
    second: Operand


def pair_of(key: Operand) -> KeyWords:
    """The two words of a key argument.

    Raises
    ------
    NxTypeError, NxValueError
        For what is no key.
    """
    hint = "Make a key with nx.random.key(12), or take one of several: nx.random.split(key, parts=3)[0]."
    key = operand(key, "key")
    if key.shape != (2,):
        raise NxValueError(message(f"expected the key to have the shape (2,), got {describe(key)}.", hint))
    if key.type is not u32:
        raise NxTypeError(message(f"expected a key of u32, got {describe(key)}.", hint))
    return KeyWords(key[0], key[1])


def block(pair: KeyWords, x0: Operand, x1: Operand, word: int) -> Operand:
    """One word of the Threefry blocks of an array of counters."""
    first, second = (spread(part, x0.shape) for part in pair)
    return apply(primitives.threefry2x32, first, second, x0, x1, word=word)


def places(shape: Shape) -> Operand:
    """The flat index of each element in C order, as u32."""
    return apply(primitives.iota, type=u32, shape=shape, names=unnamed(shape), axis=None)


def advance(pair: KeyWords) -> tuple[KeyWords, Operand]:
    """``split(key)``: the second key, as words to draw with, and the first key, to go on with."""
    counters = places((2,))
    zero, one, two, three = (filled(number, u32, ()) for number in range(4))
    return KeyWords(block(pair, zero, two, 1), block(pair, one, three, 1)), block(pair, counters, counters + 2, 0)


def subkeys(pair: KeyWords, parts: int) -> list[KeyWords]:
    """``split(key, parts)`` as words to draw with, of one key, or of each of an array of keys."""
    shape = pair.first.shape

    def word(place: int) -> Operand:
        low, high = (filled(place % parts + shift, u32, shape) for shift in (0, parts))
        return block(pair, low, high, place // parts)

    return [KeyWords(word(2 * part), word(2 * part + 1)) for part in range(parts)]


def key_of_each(pair: KeyWords, shape: Shape) -> KeyWords:
    """A key for each element of a shape: those of ``split(key, size)``."""
    count, first = 2 * shapes.size(shape), places(shape) * 2
    return KeyWords(words_at(pair, first, count), words_at(pair, first + 1, count))


def words(pair: KeyWords, shape: Shape) -> Operand:
    """A stream of random words for each element of a shape."""
    count = shapes.size(shape)
    _check_count(count)
    if tracing.current() is None and count >= _LONG:
        # Both words of a block are wanted at places far apart, where NumPy would compute the block again.
        low = places((shapes.ceil_div(count, 2),))
        counters = low, _partners(low, count)
        stream = concatenate([block(pair, *counters, 0), block(pair, *counters, 1)])
        return reshape(stream[:count], shape)
    return words_at(pair, places(shape), count)


def words_at(pair: KeyWords, position: Operand, count: int) -> Operand:
    """The words at the given positions of a stream of `count` words."""
    _check_count(count)
    if count < 2:
        zero = filled(0, u32, position.shape)
        return block(pair, zero, zero, 0)
    half = shapes.ceil_div(count, 2)
    is_first = position < half
    low = select(is_first, position, position - half)
    high = _partners(low, count)
    return select(is_first, block(pair, low, high, 0), block(pair, low, high, 1))


def _partners(low: Operand, count: int) -> Operand:
    """For positions in the first half of a stream, those in the second half that share their blocks."""
    high = low + shapes.ceil_div(count, 2)
    # The second half of an odd number is one short; a zero stands in for its last counter.
    return select(high == count, filled(0, u32, high.shape), high) if count % 2 else high


def bits(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """Random bits for each element of a shape, as an unsigned integer type.

    Narrow types take the low bits of a word each, as in Nx; ``jax.random`` cuts several out of one word.
    """
    if type_ is u64:
        return bits_at(pair, places(shape), shapes.size(shape), type_)
    return convert(words(pair, shape), type_)


def bits_at(pair: KeyWords, position: Operand, count: int, type_: Type) -> Operand:
    """The random bits at the given positions of a stream of `count`, as an unsigned integer type."""
    if type_ is not u64:
        return convert(words_at(pair, position, count), type_)
    _check_count(2 * count)
    high, low = (convert(block(pair, position, position + count, word), u64) for word in (0, 1))
    return high << 32 | low


def double_bits(pair: KeyWords, shape: Shape, type_: Type) -> tuple[Operand, Operand]:
    """Two arrays of random bits: the halves of a stream twice as long."""
    index, count = places(shape), shapes.size(shape)
    if type_ is u64:
        first, second = (bits_at(pair, index + shift, 2 * count, type_) for shift in (0, count))
        return first, second
    _check_count(2 * count)
    first, second = (convert(block(pair, index, index + count, word), type_) for word in (0, 1))
    return first, second


def _check_count(count: int) -> None:
    if count >= 1 << 32:
        raise NxValueError(
            message(
                f"one key gives less than 2**32 words of 32 bits; this takes {count}.",
                "Draw in parts with keys of their own: keys = nx.random.split(key, parts=n).",
            )
        )
