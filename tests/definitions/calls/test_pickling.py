"""Definitions that go to other processes, and come back as what they were."""

import copy
import linecache
import pickle
import sys
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls.pickling import found

X = np.arange(4.0)


@nx.defn
def added(t, *, turns=3):
    total = t
    for turn in range(turns):
        total = total + nx.sum(t) * turn
    return total


def shifted(t, by):
    return t + by


shift = nx.jit(shifted, static_argnames="by")


class Model:
    def __init__(self, factor):
        self.factor = factor

    @nx.defn
    def scaled(self, t):
        return t * self.factor


def test_a_definition_is_found_by_its_name():
    assert pickle.loads(pickle.dumps(added)) is added
    assert copy.deepcopy([added])[0] is added


def test_a_definition_under_another_name_is_made_of_its_function():
    made = pickle.loads(pickle.dumps(shift))
    assert made.static == {"by"}
    np.testing.assert_array_equal(made(X, 2), X + 2)
    assert made.__nx_function__ is shifted


def test_a_method_goes_with_its_object():
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(Model(3.0).scaled))(X), X * 3)


def rule_of_the_text(x, y):
    for i in range(3):
        y[i] = y[i] + x[i - 1]
    return y


def test_whose_rules_hold_goes_with_it():
    by_text, asked = nx.defn(rule_of_the_text), nx.defn(rule_of_the_text, promotion="nx")
    assert pickle.loads(pickle.dumps(by_text)).promotion is None
    assert pickle.loads(pickle.dumps(asked)).promotion == "nx"


def test_what_does_not_go():
    with pytest.raises(pickle.PicklingError, match=r"^<compiled added\(t: f64\[4\], turns=3\)> is compiled for this"):
        pickle.dumps(nx.compile(added, [X]))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(nx.jit(lambda t: t))


CELL = """\
import nxkernel as nx

@nx.defn
def doubled(t):
    return t * 2

@nx.defn
def total(t):
    found = 0.0
    for k in range(t.shape[0]):
        found = found + doubled(t)[k]
    return found
"""
FILE = "<a cell of a notebook>"


def _main(text):
    """What runs as a notebook: a module whose text is in no file."""
    module = types.ModuleType("__main__")
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    exec(compile(text, FILE, "exec"), module.__dict__)
    return module


@pytest.fixture
def main(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", _main(CELL))
    yield sys.modules["__main__"]
    linecache.cache.pop(FILE, None)


def test_a_process_with_the_same_main_has_its_own(main, monkeypatch):
    taken = pickle.dumps(main.total)
    assert pickle.loads(taken) is main.total
    other = _main(CELL)
    monkeypatch.setitem(sys.modules, "__main__", other)
    assert pickle.loads(taken) is other.total


def test_another_process_gets_the_code(main, monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    taken = cloudpickle.dumps(main.total)
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    del linecache.cache[FILE]
    made = pickle.loads(taken)
    assert float(made(X)) == 12.0
    assert repr(made) == "<definition total(t), the rules of what it is called with>"


def test_helpers_of_other_cells_go_with_it(main, monkeypatch):
    cloudpickle = pytest.importorskip("cloudpickle")
    helper, other = "<another cell>", "def halved(t):\n    if t[0] > 1:\n        t = t / 2\n    return t\n"
    linecache.cache[helper] = (len(other), None, other.splitlines(keepends=True), helper)
    exec(compile(other, helper, "exec"), main.__dict__)
    cell = "@nx.defn\ndef sum_of_halves(t):\n    return halved(t).sum()\n"
    linecache.cache[FILE] = (len(cell), None, cell.splitlines(keepends=True), FILE)
    exec(compile(cell, FILE, "exec"), main.__dict__)
    taken = cloudpickle.dumps(main.sum_of_halves)
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    del linecache.cache[FILE], linecache.cache[helper]
    assert float(pickle.loads(taken)(X + 2)) == 7.0
    linecache.cache.pop(helper)


def test_found():
    assert found(__name__, "Model.scaled") is Model.scaled
    assert found("no such module", "total") is None
    assert found(__name__, "Model.missing") is None
