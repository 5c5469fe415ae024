# ruff: noqa: E501 - rows of a table stay whole
"""Causes of tracing, as rows: a function, a call, what changes, the next call, and what is said of it.

A row is a dict or a tuple in the order of :class:`Cause`; `reason` is the whole text of each line, and empty where the
program that is there answers.
"""

from __future__ import annotations

from dataclasses import dataclass

NUMBER = (
    "{} is a number, and each new one makes a program of its own: if it keeps changing, {}, and it will be compiled "
    "once."
)
OPTION, CAPTURE = "declare it before `*` and pass it by position", "pass it as a positional argument"
STATIC = (
    "{} is a static argument: each new value makes a program of its own. Where it only feeds arithmetic, take it out "
    "of "
    "{}."
)
FIXED = "The value of {} is needed while tracing, as for a shape or an axis: each new value makes a program of its own."
FLOAT64 = 'float64 came in from a {}; nx.as_type({}, "f32") keeps the compiled f32 program.'
TURNS = "{} says how often a loop turns: {}, and it will be compiled once for any number of turns."


@dataclass(frozen=True)
class Cause:
    """A row.

    Parameters
    ----------
    source : str
        A cell that defines `f`, or the parameters and the result of an `f` that is decorated with `nx.defn`.
    first : str
        The arguments of the first call.
    change : str
        What is run between the calls.
    then : str
        The arguments of the second call; those of the first where it is empty.
    reason : tuple of str
    advice : str
    """

    source: str
    first: str
    change: str = ""
    then: str = ""
    reason: tuple[str, ...] = ()
    advice: str = ""

    @property
    def cell(self) -> str:
        """The text that defines `f`."""
        if "\n" in self.source or self.source.startswith(("f =", "def ")):
            return self.source
        parameters, _, result = self.source.partition(": ")
        # What a function that says no rules is called with would change them, too: there are rows for that.
        asked = "" if "np." in result or "nx." in result else "(promotion='nx')"
        return f"@nx.defn{asked}\ndef f({parameters}):\n    return {result}\n"


def rows(*found: tuple) -> list[Cause]:
    """Rows as tuples, whose reason may be a text."""
    made = []
    for source, first, change, then, reason, *advice in found:
        lines = (reason,) if isinstance(reason, str) and reason else tuple(reason)
        made.append(Cause(source, first, change, then, lines, *advice))
    return made


PARTIAL = "declare it before `*`, leave it out of functools.partial and pass it by position"
X = "np.ones(3)"
TYPES = {
    "u1": "u8", "i1": "s8", "i2": "s16", "i4": "s32", "i8": "s64", "f2": "f16", "f8": "f64", "c8": "c64", "c16": "c128",
}  # fmt: skip

