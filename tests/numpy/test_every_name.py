"""Each public function of NumPy's takes arrays of a program, or is in the table of docs/numpy.md with a reason."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from nxkernel.definitions.flow.operators import numpys_sources
from nxkernel.numpy import dispatch_table

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "numpy.md").read_text("utf-8")
TABLE = re.search(r"<!-- table.*?-->(.*?)<!-- end of table -->", PAGE, re.S).group(1)
REFUSED = {
    name for row in TABLE.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
}


def functions(module):
    for name in dir(module):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            yield name, value


def is_there(function):
    twin = dispatch_table.twin(function)
    return numpys_sources.is_traceable(function) or not (twin is function or dispatch_table.refuses(twin))


@pytest.mark.parametrize("module", [np, np.linalg, np.fft], ids=lambda module: module.__name__)
def test_each_name_is_there_or_in_the_table(module):
    assert [name for name, function in functions(module) if not is_there(function) and name not in REFUSED] == []


def test_the_table_has_nothing_else():
    there = {name for module in (np, np.linalg, np.fft) for name, function in functions(module) if is_there(function)}
    assert REFUSED & (there - {"polydiv"}) == set()
    count = int(re.search(r"program: (\d+) of", PAGE).group(1))
    assert count == sum(is_there(f) for module in (np, np.linalg, np.fft) for _, f in functions(module))
