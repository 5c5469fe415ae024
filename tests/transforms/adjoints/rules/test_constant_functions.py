"""What no gradient goes through says so, and random samples are differentiated as functions of their parameters."""

import numba
import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.central_differences import check
from nxkernel.errors import NxTypeError

ADVICE = "  nx.stop_grad(t) says that nothing is to flow through it, nx.custom_grad gives a gradient of your own."


@numba.njit
def tripled(x):
    return 3 * x


def refusal(function, *arguments):
    with pytest.raises(NxTypeError) as error:
        nx.grad(function)(*arguments)
    return str(error.value).splitlines()


@numba.njit
def steps(n):
    count = 0.0
    while n > 1.5:
        n = n / 2
        count += n
    return count


def test_functions_of_numba_have_the_derivatives_of_their_text():
    found = nx.grad(lambda x: nx.sum(nx.njit_map(tripled, x) * x))(np.arange(3.0))
    assert found.to_list() == [0.0, 6.0, 12.0]


def test_functions_of_numba_with_loops():
    found = nx.grad(lambda x: nx.sum(nx.njit_map(steps, x)))(np.array([3.0, 5.0, 1.0]))
    assert found.to_list() == [0.5, 0.75, 0.0]


def test_functions_of_numba_of_whole_arrays():
    first, *rest = refusal(lambda x: nx.sum(nx.njit_call(tripled, x, shape=(3,), type="f64")), np.ones(3))
    assert first.startswith("njit_call of f64[3] has no gradient (")
    assert rest == [
        "  Nobody but its author knows the derivative of a function of Numba that is called as it is.",
        ADVICE,
    ]


def test_functions_of_numba_of_what_is_constant():
    found = nx.grad(lambda x, y: nx.sum(x * nx.njit_map(tripled, y)))(np.ones(3), np.arange(3.0))
    assert found.to_list() == [0.0, 3.0, 6.0]


def test_bits():
    first, *rest = refusal(lambda x: nx.sum(nx.bitcast(nx.bitcast(x, "s64") + 1, "f64") * x), np.ones(2))
    assert first.startswith("bitcast of ")
    assert rest == ["  It takes the bits of a number for those of another one, which do not change by degrees.", ADVICE]


KEY = np.array([0, 7], np.uint32)


def test_samples_by_reparametrization():
    def normal(mean, deviation, key):
        return nx.random.normal(key, mean, deviation, shape=(4,))[0]

    def uniform(low, high, key):
        return nx.random.uniform(key, low, high, shape=(4,))[0]

    for sample in (normal, uniform):
        check(lambda a, b, key, s=sample: nx.as_type(s(a, b, key), "f64") ** 2, np.float64(0.5), np.float64(2.0), KEY)


def test_keys_are_constant():
    check(lambda x, key: x * nx.random.normal(key, shape=(3,), type="f64")[0], np.ones(3), KEY)
