"""Tests of `with` in definitions: what is entered while they are traced, and what is refused."""

import contextlib
import decimal
import io
import threading
import warnings

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators.contexts import context
from nxkernel.errors import NxTypeError

entered = []


class Remembers:
    """A context manager of a user's that says what happens."""

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, error, trail):
        print("leave", kind)
        return kind is KeyError


@contextlib.contextmanager
def own():
    yield 1


ENTERED = {
    "errors": lambda: np.errstate(all="ignore"),
    "printing": lambda: np.printoptions(precision=2),
    "warnings": warnings.catch_warnings,
    "recorded warnings": lambda: warnings.catch_warnings(record=True),
    "nothing": contextlib.nullcontext,
    "decimals": decimal.localcontext,
    "nxkernel's own": lambda: nx.debug_nans(False),
}
REFUSED = {
    "an error": (
        lambda: np.errstate(over="call"),
        "the compiled program tells of no floating-point errors, as 'call' asks for",
    ),
    "a lock": (threading.Lock, "a lock does more than to set something"),
    "a file": (io.StringIO, "a StringIO does more than to set something"),
    "exceptions": (lambda: contextlib.suppress(ValueError), "a suppress does more than to set something"),
    "a generator": (own, "own does what stands before and after its `yield` only then"),
}


@pytest.mark.parametrize("case", ENTERED)
def test_what_is_entered(case):
    make = ENTERED[case]

    def f(x):
        with make():
            y = np.exp(x)
        return y * 2

    np.testing.assert_array_equal(nx.defn(f)(np.zeros(2)), [2, 2])


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    make, why = REFUSED[case]

    def f(x):
        with make():
            return np.exp(x)

    with pytest.raises(NxTypeError) as raised:
        nx.defn(f)(np.zeros(2))
    assert str(raised.value).splitlines()[0] == f"this `with` is entered while the definition is traced, and {why}."
    assert str(raised.value).endswith("in a function of its own, marked with nx.deftransform.")


def test_a_class_of_a_users_is_followed(capsys):
    def f(x):
        with Remembers() as r:
            print("inside", type(r).__name__, x.sum())
            raise KeyError
        return x + 1

    compiled = nx.defn(f)
    assert f(np.ones(2)).tolist() == [2, 2]
    said = capsys.readouterr().out
    for _ in range(2):
        assert compiled(np.ones(2)).tolist() == [2, 2]
        assert capsys.readouterr().out == said


def test_warnings_go_by_the_filters_of_their_place():
    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if x.sum() < 0:
                warnings.warn("negative", RuntimeWarning, stacklevel=1)
        warnings.warn("after", UserWarning, stacklevel=1)
        return x

    compiled = nx.defn(f)
    with pytest.warns(UserWarning, match="after"):
        compiled(np.ones(2))
    with pytest.raises(RuntimeWarning, match="negative"):
        compiled(-np.ones(2))


def test_outside_of_a_trace_it_is_the_manager_itself():
    manager = threading.Lock()
    assert context(manager, None) is manager


def test_warnings_that_are_recorded_are_not_seen():
    def f(x):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            if x[0] > 0:
                warnings.warn("greater", stacklevel=1)
        if x[1] > 0:
            warnings.warn("behind", stacklevel=1)
        return x * 2

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(nx.defn(f)(np.array([1.0, 1.0])), [2, 2])
    assert [str(one.message) for one in told] == ["behind"]


@pytest.mark.parametrize("ask", [len, bool, list, lambda record: record[0], lambda record: record.append(1)])
def test_a_record_is_not_known_while_a_definition_is_traced(ask):
    def f(x):
        with warnings.catch_warnings(record=True) as record:
            y = np.exp(x)
        ask(record)
        return y

    with pytest.raises(NxTypeError, match="what this `with` records is warned of when the program has run"):
        nx.defn(f)(np.zeros(2))