ARGUMENTS = [
    *rows(*[
        ("x: x", "np.ones(3, 'f4')", "", f"np.ones(3, {given!r})", f"argument x: f32[3] → {named}[3]",
         FLOAT64.format("NumPy array", "x") if given == "f8" else "")
        for given, named in TYPES.items()
    ]),
    *rows(*[
        ("x: x", X, "", f"np.ones({shape})", f"argument x: f64[3] → f64{told}")
        for shape, told in {"4": "[4]", "0": "[0]", "()": "", "(3, 1)": "[3][1]", "(1, 3)": "[1][3]", "(2, 3, 4)": "[2][3][4]"}.items()
    ]),
    *rows(
        ("x: x", "1", "", "1.5", "argument x: s64 → f32 (a Python float)"),
        ("x: x", "1.5", "", "2j", "argument x: f32 (a Python float) → c64 (a Python complex)"),
        ("x: x", "1.5", "", "np.float32(1)", "argument x: f32 (a Python float) → f32"),
        ("x: x", "1.5", "", "np.float64(1)", "argument x: f32 (a Python float) → f64"),
        ("x: x", "np.ones(3, 'f4')", "", "nx.tensor([1.0, 2.0, 3.0], type='f64')", "argument x: f32[3] → f64[3]",
         FLOAT64.format("tensor", "x")),
        ("x: x", "1", "", "np.int64(1)", ""),
        ("x: x", "1", "", "2", ""),
        ("x: x", "1", "", X, "argument x: s64 → f64[3]"),
        ("x: x", "True", "", "False", ""),
        ("x: x", "True", "", "1", "argument x: bool → s64"),
        ("x: x", "np.ones(3, bool)", "", "np.ones(3, 'u1')", "argument x: bool[3] → u8[3]"),
        ("x: x", X, "", "nx.tensor([1.0, 2.0, 3.0], type='f64')", ""),
        ("f = nx.defn(lambda x: x)", X, "", "nx.tensor([1.0, 2.0, 3.0], type='f64')", "rules: NumPy's → Nx's"),
        ("x: x", X, "", "np.zeros(3)", ""),
        ("x: x", X, "", "np.ones(6)[::2]", ""),
        ("x: x", "np.ones((3, 3))", "", "np.ones((3, 3), order='F')", ""),
        ("x: x", X, "", "nx.tensor(np.ones(3), names=['t'])", "argument x: f64[3] → f64[t: 3]"),
        ("x: x", "nx.tensor(np.ones(3), names=['t'])", "", "nx.tensor(np.ones(3), names=['u'])", "argument x: f64[t: 3] → f64[u: 3]"),
        ("x: x", "np.ones((2, 3))", "", "nx.vectorize(np.ones((2, 3)), 'n')", "argument x: f64[2][3] → vectorized[n: 2] f64[3]"),
        ("x: x", "nx.vectorize(np.ones((2, 3)), 'n')", "", "nx.vectorize(np.ones((2, 3)), 'm')",
         "argument x: vectorized[n: 2] f64[3] → vectorized[m: 2] f64[3]"),
        ("x: x", "nx.vectorize(np.ones((2, 3)), 'n')", "", "nx.vectorize(np.ones((4, 3)), 'n')",
         "argument x: vectorized[n: 2] f64[3] → vectorized[n: 4] f64[3]"),
        ("x, y: x + y", f"{X}, {X}", "", "np.ones(4), np.ones(4)", "arguments x and y: f64[3] → f64[4]"),
        ("x, y: x + y", f"{X}, {X}", "", "np.ones(1), np.ones(4)", ("argument x: f64[3] → f64[1]", "argument y: f64[3] → f64[4]")),
        ("x, y: x + y", f"{X}, {X}", "", f"y={X}, x={X}", ""),
        ("x, y=2.0: x * y", X, "", f"{X}, 3.0", ""),
        ("x, y=2.0: x * y", X, "", f"{X}, 3", "argument y: f32 (a Python float) → s64"),
        ("x, y=None: x if y is None else x + y", X, "", f"{X}, {X}", "argument y: None → f64[3]"),
        ("x, y=None: x if y is None else x + y", f"{X}, {X}", "", X, "argument y: f64[3] → None"),
        ("x, *more: x + sum(more)", f"{X}, 1.0, 2.0, 3.0", "", f"{X}, 1.0, 2.0, 3", "argument more[2]: f32 (a Python float) → s64"),
        ("x, *more: x + sum(more)", f"{X}, 1.0", "", f"{X}, 1.0, 2.0", "argument more[1]: absent → f32 (a Python float)"),
        ("x, **more: x + more['a']", f"{X}, a={X}", "", f"{X}, a=np.ones(1)", "argument a: f64[3] → f64[1]"),
        ("x, **more: x + sum(more.values())", f"{X}, a={X}", "", f"{X}, a={X}, b={X}", "argument b: absent → f64[3]"),
        ("x, **more: x + sum(more.values())", f"{X}, a={X}, b={X}", "", f"{X}, b={X}, a={X}", "the order of the keywords: a, b → b, a"),
    ),
]  # fmt: skip

