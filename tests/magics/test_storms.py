from itertools import pairwise

from nxkernel.defn.events import Event
from nxkernel_magics.storms import STORM, report

STEP = "%%defn{}\ndef step(w, *, lr=0.1):\n    return w - lr * w\n"
LOOP = "for i in range({}):\n    step(1.0, lr=0.1 / (i + {}))"


def misses(what, values):
    return [Event("miss", "f", reason=(f"{what}: {a} → {b}",)) for a, b in pairwise(values)]


def test_an_option_that_keeps_changing_is_reported_once(shell):
    shell.run(STEP.format(""))
    ran = shell.run(LOOP.format(20, 1))
    assert ran.err == (
        "step was traced 19 times in this cell, each time for a new value of the option lr\n"
        "  lr: 0.05, 0.03333333333333333, 0.025, …\n"
        "  If lr only feeds arithmetic, declare it before `*` and pass it by position: it is traced once.\n"
    )
    assert shell.run(LOOP.format(20, 50)).err == ""


def test_a_few_are_not_worth_a_word(shell):
    shell.run(STEP.format(""))
    assert shell.run(LOOP.format(STORM, 1)).err == ""
    assert shell.run(LOOP.format(2, 70)).err == ""


def test_quiet_cells_hear_nothing(shell):
    shell.run(STEP.format(" --quiet"))
    assert shell.run(LOOP.format(20, 1)).err == ""


def test_shapes_and_captures_have_their_own_advice():
    shapes = [f"f32[{n}]" for n in range(3, 13)]
    assert report(misses("argument x", shapes)) == [
        "f was traced 9 times in this cell, each time for another type or shape of x\n"
        "  x: f32[4], f32[5], f32[6], …\n"
        "  Pad x to a few fixed shapes, or group the calls by shape: each shape is traced once."
    ]
    assert report(misses("captured k", list("0123456789"))) == [
        "f was traced 9 times in this cell, each time for a new value of k, which it captures\n"
        "  k: 1, 2, 3, …\n"
        "  Pass k as an argument: it is traced once."
    ]


def test_mixed_reasons_are_no_storm():
    assert report([Event("miss", "f", reason=("first call",))] * 20) == []
    assert report([Event("miss", "f", reason=("argument x: a → b", "option k: 1 → 2"))] * 20) == []
