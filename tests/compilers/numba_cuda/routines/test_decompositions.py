"""Linear algebra on a GPU: what cuBLAS and cuSOLVER are asked for, with LAPACK in their place."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulated_gpu.library_calls import CHARS, Blas, Gpu, Solver, install
from emulated_gpu.opaque_operations import on_device
from graph_comparison.compiled_graphs import inputs, make
from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.routines import library_products
from nxkernel.compilers.numba_cuda.routines.routine_table import LIBRARIES, routine_of
from random_primitives import CASES, REFERENCES, Drawn, compare

DECOMPOSED = [p.cholesky, p.triangular_solve, p.solve, p.inverse, p.determinant, p.lu, p.qr, p.eigh, p.svd]
#: Those of which there is more than one result that is right.
AMBIGUOUS = {p.lu, p.qr, p.eigh, p.svd}


@pytest.fixture
def gpu(monkeypatch):
    """A simulated device that is taken for a GPU, whose libraries compute on the host."""
    devices.use_simulator()
    install(monkeypatch)
    yield Gpu(devices.device())
    devices.reset()


def check(device, primitive, draw):
    case = CASES[primitive](Drawn(draw))
    results = on_device(device, primitive, *case.arrays, **case.params)
    node = make(primitive, *inputs(*case.arrays), **case.params)
    for spec, found in zip(*(x if type(node.spec) is tuple else (x,) for x in (node.spec, results)), strict=True):
        assert (found.dtype, found.shape) == (spec.type.dtype, spec.shape)
    if primitive not in AMBIGUOUS:
        compare(results, MEANING[primitive](node.spec, *case.arrays, **case.params), case)
    with np.errstate(all="ignore"):
        REFERENCES[primitive](case, results)


@pytest.mark.sampled(every=5, lane="simulator")
@pytest.mark.parametrize("primitive", [*DECOMPOSED, p.fft], ids=str)
def test_libraries_give_what_primitives_mean(gpu, primitive):
    @settings(patient, max_examples=25)
    @given(st.data())
    def run(data):
        check(gpu, primitive, data.draw)

    run()


@pytest.mark.parametrize("primitive", [*DECOMPOSED, p.fft], ids=str)
def test_the_simulator_computes_by_meaning(primitive):
    devices.use_simulator()

    @settings(patient, max_examples=3)
    @given(st.data())
    def run(data):
        check(devices.device(), primitive, data.draw)

    run()
    devices.reset()


@pytest.mark.parametrize("type_", ["f32", "c128", "bf16"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_singular_matrices_have_nan(gpu, type_, batch):
    dtype = types.normalize(type_).dtype
    good, bad = np.array([[2, 1], [1, 3]], dtype), np.array([[1, 2], [2, 4]], dtype)
    a = np.stack([good, bad, good]) if batch else bad
    right = np.ones((*a.shape[:-1], 1), dtype)
    found = on_device(gpu, p.solve, a, right), on_device(gpu, p.inverse, a)
    for result in found:
        each = result.astype(complex).reshape(-1, result.shape[-2] * result.shape[-1])
        assert np.isnan(each).all(axis=-1).tolist() == ([False, True, False] if batch else [True])
    determinants = on_device(gpu, p.determinant, a).astype(complex).reshape(-1)
    np.testing.assert_allclose(determinants, [5, 0, 5] if batch else [0], rtol=1e-2 if type_ == "bf16" else 1e-6)


def test_determinants_of_large_and_small_numbers_stay_in_range(gpu):
    sizes = np.where(np.arange(40) % 2, 1e-30, 1e30)
    a = np.diag(sizes).astype(np.float32)[::-1].copy()
    expected = np.linalg.det(np.diag(np.ones(40))[::-1])
    np.testing.assert_allclose(on_device(gpu, p.determinant, a), expected, rtol=1e-5)


def test_what_is_not_finite_has_no_factors(gpu):
    """No iteration is begun on what is not finite: NumPy's would raise."""
    a = np.stack([np.eye(3, dtype="f8"), np.full((3, 3), np.nan)])
    for primitive, params in ((p.eigh, {}), (p.svd, {"full_matrices": False}), (p.svd, {"full_matrices": True})):
        for found in on_device(gpu, primitive, a, **params):
            assert np.isnan(found.reshape(2, -1)).all(axis=-1).tolist() == [False, True]
    # Only the lower triangle is read.
    a[1] = [[1, np.inf, 0], [0, 2, 0], [0, 0, 3]]
    assert on_device(gpu, p.eigh, a)[0].tolist() == [[1, 1, 1], [1, 2, 3]]


