"""Plans that are damaged on purpose, and what is said of them."""

import dataclasses

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import planned, spec
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.verify import verify
from nxkernel.errors import VerificationError


def plan():
    """The plan of two sorts around a nest."""
    return planned(lambda x: nx.sort(nx.sort(x) * 2), spec("f64", 6))


def updated():
    """The plan of an update of what a sort leaves, in place."""
    return planned(lambda x: nx.put_slice(nx.sort(x), [1], x[:2] * 2), spec("f64", 6))


def two():
    """The plan of a product of two values that wait for each other in memory."""
    return planned(lambda x: nx.dot(nx.sort(x), nx.sort(x * 2)), spec("f64", 6))


def looped():
    """The plan of a loop whose iterations wait for each other."""
    return planned(lambda x: nx.fori(0, 9, lambda i, x: nx.sort(x) * i, x), spec("s64", 6))


def shared(whole):
    """Have threads share the iterations of the loops of a plan."""
    for step in whole.steps:
        step.work = dataclasses.replace(step.work, parallel=True)


def together(whole):
    """Have both sorted values of a plan lie in the same memory."""
    first, second = (node for step in whole.steps for node in step.writes if node.primitive.name == "sort")
    whole.place[second] = whole.place[first]


def elsewhere(whole):
    """For each update in place the input, as what it would update."""
    (parameter,) = (node for node in whole.place if node.primitive.name == "parameter")
    return dict.fromkeys(whole.in_place, parameter)


def changed(damage, made=plan):
    """A plan, damaged."""
    whole = made()
    return damage(whole) or whole


def moved(whole, number, place):
    """What a step writes is elsewhere."""
    whole.place[whole.steps[number].writes[0]] = place


DAMAGE = {
    "order": (lambda: changed(lambda one: one.steps.reverse()), "that no step has written it"),
    "a step twice": (lambda: changed(lambda one: one.steps.append(one.steps[0])), "expected each step once"),
    "a step that is missing": (lambda: changed(lambda one: one.steps.pop(0) and None), "that no step has written it"),
    "no place": (
        lambda: changed(lambda one: one.place.pop(one.steps[0].writes[0]) and None),
        "expected a place in memory, found none",
    ),
    "a kind of memory": (
        lambda: changed(lambda one: moved(one, 0, Location("shelf", 0))),
        "input, output, workspace, scalar, found 'shelf'",
    ),
    "beyond the workspace": (lambda: changed(lambda one: moved(one, 0, Location.workspace(1 << 20))), "bytes below"),
    "no output": (lambda: changed(lambda one: moved(one, 0, Location.output(5))), "found no such array"),
    "an array as a number": (
        lambda: changed(lambda one: moved(one, 0, Location.scalar(0))), "since it is no single number",
    ),
    "an input": (lambda: changed(lambda one: moved(one, 0, Location.input(0))), "found a result in its memory"),
    "outputs": (
        lambda: changed(lambda one: one.outputs.__setitem__(0, Location.output(3))),
        "output 0: expected an input, or one of 1 arrays, found output 3",
    ),
    "memory of a value that is read later": (lambda: changed(lambda one: together(one), two), ", read by step"),
    "an update of something else": (
        lambda: changed(lambda one: dataclasses.replace(one, in_place=elsewhere(one)), updated),
        "expected parameter 0 (x0) f64[6] in output 0, to be updated, found sort of f64[6]",
    ),
    "a loop on threads whose iterations depend on each other": (
        lambda: changed(shared, looped), "expected independent iterations, since threads share them, found others",
    ),
}  # fmt: skip


def test_plans_as_they_are_made_are_well_formed():
    verify(plan(), "plan")
    verify(updated(), "plan")
    verify(looped(), "plan")


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind):
    damage, text = DAMAGE[kind]
    with pytest.raises(VerificationError) as error:
        verify(damage(), "plan")
    assert str(error.value).startswith("after the pass 'plan': ")
    assert text in str(error.value)
