"""Choices: sides that are merged, what they may assign, and what is said when they disagree."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import function_of
from nxkernel.definitions.flow.values.unassigned_variables import NxUnboundError
from nxkernel.errors import CompilationError, NxTypeError


def message(function, *args, kind=NxTypeError):
    with pytest.raises(kind) as raised:
        function(*args)
    return str(raised.value)


def graph(definition, *args):
    return repr(nx.debug_expr(definition)(*args))


@nx.defn
def steps(x):
    if x > 10:
        y = x / 2
    elif x > 5:
        y = x - 1
    else:
        y = x * 3
    return y


@pytest.mark.parametrize(("given", "expected"), [(20.0, 10.0), (7.0, 6.0), (2.0, 6.0)])
def test_if_elif_else(given, expected):
    assert float(steps(given)) == expected


def test_only_one_program_answers_all_sides():
    steps.clear_cache()
    for given in (20.0, 7.0, 2.0):
        steps(given)
    assert len(steps.compilations()) == 1


def test_a_condition_that_is_known_picks_its_side():
    @nx.defn
    def f(x, *, double=True):
        if double and x.shape == (2,):
            return x * 2
        return x.no_such_thing

    assert f(nx.tensor([1.0, 2.0])).to_list() == [2.0, 4.0]
    assert "cond" not in graph(f, nx.tensor([1.0, 2.0]))


def test_early_returns():
    @nx.defn
    def clamp(x):
        if x < 0:
            return 0.0
        if x > 1:
            return 1.0
        return x

    assert [float(clamp(x)) for x in (-3.0, 0.25, 8.0)] == [0.0, 0.25, 1.0]


def test_sides_merge_types_and_shapes():
    @nx.defn
    def f(x, wide):
        if x[0] > 0:
            y = x
        else:
            y = wide
        return y

    wide = nx.tensor([5.0, 6.0], type="f64")
    assert f(nx.f32([1.0, 2.0]), wide).type == "f64"
    assert f(nx.f32([-1.0, 2.0]), wide).to_list() == [5.0, 6.0]
    assert f(nx.f32([-1.0, 2.0]), nx.f64(7.0)).to_list() == [7.0, 7.0]


def test_numbers_are_weak():
    @nx.defn
    def f(x):
        if x > 0:
            scale = 2
        else:
            scale = 0.5
        return x * scale

    assert f(nx.f64(3.0)).type == "f64"
    assert [float(f(nx.f64(x))) for x in (3.0, -3.0)] == [6.0, -1.5]


def test_a_number_that_both_sides_give_stays_static():
    @nx.defn
    def f(x):
        if x > 0:
            n, y = 3, x
        else:
            n, y = 3, -x
        return nx.broadcast(y, (n,))

    assert f(-2.0).to_list() == [2.0, 2.0, 2.0]


def test_containers_are_merged_leaf_by_leaf():
    @nx.defn
    def f(x):
        if x > 0:
            state = {"a": (x, 1), "name": "same"}
        else:
            state = {"a": (x * 2, 5), "name": "same"}
        first, second = state["a"]
        return first + second if state["name"] == "same" else x

    assert [float(f(x)) for x in (3.0, -3.0)] == [4.0, -1.0]


def test_a_list_that_a_side_assigns_into():
    @nx.defn
    def f(x):
        weights = [x, x * 2]
        alias = weights
        if x > 0:
            weights[0] = x * 10
        return weights[0] + alias[1] if weights is alias else x

    assert [float(f(x)) for x in (1.0, -1.0)] == [12.0, -3.0]


def test_conditional_expressions_and_logic():
    @nx.defn
    def f(x, y):
        both = x > 0 and y > 0
        either = x > 0 or y > 0
        return (1 if both else 2 if either else 3), not both, 0 < x < y < 10

    assert [int(v) for v in f(1.0, 2.0)] == [1, 0, 1]
    assert [int(v) for v in f(1.0, -2.0)] == [2, 1, 0]
    assert [int(v) for v in f(-1.0, -2.0)] == [3, 1, 0]


def test_logic_of_values_gives_one_of_them():
    @nx.defn
    def f(x, y):
        return x or y, x and y

    assert [float(v) for v in f(0.0, 5.0)] == [5.0, 0.0]
    assert [float(v) for v in f(3.0, 5.0)] == [3.0, 5.0]


def test_what_is_known_decides_before_what_is_not():
    @nx.defn
    def f(x, *, flag):
        if x > 0 and not flag:
            return x * 2
        return x

    assert float(f(2.0, flag=True)) == 2.0
    assert float(f(2.0, flag=False)) == 4.0
    assert "cond" not in graph(lambda x: f(x, flag=True), 2.0)


def test_sides_that_are_of_other_kinds(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    if x[0] > 0:\n"
        "        h = nx.sum(x)\n"
        "    else:\n"
        "        h = nx.argmax(x)\n"
        "    return h\n"
    )["f"]
    assert message(f, np.ones(3, np.float32)) == (
        "the branches of this `if` disagree about `h`.\n"
        "  cell.py, line 4:  h = nx.sum(x)      f32\n"
        "  cell.py, line 6:  h = nx.argmax(x)   s64\n"
        '  Both become one value in the compiled program: convert one, e.g. nx.as_type(nx.argmax(x), "f32").'
    )


def test_a_side_that_leaves_a_variable_alone_is_told_so(run):
    f = run(
        "@nx.defn\n"
        "def f(a, b):\n"
        "    middle = (a + b) / 2\n"
        "    if middle > 0:\n"
        "        b = middle\n"
        "    else:\n"
        "        a = middle\n"
        "    return b\n"
    )["f"]
    assert message(f, nx.tensor(0), nx.tensor(2)) == (
        "the branches of this `if` disagree about `b`.\n"
        "  cell.py, line 3:  middle = (a + b) / 2   f32\n"
        "  cell.py, line 4:  if middle > 0:         s64 where it stays what it was\n"
        '  Both become one value in the compiled program: convert one, e.g. nx.as_type(b, "f32").'
    )


def test_sides_whose_shapes_do_not_fit(run):
    f = run("@nx.defn\ndef f(x):\n    if x[0] > 0:\n        return x[:2]\n    return x\n")["f"]
    assert message(f, nx.tensor(np.ones(3, np.float32))) == (
        "the branches of this `if` disagree about what is returned.\n"
        "  cell.py, line 4:  return x[:2]   f32[2]\n"
        "  cell.py, line 5:  return x       f32[3]\n"
        "  Both become one value in the compiled program: give them one shape, e.g. with nx.broadcast(t, shape)."
    )


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize(("one", "shape"), [("x[0] + 0", "f64[3]"), ("x[:1] + 0", "f64[1][3]"), ("1.0", "f64")])
def test_sides_of_other_shapes_broadcast_by_nx_rules_alone(run, one, shape):
    """As Nx's `cond` does; a name of NumPy's has the shape of the side that ran, of which `v.sum()` tells."""
    cells = f"def f(x):\n    v = x\n    if x[0, 0] > 0:\n        v = {one}\n    return v.sum()\n"
    x = np.ones((2, 3))
    assert run(f"@nx.defn(promotion='nx')\n{cells}")["f"](x) == 6
    assert message(run(f"@nx.defn(promotion='numpy')\n{cells}")["f"], x) == (
        "the branches of this `if` disagree about `v`.\n"
        f"  cell.py, line 5:  v = {one:<12}  {shape}\n"
        "  cell.py, line 4:  if x[0, 0] > 0:   f64[2][3] where it stays what it was\n"
        "  Both become one value in the compiled program: give them one shape, e.g. with np.broadcast_to(x, shape)."
    )


def test_sides_of_other_structure(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    if x > 0:\n"
        "        pair = {'a': x * 2}\n"
        "    else:\n"
        "        pair = (x, 'b')\n"
        "    return pair\n"
    )["f"]
    assert message(f, 1.0) == (
        "the branches of this `if` disagree about `pair`.\n"
        "  cell.py, line 4:  pair = {'a': x * 2}   {'a': f32}\n"
        "  cell.py, line 6:  pair = (x, 'b')       (f32, 'b')\n"
        "  Both become one value in the compiled program: make them the same kind of thing on both sides."
    )


def test_a_variable_that_one_side_assigns(run):
    f = run("@nx.defn\ndef f(x):\n    if x > 0:\n        y = x\n    z = x + 1\n    return z + y\n")["f"]
    assert message(f, 1.0, kind=NxUnboundError) == (
        "the variable `y` may have no value here: the `else` side assigns nothing to it.\n"
        "  cell.py, line 6:  return z + y\n"
        "  cell.py, line 3, in f:\n"
        "    if x > 0:\n"
        "       ^^^^^\n"
        "  Only the running program knows which way it goes: give `y` a value on every way."
    )


def test_a_condition_with_axes(run):
    f = run("@nx.defn\ndef f(x):\n    if x > 0:\n        x = -x\n    return x\n")["f"]
    assert message(f, nx.tensor([1.0, 2.0])) == (
        "the condition of this `if` is one number, got bool[2].\n"
        "  cell.py, line 3, in f:\n"
        "    if x > 0:\n"
        "       ^^^^^\n"
        "  nx.any(t) asks for one that is true, nx.all(t) for all of them; nx.select(t, a, b) chooses for each."
    )


def test_a_condition_with_vectorized_axes(run):
    f = run("@nx.defn\ndef f(x):\n    if x > 0:\n        x = -x\n    return x\n")["f"]
    assert message(f, nx.vectorize(nx.tensor([1.0, 2.0]), "row")) == (
        "the condition of this `if` has vectorized axes: it is vectorized[row: 2] bool.\n"
        "  cell.py, line 3, in f:\n"
        "    if x > 0:\n"
        "       ^^^^^\n"
        "  Each entry would go its own way: nx.select(condition, a, b) chooses for each."
    )


def test_a_list_that_a_side_changes_under_another_name(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    found = [x]\n"
        "    alias = found\n"
        "    if x > 0:\n"
        "        found[0] = x * 2\n"
        "    return alias[0]\n"
    )["f"]
    assert [float(f(x)) for x in (1.5, -1.5)] == [3.0, -1.5]


def test_a_list_that_a_side_fills(run):
    f = run("@nx.defn\ndef f(x):\n    found = []\n    if x > 0:\n        found.append(x)\n    return x\n")["f"]
    assert message(f, 1.0) == (
        "this `if` changes `found`, a Python list, and only the running program knows its condition.\n"
        "  cell.py, line 4, in f:\n"
        "    if x > 0:\n"
        "       ^^^^^\n"
        "  Assign tensors in it, and change `found` before or after it.\n"
        "  What a loop gathers goes into an array of its full size that is made before it: `found[i] = …`."
    )


def test_a_side_that_raises():
    @nx.defn
    def root(x):
        if x < 0:
            raise ValueError("a negative number")
        return x

    assert root(4.0) == 4
    with pytest.raises(ValueError, match=r"^a negative number$"):
        root(-4.0)


CHOSEN = {
    "if": "y = x[0] if x[0] > 50 else n",
    "assigned": "if x[0] > 50:\n    y = x[0]\nelse:\n    y = n",
    "or": "y = x[0] or n",
    "max": "y = max(x[0], n)",
    "min": "y = min(n, x[0])",
    "max of a list": "y = max([x[0], n])",
    "kept in a loop": "y = n\nfor i in range(3):\n    if x[i] > n:\n        y = x[i]",
    "put in a loop": "y = x[0]\nfor i in range(3):\n    if x[i] < 5:\n        y = n",
    "by another number": "y = x[0]\nwhile n > 250:\n    y = n\n    n -= 30_000",
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["u1", "i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("name", CHOSEN)
def test_numbers_that_a_narrow_type_does_not_hold_stay_what_they_are(name, kind):
    function = function_of(f"{CHOSEN[name]}\nreturn y", "x, n")
    definition = nx.defn(function, promotion="numpy")
    for number in (300, -200, 3, 70_000):
        x = np.array([0, 7, 100], kind)
        assert int(definition(x, number)) == int(function(x, number))


FIRST_AND_LATER = {
    "the greatest": ("y = 0\nfor i in range(3):\n    if x[i] > y:\n        y = x[i]", True),
    "the greatest of each": (
        "y = 0\nfor i in range(3):\n    run = 0\n"
        "    for j in range(i, 3):\n        if x[j] > run:\n            run = x[j]\n"
        "    if run > y:\n        y = run",
        True,
    ),
    "set back": ("y = x[0]\nfor i in range(3):\n    y = 0 if x[i] > 9 else x[i]", True),
    "a constant beside": ("y = x[2] if x[2] > 3 else 0", True),
    "a sum": ("y = 0\nfor i in range(2):\n    y = y + x[i]", True),
    "a number that grows": (
        "y, m = 0, 0\nfor i in range(3):\n    y = m if x[i] < 99 else x[i]\n    m = m + 300\ny = int(y) + m",
        False,
    ),
}


@pytest.mark.parametrize("kind", ["u1", "i2", "i4"])
@pytest.mark.parametrize("name", FIRST_AND_LATER)
def test_numbers_that_a_loop_begins_with_take_its_type_as_long_as_they_are_those(name, kind):
    text, keeps_type = FIRST_AND_LATER[name]
    function = function_of(f"{text}\nreturn y", "x")
    x = np.array([0, 7, 100], kind)
    found, wanted = nx.defn(function, promotion="numpy")(x), function(x)
    assert int(found) == int(wanted)
    if keeps_type and name != "set back":
        assert found.dtype == np.asarray(wanted).dtype


def test_truth_values_of_python_are_asked_who_they_are():
    def asked(n, x):
        found, is_large, is_one = 0, n > 2, x[0] > 1
        if is_large is True:
            found += 1
        if is_large is not True:
            found += 2
        if is_large is False:
            found += 4
        if is_one is True:
            found += 8
        if bool(is_one) is True:
            found += 16
        if (not is_one) is not False:
            found += 32
        return found

    definition = nx.defn(asked, promotion="numpy")
    for n in (1, 3):
        for first in (0.0, 2.0):
            x = np.array([first])
            assert int(definition(n, x)) == asked(n, x)


def test_a_misspelt_name_on_one_side_is_told_as_everywhere():
    @nx.defn
    def misspelt(x):
        if x.sum() > 3:
            return np.cumsumm(x)
        return x.sum()

    with pytest.raises(AttributeError) as error:
        misspelt(np.ones(3))
    assert str(error.value) == "module 'numpy' has no attribute 'cumsumm'"


def tail(x):
    if x < 0:
        return 1.0 - tail(-x)
    return np.exp(-x * x) / (1.0 + x)


def middle(f, low, high):
    between = (low + high) / 2
    if high - low < 1e-6:
        return between
    if f(low) * f(between) < 0:
        return middle(f, low, between)
    return middle(f, between, high)


def both_tails(x, y):
    return tail(x) + tail(x - y) * y


def root(c):
    return middle(lambda x: x * x - c, c * 0, c + 1)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (tail, [(np.float64(0.5),), (np.float64(-0.5),), (np.float64(-0.7),)]),
        (both_tails, [(np.float64(0.5), np.float64(1.0)), (np.float64(2.5), np.float64(1.0))]),
        (root, [(np.float64(2.0),), (np.float64(3.0),)]),
    ],
    ids=["tail", "both_tails", "root"],
)
def test_recursion_ends_where_it_does_for_the_call(function, calls):
    """The call is asked on which side it goes on; another answer is another program."""
    compiled = nx.jit(function)
    for arguments in calls:
        np.testing.assert_allclose(compiled(*arguments), function(*arguments), rtol=1e-14)
    assert compiled.cache_info().misses == 2


def test_recursion_for_each_entry_has_no_end():
    with pytest.raises(CompilationError) as caught:
        nx.vmap(tail)(np.array([0.5, -0.5]))
    first, *_, hint = str(caught.value).split("\n")
    assert first == (
        "a function calls itself on the sides of this `if`, and only the running program knows where that ends."
    )
    assert hint == "  Write a loop: `while` or `for`, with what changes from call to call as variables."


def test_a_side_that_takes_what_a_mask_picks():
    def f(x):
        known = ~np.isnan(x)
        if not known.all():
            x = x[known]
        return np.sort(x), len(x)

    compiled = nx.jit(f)
    for x in (np.array([3.0, np.nan, 1.0]), np.array([3.0, 2.0, 1.0]), np.array([np.nan, 5.0, np.nan])):
        (found, count), (expected, length) = compiled(x), f(x)
        np.testing.assert_array_equal(found, expected)
        assert count == length


def test_turns_that_are_written_out_are_no_recursion():
    def f(x):
        rows = []
        for k in range(20):
            rows.append(x[k:])
            if x[k] > 30:
                break
        return rows[-1]

    x = np.arange(40.0) * 2
    np.testing.assert_array_equal(nx.jit(f)(x), f(x))
