"""Each construct that a definition cannot have: where it stands, a caret under it, and what to write instead."""

import pytest

import nxkernel as nx
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.syntax import check, rewritten, unsupported_syntax
from nxkernel.errors import CompilationError

TRANSFORM = (
    "\n  Plain Python that runs while a definition is traced goes into a function of its own, marked with "
    "nx.deftransform."
)


@pytest.fixture(autouse=True)
def _cells():
    stop = source_locations.add_namer(lambda file: f"cell {file[1:-1]}" if file.startswith("<") else None)
    yield
    stop()


@pytest.fixture
def refused(run):
    def text(source, name="f", file="<9>"):
        with pytest.raises(CompilationError) as found:
            rewritten(run(source, file=file)[name], None)
        return str(found.value)

    return text


def test_except_star(refused):
    source = "def f(x):\n    if x > 0:\n        try:\n            x = log(x)\n        except* E: pass\n    return x"
    assert refused(source) == (
        "a definition has no `except*`\n  cell 9, line 3, in f:\n    try:\n    ^^^\n  Write `except`."
    )


def test_yield(refused):
    assert refused("def f(x):\n    for i in x:\n        y = yield i, 1\n", file="train.py") == (
        "a definition has no `yield`: its compiled program runs from beginning to end\n"
        "  train.py, line 3, in f:\n"
        "    y = yield i, 1\n"
        "        ^^^^^^^^^^\n"
        "  Return all values: as a tuple, as a list, or assigned into an array, `out[i] = value`."
    )
    assert "    yield from x\n    ^^^^^^^^^^^^\n" in refused("def f(x):\n    yield from x\n")


def test_async(refused):
    assert refused("async def f(x):\n    return await x") == (
        "a definition has no `async`: its compiled program runs from beginning to end\n"
        "  cell 9, line 1, in f:\n"
        "    async def f(x):\n"
        "    ^^^^^^^^^\n"
        "  Write `def`, and await around the call of the definition."
    )
    text = refused("def f(x):\n    async def g(y):\n        return await y\n    return g(x)")
    assert "cell 9, line 2, in f:\n    async def g(y):\n    ^^^^^^^^^\n" in text


def test_global_and_nonlocal(refused):
    assert refused("def f(x):\n    global n, m\n    n = x") == (
        "a definition has no `global`: it changes nothing outside of itself\n"
        "  cell 9, line 2, in f:\n"
        "    global n, m\n"
        "    ^^^^^^\n"
        "  To read a global name needs no declaration.\n"
        "  To change one, return the new value and assign it where the definition is called."
    )
    assert refused("def f(x):\n    def g():\n        nonlocal x\n        x = x[0]\n    g()\n    return x") == (
        "a definition has no `nonlocal`: a function in it changes nothing outside of itself\n"
        "  cell 9, line 3, in g:\n"
        "    nonlocal x\n"
        "    ^^^^^^^^\n"
        "  Return the new value, and assign it where the function is called."
    )


def test_class(refused):
    assert refused("def f(x):\n    class A:\n        b = x\n    return A()") == (
        "a definition has no `class`\n"
        "  cell 9, line 2, in f:\n"
        "    class A:\n"
        "    ^^^^^\n"
        "  Write the class outside of the definition."
    )


def test_what_looks_at_variables(refused):
    assert refused("def f(x):\n    return locals()['x']") == (
        "a definition has no `locals`: its variables live in functions that are made of its blocks\n"
        "  cell 9, line 2, in f:\n"
        "    return locals()['x']\n"
        "           ^^^^^^^^\n"
        "  Name the variables, as in {'a': a, 'b': b}."
    )
    assert "  Write the code itself in place of its text." in refused("def f(x):\n    return eval('x')")


