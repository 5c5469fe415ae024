"""Products of matrices on devices: how cuBLAS is asked for them, and what they give."""

import numpy as np
import pytest

from emulated_gpu.library_calls import Gpu, install
from graph_comparison.compiled_graphs import inputs, make
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.cuda import devices
from nxkernel.compilers.analysis import matrix_products
from nxkernel.compilers.numba_cuda.routines import library_products
from nxkernel.compilers.numba_cuda.routines.library_products import ProductCall

PLAIN = ((1,), (0,)), ((), ())
#: Shapes of both sides with the contracted and the batch axes, and the axes by which both are transposed before.
FORMS = {
    "plain": ((5, 7), (7, 6), *PLAIN, None, None),
    "left turned": ((7, 5), (7, 6), *PLAIN, (1, 0), None),
    "right turned": ((5, 7), (6, 7), *PLAIN, None, (1, 0)),
    "both turned": ((7, 5), (6, 7), *PLAIN, (1, 0), (1, 0)),
    "rows contracted": ((7, 5), (7, 6), ((0,), (0,)), ((), ()), None, None),
    "batch": ((3, 5, 7), (3, 7, 6), ((2,), (1,)), ((0,), (0,)), None, None),
    "batch inside": ((5, 3, 7), (3, 6, 7), ((2,), (1,)), ((0,), (0,)), (1, 0, 2), (0, 2, 1)),
    "depth of one": ((5, 1), (1, 6), *PLAIN, None, None),
}


@pytest.fixture(params=["simulator", "gpu"])
def device(request, monkeypatch):
    """A simulated device, as such, and with cuBLAS that computes on the host."""
    devices.use_simulator()
    found = devices.device()
    if request.param == "gpu":
        found = Gpu(found)
        found.blas = install(monkeypatch)
    yield found
    devices.reset()


def numbers(type_, shape, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(-8, 9, shape) / 4
    return (x + 1j * rng.integers(-8, 9, shape) if type_.is_complex else x).astype(type_.dtype)


def product_of(form, type_):
    """The product that a form is, and its inputs."""
    left, right, contract, batch, turn_left, turn_right = form
    arrays = numbers(type_, left, 1), numbers(type_, right, 2)
    parameters = inputs(*arrays)
    operands = [
        make(p.transpose, x, axes=axes) if axes else x
        for x, axes in zip(parameters, (turn_left, turn_right), strict=True)
    ]
    node = make(p.dot, *operands, contract=contract, batch=batch)
    bases = dict(zip(operands, parameters, strict=True))
    turned = [x.transpose(axes) if axes else x for x, axes in zip(arrays, (turn_left, turn_right), strict=True)]
    return matrix_products.product(node, bases.__getitem__), arrays, MEANING[p.dot](node.spec, *turned, **node.params)


def multiplied(device, product, arrays):
    left, right = map(device.upload, arrays)
    result = device.allocate(product.node.shape, product.type.dtype)
    ProductCall(product).run(device, left.pointer, right.pointer, result.pointer)
    return result.host()


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", sorted(library_products.TYPES, key=str), ids=str)
def test_products(device, form, type_):
    product, arrays, expected = product_of(FORMS[form], type_)
    # Quarters of small whole numbers: every sum is exact, in whatever order.
    np.testing.assert_array_equal(multiplied(device, product, arrays), expected)


@pytest.mark.parametrize("device", ["gpu"], indirect=True)
def test_large_batches_are_cut(device, monkeypatch):
    monkeypatch.setattr(library_products, "_MOST", 2)
    product, arrays, expected = product_of(FORMS["batch"], types.f32)
    np.testing.assert_array_equal(multiplied(device, product, arrays), expected)
    assert len(device.blas.products) == 2


@pytest.mark.parametrize("device", ["gpu"], indirect=True)
def test_numbers_are_as_exact_as_their_type(device):
    """f32 is not rounded to TF32, and halves are added up in f32, whatever others asked of the handle."""
    compute_32f, compute_tf32, compute_64f = 68, 77, 70
    for type_, computed, mode in (
        (types.f32, compute_32f, 0),
        (types.c64, compute_32f, 0),
        (types.bf16, compute_32f, 16),
        (types.f16, compute_32f, 16),
        (types.f64, compute_64f, 0),
        (types.c128, compute_64f, 0),
    ):
        product, arrays, _ = product_of(FORMS["plain"], type_)
        device.blas.mode = 3
        multiplied(device, product, arrays)
        assert device.blas.products[-1] == (computed, mode)
        assert device.blas.mode == 3
    product, arrays, _ = product_of(FORMS["plain"], types.f32)
    assert library_products.allow_tf32(True) is False
    multiplied(device, product, arrays)
    assert library_products.allow_tf32(False) is True
    assert device.blas.products[-1] == (compute_tf32, 0)


def test_halves_are_added_up_in_f32(device):
    product, arrays, _ = product_of(((2, 4096), (4096, 2), *PLAIN, None, None), types.bf16)
    ones = [np.ones_like(array) for array in arrays]
    # In bf16 a sum of ones would stay at 256.
    np.testing.assert_array_equal(multiplied(device, product, ones).astype(float), 4096)


@pytest.mark.parametrize("device", ["simulator"], indirect=True)
def test_products_are_captured(device):
    product, arrays, expected = product_of(FORMS["plain"], types.f32)
    left, right = map(device.upload, arrays)
    result = device.upload(np.zeros(product.node.shape, np.float32))
    call = ProductCall(product)
    graph = device.capture(lambda: call.run(device, left.pointer, right.pointer, result.pointer))
    assert not result.host().any()
    graph.launch()
    np.testing.assert_array_equal(result.host(), expected)


def test_titles():
    product, _, _ = product_of(FORMS["batch"], types.f16)
    assert ProductCall(product).title == "matrix product 3 x [5, 7] x [7, 6] of f16 by cuBLAS"
    product, _, _ = product_of(FORMS["plain"], types.f32)
    assert ProductCall(product).title == "matrix product [5, 7] x [7, 6] of f32 by cuBLAS"
