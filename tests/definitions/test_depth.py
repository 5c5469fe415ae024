"""What lies deep inside of other things: the right answer, or an error that says what is too deep and what to do."""

import itertools
import linecache
import sys

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError, NxTypeError

X = np.ones(3)
WRAPPERS = [nx.defn, nx.jit]
_numbers = itertools.count()


def run(text):
    """The names that a text defines, whose lines are at hand."""
    file, space = f"depth {next(_numbers)}.py", {"__name__": "cell", "np": np}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space


def lines(template, count):
    return "".join(template.format(k=k, next=k + 1) for k in range(count))


LINKED = "class C: pass\no = None\nfor k in range(2000):\n    p = C(); p.k = {k}; p.next = o; o = p\n"
WRAPPED = "def d(g):\n    def w(x): return g(x)\n    return w\n"
TEXTS = {
    "functions that call the next one": lines("def f{k}(x): return f{next}(x)\n", 600)
    + "def f600(x): return x * 2.\ndef f(x): return f0(x)",
    "methods that call those of their bases": "class B0:\n    def m(self): return self.k\n"
    + lines("class B{next}(B{k}):\n    def m(self): return super().m()\n", 90)
    + "o = B90(); o.k = 2.\ndef f(x): return x * o.m()",
    "bases": "class B0:\n    k = 2.\n"
    + lines("class B{next}(B{k}): pass\n", 500)
    + "o = B500()\ndef f(x): return x * o.k",
    "a list in a list": "l = [2.]\nfor _ in range(2000): l = [l]\ndef f(x): return x * float(len(l))",
    "a tuple in a tuple": "l = (2.,)\nfor _ in range(2000): l = (l,)\ndef f(x): return x * float(len(l))",
    "a dict in a dict": "l = {'a': 2.}\nfor _ in range(2000): l = {'a': l}\ndef f(x): return x * float(len(l))",
    "an array in lists": "a = np.ones(3)\nl = [a]\nfor _ in range(600): l = [l]\n"
    "def f(x):\n    m = l\n    for _ in nx.unroll(range(600)): m = m[0]\n    return x * m[0]",
    "linked objects": LINKED.format(k="2.") + "def f(x): return x * o.next.k",
    "linked objects with arrays": LINKED.format(k="np.ones(3)").replace("2000", "700")
    + "def g(o): return o.next.k\ndef f(x): return x * g(o)",
    "globals": lines("g{k} = {k}.\n", 2000) + "def f(x): return x * (" + lines("g{k} + ", 2000) + "1.)",
    "decorators": WRAPPED + "@d\n" * 300 + "def f(x): return x * 2.",
    "decorators with an array": WRAPPED + "k = np.ones(3)\n" + "@d\n" * 300 + "def f(x): return x * k",
    "functions in dicts": "h = {'f': lambda v: v * 2.}\n"
    "for _ in range(300): h = {'f': (lambda h: lambda v: h['f'](v))(h)}\ndef f(x): return h['f'](x)",
    "modules that import the next one": "import sys, types\nfor k in range(300):\n"
    "    m = sys.modules[f'nx_deep{k}'] = types.ModuleType(f'nx_deep{k}')\n"
    "    after = f'import nx_deep{k - 1} as n\\ndef g(x): return n.g(x)'\n"
    "    exec(after if k else 'def g(x): return x * 2.', vars(m))\n"
    "import nx_deep299\ndef f(x): return nx_deep299.g(x)",
    "terms": "def f(x): return x" + " + x" * 999,
    "statements": "def f(x):\n    y = x\n" + "    y = y + x\n" * 600 + "    return y",
    "parentheses": "def f(x): return " + "(" * 150 + "x" + " + x)" * 150,
    "calls of calls": "def g(x): return x * 1.\ndef f(x): return " + "g(" * 150 + "x" + ")" * 150,
    "attributes of attributes": "class C: pass\no = C(); o.k = 2.; o.a = o\ndef f(x): return x * o" + ".a" * 500 + ".k",
}  # fmt: skip


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_python_runs(text, wrap):
    if "nx.unroll" in text:
        text = "import nxkernel as nx\n" + text
    space = run(text)
    definition = wrap(space["f"])
    for _ in range(2):
        assert np.asarray(definition(X)).tolist() == space["f"](X).tolist()
    assert definition.cache_info().misses == 1


