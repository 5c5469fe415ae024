"""Calls of NumPy's functions with each of their keywords, as text: which there are, NumPy's own signatures say."""

from __future__ import annotations

import inspect
import itertools
import linecache
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nxkernel as nx
import nxkernel.numpy as nnp

#: Values of a keyword, as text over the names that :func:`arguments` gives.
VALUES = {
    "M": ("4", "2"),
    "N": ("3", "4"),
    "UPLO": ("'U'",),
    "a_max": ("1",),
    "a_min": ("0",),
    "append": ("1.0",),
    "arr": ("A", "x"),
    "atol": ("0.5",),
    "axes": ("(1, 0)", "[0]", "(0, 1)"),
    "axis": ("None", "0", "1", "-1", "(0, 1)", "(1,)", "(-1, 0)"),
    "axis1": ("1",),
    "axis2": ("0",),
    "base": ("2", "3.0"),
    "bias": ("True",),
    "bins": ("4", "[-2.0, 0.0, 1.0, 3.0]", "7"),
    "compute_uv": ("False",),
    "constant_values": ("3", "(1, 2)"),
    "copy": ("True", "False"),
    "correction": ("1",),
    "ddof": ("1", "0.5"),
    "decimals": ("1", "-1", "2"),
    "deg": ("True",),
    "density": ("True", "False"),
    "destination": ("1", "-1"),
    "discont": ("1.0",),
    "dtype": ("'f4'", "'f8'", "'i8'", "'i4'", "complex", "bool", "'u1'"),
    "dx": ("0.5",),
    "edge_order": ("2", "1"),
    "end_values": ("2", "(1, 3)"),
    "endpoint": ("False",),
    "equal_nan": ("True",),
    "fill_value": ("2", "1.5"),
    "full_matrices": ("False",),
    "increasing": ("True",),
    "indexing": ("'ij'",),
    "indices": ("[0, 2]", "1", "-1", "[[0, 1], [1, 0]]"),
    "indices_or_sections": ("2", "[1]", "[1, 2]", "3"),
    "initial": ("1", "5.0", "-2"),
    "invert": ("True",),
    "k": ("1", "-1", "2", "0"),
    "keepdims": ("True",),
    "kth": ("1", "2", "-1"),
    "left": ("9.0",),
    "max": ("1",),
    "method": ("'lower'", "'higher'", "'nearest'", "'midpoint'"),
    "min": ("0",),
    "minlength": ("9",),
    "mode": ("'wrap'", "'clip'", "'same'", "'valid'", "'full'", "'edge'", "'reflect'", "'symmetric'", "'linear_ramp'",
             "'mean'", "'maximum'", "'minimum'", "'constant'", "'reduced'", "'complete'"),
    "n": ("2", "3", "6", "0", "4"),
    "nan": ("7.0",),
    "ndmin": ("3", "1"),
    "neginf": ("-8.0",),
    "norm": ("'ortho'", "'forward'"),
    "num": ("7",),
    "obj": ("0", "1", "[0, 1]", "slice(0, 2)", "-1"),
    "offset": ("1", "-1"),
    "ord": ("'fro'", "'nuc'", "1", "2", "-1", "-2", "np.inf", "-np.inf", "3", "0"),
    "order": ("'C'", "'F'", "'A'", "'K'"),
    "pad_width": ("1", "((1, 2), (0, 1))", "(1, 2)", "0"),
    "period": ("3.0",),
    "posinf": ("8.0",),
    "prepend": ("0.0", "A[:1]", "A[:, :1]"),
    "q": ("0.3", "[0.1, 0.9]", "50", "0", "1"),
    "range": ("(-1.0, 1.0)", "(0, 3)"),
    "rcond": ("0.5", "1e-3"),
    "reflect_type": ("'odd'",),
    "repeats": ("2", "[1, 2, 3]", "[1, 0, 2]", "0", "[1, 0, 2, 1]"),
    "reps": ("2", "(2, 1)", "(1, 2, 2)", "(1, 1)"),
    "retstep": ("True",),
    "returned": ("True",),
    "right": ("True", "0.0", "-1.0"),
    "rowvar": ("False",),
    "rtol": ("1e-2", "0.5"),
    "shape": ("(2, 6)", "(4, 3)", "-1", "(12,)", "(2, 2)", "(3, 4)", "(2, 3)"),
    "shift": ("2", "(1, 2)", "-1"),
    "side": ("'right'", "'left'"),
    "source": ("0",),
    "sparse": ("True",),
    "start": ("1", "0"),
    "stat_length": ("1", "2"),
    "stop": ("2.0", "5"),
    "to_begin": ("[7.0]",),
    "to_end": ("[9.0, 8.0]", "9.0"),
    "tol": ("0.5",),
    "upper": ("True",),
    "v": ("x", "1.0", "A[0]"),
    "values": ("9.0", "A[0]", "A[:, 0]", "A"),
    "weights": ("np.abs(A)", "np.abs(x)", "[1.0, 2.0, 3.0, 4.0]", "[1.0, 2.0, 3.0]", "[1, 2, 3, 4, 5]"),
    "where": ("m",),
    "x": ("x",),
}  # fmt: skip
FIRST = ("A", "x", "S", "I", "m", "i", "2.5", "[[1.0, 2.0], [3.0, 0.0]]", "(A, A)", "[x, x]")
FURTHER = ("A", "x", "S", "i", "2.5", "A[0]", "I")
KINDS = ("f8", "f4", "i8", "bool", "u1", "nan", "c", "3d", "F")
#: Functions that are left out: what they give is not initialized or no number, or they change the arrays of others.
LEFT_OUT = {
    "empty", "empty_like", "isfortran", "may_share_memory", "shares_memory", "result_type", "iterable", "copyto",
    "fill_diagonal", "place", "put", "put_along_axis", "putmask",
}  # fmt: skip
#: Calls whose results NumPy leaves open, or which are outside of what it documents; by part of their text, the reason.
OPEN = {
    "argsort(": "ties are in no order, but with kind='stable'", "argpartition(": "only one place is in order",
    "partition(": "only one place is in order", "interp(": "points that do not increase",
    "searchsorted(": "arrays that are not sorted", "piecewise(": "functions that are arrays",
    "hermitian=": "matrices that are not Hermitian", "eig": "vectors have any sign", "svd(": "vectors have any sign",
    "qr(": "vectors have any sign", "dsplit((": "a tuple for an array",
    "reciprocal(m": "division of integers by 0", "reciprocal(I": "the same",
    "polymul(": "NumPy drops leading zeros, and sizes follow from shapes here",
    "n=0": "NumPy gives the lists that it was given",
}  # fmt: skip
#: And of arrays of one kind.
OPEN_OF = {
    "nan": {
        "fft.": "where NaN goes depends on how sums are arranged",
        "lstsq(": "the same",
        "exp2(A, dtype=complex": "infinite complex numbers",
        "expm1(A, dtype=complex": "the same",
    },
    **{kind: {"reciprocal(": "division of integers by 0"} for kind in ("i8", "u1", "bool")},
    "c": {"var(": "dtype= of real numbers cuts off what it is the variance of", "std(": "the same"},
}
#: Positions of arguments, where all combinations are tried; up to so many of them are taken further.
COMBINED, BASES = 3, 14
#: Sizes that results may differ by, relative to 1 and to themselves.
CLOSE = {"e": 1e-2, "f": 1e-4, "F": 1e-4}


