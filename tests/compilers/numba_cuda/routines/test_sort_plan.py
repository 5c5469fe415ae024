"""Sorting in the simulator, to the bit what the primitives mean: by networks, and by digits."""

import re

import ml_dtypes
import numpy as np
import pytest

from emulated_gpu.opaque_operations import on_device, on_processor, run
from graph_comparison.compiled_graphs import inputs, make
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.routines import routine_table, sort_kernels, sort_plan
from nxkernel.compilers.numba_cuda.toolchain import object_code

ORDERED = [type_ for type_ in types.TYPES.values() if not type_.is_complex]


@pytest.fixture
def device():
    devices.use_simulator()
    yield devices.device()
    devices.reset()


@pytest.fixture
def digits(monkeypatch):
    """Every row is sorted by digits, in small parts."""
    monkeypatch.setattr(sort_plan, "SHORT", 0)
    monkeypatch.setattr(sort_plan, "PART", 40)


def numbers(type_, shape):
    """Numbers of the whole range and many that are equal; of floats all that is special as well."""
    rng = np.random.default_rng(0)
    if type_ is types.bool_:
        return rng.random(shape) < 0.5
    few = rng.random(shape) < 0.3
    if type_.is_integer:
        low, high = types.limits(type_)
        found = rng.integers(low, high, shape, type_.dtype, endpoint=True)
        return np.where(few, rng.integers(0, 5, shape).astype(type_.dtype), found)
    info = ml_dtypes.finfo(type_.dtype)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, 1, -2], type_.dtype)
    special = np.append(special, [info.tiny, -info.tiny, info.max, info.smallest_subnormal])
    return np.where(few, rng.choice(special, shape), rng.standard_normal(shape).astype(type_.dtype)).astype(type_.dtype)


def check(device, x, axis, direction, index=types.s64):
    """Both primitives give what they mean, to the bit."""
    for primitive, more in ((p.sort, {}), (p.argsort, {"type": index})):
        params = {"axis": axis, "direction": direction, **more}
        node = make(primitive, *inputs(x), **params)
        found, expected = on_device(device, primitive, x, **params), MEANING[primitive](node.spec, x, **params)
        bits = f"u{expected.itemsize}"
        np.testing.assert_array_equal(found.view(bits), expected.view(bits))


def launches(device, shape, primitive=p.sort, type_="f32", **params):
    params = {"axis": len(shape) - 1, "direction": "asc", **params}
    node = make(primitive, *inputs(np.zeros(shape, types.normalize(type_).dtype)), **params)
    routine = routine_table.routine_of(node)
    return routine.launches(device), routine.scratch


@pytest.mark.sampled(every=6, lane="simulator")
@pytest.mark.parametrize("type_", ORDERED, ids=str)
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_networks(device, type_, direction):
    for shape, axis in (((1,), 0), ((70, 2), 1), ((5, 33), 1), ((9, 20), 0), ((2, 5, 3), 1), ((129,), 0)):
        check(device, numbers(type_, shape), axis, direction)


#: Downwards, keys are turned around; that is the same for all wide types.
DOWNWARDS = [type_ for type_ in ORDERED if type_.bits <= 16 or type_ is types.f32]


@pytest.mark.slow
@pytest.mark.sampled(every=10, lane="simulator")
@pytest.mark.sampled(every=2, lane="fuzz")
@pytest.mark.parametrize(
    ("direction", "type_"), [*[("asc", each) for each in ORDERED], *[("desc", each) for each in DOWNWARDS]]
)
def test_digits(device, digits, type_, direction):
    # Each digit of each row costs the simulator some 50 ms.
    for shape in ((320,), (25, 3)) if type_.bits < 32 else ((90,),):
        check(device, numbers(type_, shape), 0, direction)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("index", [types.u8, types.s32, types.u64], ids=str)
def test_types_of_indices(device, digits, monkeypatch, index):
    check(device, numbers(types.s8, (200,)), 0, "desc", index)
    monkeypatch.setattr(sort_plan, "SHORT", 2048)
    check(device, numbers(types.s8, (200,)), 0, "desc", index)


