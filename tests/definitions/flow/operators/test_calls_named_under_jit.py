"""Clocks and random numbers of Python's are refused where a function is traced as it is, too."""

import datetime
import functools
import os
import random
import secrets
import time
import uuid
from datetime import date

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators import trace_time_calls
from nxkernel.errors import NxTypeError

dice = random.Random(1)


def helper(x):
    return x * time.perf_counter()


def imported(x):
    import time

    return x * time.time()


def imported_from(x):
    from random import random

    return x * random()


class Model:
    def __init__(self):
        self.dice = random.Random(0)

    def thrown(self, x):
        return x * self.dice.random()

    def __call__(self, x):
        return x * random.random()


CLOCK, DRAW = "would look at the clock once", "would draw once"
READS = [
    (lambda x: x * time.time(), CLOCK),
    (lambda x: x * time.monotonic_ns(), CLOCK),
    (lambda x: x * time.localtime().tm_year, CLOCK),
    (lambda x: x * len(time.strftime("%H")), CLOCK),
    (lambda x: x * datetime.datetime.now().year, CLOCK),
    (lambda x: x * datetime.datetime.utcnow().year, CLOCK),
    (lambda x: x * date.today().year, CLOCK),
    (lambda x: x * (time.sleep(0) or 1), "would wait once"),
    (lambda x: x * len(os.urandom(3)), DRAW),
    (lambda x: x * (uuid.uuid4().int % 3), DRAW),
    (lambda x: x * secrets.randbelow(4), DRAW),
    (lambda x: x * len(secrets.token_hex(2)), DRAW),
    (helper, CLOCK),
    (lambda x: helper(x) + 1, CLOCK),
    (imported, CLOCK),
    (functools.partial(helper), CLOCK),
    (nx.jit(helper), CLOCK),
]
#: What the running program draws by NumPy's rules.
DRAWS = [
    lambda x: x * random.random(),
    lambda x: x * random.randint(1, 3),
    lambda x: x * dice.gauss(0, 1),
    lambda x: x * random.SystemRandom().random(),
    lambda x: x * secrets.choice([1, 2]),
    imported_from,
    Model(),
    Model().thrown,
]
OF_NUMPY = [
    lambda x: x * np.random.normal(),
    lambda x: x * np.random.default_rng(1).normal(),
    lambda x: x * np.random.RandomState(1).rand(),
]


@pytest.mark.parametrize("make", [nx.jit, nx.defn, nx.grad, nx.vmap])
@pytest.mark.parametrize(("function", "text"), READS)
def test_what_would_run_once_is_refused_everywhere(make, function, text):
    for x in (np.ones(2), nx.tensor([1.0, 1.0])):
        with pytest.raises(NxTypeError, match=text) as error:
            make(function)(x)
        assert "\n  test_calls_named_under_jit.py, line " in str(error.value)
        assert str(error.value).count("\n") in (2, 3)


@pytest.mark.parametrize("make", [nx.jit, nx.defn, nx.grad, nx.vmap])
@pytest.mark.parametrize("function", DRAWS)
def test_draws_are_refused_by_the_rules_of_nx(make, function):
    with pytest.raises(NxTypeError, match=DRAW) as error:
        make(function)(nx.tensor([1.0, 1.0]))
    assert "\n  test_calls_named_under_jit.py, line " in str(error.value)
    assert str(error.value).count("\n") == 3


@pytest.mark.parametrize("function", OF_NUMPY)
def test_those_of_numpy_are_too(function):
    with pytest.raises(NxTypeError, match="would draw its numbers once") as error:
        nx.jit(function, promotion="nx")(nx.tensor([1.0, 1.0]))
    assert "\n  test_calls_named_under_jit.py, line " in str(error.value)


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
@pytest.mark.parametrize("function", DRAWS)
def test_by_the_rules_of_numpy_each_run_draws(make, function):
    made = make(function)
    seen = [made(np.ones(1)).item() for _ in range(40)]
    assert len(set(seen)) > 1
    assert len(made.compilations()) == 1


def test_what_is_not_called_is_not_refused():
    def f(x):
        total = 0.0
        for k in range(3):
            total = total + x * k
        if x.shape[0] > 5:
            total = total * time.time()
        return total + time.gmtime(0).tm_year + len(uuid.uuid5(uuid.NAMESPACE_DNS, "a").hex) + date(1, 2, 3).day

    expected = [3 + 1970 + 32 + 3] * 2
    np.testing.assert_array_equal(nx.jit(f)(np.ones(2)), expected)
    np.testing.assert_array_equal(nx.jit(f)(nx.tensor([1.0, 1.0])), expected)


def test_names_that_look_like_those():
    def keyed(x, key):
        value, _ = nx.random.uniform(key, shape=x.shape)
        return x * value

    assert not trace_time_calls.are_named(keyed)
    assert not trace_time_calls.are_named(lambda x: x.random * x.time)
    assert not trace_time_calls.are_named(np.sin)
    assert trace_time_calls.are_named(Model().thrown)
    assert nx.jit(keyed)(nx.tensor([1.0]), nx.random.key(1)).shape == (1,)