@pytest.mark.slow
def test_a_change_of_what_lies_deepest_is_seen():
    space = run(TEXTS["functions that call the next one"].replace("x * 2.", "x * k") + "\nk = 2.")
    definition = nx.jit(space["f"])
    assert definition(X).tolist() == [2.0] * 3
    space["k"] = 5.0
    assert definition.why(X).difference == ("captured k: 2.0 → 5.0",)
    assert definition(X).tolist() == [5.0] * 3

    space = run("l = last = [2.]\nfor _ in range(2000): l = [l]\ndef f(x): return x * float(len(l))")
    definition = nx.jit(space["f"])
    definition(X)
    space["last"].append(5.0)
    assert not definition.why(X).hit


FIRST = "an expression or a chain of `elif`s of hundreds of parts, which are one inside of the other"
REFUSED = {
    "terms": "def f(x):\n    if x[0] > 0:\n        x = x" + " + x" * 999 + "\n    return x",
    "comparisons": "def f(x): return x * float(" + "1. < 2. and " * 999 + "True)",
    "elif": "def f(x):\n    if x[0] > 1000.: x = x * 3.\n"
    + lines("    elif x[0] > {k}.: x = x * 2.\n", 300)
    + "    return x",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_text_that_is_too_deep_to_be_rewritten(text):
    function = run(text)["f"]
    with pytest.raises(CompilationError) as raised:
        nx.defn(function)(X)
    file = function.__code__.co_filename
    assert str(raised.value) == (
        f"f ({file}, line 1) has {FIRST}: Python's limit of 1000 calls is too low for it to be rewritten.\n"
        "  Split it over several lines or functions, or make room by sys.setrecursionlimit(8000) before.\n"
        "  nx.jit(function) traces a function as it stands."
    )


@pytest.fixture
def room():
    before = sys.getrecursionlimit()
    yield lambda: sys.setrecursionlimit(8000)
    sys.setrecursionlimit(before)


def test_the_advice_helps(room):
    function = run(REFUSED["comparisons"])["f"]
    recursion = run("def g(n, x): return x if n == 0 else g(n - 1, x) * 2.\ndef f(x): return g(400, x)")["f"]
    with pytest.raises(CompilationError) as raised:
        nx.defn(recursion)(X)
    assert str(raised.value).split("\n")[-1] == (
        "  If it ends as it is, sys.setrecursionlimit(4000) before the call makes room."
    )
    room()
    assert nx.defn(function)(X).tolist() == function(X).tolist()
    assert nx.defn(recursion)(X).tolist() == recursion(X).tolist()


def test_functions_that_are_called_inside_of_others():
    space = run(lines("def f{k}(x): return f{next}(x)\n", 1000) + "def f1000(x): return x * 2.\ndef f(x): return f0(x)")
    with pytest.raises(RecursionError):
        space["f"](X)
    with pytest.raises(CompilationError) as raised:
        nx.jit(space["f"])(X)
    assert str(raised.value) == (
        "f calls functions inside of others, deeper than Python's limit of 1000 calls while it is traced.\n"
        "  sys.setrecursionlimit(4000) before the call makes room."
    )


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("around", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}], ids=["list", "tuple", "dict"])
def test_arguments_that_are_too_deep(wrap, around, room):
    value = X
    for _ in range(2000):
        value = around(value)
    definition = wrap(lambda p: nx.leaves(p)[0] * 2.0)
    with pytest.raises(NxTypeError) as raised:
        definition(value)
    assert str(raised.value) == (
        "<lambda>() takes containers of tensors, got one for 'p' that is 2000 deep: Python's limit is 1000 calls.\n"
        "  Pass its tensors side by side, as in a list or dict of them, or one array, or make room by "
        "sys.setrecursionlimit(8000) before the call."
    )
    room()
    assert definition(value).tolist() == [2.0] * 3


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_an_argument_that_holds_itself(wrap):
    held = [X]
    held.append({"a": held})
    with pytest.raises(NxTypeError) as raised:
        wrap(lambda p: p[0])(held)
    assert str(raised.value) == (
        "<lambda>() takes containers of tensors, got one for 'p' that holds itself.\n  Take it out of itself."
    )
