"""Tests of devices run on simulated ones."""

import pytest

from nxkernel.backends.cuda import devices


@pytest.fixture
def device():
    """The first of two simulated devices."""
    devices.use_simulator()
    yield devices.device()
    devices.device().limit_memory(None)
    devices.reset()
