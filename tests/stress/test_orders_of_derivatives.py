"""How the time until a first result grows from one order of derivatives to the next: to three times at most."""

import itertools
import json

import pytest

from stress_testing import orders_of_derivatives, stressing

TEXT = f"import runpy, sys; runpy.run_path({orders_of_derivatives.__file__!r}, run_name='__main__')"
FUNCTIONS = [each.__name__ for each in orders_of_derivatives.OF_NUMBERS + orders_of_derivatives.OF_VECTORS]


@pytest.mark.stress
@pytest.mark.alone
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compilation_grows_to_three_times(name, say):
    """Of `NXKERNEL_STRESS_TIMES` processes, the least time of each order counts."""
    times = [json.loads(stressing.run(TEXT, name)[0]) for _ in range(stressing.many("TIMES", 3))]
    best = [min(each) for each in zip(*times, strict=True)]
    growth = [later / former for former, later in itertools.pairwise(best)]
    milliseconds = ", ".join(f"{each * 1e3:,.0f}" for each in best)
    say(f"{name}: {milliseconds} ms, at most {max(growth):.2f} times as long")
    # Within what the times of a shared machine tell.
    assert max(growth) <= 3 * 1.1
    assert best[-1] <= best[0] * 3 ** len(growth)
