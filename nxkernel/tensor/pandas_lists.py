"""Scalar tensors as numbers of pandas': in lists that become columns, and in what `isin` looks for.

pandas makes an array of objects of a list, and asks one function of its own what they are: it knows numbers by their
classes in C alone, and offers nothing that another library could register. Where it looks values up, it goes by hashes,
which tensors have none of, and takes that for hash 0. So these functions are told of tensors, when pandas is imported.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.backends.numpy_primitives import widened
from nxkernel.operand import Proxy
from nxkernel.tensor.interop import ArrayProtocols

_OURS = (ArrayProtocols, Proxy)


def install() -> None:
    """Have pandas take scalar tensors for numbers, now or when it is imported."""
    waiting = any(isinstance(finder, _WhenImported) for finder in sys.meta_path)
    for module in _TOLD:
        if module in sys.modules:
            _install_in(sys.modules[module])
        elif not waiting:
            sys.meta_path.insert(0, _WhenImported(module))


class _WhenImported:
    """A finder of modules that waits for one of pandas', and is gone then.

    Parameters
    ----------
    module : str
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            load = spec.loader.exec_module

            def loaded(module: Any) -> None:
                load(module)
                _install_in(module)

            spec.loader.exec_module = loaded
        return spec


def _install_in(module: Any) -> None:
    name, wrapper = _TOLD[module.__name__]
    function = getattr(module, name, None)
    if function is not None and not hasattr(function, "__wrapped__"):
        setattr(module, name, wrapper(function))


def numbers_of_tensors(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A function that finds the type of objects, as pandas has it, for arrays with scalar tensors among them, too.

    Parameters
    ----------
    convert : callable
        Of an array of objects, and options; what it does not know remains an array of objects.
    """

    def converted(objects: np.ndarray, *args: Any, **options: Any) -> Any:
        result = convert(objects, *args, **options)
        if getattr(result, "dtype", "") == "object" and any(
            issubclass(kind, _OURS) for kind in set(map(type, objects))
        ):
            return convert(np.fromiter(map(_number, objects), object, len(objects)), *args, **options)
        return result

    converted.__wrapped__ = convert
    return converted


def _number(value: Any) -> Any:
    """The number of a scalar tensor, as NumPy's scalar; another value as it is."""
    if isinstance(value, Proxy):
        value = value.__nx_operand__()
    return widened(value.data)[()] if isinstance(value, ArrayProtocols) and not value.data.ndim else value


def among_tensors(isin: Callable[..., Any]) -> Callable[..., Any]:
    """`isin`, as pandas has it, for values that are a tensor, or a list with scalar tensors in it, too.

    Parameters
    ----------
    isin : callable
        Of an array and the values that are looked for in it.
    """

    def found(comps: Any, values: Any) -> Any:
        if isinstance(values, _OURS):
            values = np.asarray(values)
        elif isinstance(values, list | tuple) and any(isinstance(value, _OURS) for value in values):
            values = [_number(value) for value in values]
        return isin(comps, values)

    found.__wrapped__ = isin
    return found


#: For each module of pandas', the function that is told, and how.
_TOLD = {
    "pandas._libs.lib": ("maybe_convert_objects", numbers_of_tensors),
    "pandas.core.algorithms": ("isin", among_tensors),
}
