"""Which kernels wait for which, whatever the order in which that is said."""

import itertools
import random

from nxkernel.compilers.schedule.kernel_groups import KernelGroup


def kernels(count):
    return [KernelGroup((3,), number=number) for number in range(count)]


def before(kernel):
    """All that a kernel waits for, by walking."""
    todo, found = list(kernel.needs), set()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += one.needs
    return found


def test_who_waits_for_another_waits_for_what_that_waits_for():
    first, second, third = kernels(3)
    third.wait_for({second})
    assert not first.is_awaited_by({third})
    second.wait_for({first})
    assert first.is_awaited_by({third})
    assert first.is_awaited_by({first})
    assert not third.is_awaited_by({first, second})


def test_as_walking_finds_it():
    draw = random.Random(0)
    some = kernels(40)
    pairs = [(a, b) for a, b in itertools.combinations(range(40), 2) if draw.random() < 0.08]
    draw.shuffle(pairs)
    for earlier, later in pairs:
        some[later].wait_for({some[earlier]})
        one, other = draw.sample(some, 2)
        assert one.is_awaited_by({other}) == (one is other or one in before(other))
    for one, other in itertools.product(some, some):
        assert one.is_awaited_by({other}) == (one is other or one in before(other))