POINT = "Point = collections.namedtuple('Point', 'u v')\n@nx.defn\ndef f(p):\n    return p.u + p.v\n"
FIELDS = (
    "@dataclasses.dataclass\nclass Fields:\n    u: object\n    v: object\n@nx.defn\ndef f(p):\n    return p.u + p.v\n"
)
WALKED = "@nx.defn\ndef f(p):\n    return sum(nx.sum(v) for v in nx_leaves(p))\n"
CONTAINERS = rows(
    ("p: p[0]", f"[{X}]", "", f"({X},)", "argument p: [·] → (·,)"),
    ("p: p[0]", f"[{X}]", "", f"[{X}, {X}]", "argument p: a list of 1 → of 2"),
    ("p: p[0]", f"({X}, {X})", "", f"({X},)", "argument p: a tuple of 2 → of 1"),
    ("p: p[0]", f"[{X}] * 3", "", f"[{X}, {X}, np.ones(3, 'f4')]", "argument p[2]: f64[3] → f32[3]"),
    ("p: p['a']", f"{{'a': {X}}}", "", f"{{'a': {X}, 'b': {X}}}", "argument p['b']: absent → ·"),
    ("p: p['a']", f"{{'a': {X}, 'b': {X}}}", "", f"{{'b': {X}, 'a': {X}}}", "argument p: {'a': ·, 'b': ·} → {'b': ·, 'a': ·}"),
    ("p: p['w3']", "{f'w{k}': np.ones(3) for k in range(9)}", "", "{f'w{k}': np.ones(3) for k in range(8, -1, -1)}",
     "argument p: its order has changed"),
    ("p: p['a']", f"{{'a': {X}, 'b': {X}}}", "", f"{{'a': {X}}}", "argument p['b']: · → absent"),
    ("p: p['a']", f"{{'a': {X}, 'b': {X}}}", "", f"{{'a': {X}, 'c': {X}}}", ("argument p['c']: absent → ·", "argument p['b']: · → absent")),
    ("p: p['a']", f"{{'a': {X}}}", "", "{'a': np.ones(4)}", "argument p['a']: f64[3] → f64[4]"),
    ("p: p['a'][0]", f"{{'a': [{X}]}}", "", f"{{'a': ({X},)}}", "argument p['a']: [·] → (·,)"),
    ("p: p['a'][0]", f"{{'a': [{X}]}}", "", f"{{'a': [{X}, {X}]}}", "argument p['a']: a list of 1 → of 2"),
    ("p: p['a'][0]['b']", f"{{'a': [{{'b': {X}}}]}}", "", f"{{'a': [{{'b': {X}, 'c': {X}}}]}}", "argument p['a'][0]['c']: absent → ·"),
    ("p: p['a'][0]['b']", f"{{'a': [{{'b': {X}}}]}}", "", "{'a': [{'b': np.ones(2)}]}", "argument p['a'][0]['b']: f64[3] → f64[2]"),
    ("p: p if not isinstance(p, list) else p[0]", X, "", f"[{X}]", "argument p: f64[3] → [·]"),
    ("p: p if not isinstance(p, list) else p[0]", f"[{X}]", "", X, "argument p: [·] → f64[3]"),
    (POINT, f"Point({X}, {X})", "", f"Point({X}, np.ones(1))", "argument p.v: f64[3] → f64[1]"),
    (POINT, f"Point({X}, {X})", "Pair = collections.namedtuple('Pair', 'u v')", f"Pair({X}, {X})",
     "argument p: Point(·, ·) → Pair(·, ·)"),
    (FIELDS, f"Fields({X}, {X})", "", f"Fields({X}, np.ones(1))", "argument p.v: f64[3] → f64[1]"),
    ("p: sum(p.values())", "{f'w{k}': np.ones(3, 'f4') for k in range(30)}", "", "{f'w{k}': np.ones(3) for k in range(30)}",
     "arguments p['w0'], p['w1'] and 28 more: f32[3] → f64[3]",
     'float64 came in from 30 NumPy arrays; nx.as_type(p[\'w0\'], "f32"), and so for the others, keeps the compiled '
     'f32 '
     "program."),
    ("p: sum(map(nx.sum, p))", "[np.ones(k) for k in range(1, 9)]", "", "[np.ones(k) for k in range(2, 10)]", (
        *(f"argument p[{k}]: f64[{k + 1}] → f64[{k + 2}]" for k in range(6)), "and 2 more differences")),
)  # fmt: skip

#: Static values of each kind: two of them, and how each is told where that is not its `repr`.
VALUES = [
    ("True", "False"), ("3", "4"), ("3", "-3"), ("3", "3.0"), ("0.5", "0.25"), ("0.0", "-0.0"), ("2.0", "float('inf')", "2.0", "inf"),
    ("2j", "3j"), ("'a'", "'b'"), ("b'a'", "b'b'"), ("None", "0"), ("None", "'None'"), ("...", "None", "Ellipsis", "None"),
    ("(1, 2)", "(1, 3)"), ("(1, 2)", "[1, 2]"), ("[1, 2]", "[2, 1]"), ("[1, 2]", "[1, 2, 3]"), ("(1, 'a')", "(1, 'b')"),
    ("()", "(1,)"), ("{1, 2}", "{1, 3}"), ("frozenset({1})", "{1}"), ("np.float64(0.5)", "np.float64(0.25)"),
    ("np.float64(0.5)", "0.5"), ("np.int32(3)", "np.int64(3)"), ("np.dtype('f4')", "np.dtype('f8')", "dtype('float32')", "dtype('float64')"),
    ("int", "float", "class int", "class float"), ("np.sin", "np.cos", "sin", "cos"), ("nx.sin", "nx.cos", "sin", "cos"), ("len", "max", "len", "max"),
    ("range(3)", "range(4)", "range(0, 3)", "range(0, 4)"),
    ("fractions.Fraction(1, 3)", "fractions.Fraction(2, 3)", "Fraction(1, 3)", "Fraction(2, 3)"),
    ("decimal.Decimal('0.1')", "decimal.Decimal('0.2')", "Decimal('0.1')", "Decimal('0.2')"),
    ("datetime.date(2020, 1, 1)", "datetime.date(2020, 1, 2)"), ("nx.types.f32", "nx.types.f64", "'f32'", "'f64'"),
]  # fmt: skip
NUMBERS = {"0.5", "0.0", "2.0", "2j", "np.float64(0.5)"}


KEPT = "f = nx.jit(lambda x, *, k: x + 1)"
READ = "k = {}\n@nx.defn\ndef f(x):\n    k\n    return x + 1\n"


def _advised(before: str, after: str, how: str) -> str:
    return NUMBER.format("k", how) if before in NUMBERS or (before, after) == ("3", "3.0") else ""


