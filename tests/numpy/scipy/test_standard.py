"""Functions of SciPy's that are written for the array API standard: what the table in docs/scipy.md says of them."""

import json
import os
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
import scipy

from scipy_calls.calls import CALLS
from scipy_calls.table import PAGE, outcomes, shown, written

OF_THE_PAGE = pytest.mark.skipif(
    not scipy.__version__.startswith("1.17"), reason="the page tells of the functions of SciPy 1.17"
)


@pytest.fixture(scope="module")
def found():
    return outcomes(CALLS)


@pytest.mark.slow
@OF_THE_PAGE
def test_the_page_says_what_is_so(found):
    assert shown() == written(found)


@pytest.mark.slow
def test_most_are_compiled(found):
    results = [both for module in found.values() for both in module.values()]
    assert len(results) == 193
    assert sum(not compiled for compiled, _ in results) >= 0.95 * len(results)


@pytest.mark.slow
def test_some_are_compiled():
    found = outcomes(["scipy.stats"], "zscore", "entropy")
    assert found == {"scipy.stats": {"entropy": ["", ""], "zscore": ["", ""]}}


@pytest.mark.slow
@OF_THE_PAGE
def test_there_is_a_call_of_each_function_that_jax_compiles():
    program = (
        "import json\n"
        "from scipy._lib._array_api_docs_tables import BackendSupportStatus, make_flat_capabilities_table as table\n"
        f"rows = [row for module in {sorted(CALLS)} for row in table(module, 'jit')]\n"
        "print(json.dumps([[row['module'], row['function']] for row in rows\n"
        "                  if row['jax'] is BackendSupportStatus.YES]))"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    listed = {tuple(row) for row in json.loads(done.stdout)}
    assert listed == {(module, name) for module, calls in CALLS.items() for name in calls}


def test_the_example_of_the_page_runs(tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    path = tmp_path / "example.py"
    path.write_text(f"{example.strip()[: example.strip().rindex('nx.grad')]}SLOPES = nx.grad(loss)\n")
    names = runpy.run_path(str(path))
    found = names["SLOPES"](np.eye(3), np.array([0.5, 1.5, 2.5]))
    assert found.shape == (3, 3)
    assert np.isfinite(found).all()
