import re

import pytest
from IPython.core.error import UsageError

from nxkernel.compilers.cache import disk_cache
from nxkernel.definitions.observe.events import Event, stream
from nxkernel_magics.call_parsing import CallReport, read_call, witnessed


def test_the_outermost_call_is_read_but_not_made(shell):
    made = []
    shell.ns.update(f=lambda *args, **kwargs: made.append((args, kwargs)), xs=[1, 2])
    call = read_call(shell.ip, "%jit", "f(xs[0] + 1, *xs, k=[i for i in xs]);")
    assert (call.args, call.kwargs) == ((2, 1, 2), {"k": [1, 2]})
    assert made == []
    call.make()
    assert made == [((2, 1, 2), {"k": [1, 2]})]


def test_the_call_stands_on_the_line_of_its_cell(shell):
    seen = []
    shell.ns.update(probe=lambda: seen.append(read_call(shell.ip, "%jit", "len([])")))
    shell.run("x = 1")
    shell.run("x = 2\nprobe()")
    assert shell.ip.compile.format_code_name(seen[0].file) == ("Cell", "In[2]")
    assert seen[0].line == 2


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x + 1", "%jit takes a call, such as `%jit f(x, axis=0)`, got `x + 1`."),
        ("f(x", "%jit: '(' was never closed\n  f(x\n   ^"),
        ("f(x) x", "%jit: invalid syntax\n  f(x) x\n       ^"),
        (
            "a, b = f(x)",
            "%jit: invalid syntax\n  a, b = f(x)\n       ^\n  Assign the whole line: `a, b = %jit f(x)`.",
        ),
    ],
)
def test_other_expressions_are_usage_errors(shell, text, error):
    with pytest.raises(UsageError) as raised:
        read_call(shell.ip, "%jit", text)
    assert str(raised.value) == error


def line(*events, seconds):
    return CallReport(list(events), seconds).line()


def test_the_line_says_what_happened():
    first = Event("miss", "f", reason=("first call",), trace_ms=1.4, lower_ms=3, native_ms=18, compiled=2)
    assert line(first, seconds=0.0634) == "traced 1.4 ms · compiled 2 kernels 21 ms · first call · ran 41 ms"
    again = Event("miss", "f", reason=("option steps: 100 → 200",), trace_ms=1.4, reused=1, advice="Pass it.")
    assert line(again, seconds=0.0424) == (
        "traced 1.4 ms · 1 kernel from memory · option steps: 100 → 200 · ran 41 ms\n  Pass it."
    )
    assert line(Event("hit", "f"), seconds=0.00002) == "answered from the cache · ran 20 µs"
    assert line(seconds=2.0) == "ran 2.0 s"


def test_advice_is_broken_between_words():
    advice = "value is a number, and each new one makes a program of its own: pass it as a positional argument instead."
    event = Event("miss", "f", reason=("option value: 1.0 → 2.0",), trace_ms=1.4, advice=advice)
    _, *told = line(event, seconds=0.002).split("\n")
    assert told == [
        "  value is a number, and each new one makes a program of its own: pass it as a positional",
        "  argument instead.",
    ]


def test_only_the_events_of_the_block_are_witnessed():
    with witnessed() as witness:
        stream.emit(Event("hit", "f"))
    stream.emit(Event("hit", "f"))
    assert len(witness.events) == 1
    assert witness.seconds > 0
    assert not stream.listening


def test_loops_of_a_program_are_told(shell, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    disk_cache.reset()
    shell.run(
        "@nx.defn(compiler='numba_cpu')\ndef turns(n):\n    count = 0\n    while n > 1:\n"
        "        n = n // 2 if n % 2 == 0 else 5 * n - 13\n        count += 1\n    return count"
    )
    first = shell.run("%jit turns(9)").out
    assert re.match(r"traced [\d.]+ .s · compiled 1 kernel [\d.]+ m?s · first call · ran ", first)
    again = shell.run("turns.clear_cache()\n%jit turns(9)").out
    assert re.match(r"traced [\d.]+ .s · 1 kernel from memory · first call · ran ", again)
    disk_cache.reset()
