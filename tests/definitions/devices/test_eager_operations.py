"""Primitives on tensors of a device run there, and give what they give on the host."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.public_functions import OF_TENSORS, arguments
from nxkernel.backends.cuda import devices
from nxkernel.definitions.devices import eager_operations
from nxkernel.errors import CompilationError, NxTypeError, NxValueError, TracedValueError


@pytest.fixture(autouse=True)
def _simulated(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 2)


def pair(values, type_="f32", names=None):
    tensor = nx.tensor(values, type=type_, names=names)
    return tensor, nx.backend_copy(tensor, "cuda:0")


@pytest.mark.parametrize(
    "function",
    [
        nx.exp,
        lambda t: t * 2 + 0.5,
        lambda t: 1 / t,
        lambda t: t > 2,
        lambda t: nx.sum(t, axes=[0]),
        lambda t: nx.argmax(t, axis=1),
        lambda t: t[1],
        lambda t: t[:, 1:],
        lambda t: nx.take(t, nx.tensor([1, 0]), axis=1),
        lambda t: nx.transpose(t) @ t,
        lambda t: nx.select(t > 2, t, 0.0),
        lambda t: nx.concatenate([t, t * 0], axis=1),
        lambda t: nx.sort(t, axis=1, direction="desc"),
        lambda t: nx.as_type(t, "s32"),
        lambda t: nx.devectorize(nx.vectorize(t, "v") + nx.vectorize(nx.tensor([1.0, 2.0]), "w")),
        lambda t: nx.reduce_max(nx.vectorize(t, "v")),
        lambda t: nx.fill(t, 3),
        lambda t: nx.pad(t, 0.0, [(1, 0, 0), (0, 0, 1)]),
        lambda t: nx.linalg.norm(t),
        lambda t: np.tanh(t),
        lambda t: t // 2 + t % 2,
    ],
)
def test_as_on_the_host(function):
    tensor, there = pair([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], names=["row", None])
    expected, found = function(tensor), function(there)
    assert (found.device, found.spec) == ("cuda:0", expected.spec)
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-6)


def _over(value):
    if isinstance(value, list) and any(isinstance(each, np.ndarray) for each in value):
        return [_over(each) for each in value]
    return nx.backend_copy(nx.tensor(value), "cuda:0") if isinstance(value, np.ndarray) else value


#: What reads memory of the host, or is computed there.
_ON_HOST = {"from_dlpack", "linalg.eig", "linalg.sqrtm"}


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("name", sorted(name for name in OF_TENSORS.keys() - _ON_HOST if arguments(name)[0]))
def test_a_public_function_stays_on_the_device(name):
    given, options = arguments(name)
    there = [_over(value) for value in given]
    moved = any(one is not other for one, other in zip(given, there, strict=True))
    found, expected = (OF_TENSORS[name](*values, **options) for values in (there, given))
    several = isinstance(expected, tuple | list)
    for left, right in zip(found if several else [found], expected if several else [expected], strict=True):
        assert left.spec == right.spec
        np.testing.assert_allclose(left.to_numpy(), right.to_numpy(), rtol=1e-5, atol=1e-5)
        assert left.device == ("cuda:0" if moved else "cpu")


def test_several_results():
    tensor, there = pair([[2.0, 1.0], [1.0, 3.0]])
    found = nx.linalg.qr(there)
    assert [each.device for each in found] == ["cuda:0", "cuda:0"]
    for each, expected in zip(found, nx.linalg.qr(tensor), strict=True):
        np.testing.assert_allclose(each.to_numpy(), expected.to_numpy(), atol=1e-6)


def test_a_key_on_a_device_draws_the_same_numbers_there():
    key = nx.random.key(3)
    there = nx.backend_copy(key, "cuda:1")
    samples, after = nx.random.uniform(there, shape=(4,))
    expected, key_after = nx.random.uniform(key, shape=(4,))
    assert (samples.device, after.device) == ("cuda:1", "cuda:1")
    assert (samples.to_list(), after.to_list()) == (expected.to_list(), key_after.to_list())


def test_one_number_in_all_elements_goes_over_alone(monkeypatch):
    _, there = pair(np.ones((8, 8)))
    uploads = []
    upload = type(there.array.device).upload
    monkeypatch.setattr(
        type(there.array.device), "upload", lambda self, array: uploads.append(array.shape) or upload(self, array)
    )
    eager_operations.clear()
    assert (there * 3.0).to_numpy().sum() == 192
    assert (there * 3.0).to_numpy().sum() == 192
    assert uploads == [()]


def test_programs_are_kept():
    _, there = pair([1.0, 2.0])
    eager_operations.clear()
    for number in (1.0, 2.0, 3.0):
        nx.exp(there * number)
    assert len(eager_operations._programs) == 2
    nx.exp(nx.backend_copy(nx.tensor([1.0]), "cuda:0"))
    assert len(eager_operations._programs) == 3


def test_parameters_that_text_does_not_tell_apart():
    tensor, there = pair([[1.0, 2.0], [3.0, 4.0]])
    eager_operations.clear()
    for _ in range(2):
        for function in (lambda a, b: a + b, lambda a, b: a * b):
            expected = nx.reduce(tensor, 1.0, function, axes=[1])
            assert nx.reduce(there, 1.0, function, axes=[1]).to_list() == expected.to_list()
    assert len(eager_operations._programs) == 2


def test_what_is_refused():
    _, there = pair([1.0, 2.0])
    other = nx.backend_copy(nx.tensor([1.0, 2.0]), "cuda:1")
    with pytest.raises(NxValueError) as error:
        there + other
    assert str(error.value) == (
        "add got tensors on two devices: a f32[2] is on cuda:0, a f32[2] on cuda:1.\n"
        '  Bring them together first: nx.backend_transfer(t, "cuda:0").'
    )
    with pytest.raises(NxTypeError, match="has no data"):
        nx.add(there, nx.template((2,), "f32"))
    leaked = []
    nx.jit(lambda t: leaked.append(t) or t)(nx.tensor([1.0, 2.0]))
    with pytest.raises(TracedValueError, match="is used after its definition was traced"):
        nx.add(there, leaked[0])


def test_functions_of_numba_are_refused():
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    _, there = pair([1.0, 2.0])
    with pytest.raises(
        CompilationError, match=r"has no code for the function <lambda>, which Numba compiled, of f32\[2\]"
    ) as error:
        nx.njit_map(numba.njit(lambda x: x + 1), there)
    assert str(error.value).endswith("\n  Bring the tensors to the host first: nx.backend_copy(t).")
