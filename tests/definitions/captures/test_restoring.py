"""Asking why has no effects: whoever asks, and how often, gets the answers of one who never asked."""

import contextlib
import ctypes
import itertools
import linecache
import os
import threading
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.captures import restoring
from nxkernel.errors import NxError, NxTypeError
from recompilation.reads_with_effects import CHANGING

X = np.ones(3)
_numbers = itertools.count()


def run(text):
    file, space = f"what reading changes {next(_numbers)}", {"__name__": "cell"}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space["f"]


@pytest.mark.sampled(every=32)
@pytest.mark.sampled(every=3, lane="fuzz")
@pytest.mark.parametrize("asked", [0, 1, 3])
@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
@pytest.mark.parametrize("text", CHANGING.values(), ids=CHANGING)
def test_asking_why_has_no_effects(text, wrap, asked):
    plain = run(text)
    expected = [np.asarray(plain(X)).tolist() for _ in range(3)]
    function = run(text)
    definition = wrap(function)
    got = []
    with contextlib.suppress(NxError):  # Some of these are refused, whether or not somebody asks.
        for _ in range(3):
            for _ in range(asked):
                with contextlib.suppress(NxError):
                    definition.why(X)
            got.append(np.asarray(definition(X)).tolist())
    assert got in (expected, [])
    if not got:
        # Asking and a refused call have left the function as it was made, or as Python would have by now.
        assert np.asarray(function(X)).tolist() in expected


def test_what_is_put_back():
    class Held:
        __slots__ = ("filled", "left")

    class Named:
        kept = 1

    def function():
        pass

    held, named = Held(), Named()
    held.left = 1
    values = [[1], {1: 2}, {3}, bytearray(b"ab"), np.ones(2), np.random.default_rng(1), held, named, Named, function]
    state = values[5].bit_generator.state

    def change():
        for change in (
            lambda: values[0].append(2), lambda: values[1].pop(1), lambda: values[2].add(4),
            lambda: values[3].__setitem__(0, 7), lambda: values[4].__setitem__(0, 7), lambda: values[5].random(),
            lambda: setattr(held, "filled", 2), lambda: setattr(held, "left", 2), lambda: setattr(named, "own", 1),
            lambda: setattr(Named, "kept", 2), lambda: setattr(Named, "more", 2), lambda: setattr(function, "n", 1),
        ):  # fmt: skip
            change()
        return "answer"

    assert restoring.run_and_restore(values, change) == "answer"
    assert values[:4] == [[1], {1: 2}, {3}, bytearray(b"ab")]
    assert values[4].tolist() == [1.0, 1.0]
    assert values[5].bit_generator.state == state
    assert (held.left, hasattr(held, "filled"), vars(named)) == (1, False, {})
    assert (Named.kept, hasattr(Named, "more"), vars(function)) == (1, False, {})


def test_what_belongs_to_the_process_is_put_back(monkeypatch):
    monkeypatch.setenv("NX_KEPT", "1")
    monkeypatch.setenv("NX_GONE", "1")
    number, local, module, before = ctypes.c_int(1), threading.local(), types.ModuleType("notes"), 1
    local.kept = module.kept = 1

    def change():
        nonlocal before
        before = number.value = local.kept = local.more = module.kept = module.more = 2
        os.environ.update({"NX_KEPT": "2", "NX_MORE": "2"})
        del os.environ["NX_GONE"]

    restoring.run_and_restore([number, local, module, os.environ, change], change)
    assert (number.value, vars(local), before) == (1, {"kept": 1}, 1)
    assert (module.kept, hasattr(module, "more")) == (1, False)
    assert [os.environ.get(f"NX_{name}") for name in ("KEPT", "GONE", "MORE")] == ["1", "1", None]


def first_changed(a, b):
    a[0] = 5.0
    return (a * b).sum()


def test_asking_why_a_call_is_refused_raises_its_error():
    definition = nx.defn(first_changed)
    x = np.ones(2)
    texts = []
    for ask in (definition.why, definition, definition.why):
        with pytest.raises(NxTypeError) as error:
            ask(x, x)
        texts.append(str(error.value).splitlines()[0])
    assert texts == ["first_changed assigns into a, whose memory b shares."] * 3
    assert definition.why(x, np.ones(2)).hit
    assert x.tolist() == [1.0, 1.0]