OPTIONS = [
    *rows(*[
        (KEPT, f"{X}, k={before}", "", f"{X}, k={after}", f"option k: {(told or (before,))[0]} → {(told or (before, after))[1]}",
         _advised(before, after, OPTION))
        for before, after, *told in VALUES
    ]),
    *rows(*[(KEPT, f"{X}, k={before}", "", f"{X}, k={before}", "") for before, *_ in VALUES[::3]]),
    *rows(
        ("x, *, k=1.0: x * k", X, "", f"{X}, k=1.0", ""),
        ("x, *, k: x[k]", f"{X}, k=slice(1, 2)", "", f"{X}, k=slice(1, 2)", ""),
        ("x, *, k: x[k]", f"{X}, k=slice(1, 2)", "", f"{X}, k=slice(1, 3)", "option k.stop: 2 → 3"),
        ("x, *, k=1.0: x * k", X, "", f"{X}, k=2.0", "option k: 1.0 → 2.0", NUMBER.format("k", OPTION)),
        ("x, *, a=1.0, b=2.0: x * a + b", X, "", f"{X}, a=2.0, b=3.0", ("option a: 1.0 → 2.0", "option b: 2.0 → 3.0"),
         "a and b are numbers, and each new one makes a program of its own: if they keep changing, declare them "
         "before `*` "
         "and pass them by position, and it will be compiled once."),
        ("x, *, k: x * k[11]", f"{X}, k=tuple(range(12))", "", f"{X}, k=(*range(11), 7)", "option k[11]: 11 → 7"),
        ("x, *, k: x * k[0]", f"{X}, k=tuple(range(12))", "", f"{X}, k=tuple(range(13))",
         "option k: (0, 1, 2, 3, 4, 5, 6, 7, ...) of 12 → (0, 1, 2, 3, 4, 5, 6, 7, ...) of 13"),
        ("x, *, k: x * k['width']", f"{X}, k={{'width': 1.5, 'title': 'a'}}", "", f"{X}, k={{'width': 0.25, 'title': 'a'}}",
         "option k['width']: 1.5 → 0.25", NUMBER.format("k['width']", CAPTURE)),
        ("x, *, k: x * k['a']['b']", f"{X}, k={{'a': {{'b': 1}}}}", "", f"{X}, k={{'a': {{'b': 2}}}}", "option k['a']['b']: 1 → 2"),
        ("x, *, k: x", f"{X}, k='a' * 99", "", f"{X}, k='a' * 50 + 'b' + 'a' * 48",
         f"option k, from character 50: …'{'a' * 40}'… → …'{'a' * 20}b{'a' * 19}'…"),
        ("x, *, k: k(x)", f"{X}, k=lambda v: v + 1", "", f"{X}, k=lambda v: v + 2", "option k: its code has changed"),
        ("x, *, k: k(x)", f"{X}, k=lambda v: v + 1", "", f"{X}, k=lambda v: v + 1", ""),
        ("x, *, k: k(x)", f"{X}, k=nx.sin", "", f"{X}, k=lambda v: v + 1", "option k: sin → <lambda>"),
        ("x, *, k: k(x)", f"{X}, k=functools.partial(nx.sum, axes=[0])", "", f"{X}, k=functools.partial(nx.sum, axes=None)",
         "option k.axes: [0] → None"),
        ("f = nx.jit(functools.partial(lambda x, *, rate: x * rate, rate=0.5))", X,
         "f = nx.jit(functools.partial(lambda x, *, rate: x * rate, rate=0.25))", "", "option rate: 0.5 → 0.25",
         NUMBER.format("rate", PARTIAL)),
        ("class Mode(enum.Enum):\n    FAST = 1\n    SLOW = 2\n@nx.defn\ndef f(x, *, mode):\n    return x\n",
         f"{X}, mode=Mode.FAST", "", f"{X}, mode=Mode.SLOW", "option mode: Mode.FAST → Mode.SLOW"),
        ("@nx.defn\ndef f(x, *, steps):\n    for i in range(steps):\n        x = x * 0.5 + 1\n    return x\n",
         f"{X}, steps=3", "", f"{X}, steps=4", "option steps: 3 → 4", TURNS.format("steps", OPTION)),
        ("@nx.defn\ndef f(x, *, steps):\n    i = 0\n    while i < steps:\n        i = i + 1\n    return x + i\n",
         f"{X}, steps=3", "", f"{X}, steps=4", "option steps: 3 → 4", TURNS.format("steps", OPTION)),
        ("f = nx.jit(lambda x, k: x * k, static_argnames='k')", f"{X}, 0.5", "", f"{X}, 0.25", "argument k: 0.5 → 0.25",
         STATIC.format("k", "static_argnames")),
        ("f = nx.jit(lambda x, k: x * k, static_argnums=1)", f"{X}, 2", "", f"{X}, 3", "argument k: 2 → 3",
         STATIC.format("k", "static_argnums")),
        ("f = nx.jit(lambda x, k: x, static_argnames='k')", f"{X}, 'a'", "", f"{X}, 'b'", "argument k: 'a' → 'b'",
         "k is a static argument: each new value makes a program of its own."),
        ("f = nx.jit(lambda x, k: x, static_argnames='k')", f"{X}, (1, 2)", "", f"{X}, (1, 3)", "argument k: (1, 2) → (1, 3)",
         "k is a static argument: each new value makes a program of its own."),
        ("f = nx.jit(lambda x, k: x, static_argnames='k')", f"{X}, 3", "", f"{X}, k=3", ""),
        ("x, n: nx.broadcast(x, (n, 3))", f"{X}, 2", "", f"{X}, 5", "argument n: 2 → 5", FIXED.format("n")),
        ("f = nx.defn(lambda x, n: np.zeros(n) + x, promotion='numpy')", "1.0, 2", "", "1.0, 5", "argument n: 2 → 5", FIXED.format("n")),
        ("f = nx.defn(lambda x, mode: x, promotion='numpy')", f"{X}, 'a'", "", f"{X}, 'b'", "argument mode: 'a' → 'b'",
         "mode is a static argument: each new value makes a program of its own."),
        ("f = nx.defn(lambda x, flag: x, promotion='numpy')", f"{X}, True", "", f"{X}, False", "argument flag: True → False"),
        ("f = nx.defn(lambda x: x, promotion='numpy')", "1", "", "np.int64(1)", "argument x: s64 (a Python int) → s64"),
    ),
]  # fmt: skip

