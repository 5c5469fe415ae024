"""Functions of NumPy source text, and whether what they give is what plain NumPy gives."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

_numbers = itertools.count()


def module_of(source: str) -> dict[str, Any]:
    """The names of a module with a source text, in which ``np`` is NumPy; tracing finds its lines.

    Parameters
    ----------
    source : str
    """
    name = f"<source {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"np": np, "__name__": name}
    exec(compile(source, name, "exec"), names)
    return names


def forget(names: dict[str, Any]) -> None:
    """Forget the lines of a module."""
    linecache.cache.pop(names["__name__"], None)


def function_of(body: str, parameters: str) -> Callable[..., Any]:
    """A function with a body and parameters, as they are written."""
    return module_of(f"def f({parameters}):\n{textwrap.indent(body, '    ')}\n")["f"]


def leaves(value: Any) -> list[np.ndarray]:
    """The arrays in nested tuples and lists, one after the other."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def assert_same(found: Any, wanted: Any, rtol: float = 1e-12) -> None:
    """Assert that results have the same values up to rounding, shapes and types as those of NumPy.

    Parameters
    ----------
    found, wanted : array, or nested tuples and lists of arrays
    rtol : float
    """
    found, wanted = leaves(found), leaves(wanted)
    assert len(found) == len(wanted), f"{len(found)} results are not {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype, f"{one.dtype} is not {other.dtype}"
        assert one.shape == other.shape, f"{one.shape} is not {other.shape}"
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