@pytest.mark.simulator
@pytest.mark.parametrize("size", [40, 300])
def test_many_large_matrices(gpu, size):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, size, size)).astype(np.float32)
    a = a @ a.swapaxes(1, 2) + size * np.eye(size, dtype=np.float32)
    root = on_device(gpu, p.cholesky, a)
    np.testing.assert_allclose(root @ root.swapaxes(1, 2), a, rtol=1e-3, atol=1e-2)
    right = a[..., :3].copy()
    solved = on_device(gpu, p.triangular_solve, root, right, lower=True, transform="none")
    np.testing.assert_allclose(root @ solved, right, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(a @ on_device(gpu, p.solve, a, right), right, rtol=1e-3, atol=1e-2)
    values, vectors = on_device(gpu, p.eigh, a)
    np.testing.assert_allclose(a @ vectors, vectors * values[:, None], rtol=1e-2, atol=0.05)
    packed, order = on_device(gpu, p.lu, a)
    lower, upper = np.tril(packed, -1) + np.eye(size), np.triu(packed)
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(a, order[..., None], 1), rtol=1e-3, atol=1e-2)


def test_results_that_nobody_needs_are_left_out(gpu):
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    node = make(p.eigh, *inputs(a))
    values = gpu.allocate((2,), np.float64)
    routine_of(node).run(gpu, [gpu.upload(a)], [values, None])
    np.testing.assert_allclose(values.host(), np.linalg.eigvalsh(a))


def test_titles_name_the_library():
    node = make(p.fft, *inputs(np.zeros((4, 8), np.complex64)), axes=(1,), inverse=False)
    routine = routine_of(node)
    assert (routine.title, routine.library, routine.scratch) == ("fft of c64[4][8] by cuFFT", "cuFFT", 0)
    assert not routine.capturable
    assert set(LIBRARIES) == {*DECOMPOSED, p.fft}


def test_calls_are_those_that_cupy_takes():
    """The names and the order of arguments are those of the wrappers; each is told by its documentation."""
    pytest.importorskip("cupy")
    try:
        from cupy_backends.cuda.libs import cublas, cusolver
    except ImportError:
        pytest.skip("NVIDIA's libraries are not installed here")
    for ours, theirs in ((Blas(), cublas), (Solver(), cusolver)):
        routines = [name for name in dir(ours) if name[0] in CHARS and name[1:4] in ("trs", "get", "pot")]
        names = [*routines, *(name for name in dir(ours) if "Ex" in name or "Math" in name)]
        assert len(names) >= 15
        for name in names:
            signature = getattr(theirs, name).__doc__.split("(", 1)[1].split(")")[0]
            expected = [argument.split()[-1] for argument in signature.split(",")]
            assert list(inspect.signature(getattr(ours, name)).parameters) == expected, name
        for name in (name for name in dir(ours) if name.startswith("CUBLAS_")):
            assert getattr(ours, name) == getattr(theirs, name)
    for name in ("COMPUTE_32F", "COMPUTE_32F_FAST_TF32", "COMPUTE_64F", "DEFAULT_MATH"):
        assert getattr(library_products, f"_{name}") == getattr(cublas, f"CUBLAS_{name}")