REBOUND = [
    *rows(*[
        (READ.format(before), X, f"k = {after}", "", f"captured k: {(told or (before,))[0]} → {(told or (before, after))[1]}",
         _advised(before, after, CAPTURE))
        for before, after, *told in VALUES
    ]),
    *rows(*[(READ.format(before), X, f"k = {before}", "", "") for before, *_ in VALUES[1::3]]),
]  # fmt: skip

CLASS = "class Config:\n    rate = 0.5\n    def __init__(self, width=2.0):\n        self.width = width\n"
METHOD = CLASS + "    def apply(self, x):\n        return x * self.width\n"
DECORATED = (
    "def twice(function):\n    @functools.wraps(function)\n    def inner(x):\n        return 2 * function(x)\n"
    "    return inner\n@twice\ndef helper(x):\n    return x + {}\n"
)
CAPTURED = rows(
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w[0] = 5", "", ""),
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w = np.zeros(3)", "", ""),
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w = np.ones(1)", "", "captured w: f64[3] → f64[1]"),
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w = np.ones(3, 'f4')", "", "captured w: f64[3] → f32[3]"),
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w = nx.tensor(np.ones(3))", "", ""),
    ("w = np.ones(3)\n@nx.defn\ndef f(x):\n    return x * w\n", X, "w = 2.0", "", "captured w: f64[3] → 2.0"),
    ("k = {'rate': 0.5, 'title': 'a'}\n@nx.defn\ndef f(x):\n    return x * k['rate']\n", X, "k['rate'] = 0.25", "",
     "captured k['rate']: 0.5 → 0.25", NUMBER.format("k['rate']", CAPTURE)),
    ("k = {'rate': 0.5, 'title': 'a'}\n@nx.defn\ndef f(x):\n    return x * k['rate']\n", X, "k['title'] = 'b'", "",
     "captured k['title']: 'a' → 'b'"),
    ("k = {'rate': 0.5, 'title': 'a'}\n@nx.defn\ndef f(x):\n    return x * k['rate']\n", X, "k['more'] = 1", "",
     "captured k['more']: absent → 1"),
    ("k = {'rate': 0.5, 'title': 'a'}\n@nx.defn\ndef f(x):\n    return x * k['rate']\n", X, "del k['title']", "",
     "captured k['title']: 'a' → absent"),
    ("k = {f'k{n}': n for n in range(12)}\n@nx.defn\ndef f(x):\n    return x * k['k1']\n", X, "k['k9'] = 0", "",
     "captured k['k9']: 9 → 0"),
    ("k = {'a': {'b': {'c': 1}}}\n@nx.defn\ndef f(x):\n    return x * k['a']['b']['c']\n", X, "k['a']['b']['c'] = 2", "",
     "captured k['a']['b']['c']: 1 → 2"),
    ("k = {'w': np.ones(3), 'n': 2}\n@nx.defn\ndef f(x):\n    return x * k['w'] * k['n']\n", X, "k['n'] = 3", "",
     "captured k['n']: 2 → 3"),
    ("k = {'w': np.ones(3), 'n': 2}\n@nx.defn\ndef f(x):\n    return x * k['w'] * k['n']\n", X, "k['w'] = np.ones(1)", "",
     "captured k['w']: f64[3] → f64[1]"),
    ("k = [1, 2, 3]\n@nx.defn\ndef f(x):\n    return x * k[0]\n", X, "k[0] = 5", "", "captured k: [1, 2, 3] → [5, 2, 3]"),
    ("k = [1, 2, 3]\n@nx.defn\ndef f(x):\n    return x * k[0]\n", X, "k.append(5)", "", "captured k: [1, 2, 3] → [1, 2, 3, 5]"),
    ("k = list(range(20))\n@nx.defn\ndef f(x):\n    return x * k[0]\n", X, "k[15] = 5", "", "captured k[15]: 15 → 5"),
    ("k = set(range(20))\n@nx.defn\ndef f(x):\n    return x * len(k)\n", X, "k.remove(7); k.add(77)", "",
     ("captured k: 7 → absent", "captured k: absent → 77")),
    ("n = 3\n@nx.defn\ndef f(x):\n    for i in range(n):\n        x = x * 0.5\n    return x\n", X, "n = 4", "", "captured n: 3 → 4",
     TURNS.format("n", CAPTURE)),
    (CLASS + "c = Config()\nf = nx.jit(lambda x: x * c.width)\n", X, "c.width = 3.0", "", "captured c.width: 2.0 → 3.0",
     NUMBER.format("c.width", CAPTURE)),
    (CLASS + "c = Config()\nf = nx.jit(lambda x: x * c.width)\n", X, "c = Config(3.0)", "", "captured c.width: 2.0 → 3.0",
     NUMBER.format("c.width", CAPTURE)),
    (CLASS + "c = Config()\nf = nx.jit(lambda x: x * c.width)\n", X, "c = Config()", "", ""),
    (CLASS + "c = Config()\nf = nx.jit(lambda x: x * c.width)\n", X, "c.unread = 1", "", ""),
    (CLASS + "c = Config()\nf = nx.jit(lambda x: x if c is None else x + 1)\n", X, CLASS + "c = Config()\n", "",
     "captured Config: class Config was made anew"),
    (METHOD + "c = Config()\nf = nx.jit(lambda x: c.apply(x))\n", X, METHOD + "c = Config()\n", "",
     "captured Config: class Config was made anew"),
    ("def made(rate):\n    return lambda x: x * rate\na, b = made(1.0), made(2.0)\nf = nx.jit(lambda x: a(x) + b(x))\n", X,
     "b = made(3.0)", "", "captured rate of b: 2.0 → 3.0", NUMBER.format("rate of b", CAPTURE)),
    (CLASS + "f = nx.jit(lambda x: x * Config.rate)\n", X, "Config.rate = 0.25", "", "captured Config.rate: 0.5 → 0.25",
     NUMBER.format("Config.rate", CAPTURE)),
    (METHOD + "c = Config()\nf = nx.jit(c.apply)\n", X, "c.width = 3.0", "", "captured self.width: 2.0 → 3.0",
     NUMBER.format("self.width", CAPTURE)),
    (METHOD + "c = Config()\nf = nx.jit(c.apply)\n", X, "Config.apply = lambda self, x: x; f = nx.jit(c.apply)", "", "first call"),
    ("def helper(x):\n    return x + 1\nf = nx.jit(lambda x: helper(x))\n", X, "def helper(x):\n    return x + 2\n", "",
     "captured helper: its code has changed"),
    ("def helper(x):\n    return x + 1\nf = nx.jit(lambda x: helper(x))\n", X, "def helper(x):\n    # more\n    return x + 1\n", "", ""),
    ("def helper(x):\n    return x + 1\nf = nx.jit(lambda x: helper(x))\n", X, "def helper(x):\n    return nx.sin(x)\n", "",
     "captured helper: its code has changed"),
    ("def inner(x):\n    return x + 1\ndef helper(x):\n    return inner(x)\nf = nx.jit(lambda x: helper(x))\n", X,
     "def inner(x):\n    return x + 2\n", "", "captured inner: its code has changed"),
    ("rate = 0.5\ndef helper(x):\n    return x * rate\nf = nx.jit(lambda x: helper(x))\n", X, "rate = 0.25", "",
     "captured rate: 0.5 → 0.25", NUMBER.format("rate", CAPTURE)),
    (METHOD + "c = Config()\nf = nx.jit(lambda x: c.apply(x))\n", X, "c.width = 3.0", "", "captured c.width: 2.0 → 3.0",
     NUMBER.format("c.width", CAPTURE)),
    ("def helper(x, rate=0.5):\n    return x * rate\nf = nx.jit(lambda x: helper(x))\n", X, "helper.__defaults__ = (0.25,)", "",
     "captured rate of helper: 0.5 → 0.25", NUMBER.format("rate of helper", CAPTURE)),
    (DECORATED.format(1) + "f = nx.jit(lambda x: helper(x))\n", X, DECORATED.format(2), "",
     "captured helper behind its decorator: its code has changed"),
    ("rng = np.random.default_rng(0)\nf = nx.jit(lambda x: x * rng.uniform())\n", X, "", "", ""),
    ("def made(rate):\n    return nx.jit(lambda x: x * rate)\nf = made(0.5)\n", X, "f = made(0.25)", "", "captured rate: 0.5 → 0.25",
     NUMBER.format("rate", CAPTURE)),
    ("def made(rate):\n    return nx.jit(lambda x: x * rate)\nf = made(0.5)\n", X, "f = made(0.5)", "", ""),
    ("act = nx.sin\nf = nx.jit(lambda x: act(x))\n", X, "act = nx.cos", "", "captured act: sin → cos"),
    ("m = types.SimpleNamespace(rate=0.5)\nf = nx.jit(lambda x: x * m.rate)\n", X, "m.rate = 0.25", "", "captured m.rate: 0.5 → 0.25",
     NUMBER.format("m.rate", CAPTURE)),
    ("f = nx.jit(lambda x: x * abs(-2))\n", X, "abs = lambda v: 7", "", "captured abs: absent → <lambda>"),
    ("log = []\ndef f(x):\n    log.append(1)\n    return x * len(log)\nf = nx.jit(f)\n", X, "", "", "captured log: [] → [1]",
     "f changed log while it was traced, so its program was not kept. Return values instead of storing them."),
)  # fmt: skip

