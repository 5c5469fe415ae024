"""Each expression gives NumPy's values, types and kinds, of numbers of all sorts, strided, turned, empty or not."""

import ast
import contextlib
import copy
import io
import itertools
import linecache
import math
import warnings

import numpy as np
import pytest

import nxkernel as nx
from expressions.catalogue import EXPRESSIONS, FUNCTIONS

NAMES = "x, y, A, B, s, k, f, ws, d"
KINDS = ("f8", "f4", "i8", "strided", "i4", "nan", "reversed", "bool", "empty", "zeros", "u1", "one", "f2")
#: What a result is, as far as a program can ask.
CLASSES = "(float, int, bool, complex, np.ndarray, np.generic, np.floating, np.integer)"
#: How many expressions are one definition.
TOGETHER = 40
#: What is no fault: the expression, and the kind of its arguments.
APART = {
    # One of two types, depending on the data, in NumPy; the wider one here.
    ("x[x > 1].sum() if (x > 1).any() else 0.0", "f4"), ("x[x > 1].sum() if (x > 1).any() else 0.0", "f2"),
    ("x[x > 1].sum() if (x > 1).any() else 0.0", "i8"), ("x[x > 1].sum() if (x > 1).any() else 0.0", "i4"),
    ("x[x > 1].sum() if (x > 1).any() else 0.0", "u1"), ("x[x > 1].sum() if (x > 1).any() else 0.0", "zeros"),
    ("x[x > 1].sum() if (x > 1).any() else 0.0", "bool"), ("x[x > 1].sum() if (x > 1).any() else 0.0", "empty"),
    # Python's order of what has NaN in it depends on where that is.
    ("np.array(sorted(x))", "nan"),
    # Masks of another length, which NumPy lets pass where they are empty.
    ("(A[:, x[:3] > 0] - A[:, x[:3] > 0].mean(axis=1, keepdims=True)).sum(axis=1)", "empty"),
    ("(A[x[:3] > 0] - A[x[:3] > 0].mean(axis=0, keepdims=True)).sum(axis=0)", "empty"),
}  # fmt: skip


def arguments(kind):
    x = np.array([2.5, -1.25, 0.0, 3.75, 1.5, 5.0, 4.0])
    y = np.array([1.0, 2.0, -3.0, 0.5, 1.5, 2.0, 3.0])
    A = np.array([[1.5, -2.0, 3.0], [0.5, 2.0, -1.0], [4.0, 0.25, 2.0]])
    B = A[::-1].T + 1
    arrays = [x, y, A, B]
    if kind in ("f2", "f4", "f8", "i4", "i8"):
        arrays = [array.astype(kind) for array in arrays]
    elif kind == "u1":
        arrays = [np.abs(array).astype(kind) for array in arrays]
    elif kind == "bool":
        arrays = [array > 1 for array in arrays]
    elif kind == "strided":
        arrays = [np.repeat(array, 2, -1)[..., ::2] for array in arrays]
    elif kind == "reversed":
        arrays = [array[::-1, ::-1] if array.ndim > 1 else array[::-1] for array in arrays]
    elif kind == "zeros":
        arrays = [array * 0 for array in arrays]
    elif kind == "nan":
        x[2], y[0], A[0, 1] = np.nan, np.inf, np.nan
    elif kind in ("empty", "one"):
        arrays[:2] = [array[: kind == "one"] for array in arrays[:2]]
    return *arrays, arrays[0].dtype.type(2.5), 3, 1.5, [1, 2, 3], {"b": 1.0, "a": 2.0}


def compiled(source, name):
    file = f"<expressions {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": np, "math": math, "itertools": itertools, "copy": copy}
    exec(compile(source, file, "exec"), space)
    return space[name]


def together(expressions):
    """A function that gives each of some expressions, and of which classes it is."""
    lines = [f"    v{n} = {text}" for n, text in enumerate(expressions)]
    parts = [f"(v{n}, tuple([isinstance(v{n}, each) for each in {CLASSES}]))" for n in range(len(expressions))]
    return compiled("\n".join([f"def together({NAMES}):", *lines, f"    return [{', '.join(parts)}]", ""]), "together")


def functions():
    return {node.name: compiled(ast.unparse(node) + "\n", node.name) for node in ast.parse(FUNCTIONS).body}


def said(function, kind):
    """What a call gives and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*copy.deepcopy(arguments(kind))), out.getvalue()


def leaves(value):
    if isinstance(value, dict):
        return [*map(repr, value), *leaves(list(value.values()))]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple | list) else [value]


def difference(found, wanted):
    """What is wrong with a result, empty where nothing is."""
    found, wanted = leaves(found), leaves(wanted)
    if len(found) != len(wanted):
        return f"{len(found)} parts for {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        if other is None or isinstance(other, str):
            if one != other:
                return f"{one!r} for {other!r}"
            continue
        one, other = np.asarray(one), np.asarray(other)
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{one.dtype}{list(one.shape)} for {other.dtype}{list(other.shape)}"
        near = {"float16": 1e-2, "float32": 2e-5, "complex64": 2e-5}.get(other.dtype.name, 1e-11)
        alike = (
            np.allclose(one, other, near, near, equal_nan=True) if other.dtype.kind in "fc" else (one == other).all()
        )
        if not alike:
            return f"{one.tolist()} for {other.tolist()}"
    return ""


def wrong(function, kind):
    """What is wrong with a function as a definition; None where NumPy refuses it."""
    try:
        wanted, printed = said(function, kind)
    except Exception:
        return None
    try:
        found, also_printed = said(nx.defn(promotion="numpy")(function), kind)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(wanted, list) and len(wanted) == 1 and isinstance(wanted[0][0], np.ndarray) and not wanted[0][0].ndim:
        # An array without axes is a number here.
        found, wanted = found[0][0], wanted[0][0]
    return difference(found, wanted) or ("" if printed == also_printed else f"prints {also_printed!r} for {printed!r}")


def faults(pairs):
    """The expressions that differ from NumPy: several are one definition, and alone where that one differs."""
    found, of_kind = [], {}
    for text, kind in pairs:
        if (text, kind) not in APART:
            of_kind.setdefault(kind, []).append(text)
    for kind, texts in of_kind.items():
        # What NumPy refuses is not asked for.
        good = [text for text in texts if _works(text, kind)]
        for first in range(0, len(good), TOGETHER):
            some = good[first : first + TOGETHER]
            if wrong(together(some), kind) != "":
                alone = {text: wrong(together([text]), kind) for text in some}
                found += [f"{kind}: {text}: {told}" for text, told in alone.items() if told]
    return found


def _works(text, kind):
    try:
        said(together([text]), kind)
    except Exception:
        return False
    return True


LINES = EXPRESSIONS.strip().splitlines()


def test_expressions_stand_there_once():
    assert len(set(LINES)) == len(LINES) > 500


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS.__getitem__)
def test_expressions(number):
    # Each expression of one kind of arguments; of all of them below.
    pairs = [(text, KINDS[number]) for place, text in enumerate(LINES) if (number - place) % len(KINDS) == 0]
    assert faults(pairs) == []


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", functions())
def test_functions(name):
    function = functions()[name]
    told = {kind: wrong(function, kind) for kind in ("f8", "f4", "i4", "nan", "reversed")}
    assert {kind: text for kind, text in told.items() if text} == {}


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_all_expressions_of_all_kinds(kind):
    assert faults([(text, kind) for text in LINES]) == []
