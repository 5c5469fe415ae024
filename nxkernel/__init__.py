"""nxkernel: numerical definitions for Jupyter, traced, fused, compiled to native code, and explained."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Types keep their own namespace: `nx.types.f32` is a type, `nx.f32(…)` makes a tensor of it.
from nxkernel import constants, definitions, formats, linalg, ops, random, types
from nxkernel.compilers import registry
from nxkernel.definitions import *  # noqa: F403
from nxkernel.formats import *  # noqa: F403
from nxkernel.messages import other_libraries
from nxkernel.ops import *  # noqa: F403
from nxkernel.tensor import Template, Tensor, pandas_lists

__version__ = "0.1.0"

# Written so that tools which read the source follow it.
__all__ = ["Template", "Tensor", "constants", "get_threads", "linalg", "random", "set_threads", "types"]
__all__ += ops.__all__
__all__ += definitions.__all__
__all__ += formats.__all__

pandas_lists.install()


#: What is imported when somebody asks for it.
_LAZY = ("nn", "optim", "training")

if TYPE_CHECKING:
    from nxkernel import nn as nn
    from nxkernel import optim as optim
    from nxkernel import training as training

    # The function, for tools that would take the module of this name first.
    from nxkernel.ops import tensor as tensor
else:
    # A tool that read it would take any misspelt name for one that is there.
    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f"nxkernel.{name}")
        raise other_libraries.missing("nxkernel", name, other_libraries.FUNCTIONS, [*__all__, *_LAZY])


def __dir__() -> list[str]:
    return [*__all__, *_LAZY, "__version__"]


def get_threads() -> int:
    """How many threads a kernel runs on at most."""
    return registry.get(registry.BUILT_IN).get_threads()


def set_threads(count: int) -> None:
    """Run kernels on at most `count` threads from now on; results are the same bits for any number."""
    registry.get(registry.BUILT_IN).set_threads(count)
    for compiler in registry.made():
        if compiler.name != registry.BUILT_IN:
            compiler.set_threads(count)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext nxkernel``: the magics, and the views of notebooks."""
    import threading

    import nxkernel_magics

    nxkernel_magics.load(shell)
    # What compiles takes a tenth of a second to import, which would fall to the first call.
    threading.Thread(target=_import_compiler, name="nxkernel-import", daemon=True).start()


def _import_compiler() -> None:
    registry.get(registry.BUILT_IN).warm_up()


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext nxkernel``."""
    import nxkernel_magics

    nxkernel_magics.unload(shell)
