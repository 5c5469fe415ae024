"""Functions of Numba on tensors: types, shapes, arguments, and what is refused."""

import re

import numba
import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError

X = np.random.default_rng(3).uniform(0.5, 2, 1003)


@numba.njit
def between(x, low=0.0, high=1.0):
    if x < low:
        return low
    return high if x > high else x


@numba.njit("f8(f8)")
def doubled(x):
    return x * 2


@numba.njit
def repeated(x, n):
    for _ in range(n):
        x = x * x
    return x


@numba.njit
def first(x):
    return x[0]


@numba.njit
def pair(x):
    return x, x


@numba.njit
def several(*values):
    return values[0]


@numba.njit
def printing(x):
    print(x)
    return x


@numba.jit(forceobj=True)
def interpreted(x):
    return x


@numba.vectorize
def ramp(a, b):
    return a * a + b if a > b else b


@numba.vectorize(["f4(f4)", "f8(f8)"])
def shifted(x):
    return x + 1


@numba.njit
def running(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(x.size):
        total = 0.5 * total + x[i]
        out[i] = total
    return out


@numba.njit
def put_first(x, value):
    x[0] = value
    return x, x.sum()


# Functions of single numbers -------------------------------------------------------------------------------------


def test_numbers_keep_the_type_of_floats():
    assert nx.njit_map(between, nx.tensor([0.5, 2.0], type="f32")).type is nx.types.f32
    assert nx.njit_map(between, nx.tensor([0.5, 2.0], type="f64")).type is nx.types.f64
    assert nx.njit_map(between, nx.tensor([0.5, 2.0], type="bf16")).type is nx.types.f32
    assert nx.njit_map(between, nx.tensor([-1, 2])).to_list() == [0.0, 1.0]
    assert nx.njit_map(repeated, nx.f32([2.0, 3.0]), 2).to_list() == [16.0, 81.0]


def test_shapes_are_broadcast_and_arguments_have_names():
    found = nx.njit_map(between, nx.tensor([[0.5], [3.0]]), high=nx.tensor([0.25, 2.0]))
    assert found.to_list() == [[0.25, 0.5], [0.25, 2.0]]
    rows = nx.vectorize(nx.tensor([[0.5, 3.0], [-1.0, 0.0]]), "rows")
    assert nx.devectorize(nx.njit_map(between, rows)).to_list() == [[0.5, 1.0], [0.0, 0.0]]


def test_declared_types_are_converted_to():
    found = nx.njit_map(doubled, nx.s32([1, 2]))
    assert (found.type, found.to_list()) == (nx.types.f64, [2.0, 4.0])


def test_definitions_call_it_by_itself():
    @nx.defn
    def f(x):
        return between(x, high=0.75) * 2 + ramp(x, 1.0)

    np.testing.assert_allclose(f(X), np.clip(X, 0, 0.75) * 2 + ramp(X, 1.0))


def test_numpy_programs_call_it_too():
    @nx.defn
    def f(x):
        out = np.zeros(8)
        for i in range(8):
            out[i] = between(x[i])
        return out + between(x[:8]) + shifted(x[:8])

    np.testing.assert_array_equal(f(X), 2 * np.clip(X[:8], 0, 1) + (X[:8] + 1))


def test_numba_ufuncs_in_functions_that_are_traced_as_they_stand():
    for x in (X, nx.tensor(X)):
        np.testing.assert_array_equal(nx.jit(lambda x: ramp(x, 1.0) + shifted(x))(x), ramp(X, 1.0) + (X + 1))
    assert nx.jit(lambda x: shifted(x))(np.arange(3)).dtype == np.float64
    assert nx.jit(lambda x: shifted(x))(nx.iota((3,))).type is nx.types.f64


def test_values_that_are_not_traced_are_numbas_own_business():
    @nx.defn
    def f(x):
        return x + doubled(1.5)

    assert float(f(1.0)) == 4.0


def test_map_takes_it():
    assert nx.map([-1.0, 0.5], between).to_list() == [0.0, 0.5]


def test_the_graph_shows_its_name():
    text = repr(nx.debug_expr(lambda x: nx.njit_map(between, x))(nx.f32([1.0])))
    assert "b = njit a, 0.0, 1.0, function=between" in text


@pytest.mark.parametrize("x", [X, nx.tensor(X)], ids=["array", "tensor"])
def test_a_call_in_a_numpy_program_that_is_traced_as_it_stands(x):
    found = nx.jit(lambda x: between(x), promotion="numpy")(x)
    np.testing.assert_array_equal(found, np.clip(X, 0, 1))


def test_a_call_by_the_rules_of_nx_that_is_traced_as_it_stands():
    with pytest.raises(TracedValueError, match=r"A function compiled by Numba asks for the data.*f64\[1003\]") as error:
        nx.jit(lambda x: between(nx.abs(x)))(X)
    assert "nx.njit_map(function, t)" in str(error.value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: nx.njit_map(first, x), "Numba cannot compile first for single numbers of f64:"),
        (lambda x: nx.njit_map(first, x), "write nx.njit_call(first, ..., shape=..., type=...)"),
        (lambda x: nx.njit_map(pair, x), "pair returns UniTuple(float64 x 2) for single numbers of f64."),
        (lambda x: nx.njit_map(several, x), "several takes any number of arguments (*values)."),
        (lambda x: nx.njit_map(printing, x), "printing asks Python for something (print, objmode) for each element."),
        (lambda x: nx.njit_map(interpreted, x), "interpreted is compiled in Numba's object mode"),
        (lambda x: nx.njit_map(between, x, 1, 2, 3), "too many positional arguments"),
        (lambda x: nx.njit_map(between, x, "low"), "between is called for each element, and got 'low' as argument 1."),
        (lambda x: nx.njit_map(abs, x), "njit_map takes a function that numba.njit or numba.vectorize made"),
        (lambda x: nx.njit_map(shifted, nx.as_type(x, "c128")), "Numba has no shifted of c128"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(NxTypeError, match=re.escape(text)):
        nx.jit(call)(X)


# Functions of arrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_a_function_of_arrays_between_other_operations(compiler):
    def f(x):
        return nx.njit_call(running, x * 2, shape=x.shape, type="f64") + 1

    np.testing.assert_array_equal(nx.jit(f, compiler=compiler)(X), running(X * 2) + 1)
    assert nx.njit_call(running, nx.tensor([4.0, 2.0]), shape=(2,), type="f32", names=["t"]).names == ("t",)


def test_several_results_and_arrays_that_it_writes_into():
    templates = [nx.template((3,), "f64"), nx.template((), "f64")]
    given = np.array([1.0, 2.0, 3.0])
    array, total = nx.jit(lambda x: nx.njit_call(put_first, x, 7.0, templates=templates))(given)
    assert (array.to_list(), float(total), given[0]) == ([7.0, 2.0, 3.0], 12.0, 1.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: nx.njit_call(running, x, shape=(9,), type="f32"), "declared was f32[9]."),
        (lambda x: nx.njit_call(running, x, shape=(), type="f64"), "running returns array(float64, 1d, C), declared"),
        (lambda x: nx.njit_call(running, x), "njit_call has to be told what the function returns."),
        (lambda x: nx.njit_call(running, x, shape=(9,), type="f64", templates=[]), "templates, or shape= and type="),
        (lambda x: nx.njit_call(running, x, templates=3), "templates is a list of templates, got 3."),
        (lambda x: nx.njit_call(running, x, x, shape=(9,), type="f64"), "Numba cannot compile running for f64[1003]"),
        (lambda x: nx.njit_call(np.sin, x, shape=(9,), type="f64"), "takes a function that numba.njit made"),
        (lambda x: nx.njit_call(interpreted, x, shape=(9,), type="f64"), "object mode"),
        (lambda x: nx.njit_call(running, nx.vectorize(x, "a"), shape=(), type="f64"), "takes no vectorized axes"),
    ],
)
def test_what_a_function_of_arrays_refuses(call, text):
    with pytest.raises(NxTypeError, match=re.escape(text)):
        nx.jit(call)(X)


def test_a_shape_that_was_not_declared():
    with pytest.raises(NxValueError, match=re.escape("running returned the shape (1003,), declared was (9,).")):
        nx.jit(lambda x: nx.njit_call(running, x, shape=(9,), type="f64"))(X)
