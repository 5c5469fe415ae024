"""Cumulative sums, products and extremes in the simulator, in parts and from end to end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulated_gpu.opaque_operations import on_device, on_processor
from graph_comparison.compiled_graphs import inputs, make
from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.routines import cumulative_plan, routine_table, scan_kernels
from nxkernel.compilers.numba_cuda.toolchain import object_code
from random_primitives import CASES, Drawn, compare

SCANS = [p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min]
SHAPES = [((601,), 0), ((3, 270), 1), ((40, 3), 0), ((2, 33, 3), 1), ((1,), 0), ((4, 1), 1)]


@pytest.fixture
def device():
    devices.use_simulator()
    yield devices.device()
    devices.reset()


@pytest.fixture(params=["whole", "parts"])
def cut(request, monkeypatch):
    """Lines as they are, and cut into parts of few elements, so that there are more parts than threads."""
    if request.param == "parts":
        monkeypatch.setattr(cumulative_plan, "ROW_PART", 13)
        monkeypatch.setattr(cumulative_plan, "COLUMN_PART", 5)
    return request.param == "parts"


def launches(device, primitive, shape, type_="f32", **params):
    node = make(primitive, *inputs(np.zeros(shape, types.normalize(type_).dtype)), **params)
    return routine_table.routine_of(node).launches(device)


def exact(primitive, type_, shape, seed=0):
    """Numbers whose running totals are exact, whatever is added up first: small, or powers of two."""
    rng = np.random.default_rng(seed)
    x = rng.choice([0.5, -1, 1, 2], shape) if primitive is p.cumulative_product else rng.integers(-2, 3, shape)
    return np.array(x * (1j if type_.is_complex else 1)).astype(type_.dtype)


def check(device, primitive, x, **params):
    node = make(primitive, *inputs(x), **params)
    found = on_device(device, primitive, x, **params)
    np.testing.assert_array_equal(found, MEANING[primitive](node.spec, x, **params))


@pytest.mark.sampled(every=30, lane="simulator")
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("primitive", SCANS, ids=str)
@pytest.mark.parametrize("type_", types.TYPES.values(), ids=str)
def test_scans(device, cut, primitive, type_):
    if type_.is_complex and primitive in (p.cumulative_max, p.cumulative_min):
        return
    # Every other type has every other shape from its end to its beginning.
    odd = list(types.TYPES.values()).index(type_) % 2
    for number, (shape, axis) in enumerate(SHAPES):
        check(device, primitive, exact(primitive, type_, shape), axis=axis, reverse=number % 2 == odd)


def test_blocks_of_a_real_size(device, monkeypatch):
    monkeypatch.setattr(type(device), "threads", 1024)
    monkeypatch.setattr(cumulative_plan, "ROW_PART", 3000)
    for shape, axis in (((7001,), 0), ((700, 5), 0)):
        check(device, p.cumulative_sum, exact(p.cumulative_sum, types.f32, shape), axis=axis, reverse=True)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("primitive", SCANS, ids=str)
def test_random_cases(device, cut, primitive):
    @settings(patient, max_examples=8)
    @given(st.data())
    def run(data):
        case = CASES[primitive](Drawn(data.draw))
        if case.arrays[0].size > 3000:
            return
        node = make(primitive, *inputs(*case.arrays), **case.params)
        found = on_device(device, primitive, *case.arrays, **case.params)
        compare(found, MEANING[primitive](node.spec, *case.arrays, **case.params), case)

    run()


@pytest.mark.simulator
@pytest.mark.parametrize("primitive", SCANS[:3], ids=str)
def test_machine_code(monkeypatch, primitive):
    """Threads that run at the same time, as those of the simulator do not."""
    monkeypatch.setattr(cumulative_plan, "ROW_PART", 900)
    for type_, shape in ((types.f32, (1701, 1)), (types.s8, (900, 1)), (types.bf16, (40, 3))):
        x = exact(primitive, type_, shape)
        node = make(primitive, *inputs(x), axis=0, reverse=True)
        expected = MEANING[primitive](node.spec, x, axis=0, reverse=True)
        np.testing.assert_array_equal(on_processor(primitive, x, axis=0, reverse=True), expected)


def test_rows_are_cut_where_there_are_few(device, cut):
    few = launches(device, p.cumulative_sum, (701,), axis=0, reverse=False)
    assert [launch.source.name for launch in few] == (["scan_totals"] if cut else []) + ["scan_rows"]
    many = launches(device, p.cumulative_sum, (600, 300), axis=1, reverse=False)
    assert [launch.source.name for launch in many] == ["scan_rows"]
    assert many[0].title == "cumulative sum of 600 x 300 x 1, from end to end"


def test_blocks_are_as_large_as_rows_ask_for(device, monkeypatch):
    monkeypatch.setattr(type(device), "threads", 1024)
    blocks = {n: launches(device, p.cumulative_sum, (600, n), axis=1, reverse=False)[0].block for n in (65, 300, 9000)}
    assert blocks == {65: (32,), 300: (64,), 9000: (256,)}


def test_many_short_rows_have_a_thread_each(device):
    (launch,) = launches(device, p.cumulative_sum, (600, 40), axis=1, reverse=False)
    assert launch.source.name == "scan_columns"
    check(device, p.cumulative_sum, exact(p.cumulative_sum, types.f32, (513, 5)), axis=1, reverse=True)


def test_parts_are_no_more_than_a_block_looks_back_at(device):
    first, second = launches(device, p.cumulative_sum, (1 << 28,), axis=0, reverse=False)
    assert first.grid == second.grid == (1024,)
    assert first.scalars == second.scalars == (1 << 28, 1024, 1 << 18, 1024)
    assert first.scratch == 4 * 1024


def test_products_of_floats_are_taken_in_order(device, cut):
    """Where the product of a part leaves the range of numbers, that of the line up to there need not."""
    x = np.full(300, 1e-3, np.float32)
    x[100:] = 1e3
    x[200:] = 1e-3
    found = on_device(device, p.cumulative_product, x, axis=0, reverse=False)
    node = make(p.cumulative_product, *inputs(x), axis=0, reverse=False)
    np.testing.assert_array_equal(found, MEANING[p.cumulative_product](node.spec, x, axis=0, reverse=False))


def test_sums_have_the_same_bits_each_time_and_in_any_grid(device, cut, monkeypatch):
    x = np.random.default_rng(0).standard_normal(2000).astype(np.float32)
    first = on_device(device, p.cumulative_sum, x, axis=0, reverse=False)
    monkeypatch.setattr(cumulative_plan, "MOST_BLOCKS", 2)
    assert on_device(device, p.cumulative_sum, x, axis=0, reverse=False).tobytes() == first.tobytes()


def test_nothing_is_launched_for_no_elements(device):
    assert launches(device, p.cumulative_sum, (0, 3), axis=0, reverse=False) == []


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_kernels_compile(arch):
    for name, type_ in (("max", types.bf16), ("multiply", types.u64)):
        scan = scan_kernels.ScanForm(name, type_, backwards=type_ is types.u64, in_order=False)
        sources = [scan_kernels.totals_of_rows(scan), scan_kernels.totals_of_columns(scan)]
        sources += [make(scan, cut) for make in (scan_kernels.rows, scan_kernels.columns) for cut in (False, True)]
        for source in sources:
            assert f".entry {source.symbol}(" in object_code.ptx(source, arch)
    product = scan_kernels.ScanForm("multiply", types.f64, False, True)
    complex_ = scan_kernels.ScanForm("multiply", types.c64, False, True)
    for source in (scan_kernels.rows(product, False), scan_kernels.columns(complex_, False)):
        assert f".entry {source.symbol}(" in object_code.ptx(source, arch)
