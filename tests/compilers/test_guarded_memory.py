"""No program reads or writes beyond its buffers: each buffer lies between pages that cannot be touched."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from native_code.guarded_memory import guarded, guarded_copy, guards
from native_code.guarded_primitives import faults
from nxkernel import primitives as p
from nxkernel.compilers import registry
from nxkernel.compilers.plan.locations import MemoryKind
from random_graphs.working import Run
from random_primitives import CASES
from stress_testing.stressing import many

linux = pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by Linux's calls here")

#: Primitives whose operands are square matrices, of which there are fewer shapes.
SQUARE = {p.cholesky, p.eigh, p.lu, p.inverse, p.determinant}
#: Random graphs in a run of all tests.
FEW = 12

TOO_FAR = """
import sys
import numpy as np
from native_code.guarded_memory import guarded
array = guarded((5,), np.float64, at_end={at_end})
np.lib.stride_tricks.as_strided(array[{last}:], (2,), ({step},)){change}
"""

MARGINS = """
import numpy as np
from graph_comparison.compiled_graphs import inputs, make
from native_code.guarded_memory import guards
from nxkernel import passes
from nxkernel import primitives as p, types
from nxkernel.compilers import registry
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.graph.expr import Graph, constant
piecewise_buffers._margins = lambda node, inner: [((0, 0), (1, 16))]
x = np.ones((3, 16), np.float32)
(parameter,) = inputs(x)
node = make(p.pad, parameter, constant(0, types.f32), config=((1, -4, 0), (0, 0, 0)))
# The verifier behind the pass 'loop nests' would find it before.
with passes.verifying(False), guards():
    registry.get("numba_cpu").compile(Graph("f", [parameter], [node], list)).run([x])
"""


def ended(text):
    """How a process ends that runs a text."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NXKERNEL_CACHE_DIR": "off"}
    return subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True).returncode


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@linux
@pytest.mark.parametrize(
    ("at_end", "last", "step", "change", "code"),
    [
        (True, 4, 8, ".sum()", -11),
        (True, 4, 8, "[:] = 0", -11),
        (False, 0, -8, ".sum()", -11),
        (True, 3, 8, "[:] = 0", 0),
        (False, 1, -8, "[:] = 0", 0),
    ],
)
def test_an_element_beyond_a_buffer_cannot_be_touched(at_end, last, step, change, code):
    assert ended(TOO_FAR.format(at_end=at_end, last=last, step=step, change=change)) == code


@linux
def test_inputs_cannot_be_written():
    write = "from native_code.guarded_memory import guarded_copy\nimport numpy as np\nguarded_copy(np.ones(3))[0] = 2"
    assert ended(write) == -11
    made = guarded_copy(np.arange(3.0), read_only=False)
    made[1] = 7
    assert made.tolist() == [0, 7, 2]


@linux
def test_a_kernel_that_writes_beyond_its_result_is_found():
    assert ended(MARGINS) == -11


@linux
def test_arrays_without_elements_have_no_page():
    for at_end in (True, False):
        assert guarded((0, 3), np.float32, at_end).shape == (0, 3)


@linux
@pytest.mark.parametrize(
    ("shapes", "squares"),
    [pytest.param(30, 12, marks=pytest.mark.slow), pytest.param(200, 50, marks=pytest.mark.stress)],
)
def test_every_primitive_stays_within_its_buffers(shapes, squares):
    """In so many shapes, or so many where its operands are square matrices."""
    found, seen = faults(shapes)
    assert not found, "\n".join(found)
    assert set(seen) == set(CASES)
    assert not {name: n for name, n in seen.items() if n < (squares if name in SQUARE else shapes)}


@linux
def test_values_in_a_workspace_lie_apart(compile_product_of_sums):
    """What an unguarded program puts side by side: the values of a chain, and the buffers of a loop."""
    with guards() as told:
        executable, arrays, expected = compile_product_of_sums()
        (found,) = executable.run(arrays)
        offsets = sorted(offset for kind, offset in executable.plan.place.values() if kind is MemoryKind.WORKSPACE)
    np.testing.assert_allclose(found, expected)
    assert told.programs == 1
    assert offsets
    assert min(np.diff(offsets), default=4096) >= 4096


@pytest.fixture
def compile_product_of_sums():
    """A program with values in its workspace: two running totals, and their product."""

    def build():
        from graph_comparison.compiled_graphs import graph_of
        from nxkernel import ops

        x = np.linspace(0.5, 1.5, 37)
        graph = graph_of(lambda a: ops.cumulative_sum(a) @ ops.cumulative_sum(a * a), x)
        return registry.get("numba_cpu").compile(graph), [x], np.cumsum(x) @ np.cumsum(x * x)

    return build


@linux
def test_random_graphs_stay_within_their_buffers():
    run = Run(time.time_ns() % 2**31, FEW, 1, lambda text: None, guarded=True)
    run.finish()
    assert not run.failures, "\n\n".join(run.failures)
    assert run.done == FEW
    assert run.steps > FEW


@linux
@pytest.mark.stress
def test_a_million_kernels_stay_within_their_buffers(say):
    """As many as `NXKERNEL_STRESS_KERNELS` says, an hour on two cores, from the seed `NXKERNEL_STRESS_FIRST` on."""
    kernels = many("KERNELS", 1_000_000)
    first = many("FIRST", time.time_ns() % 2**31)
    say(f"{kernels:,} kernels in guarded memory from NXKERNEL_STRESS_FIRST={first} on")
    done, failures = 0, []
    while done < kernels:
        run = Run(first, 4000, os.cpu_count(), say, guarded=True)
        run.finish()
        first, done, failures = first + run.done, done + run.steps, failures + run.failures
        say(f"{done:,} kernels, {len(failures)} failures")
    assert not failures, "\n\n".join(failures)
