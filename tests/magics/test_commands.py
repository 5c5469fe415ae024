import re

import numpy as np
import pytest

from nxkernel_magics.subcommands import COMMANDS

SCALE = "%%defn\ndef scale(x, *, k=2.0):\n    return x * k\n"


@pytest.fixture
def scale(shell):
    shell.run(SCALE)
    shell.ns["np"] = np
    return shell


def test_jit_gives_the_value_and_says_what_happened(scale):
    ran = scale.run("%jit scale(3.0)")
    assert float(ran.value) == 6.0
    assert re.fullmatch(r"traced [\d.]+ [µm]s · .*first call · ran [\d.]+ [µm]s", ran.out.splitlines()[0])
    assert [event.where for event in scale.ns["nx"].events(kind="miss")] == ["cell 2"]
    again = scale.run("%jit scale(4.0)")
    assert re.fullmatch(r"answered from the cache · ran [\d.]+ [µm]s", again.out.splitlines()[0])
    changed = scale.run("y = %jit scale(4.0, k=3.0)")
    assert "option k: 2.0 → 3.0" in changed.out
    assert float(scale.ns["y"]) == 12.0


def test_jit_takes_any_function(scale):
    scale.run("def plain(x):\n    return nx.sum(x) + 1")
    ran = scale.run("%jit plain(np.ones(4))")
    assert float(ran.value) == 5.0
    assert "first call" in ran.out
    assert "answered from the cache" in scale.run("%jit plain(np.ones(4))").out


def test_jit_takes_dictionaries_as_they_are(scale):
    scale.run("def total(d):\n    return d['a'] + d['b']")
    assert float(scale.run("%jit total({'a': 1.0, 'b': 2.0})").value) == 3.0


def test_an_error_under_jit_is_shown_with_the_persons_call(scale):
    ran = scale.run("%jit scale(object())")
    assert not ran.success
    assert "Cell In[2], line 1" in ran.out
    assert "nxkernel_magics" not in ran.out
    assert "scale() takes tensors or numbers as positional arguments, got an object for 'x'" in ran.out


def test_jit_without_a_call(shell):
    assert shell.run("%jit").err == "UsageError: %jit takes a call, such as `%jit f(x, axis=0)`.\n"
    assert "%jit takes a call" in shell.run("%jit 1 + 1").err


def test_nx_alone_lists_its_commands(shell):
    lines = shell.run("%nx").out.splitlines()
    assert lines[0] == "Commands of %nx; `%nx help COMMAND` tells more:"
    assert lines[1] == "  inspect  Show a definition's graph, kernels, code and events, live."
    # A page of middling width breaks none of them.
    assert max(map(len, lines)) < 80
    assert [line.split()[0] for line in lines[1:]] == list(COMMANDS)
    assert list(COMMANDS) == ["inspect", "timeline", "cache", "events", "options", "source", "why", "help"]


def test_an_unknown_command_names_the_nearest(shell):
    assert shell.run("%nx insepct f").err == (
        "UsageError: %nx has no command 'insepct'; it has inspect, timeline, cache, events, options, source, why, "
        "help. Did you mean `%nx inspect`?\n"
    )


@pytest.mark.parametrize("magic", ["%%defn?", "%jit?", "%nx?"])
def test_every_command_has_help_with_an_example(shell, magic):
    ran = shell.run(magic)
    assert ran.success
    text = shell.ip.find_magic(magic.strip("%?")).__doc__
    assert "Example" in text
