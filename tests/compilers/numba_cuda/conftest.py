"""Tests of the compiler for GPUs run on simulated devices."""

import pytest

from nxkernel.backends.cuda import devices


@pytest.fixture
def device(monkeypatch):
    """The first of two simulated devices."""
    monkeypatch.setattr(devices._Simulation, "count", 2)
    return devices.device()
