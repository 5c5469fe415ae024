"""nxkernel: numerical definitions for Jupyter, traced, fused, compiled to native code, and explained."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Types keep their own namespace: `nx.types.f32` is a type, `nx.f32(…)` makes a tensor of it.
from nxkernel import constants, definitions, linalg, ops, random, types
from nxkernel.compilers import registry
from nxkernel.definitions import *  # noqa: F403
from nxkernel.messages import other_libraries
from nxkernel.ops import *  # noqa: F403
from nxkernel.tensor import Template, Tensor, pandas_lists

__version__ = "0.1.0"

# Written so that tools which read the source follow it.
__all__ = ["Template", "Tensor", "constants", "get_threads", "linalg", "random", "set_threads", "types"]
__all__ += ops.__all__
__all__ += definitions.__all__
#: The functions of ``nxkernel.formats``, which is imported when somebody asks for one of them.
_OF_FORMATS = [
    "deserialize", "load", "load_numpy", "load_numpy_archive", "load_safetensors", "load_safetensors_metadata", "save",
    "save_numpy", "save_numpy_archive", "save_safetensors", "serialize",
]  # fmt: skip
__all__ += _OF_FORMATS

pandas_lists.install()


#: What is imported when somebody asks for it.
_LAZY = ("integrate", "interpolate", "nn", "optim", "optimize", "training")

if TYPE_CHECKING:
    from nxkernel import formats as formats
    from nxkernel import integrate as integrate
    from nxkernel import interpolate as interpolate
    from nxkernel import nn as nn
    from nxkernel import optim as optim
    from nxkernel import optimize as optimize
    from nxkernel import training as training
    from nxkernel.formats import *  # noqa: F403

    # The function, for tools that would take the module of this name first.
    from nxkernel.ops import tensor as tensor
else:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> Any:
        if name in _LAZY or name == "formats":
            return importlib.import_module(f"nxkernel.{name}")
        if name in _OF_FORMATS:
            return getattr(importlib.import_module("nxkernel.formats"), name)
        raise other_libraries.missing("nxkernel", name, other_libraries.FUNCTIONS, [*__all__, *_LAZY])


def __dir__() -> list[str]:
    return [*__all__, *_LAZY, "__version__"]


def get_threads() -> int:
    """How many threads a kernel runs on at most."""
    return registry.get(registry.BUILT_IN).get_threads()


def set_threads(count: int) -> None:
    """Run kernels on at most `count` threads from now on; results are the same bits for any number.

    At first they run on as many as there are processors, or as the environment variable ``NXKERNEL_THREADS`` says.
    """
    registry.get(registry.BUILT_IN).set_threads(count)
    for compiler in registry.made():
        if compiler.name != registry.BUILT_IN:
            compiler.set_threads(count)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext nxkernel``: the magics, and the views of notebooks."""
    import threading

    _magics().load(shell)
    # What compiles takes a tenth of a second to import, which would fall to the first call.
    threading.Thread(target=_import_compiler, name="nxkernel-import", daemon=True).start()


def _import_compiler() -> None:
    registry.get(registry.BUILT_IN).warm_up()


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext nxkernel``."""
    _magics().unload(shell)


def _magics() -> Any:
    import nxkernel_magics

    return nxkernel_magics