JITTED = "f = nx.jit(lambda x: x + 1)\n"
FIRST = "@nx.defn\ndef f(x):\n    return x + 1\n"
DEFINITIONS = rows(
    (FIRST, X, FIRST, "", ""),
    (FIRST, X, FIRST.replace("    return", "    # more\n    return"), "", ""),
    (FIRST, X, FIRST.replace("1", "2"), "", "first call since its code changed"),
    (FIRST, X, FIRST.replace("x + 1", "nx.sin(x)"), "", "first call since its code changed"),
    (FIRST, X, FIRST.replace("f(x)", "f(x, y=1.0)"), "", "first call since its code changed"),
    (FIRST, X, FIRST.replace("defn", "jit"), "", "made by: nx.defn → nx.jit"),
    (FIRST, X, FIRST.replace("defn", "defn(promotion='numpy')"), "", "promotion: inferred → numpy"),
    (FIRST, X, FIRST.replace("defn", "defn(compiler='numba_cpu')"), "", "compiler: evaluator → numba_cpu"),
    (FIRST, X, FIRST.replace("defn", "defn(hooks={'seen': print})"), "", "hooks: absent → seen"),
    (JITTED, X, JITTED.replace('+ 1)', "+ 1, on_conflict='force')"), "", ""),
    (FIRST, X, FIRST.replace("defn", "defn(static_argnames=())"), "", ""),
    (FIRST, X, FIRST.replace("f(x)", "g(x)") + "f = g\n", "", "first call"),
    (FIRST, X, "f.clear_cache()", "", "first call"),
    (FIRST, X, "f = copy.copy(f)", "", ""),
    (FIRST, X, "threads = threading.Thread(target=f, args=(np.ones(3),)); threads.start(); threads.join()", "", ""),
    (FIRST, X, "threads = threading.Thread(target=f, args=(np.ones(5),)); threads.start(); threads.join()", "np.ones(5)", ""),
    (FIRST, X, "gc.collect()", "", ""),
    (FIRST, X, "[f(np.ones(k)) for k in range(4, 4 + PROGRAMS)]", "",
     "its program was dropped: the function had more than 256, and it was unused for longest",
     "x keeps changing: pad it to a few fixed shapes of one type, or group the calls by shape; each is traced once."),
    (FIRST, X, "[f(np.ones(k)) for k in range(4, 9)]", "np.ones(9)", "argument x: f64[8] → f64[9]",
     "x keeps changing: pad it to a few fixed shapes of one type, or group the calls by shape; each is traced once."),
    ("p: sum(map(nx.sum, p))", "[np.ones(3)]", "[f([np.ones(3)] * k) for k in range(2, 6)]", "[np.ones(3)] * 6",
     "argument p: a list of 5 → of 6",
     "Each length of p makes a program of its own: keep to a few lengths, or pass one array, padded to a few fixed shapes."),
    (KEPT, f"{X}, k='a'", "[f(np.ones(3), k=k) for k in 'bcdef']", f"{X}, k='g'", "option k: 'f' → 'g'",
     "Each new value of the option k is a program of its own: keep to a few values."),
    (KEPT, f"{X}, k=1", "[f(np.ones(3), k=k) for k in range(2, 6)]", f"{X}, k=6", "option k: 5 → 6",
     "Each new value of the option k is a program of its own: keep to a few values, or, where it only feeds "
     "arithmetic, "
     "declare it before `*` and pass it by position."),
    ("f = nx.grad(lambda x: nx.sum(x * x))\n", X, "", "", ""),
    ("f = nx.jit(nx.grad(lambda x: nx.sum(x * x)))\n", X, "", "", ""),
    ("f = nx.jit(nx.grad(lambda x: nx.sum(x * x)))\n", X, "", "np.ones(4)", "argument x: f64[3] → f64[4]"),
    ("f = nx.jit(nx.vmap(lambda x: x * x))\n", X, "", "np.ones(4)", "argument x: f64[3] → f64[4]"),
)  # fmt: skip

