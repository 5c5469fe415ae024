"""Whole operations and products of matrices on a GPU, by our kernels and by NVIDIA's own libraries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulated_gpu.opaque_operations import on_device
from graph_comparison.compiled_graphs import inputs, make
from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.cuda import devices
from nxkernel.compilers.analysis import matrix_products
from nxkernel.compilers.numba_cuda.routines import library_products, routine_table
from nxkernel.compilers.numba_cuda.routines.library_products import ProductCall
from random_primitives import CASES, REFERENCES, Drawn, compare

pytestmark = pytest.mark.cuda

ORDERED = [type_ for type_ in types.TYPES.values() if not type_.is_complex]
WHOLE = sorted((row for row in p.TABLE.values() if row.family in ("cumulative", "sorting", "library")), key=str)
#: Those of which there is more than one result that is right.
AMBIGUOUS = {p.lu, p.qr, p.eigh, p.svd}


@pytest.fixture(scope="module")
def gpu():
    if devices.simulating() or not devices.count():
        pytest.skip("no NVIDIA GPU here")
    return devices.device()


@pytest.mark.parametrize("primitive", [row for row in WHOLE if row is not p.njit_call], ids=str)
def test_whole_operations(gpu, primitive):
    @settings(patient, max_examples=60)
    @given(st.data())
    def run(data):
        case = CASES[primitive](Drawn(data.draw))
        results = on_device(gpu, primitive, *case.arrays, **case.params)
        if primitive not in AMBIGUOUS:
            node = make(primitive, *inputs(*case.arrays), **case.params)
            compare(results, MEANING[primitive](node.spec, *case.arrays, **case.params), case)
        with np.errstate(all="ignore"):
            REFERENCES[primitive](case, results)

    run()


@pytest.mark.parametrize("type_", ORDERED, ids=str)
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize(("shape", "axis"), [((3_000_001,), 0), ((7, 20_001), 1), ((5_003, 9), 0), ((3000, 700), 1)])
def test_large_sorts(gpu, type_, direction, shape, axis):
    rng = np.random.default_rng(0)
    x = rng.integers(-100, 100, shape).astype(np.float32)
    if type_.is_float:
        x[rng.random(shape) < 0.01] = np.nan
        x = x * rng.choice([1, 0, -0.0, 1e-3], shape)
    x = (x != 0) if type_ is types.bool_ else np.abs(x) if type_.kind == "u" else x
    x = x.astype(type_.dtype)
    for primitive, more in ((p.sort, {}), (p.argsort, {"type": types.s64})):
        params = {"axis": axis, "direction": direction, **more}
        node = make(primitive, *inputs(x), **params)
        expected, bits = MEANING[primitive](node.spec, x, **params), f"u{node.type.size}"
        np.testing.assert_array_equal(on_device(gpu, primitive, x, **params).view(bits), expected.view(bits))


@pytest.mark.parametrize("type_", [types.f32, types.f64, types.s32, types.u8, types.bf16], ids=str)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((3_000_001,), 0), ((7, 20_001), 1), ((5_003, 9), 0), ((3000, 700), 1)])
def test_large_scans(gpu, type_, reverse, shape, axis):
    rng = np.random.default_rng(0)
    x = rng.choice([-1, 0, 1], shape).astype(type_.dtype)
    for primitive in (p.cumulative_sum, p.cumulative_max, p.cumulative_min):
        params = {"axis": axis, "reverse": reverse}
        node = make(primitive, *inputs(x), **params)
        found = on_device(gpu, primitive, x, **params)
        np.testing.assert_array_equal(found, MEANING[primitive](node.spec, x, **params))


def test_scans_have_the_same_bits_each_time(gpu):
    x = np.random.default_rng(0).standard_normal(5_000_000).astype(np.float32)
    found = {on_device(gpu, p.cumulative_sum, x, axis=0, reverse=False).tobytes() for _ in range(5)}
    assert len(found) == 1


@pytest.mark.parametrize("type_", sorted(library_products.TYPES, key=str), ids=str)
@pytest.mark.parametrize("batch", [1, 3])
def test_products(gpu, type_, batch):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((batch, *shape)) for shape in ((130, 257), (65, 257))]
    arrays = [(x + 1j * x[:, ::-1] if type_.is_complex else x).astype(type_.dtype) for x in arrays]
    left, right = inputs(*arrays)
    node = make(p.dot, left, right, contract=((2,), (2,)), batch=((0,), (0,)))
    product = matrix_products.product(node, lambda operand: operand)
    given, made = [gpu.upload(x) for x in arrays], gpu.allocate(node.shape, type_.dtype)
    ProductCall(product).run(gpu, given[0].pointer, given[1].pointer, made.pointer)
    wide = np.complex128 if type_.is_complex else np.float64
    expected = arrays[0].astype(wide) @ arrays[1].astype(wide).swapaxes(1, 2)
    # Products of f32 that were rounded to TF32 would be off by a thousandth.
    size = {types.f64: 1e-13, types.c128: 1e-13, types.f16: 2e-2, types.bf16: 2e-1}.get(type_, 5e-5)
    np.testing.assert_allclose(made.host().astype(wide), expected, rtol=size / 10, atol=size)


def test_products_may_be_captured(gpu):
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    left, right = inputs(x, x)
    call = ProductCall(
        matrix_products.product(make(p.dot, left, right, contract=((1,), (0,)), batch=((), ())), lambda o: o)
    )
    given, made = gpu.upload(x), gpu.allocate(x.shape, x.dtype)
    call.run(gpu, given.pointer, given.pointer, made.pointer)
    expected = made.host()
    made = gpu.upload(np.zeros_like(x))
    try:
        graph = gpu.capture(lambda: call.run(gpu, given.pointer, given.pointer, made.pointer))
    except NotImplementedError as error:
        pytest.skip(f"this release of CuPy captures no products, and programs run them one by one: {error}")
    graph.launch()
    assert made.host().tobytes() == expected.tobytes()


@pytest.mark.parametrize("type_", ["f32", "c128"])
def test_singular_matrices_have_nan(gpu, type_):
    dtype = types.normalize(type_).dtype
    good, bad = np.array([[2, 1], [1, 3]], dtype), np.array([[1, 2], [2, 4]], dtype)
    for a, expected in ((np.stack([good, bad, good]), [False, True, False]), (bad, [True]), (good, [False])):
        found = on_device(gpu, p.inverse, a).reshape(-1, 4)
        assert np.isnan(found).all(axis=-1).tolist() == expected
        values = on_device(gpu, p.determinant, a).reshape(-1)
        np.testing.assert_allclose(values, np.where(expected, 0, 5), rtol=1e-5)


def test_what_is_not_finite_has_no_factors(gpu):
    a = np.stack([np.eye(3, dtype="f8"), np.full((3, 3), np.nan)])
    for primitive, params in ((p.eigh, {}), (p.svd, {"full_matrices": True})):
        for found in on_device(gpu, primitive, a, **params):
            assert np.isnan(found.reshape(2, -1)).all(axis=-1).tolist() == [False, True]
    assert np.isnan(on_device(gpu, p.cholesky, a).reshape(2, -1)).all(axis=-1).tolist() == [False, True]


@pytest.mark.simulator
@pytest.mark.parametrize("rows", [40, 300])
def test_many_large_matrices(gpu, rows):
    a = np.random.default_rng(0).standard_normal((3, rows, rows))
    a = a @ a.swapaxes(1, 2) + rows * np.eye(rows)
    for primitive, *more in ((p.cholesky,), (p.inverse,), (p.solve, a[..., :5].copy()), (p.determinant,)):
        node = make(primitive, *inputs(a / rows, *more))
        found, expected = on_device(gpu, primitive, a / rows, *more), MEANING[primitive](node.spec, a / rows, *more)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    values, vectors = on_device(gpu, p.eigh, a)
    np.testing.assert_allclose(a @ vectors, vectors * values[:, None], rtol=1e-8, atol=1e-8 * rows)


def test_every_library_is_asked(gpu):
    routine_table.routine_of(make(p.inverse, *inputs(np.eye(2))))
    assert set(routine_table.LIBRARIES) == {row for row in WHOLE if row.family == "library"} - {p.njit_call}
