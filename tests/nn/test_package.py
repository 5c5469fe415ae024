"""The package as people import it."""

import subprocess
import sys

from nxkernel import nn


def test_every_name_is_there_and_documented():
    for name in nn.__all__:
        assert getattr(nn, name).__doc__, name


def test_it_is_imported_when_somebody_asks_for_it():
    code = (
        "import sys, nxkernel as nx; print('nxkernel.nn' in sys.modules, nx.nn.__name__, 'nxkernel.nn' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["False", "nxkernel.nn", "True"]