def arguments(kind: str) -> dict[str, np.ndarray]:
    """Arrays by name: matrices A (3 × 4), S (3 × 3) and I of integers, vectors x and i (integers), and a mask m."""
    random = np.random.default_rng(1)
    A = (random.normal(size=(3, 4)) * 2).round(2)
    x, S = (random.normal(size=5) * 2).round(2), (random.normal(size=(3, 3)) * 2).round(2)
    I, i = random.integers(-4, 5, (3, 4)), random.integers(0, 5, 5)  # noqa: E741 - the names that calls have
    m = A > 0
    if kind == "nan":
        A[1, 2], x[1], A[0, 0] = np.nan, np.nan, np.inf
    elif kind == "i8":
        A, x, S = I, i - 2, S.round().astype(int)
    elif kind in ("f4", "bool"):
        A, x, S = [each.astype(kind) if kind == "f4" else each > 0 for each in (A, x, S)]
    elif kind == "u1":
        A, x = np.abs(I).astype(kind), i.astype(kind)
    elif kind == "c":
        A, x, S = A + 1j * A[::-1], x + 1j, S + 1j * S.T
    elif kind == "3d":
        A = random.normal(size=(2, 3, 2)).round(2)
    elif kind == "F":
        A = np.asfortranarray(A)
    return {"A": A, "x": x, "S": S, "I": I, "i": i, "m": m}


def names() -> list[str]:
    """The functions that both have, with the name of their module."""
    found = []
    for path in ("", "linalg.", "fft."):
        theirs, ours = (getattr(module, path[:-1]) if path else module for module in (np, nnp))
        for name in dir(theirs):
            value = getattr(theirs, name)
            function = callable(value) and not isinstance(value, type) and not name.startswith("_")
            if function and hasattr(ours, name) and name not in LEFT_OUT:
                found.append(path + name)
    return found