def test_rows_with_more_elements_than_32_bits_count(device, digits):
    (count, offsets, move, *_), _ = launches(device, (1 << 32,), p.argsort, "u8", type=types.s64)
    assert [each.source.parameters[1] for each in (count, move)] == ["u64*", "u64*"]
    assert offsets.source.parameters[0] == "u64*"
    # Such a row is too much for a test; the kernels are the same for a short one.
    order = sort_kernels.DeviceOrder(types.u8, False, types.s64, types.u64)
    x = numbers(types.u8, (90,))
    node = make(p.argsort, *inputs(x), axis=0, direction="asc", type=types.s64)
    rows = sort_plan._SortLaunches(node, "", order, 1, 90, 1)
    scratch, given, made = device.allocate((rows.scratch,), "u1"), device.upload(x), device.allocate((90,), "i8")
    run(device, rows.by_digits(device), {node.operands[0]: given, node: made, None: scratch})
    np.testing.assert_array_equal(made.host(), np.argsort(x, stable=True))


@pytest.mark.slow
def test_blocks_take_what_the_grid_leaves_over(device, digits, monkeypatch):
    monkeypatch.setattr(sort_plan, "MOST_BLOCKS", 2)
    check(device, numbers(types.u16, (2, 400)), 1, "asc")
    monkeypatch.setattr(sort_plan, "SHORT", 2048)
    monkeypatch.setattr(sort_plan, "_SHARED", 64)
    check(device, numbers(types.u16, (9, 30)), 1, "asc")


@pytest.mark.slow
def test_blocks_of_a_real_size(device, digits, monkeypatch):
    monkeypatch.setattr(type(device), "threads", 1024)
    monkeypatch.setattr(sort_plan, "PART", 3000)
    x = numbers(types.s8, (5003,))
    params = {"axis": 0, "direction": "asc", "type": types.s32}
    np.testing.assert_array_equal(on_device(device, p.argsort, x, **params), np.argsort(x, stable=True))
    monkeypatch.setattr(sort_plan, "SHORT", 2048)
    x = numbers(types.s64, (30, 70))
    np.testing.assert_array_equal(on_device(device, p.sort, x, axis=1, direction="asc"), np.sort(x))


@pytest.mark.simulator
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_machine_code(monkeypatch, direction):
    """Threads that run at the same time, as those of the simulator do not."""
    for type_, shape, short in ((types.f32, (40, 9), 2048), (types.bf16, (900, 1), 0), (types.s8, (1100, 1), 0)):
        monkeypatch.setattr(sort_plan, "SHORT", short)
        monkeypatch.setattr(sort_plan, "PART", 600)
        x = numbers(type_, shape)
        params = {"axis": 0, "direction": direction, "type": types.s64}
        node = make(p.argsort, *inputs(x), **params)
        expected = MEANING[p.argsort](node.spec, x, **params)
        np.testing.assert_array_equal(on_processor(p.argsort, x, **params), expected)


def test_short_rows_share_a_block(device):
    (launch,), scratch = launches(device, (5000, 9))
    assert (launch.scalars, launch.grid, scratch) == ((9, 1, 16, 64, 5000), (79,), 0)
    assert launch.title == "sort of 5000 x 9 x 1 by a network of comparisons"


def test_long_rows_are_sorted_digit_by_digit(device):
    made, scratch = launches(device, (1 << 20,))
    assert [launch.source.name for launch in made] == ["sort_count", "sort_offsets", "sort_move"] * 8
    # Two times keys and places of four bytes, and counts of sixteen digits in each part.
    assert scratch == 4 * (4 << 20) + 4 * 16 * 256
    assert made[0].title == "sort of 1 x 1048576 x 1, digit 1 of 8: count"
    _, scratch = launches(device, (1 << 20,), type_="s32")
    assert scratch == 2 * (4 << 20) + 4 * 16 * 256
    assert len(launches(device, (1 << 20,), type_="bool")[0]) == 3


def test_nothing_is_launched_for_no_elements(device):
    assert launches(device, (4, 0)) == ([], 0)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_kernels_compile(arch):
    floats = sort_kernels.DeviceOrder(types.f32, True, None)
    places = sort_kernels.DeviceOrder(types.f64, False, types.s64, types.u64)
    whole = sort_kernels.DeviceOrder(types.s16, False, None)
    sources = [sort_kernels.network(order) for order in (floats, places, whole)]
    sources += [sort_kernels.count(floats, True), sort_kernels.count(places, False), sort_kernels.offsets(types.u32)]
    sources += [sort_kernels.move(floats, False, True), sort_kernels.move(places, True, False)]
    sources += [sort_kernels.move(whole, True, True), sort_kernels.move(places, False, False)]
    for source in sources:
        text = object_code.ptx(source, arch)
        assert f".entry {source.symbol}(" in text
        assert shared_bytes(text) <= 48 << 10


def shared_bytes(text):
    """Bytes of shared memory that a kernel has from the start."""
    return sum(map(int, re.findall(r"^\.shared .*\[(\d+)\];$", text, re.MULTILINE)))
