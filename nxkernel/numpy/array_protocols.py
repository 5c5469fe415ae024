"""NumPy's protocols, by which its functions take arrays, tensors and traced values: installed on their classes."""

from __future__ import annotations

from typing import Any

from nxkernel.graph.expr import TracedValue
from nxkernel.numpy import dispatch_table
from nxkernel.numpy.arrays.array import ArrayValue
from nxkernel.tensor.interop import ArrayProtocols, arrays


def _namespace(self: Any, api_version: str | None = None) -> Any:
    """The functions of the array API standard."""
    return dispatch_table.namespace()


def _ufunc_of_array(self: ArrayValue, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """``__array_ufunc__`` of traced arrays: NumPy's ufuncs give traced arrays."""
    return dispatch_table.run_ufunc(ufunc, method, inputs, options)


def _function_of_array(self: ArrayValue, function: Any, kinds: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """``__array_function__`` of arrays: NumPy's other functions give arrays; what they lack runs in NumPy at once."""
    return dispatch_table.on_arrays(function, args, kwargs)


def _ufunc_of_traced(self: TracedValue, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """``__array_ufunc__`` of traced values: NumPy's ufuncs become nxkernel's operations."""
    return dispatch_table.dispatched(ufunc, method, inputs, options)


def _function_of_traced(self: TracedValue, function: Any, kinds: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """``__array_function__`` of traced values: NumPy's functions that have a counterpart give traced values."""
    return dispatch_table.dispatched(function, "", args, kwargs)


def _ufunc_of_tensor(self: ArrayProtocols, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """``__array_ufunc__`` of tensors: NumPy's ufuncs become nxkernel's operations."""
    return dispatch_table.on_tensors(ufunc, method, inputs, options, arrays)


def _function_of_tensor(self: ArrayProtocols, function: Any, kinds: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """``__array_function__`` of tensors: functions without a counterpart run in NumPy and give NumPy arrays."""
    return dispatch_table.on_tensors(function, "", args, kwargs, arrays)


#: For each class NumPy's protocol for element-wise functions, and that for other functions.
_PROTOCOLS = {
    ArrayValue: (_ufunc_of_array, _function_of_array),
    TracedValue: (_ufunc_of_traced, _function_of_traced),
    ArrayProtocols: (_ufunc_of_tensor, _function_of_tensor),
}

for _class, (_ufunc, _function) in _PROTOCOLS.items():
    _class.__array_ufunc__, _class.__array_function__ = _ufunc, _function
    _class.__array_namespace__ = _namespace
