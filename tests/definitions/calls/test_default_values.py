import inspect
import timeit

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls.default_values import DefaultValues

X = np.array([1.0, 2.0, 3.0])


def test_values_however_a_call_is_written():
    def program(x, p=2.0, n=3, flag=True, mode="sum", axis=None):
        result = np.sin(x) * p + n if flag else x
        return np.sum(result, axis=axis) if mode == "sum" else result

    compiled = nx.defn(program)
    calls = [((), {}), ((2.0,), {}), ((2.0, 3, True), {}), ((), {"p": 2.0}), ((), {"n": 3}), ((), {"n": 4, "p": 0.5}),
             ((0.5, 4), {}), ((), {"flag": False}), ((), {"mode": "all"}), ((), {"axis": 0}), ((1,), {"mode": "all"}),
             ((), {}), ((), {"p": np.float32(2)}), ((), {"p": X}), ((), {"p": X, "mode": "all"})]  # fmt: skip
    for args, options in [*calls, *calls]:
        found, expected = compiled(X, *args, **options), program(X, *args, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-15)
        assert found.dtype == np.asarray(expected).dtype


def test_a_number_that_is_left_to_its_default_is_a_constant():
    def power(x, gamma=2.0):
        return x**gamma

    compiled = nx.defn(power)
    compiled(X)
    with nx.no_compile():
        compiled(X, 2.0)
        compiled(X, gamma=2.0)
    np.testing.assert_allclose(compiled(X, 0.5), X**0.5)
    (note,), advice = nx.events()[-1].notes, nx.events()[-1].advice
    assert advice == ""
    assert note == (
        "argument gamma: 0.5 is not its default, 2.0, which programs had as a constant: it is an input from now on, "
        "and further values compile nothing"
    )
    with nx.no_compile():
        np.testing.assert_allclose(compiled(X, 0.25), X**0.25)
        np.testing.assert_allclose(compiled(X, gamma=3.0), X**3)
        np.testing.assert_allclose(compiled(X), X**2)


def test_functions_of_one_code_and_other_defaults():
    for function in (np.sin, np.cos):
        for factor in (1.0, 2.0, 3.0):
            compiled = nx.defn(lambda x, p=factor, name=function.__name__: getattr(np, name)(x) * p)
            np.testing.assert_allclose(compiled(X), function(X) * factor)
            np.testing.assert_allclose(compiled(X), function(X) * factor)
    for name in ("sin", "cos"):
        plain = nx.jit(lambda t, name=name: getattr(nx, name)(t))
        np.testing.assert_allclose(plain(nx.tensor(X)), getattr(np, name)(X), rtol=1e-6)


