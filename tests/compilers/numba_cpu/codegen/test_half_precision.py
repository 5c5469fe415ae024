"""Floats of half width without the processor's help: every half, and floats around every half, beside NumPy's."""

import numpy as np
import pytest

from native_code import handwritten_kernels
from nxkernel.compilers.numba_cpu.codegen import half_precision
from nxkernel.compilers.numba_cpu.target import target_processor

HALVES = np.arange(1 << 16, dtype=np.uint16)
#: How far floats are from a half and from the middle between two, in units of their last place.
NEAR = [0, 1, -1, 0xFFF, 0x1000, 0x1001, -0xFFF, -0x1000, -0x1001, 0x1FFF]


@pytest.fixture(params=[True, False], ids=["instructions", "integers"])
def helped(request, monkeypatch):
    """Whether the processor has instructions for it."""
    if request.param and not target_processor.has("f16c"):
        pytest.skip("this processor has no instructions for floats of half width")
    monkeypatch.setattr(target_processor, "has", lambda feature: request.param)


def over(array, element, result, change, lanes):
    """Run `change` on an array, so many elements at a time."""
    made = np.empty(array.size, result)

    def write(frame, pointers, scalars):
        steps = frame.loop(frame.begin, frame.end)
        far = frame.b.integer("mul", steps.index, frame.b.constant("i64", lanes))
        value = change(frame.b, frame.b.load(element, frame.b.offset(pointers[0], element, far), lanes=lanes))
        frame.b.store(value, frame.b.offset(pointers[1], value.element, far))
        steps.end()

    handwritten_kernels.run(write, [array, made], steps=array.size // lanes)
    return made


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_every_half_is_widened_as_numpy_does(helped, lanes):
    found = over(HALVES, "half", np.float32, half_precision.widened, lanes)
    expected = HALVES.view(np.float16).astype(np.float32)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), expected[numbers].view(np.uint32))
    # A signalling NaN becomes a quiet one, with its sign and its digits.
    bits = HALVES[~numbers].astype(np.uint32)
    quiet = (bits & 0x8000) << 16 | 0x7FC00000 | (bits & 0x3FF) << 13
    np.testing.assert_array_equal(found[~numbers].view(np.uint32), quiet)


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_floats_around_every_half_are_rounded_as_numpy_does(helped, lanes):
    wide = HALVES.view(np.float16).astype(np.float32).view(np.uint32)
    floats = np.concatenate([wide + np.uint32(far % (1 << 32)) for far in NEAR])
    floats = np.concatenate([floats, np.random.default_rng(7).integers(0, 1 << 32, 1 << 16, np.uint32)])
    floats = floats.view(np.float32)
    found = over(floats, "float", np.uint16, half_precision.narrowed, lanes)
    with np.errstate(all="ignore"):
        expected = floats.astype(np.float16).view(np.uint16)
    numbers = ~np.isnan(floats)
    np.testing.assert_array_equal(found[numbers], expected[numbers])
    bits = floats[~numbers].view(np.uint32)
    np.testing.assert_array_equal(
        found[~numbers], (bits >> 16 & 0x8000 | 0x7E00 | bits >> 13 & 0x3FF).astype(np.uint16)
    )