TWO = "p, q = np.ones(3), np.ones(3)\n@nx.defn\ndef f(x):\n    return x * p + q\n"
INNER = "@nx.defn\ndef g(x, *, k=2.0):\n    return x * k\n@nx.defn\ndef f(x):\n    return g(x) + 1\n"
TABLE = "k = collections.OrderedDict(a=1, b=2)\n@nx.defn\ndef f(x):\n    return x * k['a']\n"
SESSIONS = rows(
    (FIRST, X, "nx.global_default_options(compiler='numba_cpu')", "", "compiler: evaluator → numba_cpu"),
    (TWO, X, "p, q = q, p", "", ""),
    (TWO, X, "q = p", "", ""),
    (TWO, X, "q = 0.5", "", "captured q: f64[3] → 0.5"),
    ("k = 1.0\n@nx.defn\ndef f(x):\n    return x * k\n", X,
     "for k in (2.0, 3.0, 4.0, 5.0): f(np.ones(3))\nk = nx.tensor(6.0)", "", "captured k: 5.0 → f32"),
    (TWO, X, "q = np.ones((2, 3))", "np.ones(1)", ("argument x: f64[3] → f64[1]", "captured q: f64[3] → f64[2][3]")),
    (TWO, X, "p = q = np.ones(3, 'f4')", "", "captured p and q: f64[3] → f32[3]"),
    (INNER, X, "f.__nx_function__", "", ""),
    (INNER, X, INNER.partition("@nx.defn\ndef f")[0].replace("2.0", "3.0"), "", "captured k of g: 2.0 → 3.0",
     NUMBER.format("k of g", CAPTURE)),
    (INNER, X, INNER.partition("@nx.defn\ndef f")[0].replace("x * k", "x + k"), "", "captured g: its code has changed"),
    (TABLE, X, "k['a'] = 5", "", "captured k['a']: 1 → 5"),
    (TABLE, X, "k.move_to_end('a')", "", "captured k: its order has changed"),
    (TABLE.replace("collections.Ordered", "").replace("Dict(", "dict("), X, "k['a'] = k.pop('a')", "", "captured k: its order has changed"),
    ("k = {1: 2.0}\n@nx.defn\ndef f(x):\n    return x * k[1]\n", X, "k = {1.0: 2.0}", "", "captured k: {1: 2.0} → {1.0: 2.0}"),
    ("k = collections.deque([1, 2])\n@nx.defn\ndef f(x):\n    return x * k[0]\n", X, "k.append(3)", "",
     "captured k: deque([1, 2]) → deque([1, 2, 3])"),
    ("@dataclasses.dataclass(frozen=True)\nclass K:\n    rate: float = 0.5\nf = nx.jit(lambda x, *, k: x * k.rate)\n",
     f"{X}, k=K()", "", f"{X}, k=K(0.25)", "option k.rate: 0.5 → 0.25", NUMBER.format("k.rate", CAPTURE)),
    ("class K:\n    __slots__ = ('rate',)\nk = K()\nk.rate = 0.5\nf = nx.jit(lambda x: x * k.rate)\n", X, "k.rate = 0.25", "",
     "captured k.rate: 0.5 → 0.25", NUMBER.format("k.rate", CAPTURE)),
    ("class K:\n    def __init__(self, rate):\n        self._rate = rate\n    @property\n    def rate(self):\n        return self._rate\n"
     "k = K(0.5)\nf = nx.jit(lambda x: x * k.rate)\n", X, "k._rate = 0.25", "", "captured k._rate: 0.5 → 0.25",
     NUMBER.format("k._rate", CAPTURE)),
    ("class K:\n    def __init__(self, rate):\n        self.rate = rate\n    def __call__(self, x):\n        return x * self.rate\n"
     "k = K(0.5)\nf = nx.jit(k)\n", X, "k.rate = 0.25", "", "captured self.rate: 0.5 → 0.25", NUMBER.format("self.rate", CAPTURE)),
    ("@nx.defn\ndef f(x):\n    for i in range(3):\n        x = x * 0.5\n    return x\n", X, "", "np.ones(4)",
     "argument x: f64[3] → f64[4]"),
    ("@nx.defn\ndef f(x):\n    if nx.sum(x) > 1.0:\n        return x\n    return -x\n", X, "", "-np.ones(3)", ""),
)  # fmt: skip

CAUSES = [*SESSIONS, *ARGUMENTS, *CONTAINERS, *OPTIONS, *REBOUND, *CAPTURED, *DEFINITIONS]
