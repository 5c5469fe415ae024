"""The functions made from rows look like functions written out. (Their examples run as doctests of nxkernel.ops.)"""

import inspect
import pickle

import pytest

import nxkernel as nx
from nxkernel import ops

ROWS = [name for name in ops.__all__ if getattr(inspect.unwrap(getattr(ops, name)), "__module__", "") == "nxkernel.ops"]


def test_there_are_many():
    assert len(ROWS) > 60
    assert {"add", "exp", "equal", "sum", "argmax", "round", "is_nan", "left_shift"} <= {*ROWS}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_an_ordinary_function(name):
    function = getattr(nx, name)
    assert function.__name__ == function.__qualname__ == name
    assert pickle.loads(pickle.dumps(function)) is function
    assert "Examples\n--------\n>>> nx." in inspect.getdoc(function)