def written(name: str) -> Iterator[str]:
    """Calls of a function as text, each keyword alone and some in pairs."""
    function = np
    for part in name.split("."):
        function = getattr(function, part)
    if isinstance(function, np.ufunc):
        yield from _of_ufunc(name, function)
        return
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        parameters = []
    ordered = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [each for each in parameters if each.default is each.empty and each.kind in ordered]
    optional = [each.name for each in parameters if each.default is not each.empty and each.name in VALUES]
    values = [VALUES.get(each.name, FURTHER) if place else FIRST for place, each in enumerate(required)]
    if required and required[0].name in ("N", "shape", "start"):
        values[0] = VALUES[required[0].name]
    bases = [base for base in itertools.product(*values) if _runs(name, base)] if len(values) <= COMBINED else []
    keywords = [f"{each}={value}" for each in optional for value in VALUES[each]]
    for base in bases[:BASES]:
        yield f"np.{name}({', '.join(base)})"
        for keyword in keywords:
            yield f"np.{name}({', '.join([*base, keyword])})"
        for pair in itertools.combinations(keywords, 2):
            if pair[0].split("=")[0] != pair[1].split("=")[0] and zlib.crc32(f"{name}{pair}".encode()) % 5 == 0:
                yield f"np.{name}({', '.join([*base, *pair])})"


def _of_ufunc(name: str, function: np.ufunc) -> Iterator[str]:
    """Calls of an element-wise function, and of its reduce, accumulate and outer."""
    one = [(each,) for each in ("A", "x", "2.5", "S", "I", "m")]
    two = list(itertools.product(("A", "x", "I", "m", "2"), ("A", "x[:4]", "2.5", "A[0]", "I", "3")))
    for base in one if function.nin == 1 else two:
        for keyword in ("", "order='F'", "dtype='f4'", "dtype='i8'", "dtype='f8'", "dtype=complex"):
            yield f"np.{name}({', '.join(filter(None, [*base, keyword]))})"
    if function.nin != 2 or function.nout != 1 or function.signature is not None:
        return
    for array in ("A", "x", "I", "m", "S"):
        for axis in ("", "axis=0", "axis=1", "axis=-1", "axis=None", "axis=(0, 1)"):
            for keyword in ("", "keepdims=True", "initial=2", "where=m", "dtype='f4'", "dtype='i8'"):
                yield f"np.{name}.reduce({', '.join(filter(None, (array, axis, keyword)))})"
            yield f"np.{name}.accumulate({', '.join(filter(None, (array, axis)))})"
    for pair in ("x, x", "A, x", "x, A", "2, x", "I, I", "x, 2"):
        yield f"np.{name}.outer({pair})"


def _runs(name: str, values: tuple[str, ...]) -> bool:
    """Whether NumPy takes these arguments."""
    return _result(f"np.{name}({', '.join(values)})", arguments("f8")) is not _ERROR


_ERROR = object()


def _result(text: str, values: dict[str, np.ndarray]) -> Any:
    """What NumPy gives for a call; a mark where it raises an error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(text, {"np": np, **values})
        except Exception:
            return _ERROR


def _defined(texts: list[str]) -> Callable[..., list[Any]]:
    """A definition by NumPy's rules that gives the results of several calls."""
    source = f"def calls(A, x, S, I, i, m):\n    return [{', '.join(texts)}]\n"
    file = f"<calls {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": np}
    exec(compile(source, file, "exec"), space)
    return nx.defn(space["calls"], promotion="numpy")


def differences(texts: list[str], kind: str) -> tuple[int, list[str], list[str]]:
    """Run calls by NumPy and compiled.

    Returns
    -------
    int
        How many were compared.
    list of str
        What differs in value, type or shape.
    list of str
        Errors that are none of ours: those of Python from inside.
    """
    values = arguments(kind)
    left = (*OPEN, *OPEN_OF.get(kind, ()))
    expected = {text: _result(text, values) for text in texts if not any(part in text for part in left)}
    expected = {text: value for text, value in expected.items() if value is not _ERROR}
    results, inside = {}, []
    if expected:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = dict(zip(expected, _defined(list(expected))(**values), strict=True))
        except Exception:
            for text in expected:
                try:
                    results[text] = _defined([text])(**values)[0]
                except Exception as error:
                    keyword = isinstance(error, TypeError) and "unexpected keyword argument" in str(error)
                    if not keyword and not type(error).__module__.startswith("nxkernel"):
                        inside.append(f"{text} of {kind}: {type(error).__name__}: {error}")
    close = 1e-4 if kind == "f4" else 1e-9
    told = [f"{text} of {kind}: {what}" for text in results if (what := _differs(expected[text], results[text], close))]
    return len(results), told, inside


def _differs(expected: Any, result: Any, close: float = 1e-9) -> str:
    """What is different in two results, '' where nothing is; `close` is a bound relative to 1 and to the numbers."""
    if isinstance(expected, tuple | list):
        if len(expected) != len(result):
            return f"{len(result)} results, NumPy has {len(expected)}"
        return next(filter(None, [_differs(*pair, close) for pair in zip(expected, result, strict=True)]), "")
    one, other = np.asarray(expected), np.asarray(result)
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"{other.dtype}{other.shape}, NumPy has {one.dtype}{one.shape}"
    close = max(close, CLOSE.get(one.dtype.char, 0.0))
    if one.dtype.kind in "fcbiu" and not np.allclose(one, other, rtol=close, atol=close, equal_nan=True):
        return f"{other.tolist()}, NumPy has {one.tolist()}"
    return ""
