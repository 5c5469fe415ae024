"""Tensors never change: what NumPy would write into one is refused, and told what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.tensor.tensor import StoredTensor

#: What writes into its first argument, and what gives a new tensor instead.
WRITERS = {
    np.copyto: "",
    np.fill_diagonal: "nx.put_diagonal(t, values)",
    np.place: "nx.select(mask, values, t)",
    np.put: "nx.indexed_put(t, [[0], [2]], values)",
    np.put_along_axis: "",
    np.putmask: "nx.select(mask, values, t)",
}
#: The same for functions that are applied in place at indices.
_AT = {
    np.add: "nx.indexed_add(t, [[0], [2]], values)",
    np.subtract: "nx.indexed_add(t, [[0], [2]], -values)",
}


def check(function: Any, method: str, inputs: tuple, options: dict[str, Any]) -> None:
    """Raise an error where a function of NumPy's would write into a tensor.

    Parameters
    ----------
    function : callable
        A function or ufunc of NumPy's.
    method : str
        What of a ufunc is called, such as ``"at"``; empty for other functions.
    inputs, options : tuple and dict
        What it is called with.
    """
    name = f"np.{function.__name__}"
    if method == "at":
        if isinstance(inputs[0], StoredTensor):
            raise _refusal(f"{name}.at", "t, …", _AT.get(function, ""))
    elif function in WRITERS:
        first = inputs[0] if inputs else next(iter(options.values()), None)
        if isinstance(first, StoredTensor):
            raise _refusal(name, "t, …", WRITERS[function])
    elif (out := options.get("out")) is not None and _holds_tensor(out):
        called = name if method in ("", "__call__") else f"{name}.{method}"
        raise _refusal(called, "…, out=t", f"{called}(…) without out=")


def _holds_tensor(out: Any) -> bool:
    return any(isinstance(one, StoredTensor) for one in (out if isinstance(out, tuple) else (out,)))


def _refusal(called: str, arguments: str, instead: str) -> NxTypeError:
    hints = [f"{instead} gives a new one."] if instead else []
    if "out=" not in arguments:
        hints.append(f"{'Or write' if hints else 'Write'} into a copy: a = t.to_numpy().copy(), and {called}(a, …).")
    return NxTypeError(message(f"tensors are immutable: {called}({arguments}) is not possible.", *hints))
