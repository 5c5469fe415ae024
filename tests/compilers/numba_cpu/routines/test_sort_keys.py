"""Keys: their order is that of the elements, and all but zeros and NaN come back from them."""

import ml_dtypes
import numpy as np
import pytest

from native_code.handwritten_kernels import run
from nxkernel import types
from nxkernel.compilers.numba_cpu.routines.sort_keys import Keys

ORDERED = [type_ for type_ in types.TYPES.values() if not type_.is_complex]


def translated(x, type_, descending):
    """The keys of elements, the elements of those keys, and whether they differ."""
    keys = Keys(type_, descending)

    def write(f, pointers, scalars):
        source, target, back, altered = pointers
        steps = f.loop(f.begin, f.end)
        at = [f.b.offset(base, keys.element, steps.index) for base in (source, target, back)]
        bits = f.b.load(keys.element, at[0])
        key = keys.of(f.b, bits)
        f.b.store(key, at[1])
        f.b.store(keys.bits(f.b, key), at[2])
        flag = f.b.convert("zext", keys.altered(f.b, bits, key), "i8")
        f.b.store(flag, f.b.offset(altered, "i8", steps.index))
        steps.end()

    found, back, altered = np.zeros(x.shape, f"u{x.itemsize}"), np.zeros_like(x), np.zeros(x.shape, bool)
    run(write, [x, found, back, altered], steps=x.size)
    return found, back, altered


def elements(type_):
    """Elements in ascending order."""
    if type_ is types.bool_:
        return np.array([False, True])
    if type_.is_integer:
        low, high = types.limits(type_)
        return np.array(sorted({low, low + 1, 0, 1, high // 2, high - 1, high}), type_.dtype)
    info = ml_dtypes.finfo(type_.dtype)
    positive = [info.smallest_subnormal, info.tiny, 1, 1.5, info.max, np.inf]
    return np.array([*[-x for x in reversed(positive)], 0, *positive, np.nan], type_.dtype)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("type_", ORDERED)
def test_keys_are_in_order_and_give_their_elements(type_, descending):
    x = elements(type_)
    found, back, altered = translated(x, type_, descending)
    assert found.tolist() == sorted(set(found.tolist()), reverse=descending)
    assert back.tobytes() == x.tobytes()
    assert not altered.any()


@pytest.mark.parametrize("type_", [type_ for type_ in ORDERED if type_.is_float])
def test_zeros_have_one_key_and_nan_have_one(type_):
    x = np.array([0.0, -0.0, np.nan, -np.nan], type_.dtype)
    found, _, altered = translated(x, type_, False)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert altered.tolist() == [False, True, False, True]
