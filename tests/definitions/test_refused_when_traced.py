"""What is refused while a definition is traced, by whole texts: where it stands, and what to write instead."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxError, NxTypeError

X = np.array([1.0, -2.0, 3.0], np.float32)

REFUSED = [
    (
        "def f(x):\n    n = 0\n    if nx.sum(x) > 0:\n        n = 7 % n\n    return x + n",
        (
            "one side of this `if` fails with ZeroDivisionError: integer modulo by zero. It is looked at in any case, "
            "as only the running program knows its condition.\n"
            "  cell.py, line 4, in f:\n"
            "    if nx.sum(x) > 0:\n"
            "       ^^^^^^^^^^^^^\n"
            "  Write it so that it can be computed in any case, such as n / max(k, 1)."
        ),
    ),
    (
        "def f(x):\n    n = 1\n    if nx.sum(x) > 100:\n        n = int('one')\n    return x + n",
        (
            "one side of this `if` fails with ValueError: invalid literal for int() with base 10: 'one'. It is looked "
            "at in any case, as only the running program knows its condition.\n"
            "  cell.py, line 4, in f:\n"
            "    if nx.sum(x) > 100:\n"
            "       ^^^^^^^^^^^^^^^\n"
            "  Write it so that it works in any case, or decide with what is known before the program runs."
        ),
    ),
    (
        "def f(x):\n    return nx.sum(x) < 100 or float('one')",
        (
            "what stands behind `or` fails with ValueError: could not convert string to float: 'one'. It is "
            "looked at in any case, as only the running program knows what stands before it.\n"
            "  cell.py, line 3, in f:\n"
            "    return nx.sum(x) < 100 or float('one')\n"
            "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  Write it so that it works in any case, or decide with what is known before the program runs."
        ),
    ),
    (
        "def f(x):\n    return nx.sum(x) > 100 and {}['a']",
        (
            "what stands behind `and` fails with KeyError: 'a'. It is looked at in any case, as only the running "
            "program knows what stands before it.\n"
            "  cell.py, line 3, in f:\n"
            "    return nx.sum(x) > 100 and {}['a']\n"
            "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  Ask for what is there in any case, such as d.get(key, 0), or decide with what is known before."
        ),
    ),
    (
        "def f(x):\n    k = 0\n    while k < nx.sum(x) - 50:\n        k = k + [1][3]\n    return k",
        (
            "a turn of this `while` fails with IndexError: list index out of range. It is looked at in any case, as "
            "only the running program knows its condition.\n"
            "  cell.py, line 4, in f:\n"
            "    while k < nx.sum(x) - 50:\n"
            "          ^^^^^^^^^^^^^^^^^^\n"
            "  Ask for what is there in any case, such as d.get(key, 0), or decide with what is known before."
        ),
    ),
    (
        "def f(x):\n    return nx.reduce(x, 0.0, lambda a, b: nx.print_value(a + b))",
        (
            "values cannot be printed in what is traced on its own, such as the function of nx.reduce or the gradient "
            "of nx.custom_grad.\n"
            "  cell.py, line 3:  return nx.reduce(x, 0.0, lambda a, b: nx.print_value(a + b))\n"
            "  Return the values from the definition, and print them there."
        ),
    ),
    (
        "def f(x):\n    s = ''\n    for i in range(3):\n        s = f'{x[i]:.2f}'.strip()\n    return nx.abs(x)",
        (
            "text is asked for what is in it, and it has values in it that only the running program knows.\n"
            "  cell.py, line 5:  s = f'{x[i]:.2f}'.strip()\n"
            "  Printed, logged or warned of it is made when the program has run. For anything else return the values, "
            "and make the text of them there."
        ),
    ),
    (
        "def f(x):\n    return nx.abs(x[x > 0])",
        (
            "x[mask] has a size that only the values of the mask tell: x is f32[3], the mask bool[3].\n"
            "  cell.py, line 3:  return nx.abs(x[x > 0])\n"
            "  nx.select(mask, x, 0) keeps the shape, and nx.sum(nx.select(mask, x, 0)) sums what the mask picks;\n"
            "  x[mask] = v and x[mask] *= v change what it picks."
        ),
    ),
    (
        "def f(x):\n    return np.abs(x[x > 0])",
        (
            "what a mask picks of f32[3] has a size that only the running program knows: this use of it is not "
            "possible.\n"
            "  It is the result of f.\n"
            "  Reductions, element-wise functions, and x[mask] = ... take it.\n"
            "  Masked, the shape stays: np.where(mask, x, 0).\n"
            "  Or return the whole array and the mask or the bounds, and take the part outside: "
            "x[mask], np.flatnonzero(mask), x[:k].\n"
            "  With nxkernel.numpy's nonzero(mask, size=n) there is room for n indices."
        ),
    ),
    (
        "def f(x):\n    return np.nonzero(x)",
        (
            "a part s64[at most 3] of an array has a length that only the running program knows: this use of it "
            "is not possible.\n"
            "  It is the result[0] of f.\n"
            "  Sums and other reductions, products, element-wise functions and assignments take such parts.\n"
            "  Masked, the shape stays: np.where((k >= i) & (k < j), x, 0) with k = np.arange(len(x)).\n"
            "  Or return the whole array and the mask or the bounds, and take the part outside: "
            "x[mask], np.flatnonzero(mask), x[:k].\n"
            "  With nxkernel.numpy's nonzero(mask, size=n) there is room for n indices."
        ),
    ),
    (
        "def f(x):\n    return np.unique(x)",
        (
            "unique gives as many elements as only the running program knows.\n"
            "  cell.py, line 3:  return np.unique(x)\n"
            "  unique_values(x, size=n) makes room for n of them.\n"
            "  Sorted, equal elements are neighbours: s = np.sort(x); s[1:] != s[:-1] tells where a new one begins."
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        y = nx.as_type(x, 's32')\n    else:\n        y = x\n    return y",
        (
            "the branches of this `if` disagree about `y`.\n"
            "  cell.py, line 4:  y = nx.as_type(x, 's32')   s32[3]\n"
            "  cell.py, line 6:  y = x                      f32[3]\n"
            "  Both become one value in the compiled program: convert one, e.g. nx.as_type(nx.as_type(x, 's32'), "
            '"f32").'
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        y = x[1:]\n    else:\n        y = x\n    return y",
        (
            "the branches of this `if` disagree about `y`.\n"
            "  cell.py, line 4:  y = x[1:]   f32[2]\n"
            "  cell.py, line 6:  y = x       f32[3]\n"
            "  Both become one value in the compiled program: give them one shape, e.g. with nx.broadcast(t, shape)."
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        y = (x, x)\n    else:\n        y = x\n    return y",
        (
            "the branches of this `if` disagree about `y`.\n"
            "  cell.py, line 4:  y = (x, x)   (f32[3], f32[3])\n"
            "  cell.py, line 6:  y = x        f32[3]\n"
            "  Both become one value in the compiled program: make them the same kind of thing on both sides."
        ),
    ),
    (
        "def f(x):\n    if np.sum(x) > 0:\n        y = np.zeros((2, 2))\n    else:\n        y = x\n    return y",
        (
            "the branches of this `if` disagree about `y`.\n"
            "  cell.py, line 4:  y = np.zeros((2, 2))   f64[2][2]\n"
            "  cell.py, line 6:  y = x                  f32[3]\n"
            "  Both become one value in the compiled program: give them one shape, e.g. with np.broadcast_to(x, shape)."
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        y = x\n    return y",
        (
            "the variable `y` may have no value here: the `else` side assigns nothing to it.\n"
            "  It is the result of f.\n"
            "  cell.py, line 3, in f:\n"
            "    if nx.sum(x) > 0:\n"
            "       ^^^^^^^^^^^^^\n"
            "  Only the running program knows which way it goes: give `y` a value on every way."
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        return x\n    return x, x",
        (
            "the branches of this `if` disagree about what is returned.\n"
            "  cell.py, line 4:  return x      f32[3]\n"
            "  cell.py, line 5:  return x, x   (f32[3], f32[3])\n"
            "  Both become one value in the compiled program: make them the same kind of thing on both sides."
        ),
    ),
    (
        "def f(x):\n    if nx.sum(x) > 0:\n        return x",
        (
            "the branches of this `if` disagree about what is returned.\n"
            "  cell.py, line 4:  return x            f32[3]\n"
            "  cell.py, line 3:  if nx.sum(x) > 0:   None\n"
            "  Both become one value in the compiled program: make them the same kind of thing on both sides."
        ),
    ),
    (
        "def f(x):\n    return x if nx.sum(x) > 0 else x[1:]",
        (
            "the branches of this `if` disagree about its value.\n"
            "  cell.py, line 3:  return x if nx.sum(x) > 0 else x[1:]   f32[3]\n"
            "  cell.py, line 3:  return x if nx.sum(x) > 0 else x[1:]   f32[2]\n"
            "  Both become one value in the compiled program: give them one shape, e.g. with nx.broadcast(t, shape)."
        ),
    ),
    (
        "def f(x):\n    n = nx.s64(0)\n    for i in range(3):\n        n = n + nx.sin(x[i])\n    return n",
        (
            "this loop changes the type of `n`.\n"
            "  cell.py, line 4:  for i in range(3):     s64 before a turn\n"
            "  cell.py, line 5:  n = n + nx.sin(x[i])   f32 after it\n"
            '  Convert it before the loop, e.g. n = nx.as_type(n, "f32").'
        ),
    ),
    (
        "def f(x):\n    for i in range(3):\n        x = nx.concatenate([x, x])\n    return x",
        (
            "this loop changes the shape of `x`.\n"
            "  cell.py, line 3:  for i in range(3):           f32[3] before a turn\n"
            "  cell.py, line 4:  x = nx.concatenate([x, x])   f32[6] after it\n"
            "  Give `x` its full shape before the loop, and put parts into it: nx.put_slice(t, [i], part)."
        ),
    ),
    (
        "def f(x):\n    y = x\n    while nx.sum(x) > 0:\n        y = (y, x)\n        x = x - 1\n    return y",
        (
            "this loop cannot be compiled: `y` is f32[3] before a turn and (f32[3], f32[3]) after it.\n"
            "  cell.py, line 4, in f:\n"
            "    while nx.sum(x) > 0:\n"
            "          ^^^^^^^^^^^^^\n"
            "  Keep what it computes in tensors of one type and shape, or give it a number of turns that is "
            "known while it is traced: that of an option or of a shape."
        ),
    ),
    (
        "def f(x):\n    while np.sum(x) > 0:\n        x = np.eye(3)[0] - x\n    return x",
        (
            "this loop cannot be compiled: `x` is f32[3] before a turn and f64[3] after it.\n"
            "  cell.py, line 3, in f:\n"
            "    while np.sum(x) > 0:\n"
            "          ^^^^^^^^^^^^^\n"
            '  Convert it before the loop, e.g. x = x.astype("float64"), or in it, to what it was.\n'
            "  Or give it a number of turns that is known while it is traced: that of an option or of a shape."
        ),
    ),
    (
        "def f(x):\n    while np.sum(x) > 0:\n        x = np.append(x, 1)\n    return x",
        (
            "this loop cannot be compiled: `x` is f32[3] before a turn and f64[4] after it.\n"
            "  cell.py, line 3, in f:\n"
            "    while np.sum(x) > 0:\n"
            "          ^^^^^^^^^^^^^\n"
            "  Keep what it computes in tensors of one type and shape, or give it a number of turns that is "
            "known while it is traced: that of an option or of a shape."
        ),
    ),
    (
        "def f(x):\n    out = []\n    while nx.sum(x) > 0:\n        out.append(x)\n        x = x - 1\n    return out",
        (
            "this loop cannot be compiled: it changes `out`, a Python list.\n"
            "  cell.py, line 4, in f:\n"
            "    while nx.sum(x) > 0:\n"
            "          ^^^^^^^^^^^^^\n"
            "  What a loop gathers goes into an array of its full size that is made before it: `out[i] = …`.\n"
            "  Or give it a number of turns that is known while it is traced: that of an option or of a shape."
        ),
    ),
    (
        "def f(x):\n    out = [x]\n    if nx.sum(x) > 0:\n        out.append(x)\n    return out",
        (
            "this `if` changes `out`, a Python list, and only the running program knows its condition.\n"
            "  cell.py, line 4, in f:\n"
            "    if nx.sum(x) > 0:\n"
            "       ^^^^^^^^^^^^^\n"
            "  Assign tensors in it, and change `out` before or after it.\n"
            "  What a loop gathers goes into an array of its full size that is made before it: `out[i] = …`."
        ),
    ),
    (
        "def f(x):\n    if x > 0:\n        return x\n    return nx.abs(x)",
        (
            "the condition of this `if` is one number, got bool[3].\n"
            "  cell.py, line 3, in f:\n"
            "    if x > 0:\n"
            "       ^^^^^\n"
            "  nx.any(t) asks for one that is true, nx.all(t) for all of them; nx.select(t, a, b) chooses for each."
        ),
    ),
    (
        "def f(x):\n    while x > 0:\n        x = x - 1\n    return nx.abs(x)",
        (
            "the condition of this `while` is one number, got bool[3].\n"
            "  cell.py, line 3, in f:\n"
            "    while x > 0:\n"
            "          ^^^^^\n"
            "  nx.any(t) asks for one that is true, nx.all(t) for all of them; nx.select(t, a, b) chooses for each."
        ),
    ),
    (
        "def f(x):\n    if x > 0:\n        return x\n    return np.abs(x)",
        (
            "the condition of this `if` is one number, got bool[3].\n"
            "  cell.py, line 3, in f:\n"
            "    if x > 0:\n"
            "       ^^^^^\n"
            "  np.any(t) asks for one that is true, np.all(t) for all of them; np.where(t, a, b) chooses for each."
        ),
    ),
    (
        "def f(x):\n    for i in range(x[0]):\n        x = x + 1\n    return nx.abs(x)",
        (
            "the bounds of a range are whole numbers, got f32.\n"
            "  cell.py, line 3:  for i in range(x[0]):\n"
            '  nx.as_type(t, "s64") cuts fractions off.'
        ),
    ),
    (
        "def f(x, n):\n    return nx.abs(x[:n])",
        (
            "A slice asks for the data of its bounds, which only the running program knows.\n"
            "  cell.py, line 3:  return nx.abs(x[:n])\n"
            "  Bounds that are a known number apart make a part, such as x[i : i + 3].\n"
            "  Else keep the whole axis and choose: nx.select((k >= i) & (k < j), x, 0), where k is nx.iota((n,))."
        ),
    ),
    (
        "def f(x):\n    return np.zeros(int(x.sum()))",
        (
            "A static whole number (a shape, an axis, range()) asks for the data of a traced value of type s64.\n"
            "  cell.py, line 3:  return np.zeros(int(x.sum()))\n"
            "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
            "  Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3)."
        ),
    ),
    (
        "def f(x):\n    def g(y):\n        return g(y - 1) if y > 0 else y\n    return g(nx.sum(x))",
        (
            "g calls itself without end while it is traced, or deeper than Python's limit of 1000 calls.\n"
            "  cell.py, line 4:  return g(y - 1) if y > 0 else y\n"
            "  What ends a recursion must be known then: an option that counts down, not a tensor.\n"
            "  Else write a loop: `while` or `for`, with what changes from call to call as variables.\n"
            "  If it ends as it is, sys.setrecursionlimit(4000) before the call makes room."
        ),
    ),
    (
        "def f(x):\n    return h(x)\ndef h(x):\n    return k(x)\ndef k(x):\n    return h(x) + nx.sum(x)",
        (
            "h calls itself without end while it is traced, or deeper than Python's limit of 1000 calls.\n"
            "  cell.py, line 5:  return k(x)\n"
            "  What ends a recursion must be known then: an option that counts down, not a tensor.\n"
            "  Else write a loop: `while` or `for`, with what changes from call to call as variables.\n"
            "  If it ends as it is, sys.setrecursionlimit(4000) before the call makes room."
        ),
    ),
    (
        "def f(x):\n    import statistics\n    return statistics.mean([np.sum(x), 1.0])",
        (
            "statistics._exact_ratio() does not take a value that only the running program knows: TypeError: "
            "can't convert type 'Scalar' to numerator/denominator\n"
            "  cell.py, line 4:  return statistics.mean([np.sum(x), 1.0])\n"
            "  Write it with operators and functions of arrays, or call it before and pass what it gives."
        ),
    ),
    (
        "def f(x):\n    return np.sum(x.valeus)",
        "an array of a NumPy program has no 'valeus'.\n  cell.py, line 3:  return np.sum(x.valeus)",
    ),
    (
        "def f(x):\n    return np.sum(x).meen()",
        (
            "an array of a NumPy program has no 'meen'.\n  cell.py, line 3:  return np.sum(x).meen()\n"
            "  Did you mean 'mean'?"
        ),
    ),
    (
        "def f(x):\n    import decimal\n    return float(decimal.Decimal(np.sum(x)))",
        (
            "a function without code in Python does not take a value that only the running program knows: TypeError: "
            "conversion from Scalar to Decimal is not supported\n"
            "  cell.py, line 4:  return float(decimal.Decimal(np.sum(x)))\n"
            "  Write it with operators and functions of arrays, or call it before and pass what it gives."
        ),
    ),
    (
        "def f(x):\n    n = np.argmax(x)\n    return np.sum([0.0, 1.0] * n)",
        (
            "A static whole number (a shape, an axis, range()) asks for the data of a traced value of type s64 "
            "(cell.py, line 3).\n"
            "  cell.py, line 4:  return np.sum([0.0, 1.0] * n)\n"
            "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
            "  Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3)."
        ),
    ),
    (
        "def f(x):\n    return np.array([[v + w + k for k in range(200) for v in x] for w in range(200)])",
        (
            "this program has more than 100,000 operations: what goes over lists, and comprehensions, are written out "
            "turn by turn.\n"
            "  cell.py, line 3:  return np.array([[v + w + k for k in range(200) for v in x] for w in range(200)])\n"
            "  A loop over an array, or over range(n), is one of the program, as long as it keeps numbers in arrays."
        ),
    ),
    (
        "def f(x):\n    return np.ndarray(3, float, x)",
        (
            "np.ndarray() shows no memory of another array here.\n"
            "  cell.py, line 3:  return np.ndarray(3, float, x)\n"
            "  x.reshape(shape), x[offset:] and np.lib.stride_tricks.sliding_window_view show parts of one."
        ),
    ),
    (
        "def f(x):\n    return np.quantile(x, 0.5, method='inverted_cdf', weights=x)",
        (
            "quantile() and percentile() take no weights= here.\n"
            "  cell.py, line 3:  return np.quantile(x, 0.5, method='inverted_cdf', weights=x)\n"
            "  Write it with k = np.argsort(x) and the running sums np.cumsum(weights[k])."
        ),
    ),
    (
        "def f(x):\n    d = {1: x}\n    return d[nx.sum(x)]",
        (
            "a dict is asked for a key that only the running program knows: f32.\n"
            "  cell.py, line 4:  return d[nx.sum(x)]\n"
            "  Put the values into one array, and take them by number; or choose with `if`."
        ),
    ),
    (
        "def f(x):\n    yield x",
        (
            "a definition has no `yield`: its compiled program runs from beginning to end\n"
            "  cell.py, line 3, in f:\n"
            "    yield x\n"
            "    ^^^^^^^\n"
            "  Return all values: as a tuple, as a list, or assigned into an array, `out[i] = value`."
        ),
    ),
    (
        "def f(x):\n    global G\n    G = x\n    return x",
        (
            "a definition has no `global`: it changes nothing outside of itself\n"
            "  cell.py, line 3, in f:\n"
            "    global G\n"
            "    ^^^^^^\n"
            "  To read a global name needs no declaration.\n"
            "  To change one, return the new value and assign it where the definition is called."
        ),
    ),
    (
        "def f(x):\n    W[0] = nx.sum(x)\n    return x",
        (
            "the assignment into `W` would be lost: a traced value does not change, and W is no variable of f.\n"
            "  cell.py, line 3, in f:\n"
            "    W[0] = nx.sum(x)\n"
            "    ^^^^\n"
            "  Pass W as an argument, assign into that, and return it: `W = f(W)`."
        ),
    ),
    (
        "def f(x):\n    W[0] = np.sum(x)\n    return x",
        (
            "W is an array from outside of the definition, and it is assigned into.\n"
            "  cell.py, line 3:  W[0] = np.sum(x)\n"
            "  Pass it as an argument: arrays that are arguments are changed as NumPy would."
        ),
    ),
]


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("code", "text"), REFUSED, ids=[code.partition("\n")[2].strip()[:60] for code, _ in REFUSED])
def test_what_is_refused(run, code, text):
    arguments = [X.copy(), 2][: 2 if "(x, n)" in code else 1]
    with pytest.raises(NxError) as raised:
        run(f"@nx.defn\n{code}\n", {"np": np, "nx": nx, "W": np.zeros(3)})["f"](*arguments)
    assert str(raised.value) == text


class Part:
    """A class of the person's whose name is that of one of the package's."""


def missing(x):
    return x.sum() + Part().size


def added(x):
    part = Part()
    return x.sum() + (part + 1)


@pytest.mark.parametrize(("function", "error"), [(missing, AttributeError), (added, TypeError)])
def test_a_mistake_with_an_object_of_the_persons_is_told_as_python_tells_it(function, error):
    x = np.ones(2)
    with pytest.raises(error) as plain:
        function(x)
    with pytest.raises(error) as found:
        nx.defn(function, promotion="numpy")(x)
    assert str(found.value) == str(plain.value)


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("if nx.sum(x) > 100:\n        x = x + v9", "one side of this `if` is looked at in any case, as only the "
         "running program knows its condition."),
        ("while nx.sum(x) > 100:\n        x = x + v9", "a turn of this `while` is looked at in any case, as only the "
         "running program knows its condition."),
        ("k = nx.sum(x) > 100 and v9", "what stands behind `and` is looked at in any case, as only the running program "
         "knows what stands before it."),
    ],
)  # fmt: skip
def test_a_name_that_is_defined_nowhere_where_python_might_not_look(run, source, note):
    f = run(f"@nx.defn\ndef f(x):\n    {source}\n    return x")["f"]
    with pytest.raises(NameError, match=r"^name 'v9' is not defined") as raised:
        f(nx.tensor([1.0, 2.0]))
    assert note in raised.value.__notes__


def test_objects_that_hold_traced_values_are_not_stored_outside():
    registry = []

    class Model:
        def __init__(self, x):
            self.x = x
            registry.append(self)

    @nx.jit
    def function(x):
        return Model(np.sqrt(x)).x + len(registry)

    with pytest.raises(NxTypeError, match=r"function stores a traced value in registry\[0\]"):
        function(np.ones(2))
    assert registry == []
