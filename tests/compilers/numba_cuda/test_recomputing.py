"""Scratch rows of cheap values are computed again."""

from nxkernel import types
from nxkernel.compilers.loops import Op, Reduce, Section
from nxkernel.compilers.numba_cuda.recomputing import without_cheap_rows

F = types.f32


def sections(name):
    first = Section(
        "full",
        (Op("load", F, (), 0), Op("slot", F, (), 0), Op("subtract", F, (0, 1)), Op(name, F, (2,))),
        reduces=(Reduce("sum", F, (3,), 1),),
        scratches=((0, 3),),
    )
    second = Section("full", (Op("slot", F, (), 1), Op("scratch", F, (), 0), Op("divide", F, (1, 0))), stores=((1, 2),))
    return first, second


def test_cheap_values():
    first, second = without_cheap_rows(sections("exp"))
    assert first.scratches == ()
    assert first.reduces == sections("exp")[0].reduces
    assert [op.name for op in second.code] == ["slot", "load", "slot", "subtract", "exp", "divide"]
    assert [op.args for op in second.code] == [(), (), (), (1, 2), (3,), (4, 0)]
    assert second.stores == ((1, 5),)


def test_costly_values_stay():
    assert without_cheap_rows(sections("pow")) == sections("pow")