def test_changed_defaults_are_seen():
    def scaled(x, p=2.0):
        return np.abs(x) * p

    compiled = nx.defn(scaled)
    np.testing.assert_array_equal(compiled(X), 2 * X)
    np.testing.assert_array_equal(compiled(X), 2 * X)
    scaled.__defaults__ = (5.0,)
    np.testing.assert_array_equal(compiled(X), 5 * X)
    np.testing.assert_array_equal(compiled(X), 5 * X)


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), float("inf"), 1e300, 7, 1j])
def test_any_number(value):
    def program(x, p=value):
        return np.copysign(1.0, np.real(x * p)), x * p

    compiled = nx.defn(program)
    for _ in range(3):
        for found, expected in zip(compiled(X), program(X), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_by_the_rules_of_nx_it_is_an_input():
    compiled = nx.defn(lambda t, p=2.0: nx.sin(t) * p)
    compiled(nx.tensor(X))
    with nx.no_compile():
        compiled(nx.tensor(X), 3.0)


def test_what_nx_compile_takes():
    compiled = nx.compile(lambda x, p=2.0: np.abs(x) * p, [nx.template((3,), "f64"), 2.0], promotion="numpy")
    np.testing.assert_array_equal(compiled(X, 3.0), 3 * X)


def test_gradients():
    def loss(x, p=2.0):
        return np.sum(x**p)

    np.testing.assert_allclose(nx.grad(loss)(X), 2 * X)
    np.testing.assert_allclose(nx.grad(loss, argnums=1)(X, 2.0), np.sum(X**2 * np.log(X)))
    np.testing.assert_allclose(nx.grad(nx.defn(loss), argnums=1)(X, 2.0), np.sum(X**2 * np.log(X)))


def test_a_choice_by_a_default_is_made_while_tracing():
    def program(x, p=2.0):
        if p > 1:
            return x.sum()
        return x

    compiled = nx.defn(program)
    assert compiled(X) == 6.0


def test_positions():
    def function(x, p=2.0, mode="a", n=3, last=None):
        raise NotImplementedError

    defaults = DefaultValues(function, list(inspect.signature(function).parameters.values()))
    assert (defaults.numbers, defaults.last) == ({"p": 2.0, "n": 3}, 4)

    def placed(args, options, of_numpy):
        form = defaults.form(len(args), options, of_numpy, frozenset(), ())
        return form.placed(args, options)

    assert placed((1,), {}, True) == ((1, 2.0, "a", 3), {})
    assert placed((1,), {}, False) == ((1, 2.0, "a", 3), {})
    assert placed((1,), {"n": 4, "other": 5}, True) == ((1, 2.0, "a", 4), {"other": 5})
    assert placed((1,), {"last": 4}, True) == ((1, 2.0, "a", 3, 4), {})
    assert placed((), {"p": 4}, True) == ((), {"p": 4})
    assert placed((), {"x": 0, "p": 4}, True) == ((0, 4, "a", 3), {})
    function.__defaults__ = (3.0, "a", 3, None)
    assert defaults.form(1, {}, True, frozenset(), ()) is None


def test_no_way_of_writing_a_call_takes_the_long_way():
    compiled = nx.defn(lambda x, p=2.0, n=3: np.abs(x) * p + n)

    def least(call):
        call()
        call()
        return min(timeit.repeat(call, number=200, repeat=9))

    by_position = least(lambda: compiled(X, 2.0, 3))
    for call in (lambda: compiled(X), lambda: compiled(X, p=2.0), lambda: compiled(X, n=3, p=2.0)):
        assert least(call) < 4 * by_position


def test_forms_of_a_call_have_one_key():
    def program(x, p=2.0, n=3, mode="a"):
        return np.abs(x) * p + n if mode == "a" else x

    compiled = nx.defn(program)
    for _ in range(2):
        compiled(X)
    count = len(compiled._snapshot.fast_paths)
    with nx.no_compile():
        compiled(X, 2.0, 3)
        compiled(X, n=3, p=2.0)
        compiled(x=X, p=2.0)
    assert len(compiled._snapshot.fast_paths) == count
    np.testing.assert_array_equal(compiled(X, n=X), np.abs(X) * 2.0 + X)
    np.testing.assert_array_equal(compiled(X, n=X), np.abs(X) * 2.0 + X)
    assert len(compiled._snapshot.fast_paths) == count + 1


def test_defaults_that_are_containers_arrays_and_numbers_of_numpy():
    weights = np.array([2.0, 3.0, 4.0])

    def program(x, p=np.float64(2.0), coefficients=(1.0, 0.5), w=weights, names={"a": 3.0}, axes=(0,)):  # noqa: B006, B008
        return np.sum(np.abs(x) * p + coefficients[1] * w, axis=axes) + names["a"]

    compiled = nx.defn(program)
    calls = [((), {}), ((3.0,), {}), ((), {"coefficients": (1.0, 2.0)}), ((), {"w": X}), ((), {"names": {"a": 1.0}}),
             ((), {"axes": 0}), ((), {"axes": ()}), ((), {"axes": (0,)})]  # fmt: skip
    for args, options in [*calls, *calls]:
        np.testing.assert_allclose(compiled(X, *args, **options), program(X, *args, **options), rtol=1e-15)
    weights[0] = 5.0
    program.__defaults__[3]["a"] = 4.0
    np.testing.assert_allclose(compiled(X), program(X), rtol=1e-15)


def test_numbers_in_containers_count_by_value_where_the_program_needs_them():
    compiled = nx.defn(lambda x, sizes: np.zeros(sizes) + x)
    for shape in [(2, 3), (3, 2), (2, 3), [3, 2], (3, 2), (2, True), (2, 3), (2, 1)]:
        assert compiled(1.0, shape).shape == tuple(shape)
    compiled = nx.defn(lambda *sizes: np.zeros(sizes[0]) + sizes[1])
    for size in (3, 4, 3, 4, 5, 5, 4):
        assert compiled(size, 2.0).shape == (size,)
    compiled = nx.defn(lambda x, given: np.where(given[0], x, -x) if given[1] else x)
    for given in [(True, True), (False, True), (True, False), (False, True), (True, True)]:
        expected = (1.0 if given[0] else -1.0) if given[1] else 1.0
        assert compiled(1.0, given) == expected
