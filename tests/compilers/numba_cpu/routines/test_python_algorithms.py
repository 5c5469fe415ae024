"""What people read of the kernels of whole operations: each text is Python, and every kernel has one."""

import ast

import numpy as np
import pytest

from graph_comparison.compiled_graphs import make, planned
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.routines.python_algorithms import DIGITS, NETWORK, SCANS


@pytest.mark.parametrize(("name", "text"), [*SCANS.items(), ("network", NETWORK), *DIGITS.items()])
def test_texts_are_functions_of_their_names(name, text):
    (function,) = ast.parse(text).body
    assert function.name == name
    assert ast.get_docstring(function)


def test_every_launch_has_its_text():
    def function(t):
        return [
            make(p.sort, t, axis=0, direction="asc"),
            make(p.argsort, t, axis=1, direction="asc", type=types.s64),
            make(p.cumulative_sum, t, axis=0, reverse=False),
            make(p.cumulative_sum, t, axis=1, reverse=False),
        ]

    steps = planned(function, np.zeros((9000, 2), np.float32)).steps
    found = [launch.source for step in steps for launch in step.work.routine.launches]
    assert set(found) == {NETWORK, *DIGITS.values(), *SCANS.values()}