def test_walrus_where_it_may_not_be_evaluated(refused):
    assert refused("def f(x):\n    return x and (y := x + 1)") == (
        "`:=` cannot stand where it may not be evaluated: after `and` or `or`, in `x if c else y`, or in the test of a "
        "loop with an `else`\n"
        "  cell 9, line 2, in f:\n"
        "    return x and (y := x + 1)\n"
        "                  ^^^^^^^^^^\n"
        "  Assign before: `y = x + 1`."
    )
    for source in ["(y := 1) if x else 2", "1 < x < (y := 2)", "x or [y := k for k in x]"]:
        assert "^\n  Assign before: `y = " in refused(f"def f(x):\n    return {source}")
    source = "def f(x):\n    while (y := x):\n        break\n    else:\n        x = 1\n    return x, y"
    assert "    while (y := x):\n           ^^^^^^\n" in refused(source)


def test_carets_stand_under_characters(refused):
    text = refused("def f(ä):\n    é, ö = 'ü', (yield ä)\n")
    assert "    é, ö = 'ü', (yield ä)\n                 ^^^^^^^\n" in text


def test_a_construct_of_several_lines_is_marked_to_the_end_of_its_first(refused):
    assert "    return (yield x,\n            ^^^^^^^^\n" in refused("def f(x):\n    return (yield x,\n        2)\n")


def test_functions_inside_are_refused_by_their_name_and_decorated_ones_are_not(run, refused):
    assert "line 3, in g:" in refused("def f(x):\n    def g():\n        yield x\n    return g")
    source = "def f(x):\n    @nx.deftransform\n    def g():\n        yield x\n    return g()"
    f = run(source)["f"]
    assert rewritten(f, nx.defn) is not f


def test_no_source(run):
    space = {}
    exec("def f(x):\n    if x: return 1\ndef g(x): return abs(x)\nh = lambda x: x + 1", space)
    with pytest.raises(
        unsupported_syntax.RefusedSyntaxError, match=r"the source of f cannot be found \(cell string, line 1\)"
    ):
        rewritten(space["f"], None)
    assert rewritten(space["g"], None) is space["g"]
    assert rewritten(space["h"], None) is space["h"]


def test_recursion(run):
    f = run("def f(x):\n    return x * f(x - 1) if x > 1 else 1", file="<3>")["f"]
    with pytest.raises(unsupported_syntax.RefusedSyntaxError) as found:
        check(f)
    assert str(found.value) == (
        "f calls itself, and nothing that is known when it is traced ends that\n"
        "  cell 3, line 2, in f:\n"
        "    return x * f(x - 1) if x > 1 else 1\n"
        "               ^^^^^^^^\n"
        "  Write a loop: `while` or `for`, with what changes from call to call as variables.\n"
        "  Recursion is for what is known then: an option that counts down, `def f(x, *, n)`, or the shape of an "
        "argument."
    )
    known = (
        "def f(x, *, n):\n    return f(x, n=n - 1) if n else x\ndef g(x):\n    return g(x[1:]) if x.shape[0] > 1 else x"
    )
    check(run(known)["f"])
    check(run(known)["g"])


def test_an_assignment_that_would_be_lost(run):
    from source_rewriting.plain_runtime import Frozen, PlainRuntime

    f = run("def f():\n    buffer[1] = 2\n    return buffer", {"buffer": [1, 1]}, "<4>")["f"]
    assert rewritten(f, PlainRuntime())() == [1, 2]
    f = run("def f():\n    buffer[1] = 2\n    return buffer", {"buffer": Frozen(1, 1)}, "<4>")["f"]
    with pytest.raises(unsupported_syntax.RefusedSyntaxError) as found:
        rewritten(f, PlainRuntime())()
    assert str(found.value) == (
        "the assignment into `buffer` would be lost: a traced value does not change, and buffer is no variable of f.\n"
        "  cell 4, line 2, in f:\n"
        "    buffer[1] = 2\n"
        "    ^^^^^^^^^\n"
        "  Pass buffer as an argument, assign into that, and return it: `buffer = f(buffer)`."
    )


def test_a_place_without_source():
    assert unsupported_syntax.pointer(("gone.py", 3, 4, 3, 9, "f")) == ["gone.py, line 3, in f."]
