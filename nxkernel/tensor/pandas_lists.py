"""Lists of scalar tensors as columns of numbers in pandas.

pandas makes an array of objects of a list, and asks one function of its own what they are: it knows numbers by their
classes in C alone, and offers nothing that another library could register. So that function is told of tensors, when
pandas is imported.
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

_MODULE, _FUNCTION = "pandas._libs.lib", "maybe_convert_objects"
_OURS = (ArrayProtocols, Proxy)


def install() -> None:
    """Have pandas take scalar tensors in lists for numbers, now or when it is imported."""
    if _MODULE in sys.modules:
        _install_in(sys.modules[_MODULE])
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


class _WhenImported:
    """A finder of modules that waits for pandas, and is gone then."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _MODULE:
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
    function = getattr(module, _FUNCTION, None)
    if function is not None and not hasattr(function, "__wrapped__"):
        setattr(module, _FUNCTION, numbers_of_tensors(function))


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
