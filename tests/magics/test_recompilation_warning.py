from itertools import pairwise

from nxkernel.definitions.observe.events import Event
from nxkernel.definitions.observe.key_changes import Change
from nxkernel_magics.recompilation_warning import STORM, report

STEP = "%%defn{}\ndef step(w, *, lr=0.1):\n    return w - lr * w\n"
LOOP = "for i in range({}):\n    step(1.0, lr=0.1 / (i + {}))"


def misses(role, names, kind, values, advice=""):
    return [
        Event("miss", "f", reason=(Change.of(role, names, kind, a, b),), advice=advice) for a, b in pairwise(values)
    ]


def test_an_option_that_keeps_changing_is_reported_once(shell):
    shell.run(STEP.format(""))
    ran = shell.run(LOOP.format(20, 1))
    assert ran.err == (
        "step was traced 19 times in this cell, each time for a new value of the option lr\n"
        "  lr: 0.05, 0.03333333333333333, 0.025, …\n"
        "  lr is a number, and each new one makes a program of its own: if it keeps changing,\n"
        "  declare it before `*` and pass it by position, and it will be compiled once.\n"
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
    assert report(misses("captured", ["w"], "type", shapes)) == [
        "f was traced 9 times in this cell, each time for another type or shape of w, which it captures\n"
        "  w: f32[4], f32[5], f32[6], …\n"
        "  Keep w to a few fixed shapes."
    ]
    assert report(misses("argument", ["x"], "type", shapes, "Pad it.")) == [
        "f was traced 9 times in this cell, each time for another type or shape of x\n"
        "  x: f32[4], f32[5], f32[6], …\n"
        "  Pad it."
    ]
    assert report(misses("captured", ["k"], "value", list("0123456789"))) == [
        "f was traced 9 times in this cell, each time for a new value of k, which it captures\n"
        "  k: 1, 2, 3, …\n"
        "  Keep to a few values: each is traced once."
    ]


def test_mixed_reasons_are_no_storm():
    assert report([Event("miss", "f", reason=("first call",))] * 20) == []
    both = Change.of("argument", ["x"], "value", "a", "b"), Change.of("option", ["k"], "number", "1", "2")
    assert report([Event("miss", "f", reason=both)] * 20) == []


def test_several_values_that_change_together_are_named_together():
    assert report(misses("argument", ["x", "y"], "type", [f"f32[{n}]" for n in range(3, 13)])) == [
        "f was traced 9 times in this cell, each time for another type or shape of x and y\n"
        "  x: f32[4], f32[5], f32[6], …\n"
        "  y: f32[4], f32[5], f32[6], …\n"
        "  Pad x and y to a few fixed shapes: each is traced once."
    ]


def test_functions_of_one_name_are_told_apart():
    events = misses("option", ["n"], "number", list("0123456789"))
    mixed = [Event("miss", "f", reason=event.reason, identity="ab"[k % 2]) for k, event in enumerate(events)]
    assert report(mixed) == []
    assert len(report(events)) == 1


def test_a_list_that_grows(shell):
    shell.run("import numpy as np\n@nx.defn\ndef mean(signals):\n    return nx.sum(nx.stack(signals))")
    ran = shell.run("for n in range(2, 14):\n    mean([np.ones(3)] * n)")
    assert ran.err == (
        "mean was traced 11 times in this cell, each time for another length of signals\n"
        "  signals: of 3, of 4, of 5, …\n"
        "  Each length of signals makes a program of its own: keep to a few lengths, or pass one\n"
        "  array, padded to a few fixed shapes.\n"
    )


def test_a_helper_that_is_made_anew_each_time():
    assert report([Event("miss", "f", reason=(Change.of("captured", ["helper"], "code"),))] * 9) == [
        "f was traced 9 times in this cell, each time for another state of helper, which it calls\n"
        "  Define helper once, outside of the loop."
    ]
    anew = Change.of("captured", ["Config"], "anew", "class Config", "another class Config")
    assert report([Event("miss", "f", reason=(anew,))] * 9) == [
        "f was traced 9 times in this cell, each time as Config, which it captures, was made anew\n"
        "  Make Config once, outside of the loop."
    ]


NUMPY = "import numpy as np\n@nx.defn(promotion='numpy')\ndef tail(x, n):\n    return np.zeros(n) + x"


def test_a_number_of_a_numpy_program_that_is_needed_as_a_value(shell):
    shell.run(NUMPY)
    ran = shell.run("for n in range(1, 11):\n    tail(1.0, n)")
    assert ran.err == (
        "tail was traced 9 times in this cell, each time for a new value of n, which is static\n"
        "  n: 2, 3, 4, …\n"
        "  The value of n is needed while tracing, as for a shape or an axis: each new value makes\n"
        "  a program of its own.\n"
    )
    assert shell.run("for n in range(11, 31):\n    tail(1.0, n)").err == ""
    assert shell.run("tail.why(1.0, 50)").value.difference == ("argument n: 30 → 50",)


def test_a_static_argument_that_keeps_changing(shell):
    shell.run("f = nx.jit(lambda x, k: x * k, static_argnames='k')")
    ran = shell.run("for k in range(1, 11):\n    f(1.0, k / 2)")
    assert ran.err.splitlines() == [
        "<lambda> was traced 9 times in this cell, each time for a new value of k, which is static",
        "  k: 1.0, 1.5, 2.0, …",
        "  k is a static argument: each new value makes a program of its own. Where it only feeds",
        "  arithmetic, take it out of static_argnames.",
    ]


def test_a_capture_that_keeps_changing(shell):
    shell.run("rate = 0.5\nf = nx.jit(lambda x: x * rate)")
    ran = shell.run("for k in range(1, 11):\n    rate = k / 4\n    f(1.0)")
    assert ran.err.splitlines()[0] == (
        "<lambda> was traced 9 times in this cell, each time for a new value of rate, which it captures"
    )
    assert ran.err.splitlines()[-2:] == [
        "  rate is a number, and each new one makes a program of its own: if it keeps changing,",
        "  pass it as a positional argument, and it will be compiled once.",
    ]


def test_a_stable_program_hears_nothing(shell):
    shell.run(NUMPY + "\nrate = 2.0\nw = np.ones(2)\ng = nx.jit(lambda x: x * rate + w)")
    ran = shell.run("for k in range(50):\n    w = w + 1\n    rate = 2.0\n    g(float(k))\n    tail(float(k), 3)")
    assert ran.err == ""


def test_containers_with_braces_are_quoted_as_they_are():
    assert report(misses("captured", ["cfg"], "value", [f"{{'lr': {k}}}" for k in range(10)])) == [
        "f was traced 9 times in this cell, each time for a new value of cfg, which it captures\n"
        "  cfg: {'lr': 1}, {'lr': 2}, {'lr': 3}, …\n"
        "  Keep to a few values: each is traced once."
    ]
