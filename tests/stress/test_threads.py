"""Ten threads call and redefine the same functions: nothing is wrong, lost, raised or stuck."""

import faulthandler
import os
import sys
import threading
import time

import pytest

from stress_testing.concurrent_calls import Storm

THREADS = 10
#: Seconds after which threads that do not end are taken to hang.
PATIENCE = 120


def storm(seconds, seed):
    """Let a storm pass and look at what it left."""
    before = threading.active_count()
    one = Storm(seed)
    ended = one.run(seconds, THREADS, PATIENCE)
    if not ended:
        faulthandler.dump_traceback(file=sys.__stderr__)
    assert ended, "threads hang; their stacks stand above"
    assert not one.failures, "\n".join(one.failures)
    told = one.counted.cache_info()
    assert told.hits + told.misses == one.calls
    assert told.misses == told.entries <= 12
    for function, calls in one.races.values():
        told = function.cache_info()
        assert (told.misses, told.hits) == (1, calls - 1)
    assert threading.active_count() <= before + 2, threading.enumerate()
    return one


@pytest.mark.slow
def test_a_short_storm():
    assert sum(storm(1.5, 7).done.values()) >= THREADS


@pytest.mark.stress
def test_a_long_storm(say):
    """For `NXKERNEL_STRESS_SECONDS`, with the choices of `NXKERNEL_STRESS_FIRST`."""
    seed = int(os.environ.get("NXKERNEL_STRESS_FIRST", time.time_ns() % 2**31))
    say(f"{THREADS} threads, NXKERNEL_STRESS_FIRST={seed}")
    one = storm(float(os.environ.get("NXKERNEL_STRESS_SECONDS", "60")), seed)
    assert min(one.done.values()) > 0
    say(", ".join(f"{name} {count:,}" for name, count in one.done.items()) + f"; {len(one.races):,} races")
