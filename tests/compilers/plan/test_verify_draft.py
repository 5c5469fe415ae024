"""Plans in the making that are damaged on purpose behind each pass, and what is said of them."""

import dataclasses

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import planned, spec
from nxkernel import passes
from nxkernel.compilers.plan import verify_draft
from nxkernel.compilers.plan.locations import Location
from nxkernel.errors import VerificationError

ENDING = "\n  This is a fault of nxkernel's: please report it, with the definition."


def draft_of(function, *specs):
    """What the passes of planning made of a function, before its plan is put together."""
    drafts = []
    with passes.watched(lambda one, form: drafts.append(form) if one.name == "buffer assignment" else None):
        planned(function, *specs)
    return drafts[-1]


def counting():
    """A loop that counts, beside an array that it changes."""

    def body(i, x):
        return nx.put_slice(x, [i + 2], x[:1] * 2)

    return draft_of(lambda x: nx.fori(0, 3, body, nx.sort(x)), spec("f64", 6))


def update():
    """An update in place of what a sort leaves."""
    return draft_of(lambda x: nx.put_slice(nx.sort(x), [1], x[:2] * 2), spec("f64", 6))


def two():
    """Two sorts, of which a product is made."""
    return draft_of(lambda x: nx.dot(nx.sort(x), nx.sort(x * 2)), spec("f64", 6))


def sorts():
    """Two updates in place, and an output that none of them is in."""

    def function(x):
        first, second, third = nx.sort(x), nx.sort(x * 2), nx.sort(x * 3)
        return nx.put_slice(first, [1], x[:2]), nx.put_slice(second, [1], x[:2]), third

    return draft_of(function, spec("f64", 6))


def softmax():
    """One nest of three passes."""

    def function(x):
        e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
        return e / nx.sum(e, axes=[1], keep_axes=True)

    return draft_of(function, spec("f32", 5, 7))


def number(draft, *names):
    """A node of some primitive, the first that is a single integer."""
    return next(node for node in draft.ranges if node.primitive.name in names and node.type.is_integer)


def with_range(name, interval):
    def damage(draft):
        draft.ranges = {**draft.ranges, number(draft, name): interval}

    return damage


def of_an_array(draft):
    draft.ranges = {**draft.ranges, draft.outputs[0]: (0, 1)}


def inner():
    """What is known in the body of a loop that counts to 3."""
    drafts = []
    with passes.watched(lambda one, form: drafts.append(form) if one.name == "buffer assignment" else None):
        planned(lambda x: nx.fori(0, 3, lambda i, s: s + x[i + 1], nx.f64(0.0)), spec("f64", 6))
    return next(draft for draft in drafts if any(node.primitive.name == "add" for node in draft.ranges))


def swapped_bodies(draft):
    (node,) = draft.controls
    draft.parts[node] = draft.parts[node][::-1]


def one_body(draft):
    (node,) = draft.controls
    draft.parts[node] = draft.parts[node][:1]


def a_body_that_writes_into_what_it_captured(draft):
    (node,) = draft.controls
    condition, body = draft.parts[node]
    written = body.steps[-1].writes[0]
    draft.parts[node] = condition, dataclasses.replace(body, place={**body.place, written: Location.input(7)})


def a_body_with_fewer_results(draft):
    (node,) = draft.controls
    condition, body = draft.parts[node]
    draft.parts[node] = condition, dataclasses.replace(body, results=body.results[:-1])


def of_a_kind(draft, name):
    return next(node for node in draft.order if node.primitive.name == name)


def taken_over(old):
    """Have an update take over other memory: `old` gives it for a draft."""

    def damage(draft):
        (result,) = draft.possible
        draft.possible[result] = old(draft)

    return damage


def taken_twice(draft):
    first, second = draft.possible
    draft.possible[second] = draft.possible[first]


def that_of_an_output(draft):
    draft.possible[draft.outputs[1]] = draft.outputs[2]
    draft.order.sort(key=lambda node: node is draft.outputs[1])


def output_not_materialized(draft):
    draft.fusion.materialized.discard(draft.outputs[0])


def in_two_groups(draft):
    (group,) = draft.fusion.kernels
    draft.fusion.kernels.append(dataclasses.replace(group, materialized=group.materialized[:1]))


def in_no_group(draft):
    (group,) = draft.fusion.kernels
    group.materialized.pop()


def another_space(draft):
    (group,) = draft.fusion.kernels
    group.space = (5, 8)


def waiting_for_itself(draft):
    (group,) = draft.fusion.kernels
    group.needs.add(group)


def shared_in_a_ring(draft):
    (result,) = draft.shared
    draft.shared[draft.shared[result]] = result


def backwards(draft):
    draft.steps.reverse()


def twice(draft):
    draft.steps.append(draft.steps[0])


def unwritten(draft):
    del draft.steps[0]


def read_late(draft):
    """A step reads what an update wrote over."""
    (update,) = [step for step in draft.steps if any(node in draft.shared for node in step.writes)]
    (result,) = draft.shared
    late = dataclasses.replace(update, reads=[draft.shared[result]], writes=[of_a_kind(draft, "slice")])
    draft.steps.append(late)


def nowhere(draft):
    draft.place.pop(draft.steps[0].writes[0])


