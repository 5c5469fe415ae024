"""What a captured array is like."""

from nxkernel.definitions.captures.captured_array import ON_DEVICE, CapturedArray
from nxkernel.primitives import Spec
from nxkernel.types import f32

SPEC = Spec(f32, (2,), (None,))


def test_what_is_expected_of_another_value():
    assert CapturedArray("w", SPEC, lambda: None).expected == (SPEC, (2,), f32.dtype)
    assert CapturedArray("w", SPEC, lambda: None, on_device=True).expected == ((ON_DEVICE, SPEC), None, None)
