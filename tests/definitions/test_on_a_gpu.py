"""Tensors and definitions on a GPU, where there is one: what the simulator cannot show."""

import threading

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.public_functions import OF_TENSORS, arguments
from nxkernel.backends.cuda import availability
from nxkernel.errors import DeviceMemoryError
from nxkernel.tensor.device import DeviceTensor

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not availability.is_available(), reason="no NVIDIA GPU here"),
]


@pytest.fixture(autouse=True)
def _plain():
    with nx.global_default_options(compiler=None):
        yield


#: Vectors that are right with either sign.
EITHER_SIGN = {"linalg.eigh", "linalg.svd"}


def there(value):
    return nx.backend_copy(nx.tensor(value), "cuda:0") if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", sorted(name for name in OF_TENSORS.keys() - {"from_dlpack"} if arguments(name)[0]))
def test_a_public_function_gives_what_it_gives_on_the_host(name):
    given, options = arguments(name)
    found = OF_TENSORS[name](*map(there, given), **options)
    expected = OF_TENSORS[name](*given, **options)
    several = isinstance(expected, tuple | list)
    for left, right in zip(found if several else [found], expected if several else [expected], strict=True):
        assert left.spec == right.spec
        left, right = left.to_numpy(), right.to_numpy()
        if name in EITHER_SIGN:
            left, right = np.abs(left), np.abs(right)
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)


def test_a_state_stays_in_its_memory():
    step = nx.jit(lambda state, x: (state + x, nx.sum(state)), donate_argnums=0)
    state, x = (there(np.zeros(1 << 20, np.float32) + value) for value in (0, 1))
    pointers = set()
    for _ in range(20):
        state, total = step(state, x)
        pointers.add(state.array.pointer)
    assert len(pointers) == 1
    assert (state.to_numpy().min(), float(total)) == (20, 19 * (1 << 20))


def test_calls_of_many_threads():
    scaled = nx.jit(lambda t, by: nx.cumulative_sum(nx.tanh(t * by)))
    data = np.linspace(0, 1, 100_000)
    expected = np.cumsum(np.tanh(data * 3))
    found = []

    def work():
        tensor = there(data)
        for _ in range(20):
            result = scaled(tensor, there(np.array(3.0)))
        found.append(result.to_numpy())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    for each in found:
        np.testing.assert_allclose(each, expected, rtol=1e-9)


def test_the_session_goes_on_when_memory_does_not_suffice():
    before = nx.backend_memory("cuda:0")
    try:
        nx.backend_memory("cuda:0", limit=before.held + (64 << 20))
        with pytest.raises(DeviceMemoryError, match=r"cuda:0 has no .* GB"):
            nx.jit(lambda t: nx.broadcast(t, (1 << 14, 1 << 14)) * 2)(there(np.float64(1).reshape(1)))
        assert (there(np.ones(3)) + 1).to_list() == [2.0, 2.0, 2.0]
    finally:
        nx.backend_memory("cuda:0", limit=None)


def test_what_is_given_back_is_free():
    tensor = there(np.ones(1 << 22))
    assert type(tensor) is DeviceTensor
    used = nx.backend_memory("cuda:0").used
    assert nx.backend_deallocate(tensor) == 8 << 22
    assert used - nx.backend_memory("cuda:0").used >= 8 << 22