def beyond(draft):
    draft.place[draft.steps[0].writes[0]] = Location.workspace(draft.workspace)


def together(draft):
    first, second = (node for step in draft.steps for node in step.writes if node.primitive.name == "sort")
    draft.place[second] = draft.place[first]


def half_together(draft):
    first, second = (node for step in draft.steps for node in step.writes if node.primitive.name == "sort")
    draft.place[first], draft.place[second] = Location.workspace(0), Location.workspace(8)
    draft.workspace = 1024


def apart(draft):
    (result,) = draft.shared
    draft.place[result] = Location.workspace(0)
    draft.workspace = 1024


RANGES, BODIES, UPDATES = verify_draft.verify_ranges, verify_draft.verify_bodies, verify_draft.verify_updates
FUSION, ORDER, BUFFERS = verify_draft.verify_fusion, verify_draft.verify_order, verify_draft.verify_buffers
DAMAGE = {
    "a range of an array": (RANGES, counting, of_an_array, "expected a range of single integers alone, found 0 to 1"),
    "a range that is turned around": (RANGES, inner, with_range("add", (3, 1)), "found 3 to 1"),
    "a range beyond a type": (RANGES, inner, with_range("add", (0, 1 << 70)), "expected a range in order, from -"),
    "a constant beside its range": (RANGES, inner, with_range("constant", (5, 6)), "expected a range around "),
    "a sum beyond its range": (
        RANGES, inner, with_range("add", (0, 1)), "expected a range with 3, which it is of 2 and 1, found 0 to 1",
    ),
    "bodies that changed places": (BODIES, counting, swapped_bodies, "expected the plan of "),
    "a body that is missing": (BODIES, counting, one_body, "expected plans of its condition and body, found 1 plans"),
    "a body that writes elsewhere": (
        BODIES, counting, a_body_that_writes_into_what_it_captured, "found input 7",
    ),
    "a body with fewer results": (BODIES, counting, a_body_with_fewer_results, "expected 2 results, found 1"),
    "an update of what comes after it": (
        UPDATES, update, taken_over(lambda draft: of_a_kind(draft, "put_slice")),
        "expected a value that is there before it",
    ),
    "an update of something shorter": (
        UPDATES, update, taken_over(lambda draft: of_a_kind(draft, "slice")),
        "expected the memory of a f64 of 48 bytes, found that of slice of f64[6]",
    ),
    "an update of the caller's": (
        UPDATES, update, taken_over(lambda draft: of_a_kind(draft, "parameter")),
        "expected memory that may be written to, found that of parameter 0 (x0) f64[6]",
    ),
    "two updates of one value": (
        UPDATES, sorts, taken_twice,
        "expected memory that no other result takes over, found that which put_slice of f64[6]",
    ),
    "an update of an output": (
        UPDATES, sorts, that_of_an_output, "expected memory of a value that is no output, found that of sort of f64[6]",
    ),
    "an output that is computed where it is read": (FUSION, softmax, output_not_materialized, "expected it in memory"),
    "a value in two groups": (FUSION, softmax, in_two_groups, "expected one group that computes it, found two"),
    "a value in no group": (FUSION, softmax, in_no_group, "expected it among the values of its group"),
    "a group of another space": (
        FUSION, softmax, another_space,
        "expected a group over [5, 8] that reduces [1], found one over [5, 7] that reduces [1]",
    ),
    "a group that waits for itself": (
        FUSION, softmax, waiting_for_itself, "expected that it waits for none that waits for it, found 1 that do",
    ),
    "updates in a ring": (FUSION, update, shared_in_a_ring, "expected memory that somebody has before, found its own"),
    "steps backwards": (ORDER, two, backwards, "expected it written before, found that step "),
    "a step twice": (ORDER, two, twice, "the steps: expected each once, found one of them twice"),
    "a step that is missing": (ORDER, two, unwritten, "expected a step that writes it, found none"),
    "a reader of what was written over": (
        ORDER, update, read_late, "expected no readers after that, found that step 2 reads it when step 1 has written",
    ),
    "a value without memory": (BUFFERS, two, nowhere, "expected a location, found none"),
    "a value beyond the workspace": (BUFFERS, two, beyond, "expected bytes below "),
    "two values in the same bytes": (BUFFERS, two, together, "expected memory that nobody else has, found "),
    "two values that overlap": (
        BUFFERS, two, half_together, "expected memory that nobody else has, found workspace 8 from step ",
    ),
    "an update that is elsewhere": (BUFFERS, update, apart, "expected output 0, where sort of f64[6]"),
}  # fmt: skip


@pytest.mark.parametrize("made", [counting, update, two, softmax, inner], ids=lambda made: made.__name__)
def test_plans_in_the_making_are_well_formed(made):
    for check in (RANGES, BODIES, UPDATES, FUSION, ORDER, BUFFERS):
        check(made(), "a pass")


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind):
    check, made, damage, text = DAMAGE[kind]
    draft = made()
    damage(draft)
    with pytest.raises(VerificationError) as error:
        check(draft, "a pass")
    assert str(error.value).startswith("after the pass 'a pass': ")
    assert str(error.value).endswith(ENDING)
    assert text in str(error.value)
