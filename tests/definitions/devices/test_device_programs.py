"""Definitions and tensors on devices: which compiler answers, what is brought over, what is given away."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.backends.cuda import availability, devices
from nxkernel.definitions.devices.device_programs import donated
from nxkernel.definitions.keys import default_options
from nxkernel.errors import NanError, NxTypeError, NxValueError


@pytest.fixture(autouse=True)
def _simulated(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 2)
    with nx.global_default_options(compiler=None), nx.default_options(compiler=None):
        yield


def there(values, backend="cuda:0", type_="f32"):
    return nx.backend_copy(nx.tensor(values, type=type_), backend)


def compiler_of(definition):
    return definition.compilations()[-1].compiler


@pytest.fixture
def uploads(monkeypatch):
    """The shapes of what is brought to devices."""
    found, upload = [], type(devices.device(0)).upload

    def watched(self, array):
        found.append(array.shape)
        return upload(self, array)

    monkeypatch.setattr(type(devices.device(0)), "upload", watched)
    return found


# Which compiler ------------------------------------------------------------------------------------------------


def test_programs_run_where_tensors_are():
    double = nx.jit(lambda t: t * 2)
    assert (double(nx.tensor([1.0])).device, compiler_of(double)) == ("cpu", "numba_cpu")
    assert (double(there([1.0])).device, compiler_of(double)) == ("cuda:0", "numba_cuda")
    assert double(there([1.0], "cuda:1")).device == "cuda:1"
    assert double.cache_info().misses == 2
    assert [double(there([1.0])).device, double(nx.tensor([1.0])).device] == ["cuda:0", "cpu"]
    assert double.cache_info().misses == 2


def test_a_compiler_that_is_named_is_taken():
    tensor = there([1.0, 2.0])
    for name in ("numba_cpu", "evaluator"):
        found = nx.jit(lambda t: t + 1, compiler=name)(tensor)
        assert (found.device, found.to_list()) == ("cpu", [2.0, 3.0])
    on_device = nx.jit(lambda t: t + 1, compiler="numba_cuda")
    assert (on_device(nx.f32([1])).device, on_device(2.0).device) == ("cuda:0", "cuda:0")
    assert nx.jit(lambda t: t + 1, compiler="numba_cuda:1")(2.0).device == "cuda:1"
    with nx.default_options(compiler="numba_cpu"):
        assert nx.jit(lambda t: t + 1)(tensor).device == "cpu"
    with nx.default_options(compiler="numba_cuda"):
        assert nx.jit(lambda t: t + 1)(1.0).device == "cuda:0"


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(availability, "is_available", lambda: False)
    add = nx.jit(lambda t: t + 1, compiler="auto")
    assert add(1.0).device == "cpu"
    assert add(there(1.0)).device == "cuda:0"
    monkeypatch.setattr(availability, "is_available", lambda: True)
    add = nx.defn(lambda t: t + 2, compiler="auto")
    assert add(1.0).device == "cuda:0"
    with nx.default_options(compiler="auto"):
        assert nx.jit(lambda t: t + 3)(1.0).device == "cuda:0"
        assert default_options.current()["compiler"] == "auto"


def test_shortcuts_know_where_tensors_are():
    double = nx.jit(lambda t, p: t * p["w"])
    for backend in ("cpu", "cuda:0", "cpu", "cuda:0", "cuda:1"):
        for _ in range(3):
            found = double(nx.backend_copy(nx.tensor([1.0, 2.0]), backend), {"w": nx.tensor(3.0)})
            assert (found.device, found.to_list()) == (backend, [3.0, 6.0])
    assert double.cache_info().misses == 2
    assert len(double._snapshot.fast_paths) == 2


def test_what_is_compiled_keeps_its_compiler():
    tensor = there([1.0, 2.0])
    on_host, on_device = nx.compile(lambda t: t + 1, [nx.template((2,), "f32")]), nx.compile(lambda t: t + 1, [tensor])
    with nx.no_compile():
        assert [on_host(tensor).device, on_device(tensor).device] == ["cpu", "cuda:0"]
        assert [on_host(nx.f32([1, 2])).device, on_device(nx.f32([1, 2])).device] == ["cpu", "cuda:0"]


def test_the_long_way_for_host_programs():
    double = nx.jit(lambda t: t * 2, compiler="numba_cpu")
    tensor = there([1.0, 2.0])
    assert [double(tensor).to_list() for _ in range(3)] == [[2.0, 4.0]] * 3
    assert not double._snapshot.fast_paths


# What is brought over --------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    left: object
    right: object


@dataclasses.dataclass
class Point:
    x: object
    y: object


@pytest.mark.parametrize("kind", [list, tuple, lambda pair: Pair(*pair), lambda pair: Point(*pair)])
def test_containers_of_both(kind):
    swap = nx.jit(lambda pair: kind([each + 1 for each in nx.leaves(pair)][::-1]))
    for _ in range(2):
        found = nx.leaves(swap(kind([there([1.0]), nx.tensor([2.0])])))
        assert [(each.device, each.to_list()) for each in found] == [("cuda:0", [3.0]), ("cuda:0", [2.0])]


def test_only_what_is_read_goes_over(uploads):
    second = nx.jit(lambda pair, t: pair[1] * t)
    tensor = there([1.0, 2.0])
    del uploads[:]
    for _ in range(2):
        second((nx.iota((10_000,)), nx.iota((2, 3000, 1), type="f32")), tensor)
    assert uploads == [(2, 3000, 1), (2, 3000, 1)]


def test_captured_tensors_go_over_once(uploads):
    weight, table = nx.iota((5000,), type="f32"), np.ones(5000, np.float32)
    scaled = nx.jit(lambda t: t * weight + table)
    tensor = there(1.0)
    del uploads[:]
    assert scaled(tensor).to_list()[:2] == [1.0, 2.0]
    table[0] = 7.0
    assert scaled(tensor).to_list()[:2] == [7.0, 2.0]
    # The tensor once, and in each call the array, which may have been written into.
    assert uploads == [(5000,)] * 3
    weight = there(np.full(5000, 2.0))
    assert scaled(tensor).to_list()[:2] == [9.0, 3.0]


def test_captured_tensors_say_where_programs_run():
    weight = nx.tensor([2.0])
    scaled = nx.jit(lambda t: t * weight)
    assert scaled(1.0).device == "cpu"
    weight = there([3.0])
    assert [(found.device, found.to_list()) for found in (scaled(1.0), scaled(2.0))] == [
        ("cuda:0", [3.0]),
        ("cuda:0", [6.0]),
    ]
    why = scaled.compilations()[-1].reason
    assert "captured weight: f32[1] → f32[1] on a device" in why
    weight = nx.backend_transfer(weight, "cuda:1")
    assert scaled(1.0).device == "cuda:1"
    weight = nx.f32([4.0])
    assert scaled(1.0).device == "cpu"
    assert scaled.cache_info().misses == 2


def test_arrays_and_tensors_that_are_assigned_into():
    @nx.defn
    def put(x, at):
        x[0] = at[1]
        return x

    array = np.float32([1.0, 2.0])
    assert put(array, there([5.0, 6.0])).device == "cuda:0"
    assert array.tolist() == [6.0, 2.0]
    tensor = there([1.0, 2.0])
    for _ in range(2):
        assert put(tensor, tensor).to_list() == [2.0, 2.0]
    assert tensor.to_list() == [1.0, 2.0]
    with pytest.raises(NxTypeError, match="assigns into x, which is a DeviceTensor: those never change"):
        nx.defn(_put_and_lose)(tensor)


def _put_and_lose(x):
    x[0] = 9.0
    return nx.sum(x) * 0


def test_values_that_decide_loops():
    @nx.defn
    def steps(n):
        count = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert int(steps(there(27, type_="s64"))) == 111


def test_hooks_gradients_and_maps(capsys):
    watched = nx.jit(lambda t: nx.print_value(t * 2))
    assert watched(there([1.0])).device == "cuda:0"
    assert "Tensor([2.], f32[1], cuda:0)" in capsys.readouterr().out
    value, slope = nx.value_and_grad(lambda t: nx.sum(t * t))(there([1.0, 2.0]))
    assert (value.device, float(value), slope.device, slope.to_list()) == ("cuda:0", 5.0, "cuda:0", [2.0, 4.0])
    assert nx.vmap(lambda row: nx.sum(row))(there([[1.0, 2.0], [3.0, 4.0]])).to_list() == [3.0, 7.0]


def test_numpy_programs():
    @nx.defn
    def scaled(x):
        return np.exp(x).sum() / 2

    assert scaled(there([0.0, 0.0])).device == "cuda:0"
    assert float(scaled(there([0.0, 0.0]))) == 1.0


def test_a_model_is_trained_there():
    rule = optim.adam(0.1)

    @nx.defn
    def step(params, state, x, y):
        loss, slopes = nx.value_and_grad(params, lambda params: nx.mean((x * params["w"] + params["b"] - y) ** 2))
        updates, state = rule.update(slopes, state, params)
        return optim.apply_updates(params, updates), state, loss

    x, y = nx.tensor([1.0, 2.0, 3.0]), nx.tensor([3.0, 5.0, 7.0])
    start = {"w": nx.tensor(0.0), "b": nx.tensor(0.0)}
    results = []
    for backend in ("cpu", "cuda:0"):
        params = nx.backend_copy(start, backend)
        state, data = rule.init(params), nx.backend_copy((x, y), backend)
        for _ in range(5):
            params, state, loss = step(params, state, *data)
        assert {leaf.device for leaf in nx.leaves((params, state, loss))} == {backend}
        results.append([float(loss), float(params["w"]), float(params["b"])])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5)


def test_a_stream_keeps_its_state_there():
    stream = nx.stream(lambda x, total: (x * 2, total + x), [nx.template((2,), "f32"), there([1.0, 1.0])])
    stream.send(there([1.0, 2.0]))
    stream.send(np.float32([3.0, 4.0]))
    assert [stream.recv().to_list() for _ in range(2)] == [[2.0, 4.0], [6.0, 8.0]]
    state = stream.done()
    assert (state.device, state.to_list()) == ("cuda:0", [5.0, 7.0])


def test_nans_are_found():
    with nx.debug_nans(), pytest.raises(NanError, match="gave NaN in its result"):
        nx.jit(lambda t: nx.log(t))(there([-1.0]))


def test_two_devices_are_refused():
    add = nx.jit(lambda left, right: left + right["w"])
    with pytest.raises(NxValueError) as error:
        add(there([1.0]), {"w": there([1.0], "cuda:1")})
    assert str(error.value) == (
        "<lambda> got tensors on two devices: left is on cuda:0, right['w'] on cuda:1.\n"
        "  Bring them together first: nx.backend_transfer(right['w'], \"cuda:0\")."
    )


# Donation --------------------------------------------------------------------------------------------------------


def test_donated_memory_becomes_that_of_a_result():
    step = nx.jit(lambda state, x: (nx.sum(x), state + x), donate_argnums=0)
    state, x = there([0.0, 0.0]), there([1.0, 2.0])
    pointers = set()
    for _ in range(4):
        before = state
        total, state = step(state, x)
        assert before.released
        pointers.add(state.array.pointer)
    assert len(pointers) == 1
    assert (float(total), state.to_list()) == (3.0, [4.0, 8.0])
    assert step.cache_info().misses == 1
    with pytest.raises(NxValueError, match="was given away"):
        step(before, x)


def test_donation_by_name_and_of_containers():
    move = nx.jit(lambda x, params: {"w": params["w"] + x, "b": params["b"] * x}, donate_argnames="params")
    params = nx.backend_copy({"w": nx.tensor([1.0]), "b": nx.tensor([[2.0]])}, "cuda:0")
    memory = {name: leaf.array.pointer for name, leaf in params.items()}
    found = move(3.0, params)
    assert {name: leaf.array.pointer for name, leaf in found.items()} == memory
    assert [leaf.to_list() for leaf in nx.leaves(found)] == [[4.0], [[6.0]]]
    again = nx.jit(move)(3.0, found)
    assert all(leaf.released for leaf in found.values())
    assert again["w"].to_list() == [7.0]


def test_memory_that_others_hold_is_not_written_to():
    step = nx.jit(lambda state: state + 1, donate_argnums=0)
    state = there([[1.0], [2.0]])
    row = state.rows(0, 1)
    found = step(state)
    assert (row.to_list(), found.to_list()) == ([[1.0]], [[2.0], [3.0]])
    assert state.released
    assert not row.released


def test_what_fits_no_result_is_given_away_all_the_same():
    total = nx.jit(lambda t: nx.sum(t), donate_argnums=0)
    tensor = there([1.0, 2.0])
    assert float(total(tensor)) == 3.0
    assert tensor.released
    same = nx.jit(lambda t: t, donate_argnums=0)
    tensor = there([1.0, 2.0])
    assert same(tensor).to_list() == [1.0, 2.0]


def test_a_result_that_would_be_copied_has_memory_of_its_own():
    turned = nx.jit(lambda a, b: (nx.reverse(a), b * 2, nx.cumulative_sum(b)), donate_argnums=(0, 1))
    a, b = there(np.arange(2000.0)), there(np.arange(2000.0) + 1)
    memory = {a.array.pointer, b.array.pointer}
    found = turned(a, b)
    np.testing.assert_array_equal(found[0].to_numpy(), np.arange(2000.0)[::-1])
    np.testing.assert_array_equal(found[1].to_numpy(), np.arange(2, 4002, 2.0))
    assert a.released
    assert b.released
    executable = turned._entry_group.programs()[-1].executable
    shared = {found[number].array.pointer for _, number in executable.graph.updates}
    assert shared == memory & {each.array.pointer for each in found}
    assert all(executable.plan.outputs[number] == ("input", place) for place, number in executable.graph.updates)


def test_each_argument_is_for_one_result():
    tensor = nx.template((2,), "f32")
    graph = nx.compile(lambda a, b, c: (a * 2, a, b[0], c + 1), [tensor] * 3).program.executable.graph
    assert donated(graph, [0, 1, 2]).updates == ((0, 0), (1, 3))
    assert donated(graph, [1]).updates == ((1, 0),)
    assert donated(graph, []) is graph


def test_what_is_on_the_host_stays():
    step = nx.jit(lambda a, b: (a + b, a * b), donate_argnums=(0, 1))
    tensor, array = nx.tensor([1.0, 2.0]), np.float32([3.0, 4.0])
    assert step(tensor, array)[0].device == "cpu"
    found = step(tensor, there([3.0, 4.0]))
    assert [each.to_list() for each in found] == [[4.0, 6.0], [3.0, 8.0]]
    found = step(there([1.0, 2.0]), array)
    assert [each.to_list() for each in found] == [[4.0, 6.0], [3.0, 8.0]]
    assert (tensor.to_list(), array.tolist()) == ([1.0, 2.0], [3.0, 4.0])


def test_the_same_tensor_twice_is_not_given_away():
    step = nx.jit(lambda a, b: a + b, donate_argnums=0)
    tensor = there([1.0])
    with pytest.raises(NxValueError) as error:
        step(tensor, tensor)
    assert str(error.value) == (
        '<lambda> gives a away, and b is the same tensor.\n  Pass a copy: nx.backend_copy(a, "cuda:0").'
    )
    assert step(nx.backend_copy(tensor, "cuda:0"), tensor).to_list() == [2.0]


def test_donation_of_any_number_of_arguments():
    total = nx.jit(lambda first, *rest: first + rest[0] + rest[1]["w"], donate_argnums=(0, 2))
    given = [there([1.0]), there([2.0]), {"w": there([3.0])}]
    assert total(*given).to_list() == [6.0]
    assert [leaf.released for leaf in nx.leaves(given)] == [True, False, True]


def test_donation_of_what_is_not_there():
    with pytest.raises(NxTypeError, match=r"has no parameter 'y', which donate_argnames names"):
        nx.jit(lambda x: x, donate_argnames="y")
    with pytest.raises(NxValueError, match=r"has 1 positional parameter, and donate_argnums has 1"):
        nx.jit(lambda x: x, donate_argnums=1)


def test_donation_belongs_to_the_definition():
    def grown(t):
        return t + 1

    kept, giving = nx.jit(grown), nx.jit(grown, donate_argnums=0)
    tensor = there([1.0])
    for _ in range(2):
        assert kept(tensor).to_list() == [2.0]
    assert giving(tensor).to_list() == [2.0]
    assert tensor.released
