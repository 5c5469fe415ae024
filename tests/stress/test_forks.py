"""Processes that are forked while other threads compile: ``NXKERNEL_STRESS_FORKS`` of them, none hangs."""

import os
import time

import pytest

from nxkernel import fork_safety
from stress_testing import forks, stressing

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
]

#: Forks of one parent process.
BATCH = 100


def test_forks_while_threads_compile(say):
    wanted, seed = stressing.many("FORKS", 2000), stressing.many("SEED", time.time_ns() % 2**31)
    say(f"\n{wanted} forks, {forks.THREADS} threads that compile, seed {seed}")
    done = 0
    while done < wanted:
        count = min(BATCH, wanted - done)
        hung, failed, compiled, longest = forks.forked(count, seed + done)
        assert (hung, failed) == (0, 0)
        assert longest < fork_safety.PATIENCE
        done += count
        say(f"{done} forked, none hung; {compiled} programs compiled meanwhile, {longest:.3f} s the longest wait")
