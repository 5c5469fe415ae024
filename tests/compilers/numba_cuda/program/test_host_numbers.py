"""What a program knows without asking the device."""

import numpy as np

import nxkernel as nx
from emulated_gpu.programs import plan_of
from nxkernel.compilers.numba_cuda.program.host_numbers import follows, is_known, known_operands
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.program_plan import ScalarStep

X = np.arange(12.0).reshape(3, 4)


def followed(function, known):
    """Of each single number that a plan computes its primitive, and whether it follows from known inputs."""
    plan = plan_of(function, X, np.int64(3))
    places = {Location.input(place) for place in known}
    found = {}
    for step in plan.steps:
        if isinstance(step.work, ScalarStep):
            node = step.work.node
            found[node.primitive.name] = follows(plan, node, places)
            if found[node.primitive.name]:
                places.add(plan.place[node])
    return found


def program(x, n):
    """Numbers by which a loop ends: one from an argument alone, and one from an element, too."""
    return nx.fori(0, nx.quotient(n, 2) + nx.as_type(x[0, 1], "s64"), lambda i, s: s + nx.sum(x), nx.f64(0.0))


def test_what_follows_from_known_numbers():
    assert followed(program, {1})["quotient"]
    assert not followed(program, {1})["add"]
    assert followed(program, {0, 1})["quotient"]
    assert not any(followed(program, ()).values())


def test_known_numbers_are_constants_and_what_is_at_known_places():
    plan = plan_of(program, X, np.int64(3))
    (loop,) = plan.controls
    assert loop.operands[0].primitive.name == "constant"
    assert is_known(plan, loop.operands[0], ())
    x, n = sorted(
        (node for node in plan.place if node.primitive.name == "parameter"), key=lambda node: node.params["index"]
    )
    assert is_known(plan, n, {Location.input(1)})
    assert not is_known(plan, n, {Location.input(0)})
    # An array is no number, wherever it is.
    assert not is_known(plan, x, {Location.input(0)})
    assert known_operands([x, n, loop.operands[0]], plan, {Location.input(1)}) == {1, 2}
