"""The steps of programs for GPUs, one by one."""

import dataclasses

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import passes
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.program.host_steps import (
    Address,
    CopyStep,
    FillStep,
    HostArithmetic,
    HostOperation,
    LaunchStep,
    LibraryCallStep,
    LiveScalar,
    ProgramRun,
    do_all,
    part_of,
    verify_kernels,
    verify_program,
)
from nxkernel.compilers.numba_cuda.toolchain.object_code import loaded
from nxkernel.errors import VerificationError
from nxkernel.transforms.simplify import simplify


@pytest.fixture
def memory(device):
    """32 bytes of the device, with their numbers in them."""
    return device.upload(np.arange(32, dtype=np.uint8))


def run_on(device, memory, *values, watch=None):
    return ProgramRun(device, [memory.pointer, memory.pointer + 16], list(values), watch)


def test_memory_is_filled_and_copied(device, memory):
    run = run_on(device, memory)
    do_all([FillStep("fill", Address(0, 2), 7, 3), CopyStep("copy", Address(1), Address(0, 1), 4)], run)
    found = memory.host()
    assert found[:6].tolist() == [0, 1, 7, 7, 7, 5]
    assert found[16:21].tolist() == [1, 7, 7, 7, 20]


def test_a_copy_to_the_same_place_is_none(device, memory, monkeypatch):
    monkeypatch.setattr(device, "copy", None)
    do_all(
        [CopyStep("copy", Address(1), Address(0, 16), 4), CopyStep("copy", Address(1), Address(0), 0)],
        run_on(device, memory),
    )


def test_a_launch_takes_pointers_and_numbers_of_the_host(device, memory):
    text = "def put(p, i, re, im):\n    p[i] = re + im\n"
    launch = KernelLaunch(KernelSource("put", text, ("f32*", "s64", "f32", "f32")), (), [1, 0, 0], (1,), (1,))
    step = LaunchStep("put", launch, [Address(1, 4)], [LiveScalar(2, 0, 0), LiveScalar(3, 0, 1)])
    (kernel,) = loaded(device, [launch.source])
    step.prepare(device, kernel.kernel)
    for number in (1 + 2j, 5 - 1j):
        step.do(run_on(device, memory, np.complex64(number)))
        assert memory.part(24, (1,), np.float32).host()[0] == number.real + number.imag


def test_a_call_of_a_library_gets_arrays(device, memory):
    class Routine:
        def run(self, on, operands, results, scratch):
            assert on is device
            assert results[0] is None
            device.write(results[1].pointer, operands[0].host() * 2)
            assert (scratch.shape, scratch.pointer) == ((4,), memory.pointer + 16)

    bytes_ = spec("u8", 4)
    step = LibraryCallStep(
        "twice", Routine(), [(bytes_, Address(0))], [None, (bytes_, Address(0, 8))], (bytes_, Address(1))
    )
    step.do(run_on(device, memory))
    assert memory.host()[8:12].tolist() == [0, 2, 4, 6]
    assert not step.capturable
    step.routine.capturable = True
    assert step.capturable


def test_numbers_of_the_host(device, memory):
    run = run_on(device, memory, np.int64(3), None, None)
    step = HostArithmetic([(1, np.add, [0, np.int64(4)]), (2, np.multiply, [1, 1])])
    do_all([step], run)
    assert run.values == [3, 7, 49]
    assert run.now is step


def test_what_is_watched_is_what_the_device_does(device, memory):
    seen = []
    steps = [HostArithmetic([HostOperation(0, np.int64, [np.int64(1)])]), FillStep("fill", Address(0), 1, 1)]
    do_all(steps, run_on(device, memory, None, watch=lambda step, run: seen.append(step)))
    assert seen == steps[1:]
    assert memory.host()[0] == 0


def test_parts_of_numbers():
    assert (part_of(3, None), part_of(1 + 2j, 0), part_of(1 + 2j, 1)) == (3, 1.0, 2.0)


# Programs that are damaged on purpose ----------------------------------------------------------------------------


@pytest.fixture
def program(device):
    """A program of one launch, on the device."""
    made = []
    with passes.watched(lambda one, form: made.append(form) if one.name == "kernels" else None):
        registry.get("numba_cuda").compile(simplify(graph_of(lambda x: nx.exp(x) * 2, spec("f32", 1000))))
    return made[-1]


def launch_with(**changes):
    def damage(ready):
        (step,) = ready.program.launched
        step.launch = dataclasses.replace(step.launch, **changes)

    return damage


def step_with(name, value):
    def damage(ready):
        (step,) = ready.program.launched
        setattr(step, name, value)

    return damage


PROGRAMS, KERNELS = (lambda ready, after: verify_program(ready.program, after)), verify_kernels
DAMAGE = {
    "an address too few": (
        PROGRAMS, step_with("places", [(3, 0)]), "expected addresses for 2 pointers, which come first, found 1",
    ),
    "a scalar too many": (PROGRAMS, launch_with(scalars=[1, 2, 3]), "expected 2 scalar parameters, found 3"),
    "a register that there is not": (
        PROGRAMS, step_with("places", [(3, 0), (99, 0)]), "found 0 bytes behind register 99",
    ),
    "an address before memory": (PROGRAMS, step_with("places", [(3, 0), (4, -8)]), "found -8 bytes behind register 4"),
    "a number in a pointer": (PROGRAMS, step_with("numbers", [(0, 0, None)]), "found number 0 in argument 0"),
    "no threads": (PROGRAMS, launch_with(block=(0,)), "blocks of up to 1024 threads, found a grid "),
    "too many threads": (PROGRAMS, launch_with(block=(64, 32)), "of blocks (64, 32)"),
    "too many blocks": (
        PROGRAMS, launch_with(grid=(1, 65536)),
        "expected up to 65535 blocks along all axes but the first, found a grid",
    ),
    "another source": (
        PROGRAMS, launch_with(source=KernelSource("other", "def f(p): pass", ("f32*", "f32*", "s64", "f32"))),
        "launch 0, other: expected a source with a function of that name, found def f(p): pass",
    ),
    "no kernel": (KERNELS, step_with("prepared", None), "expected a kernel on the device, found none"),
    "too few arguments": (
        KERNELS, launch_with(source=KernelSource("long", "def long", ("f32*",) * 9)), "expected 9 arguments, found 4",
    ),
}  # fmt: skip


def test_programs_as_they_are_written_are_well_formed(program):
    PROGRAMS(program, "a pass")
    KERNELS(program, "a pass")


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind, program):
    check, damage, text = DAMAGE[kind]
    damage(program)
    with pytest.raises(VerificationError) as error:
        check(program, "a pass")
    assert str(error.value).startswith("after the pass 'a pass': launch 0, ")
    assert text in str(error.value)
