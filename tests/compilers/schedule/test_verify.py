"""Loop nests that are damaged on purpose, and what is said of them."""

import dataclasses

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import planned, spec
from nxkernel import types
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import BufferRole, Stride
from nxkernel.compilers.schedule.verify import verify
from nxkernel.errors import VerificationError


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def bound():
    """The nest of a softmax."""
    (step,) = planned(softmax, spec("f32", 5, 7)).steps
    assert isinstance(step.work, BoundNest)
    return step.work


def with_nest(**changes):
    """That nest with other parts."""
    return dataclasses.replace(bound(), nest=dataclasses.replace(bound().nest, **changes))


def with_op(wanted, **changes):
    """That nest with another first instruction of some name."""
    passes = list(bound().nest.passes)
    for number, nest_pass in enumerate(passes):
        for place, op in enumerate(nest_pass.code):
            if op.name == wanted:
                code = (*nest_pass.code[:place], op._replace(**changes), *nest_pass.code[place + 1 :])
                passes[number] = nest_pass._replace(code=code)
                return with_nest(passes=tuple(passes))
    raise AssertionError(wanted)


def with_access(number, **changes):
    """That nest with another buffer."""
    buffers = list(bound().nest.buffers)
    buffers[number] = buffers[number]._replace(**changes)
    return with_nest(buffers=tuple(buffers))


DAMAGE = {
    "an operation": (lambda: with_op("exp", name="expp"), "an element-wise primitive, or one that reads, found expp"),
    "arguments": (lambda: with_op("exp", args=(99,)), "arguments among the instructions before it, found [99]"),
    "a type": (lambda: with_op("exp", type=types.f64), "expected arguments of type f64, found f32"),
    "a buffer": (lambda: with_op("load", entry=9), "expected a number below 2, found 9"),
    "a slot of later": (
        lambda: with_nest(passes=bound().nest.passes[1:]), "a slot that an earlier pass wrote, found slot 0",
    ),
    "a role": (lambda: with_access(0, role=BufferRole.WRITE), "expected a buffer to read, found buffer 0 to write"),
    "strides": (lambda: with_access(0, strides=(Stride.UNIT,)), "buffer 0: expected strides of 2 axes, found 1"),
    "a stride": (
        lambda: with_access(0, strides=("s", "1")),
        "buffer 0: expected along axis 0 a stride 0, 1, -, 2, s, m, found 's'",
    ),
    "lanes": (lambda: with_nest(lanes="sideways"), "the nest: expected lanes inner, outer, tile, found 'sideways'"),
    "limits": (lambda: with_nest(limits=(7, -1)), "the nest: expected limits in slots below"),
    "scalars": (lambda: dataclasses.replace(bound(), scalars=[5]), "the scalar parameters of the nest: expected"),
    "sizes": (lambda: dataclasses.replace(bound(), elements=36), "expected sizes of 36 elements, found [5, 7]"),
    "an offset": (
        lambda: dataclasses.replace(bound(), buffers=[(bound().buffers[0][0], 4), *bound().buffers[1:]]),
        "buffer 0, in parameter f32[5][7], to read: expected bytes below 140, found those from 4 to 144",
    ),
}  # fmt: skip


def test_a_nest_as_it_is_built_is_well_formed():
    verify(bound(), "loop nests")


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind):
    damage, text = DAMAGE[kind]
    with pytest.raises(VerificationError) as error:
        verify(damage(), "loop nests")
    assert str(error.value).startswith("after the pass 'loop nests': ")
    assert text in str(error.value)
