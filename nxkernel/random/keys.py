"""Random keys: created from seeds, split, and folded with data."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import select
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.ops.shapes.shaping import concatenate, new_axis
from nxkernel.random.bit_stream import block, pair_of, words
from nxkernel.shapes import describe, static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["fold_in", "key", "split", "threefry2x32_20_concat"]


def key(seed: Any) -> Tensor | Expr:
    """Create a key from a seed.

    Parameters
    ----------
    seed : int or integer scalar
        Of 64 bits; the same seed always gives the same numbers.

    Returns
    -------
    Tensor
        ``u32[2]``: the seed's upper and lower half.

    Raises
    ------
    NxTypeError
        For a seed that is no integer.
    NxValueError
        For a seed that does not fit into 64 bits, or is no scalar.

    Examples
    --------
    >>> nx.random.key(12).to_list()
    [0, 12]
    >>> nx.random.key(999999999999).to_list()
    [232, 3567587327]
    """
    hint = "Write nx.random.key(12), or pass an integer scalar; nx.random.fold_in(key, t) takes tensors of integers."
    if is_number(seed):
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise NxTypeError(message(f"a seed is a whole number, got {seed!r}.", hint))
        if not -(2**63) <= seed < 2**64:
            raise NxValueError(message(f"a seed has 64 bits, {seed} does not fit.", hint))
        seed = filled(seed % 2**64, types.u64, ())
    seed = operand(seed, "seed")
    if not seed.type.is_integer:
        raise NxTypeError(message(f"a seed is an integer, got {describe(seed)}.", hint))
    if seed.shape:
        raise NxValueError(message(f"a seed is one integer, got {describe(seed)}.", hint))
    return _joined(*_halves(seed))


def _halves(number: Operand) -> tuple[Operand, Operand]:
    """The upper and lower 32 bits of integers; narrow negative ones extend to 32 bits only, as in JAX."""
    if number.type.kind == "s" and number.type.bits <= 32:
        number = convert(number, types.u32)
    wide = convert(number, types.u64)
    return convert(wide >> 32, types.u32), convert(wide, types.u32)


def _joined(first: Operand, second: Operand) -> Operand:
    """Two tensors stacked along a new last axis."""
    shape = (*first.shape, 2)
    index = apply(primitives.iota, type=types.u8, shape=shape, names=(None,) * len(shape), axis=len(shape) - 1)
    return select(index == 0, *(spread(new_axis(part, -1), shape) for part in (first, second)))


def split(key: Any, *, parts: int = 2) -> Tensor | Expr:
    """Split a key into several independent ones.

    Parameters
    ----------
    key : tensor
        ``u32[2]``. Do not use it again.
    parts : int, optional
        How many.

    Returns
    -------
    Tensor
        ``u32[parts][2]``: one key a row.

    Examples
    --------
    >>> nx.random.split(nx.random.key(1701)).to_list()
    [[56197195, 1801093307], [961309823, 1704866707]]
    """
    pair, parts = pair_of(key), static_int(parts, "parts")
    if parts < 1:
        raise NxValueError(f"split makes at least one key, got parts={parts}")
    return words(pair, (parts, 2))


def fold_in(key: Any, data: Any) -> Tensor | Expr:
    """Derive a key from a key and an integer, such as the number of a step; an integer tensor gives a key for each
    element.

    Parameters
    ----------
    key : tensor
        ``u32[2]``.
    data : int or tensor
        Integers.

    Returns
    -------
    Tensor
        u32, of the shape of `data` and a last axis of two.

    Examples
    --------
    >>> key = nx.random.key(42)
    >>> nx.random.fold_in(key, 99).to_list()
    [2015327502, 1351855566]
    >>> nx.random.fold_in(key, [1, 99]).to_list()
    [[64467757, 2916123636], [2015327502, 1351855566]]
    """
    pair, data = pair_of(key), operand(data, "data")
    if not data.type.is_integer:
        raise NxTypeError(
            message(f"fold_in takes integers, got {describe(data)}.", 'Convert first: nx.as_type(t, "s64").')
        )
    x0, x1 = _halves(data)
    return _joined(block(pair, x0, x1, 0), block(pair, x0, x1, 1))


def threefry2x32_20_concat(xs: Any, ks: Any) -> Tensor | Expr:
    """The Threefry-2x32 hash with 20 rounds of counters under a key, the source of all random bits.

    Parameters
    ----------
    xs : tensor
        ``u32[2][n]…``: the two words of each counter.
    ks : tensor
        ``u32[2]``: the key.

    Returns
    -------
    Tensor
        ``u32[2 n]…``: the first words of all blocks, then the second ones.

    References
    ----------
    J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

    Examples
    --------
    >>> nx.random.threefry2x32_20_concat(nx.u32([[0], [0]]), nx.u32([0, 0])).to_list()
    [1797259609, 2579123966]
    """
    xs, pair = operand(xs, "xs"), pair_of(ks)
    if xs.type is not types.u32 or xs.rank < 2 or xs.shape[0] != 2:
        raise NxValueError(
            message(
                f"counters are u32 of the shape (2, n) or more axes, got {describe(xs)}.",
                'For instance nx.iota((2, 3), type="u32").',
            )
        )
    x0, x1 = xs[0], xs[1]
    return concatenate([block(pair, x0, x1, 0), block(pair, x0, x1, 1)], axis=0)
