"""Every primitive by the machine code of its kernels, whose threads run on this machine's processor."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulated_gpu.kernels_on_host import HostKernel
from emulated_gpu.simulator import Simulation, compare, make_small
from lanes.fuzzing import patient, repeat
from nxkernel.backends.cuda.launching import DeviceKernel, pointers
from nxkernel.backends.cuda.simulated_device import SimulatedDevice
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.toolchain import object_code
from random_primitives import CASES, Drawn, Surroundings

#: Programs of one primitive alone that are drawn in a run of all tests.
FEW = 1
_kernels = {}


@pytest.fixture
def simulation(monkeypatch):
    """A simulated device that runs machine code."""

    def load(device, source, code=None, names=None):
        if source.symbol not in _kernels:
            _kernels[source.symbol] = HostKernel(source)
        return DeviceKernel(source, _kernels[source.symbol], None, pointers(source.parameters))

    object_code.forget()
    monkeypatch.setattr(SimulatedDevice, "load", load)
    yield Simulation(monkeypatch.setattr)
    object_code.forget()


def check(primitive, draw, simulation):
    """Draw a case of a primitive, in surroundings; compare what it gives."""
    choose = Drawn(draw)
    case = CASES[primitive](choose)
    around = Surroundings(choose, case)
    expected = registry.get("evaluator").compile(around.graph).run(around.arrays)
    with pytest.MonkeyPatch.context() as patch:
        if choose.chance(50):
            make_small(patch.setattr)
        found = simulation.run(simulation.compile(around.graph), around.arrays)
    for want, got in zip(expected, found, strict=True):
        compare(got, want, case)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("primitive", CASES, ids=str)
def test_a_primitive(primitive, simulation):
    @settings(patient, max_examples=FEW)
    @given(st.data())
    def run(data):
        check(primitive, data.draw, simulation)

    run()


@pytest.mark.fuzz
def test_every_primitive_for_long(simulation):
    def of(primitive):
        return lambda data: check(primitive, data.draw, simulation)

    assert repeat(*map(of, CASES), examples=20)
