"""The compilers by name: our own, and those that other distributions bring as entry points ``nxkernel.compilers``."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nxkernel import compile_thread
from nxkernel.compilers.interface import Compiler
from nxkernel.errors import CompilationError, NxValueError, message

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The compiler where nobody names one, and that of programs on devices.
BUILT_IN, ON_DEVICES = "numba_cpu", "numba_cuda"
#: The entry points by which other distributions bring compilers: a class of :class:`Compiler`, or what makes one.
GROUP = "nxkernel.compilers"


@dataclass(frozen=True)
class OwnCompiler:
    """A built-in compiler, imported on first use.

    Parameters
    ----------
    module, name : str
        Of its class.
    meant : re.Pattern
        What other libraries call what it makes programs for.
    """

    module: str
    name: str
    meant: re.Pattern[str]

    def __call__(self) -> Compiler:
        """Import the compiler's class and make an instance."""
        compile_thread.load(self.module)
        return getattr(importlib.import_module(self.module), self.name)()


#: In the order in which a misspelt name is compared with what each is called elsewhere.
OWN = {
    "numba_cuda": OwnCompiler(
        "nxkernel.compilers.numba_cuda.compiler",
        "NumbaCuda",
        re.compile(r"(?:cuda|gpu|nvidia|cupy|ptx|numba[-_ ]?gpu)(:\d+)?", re.IGNORECASE),
    ),
    "numba_cpu": OwnCompiler(
        "nxkernel.compilers.numba_cpu.compiler",
        "NumbaCpu",
        re.compile(r"cpu|host|llvm|native|jit|xla|exla", re.IGNORECASE),
    ),
    "numba": OwnCompiler(
        "nxkernel.compilers.numba_njit.compiler",
        "Numba",
        re.compile(r"njit|numba[-_. ]?(njit|jit|source)", re.IGNORECASE),
    ),
    "evaluator": OwnCompiler(
        "nxkernel.compilers.evaluator",
        "Evaluator",
        re.compile(r"numpy|python|eager|binary|none", re.IGNORECASE),
    ),
}
_registry: dict[str, Callable[[], Compiler]] = dict(OWN)
_made: dict[str, Compiler] = {}
#: One of the devices that a compiler makes programs for.
_DEVICE = re.compile(r"(.+):(\d+)")


def register(name: str, make: Callable[[], Compiler]) -> None:
    """Register a compiler under a name in this process.

    Parameters
    ----------
    name : str
    make : callable
        Gives the compiler when it is first asked for, so that nothing is imported before.
    """
    _registry[name] = make


def names() -> list[str]:
    """The names of all compilers."""
    return sorted({*_registry, *_entry_points()})


def made() -> list[Compiler]:
    """The compilers that have been used in this process, one instance for all devices of each."""
    return [compiler for name, compiler in list(_made.items()) if _DEVICE.fullmatch(name) is None]


def get(name: str) -> Compiler:
    """A compiler by its name; ``"numba_cuda:1"`` is that for the second GPU.

    Raises
    ------
    NxValueError
        For a name that none has, with all that there are.
    CompilationError
        For one of another distribution that cannot be used.
    """
    compiler = _made.get(name)
    if compiler is None:
        found = _new(name) if isinstance(name, str) else None
        if found is None:
            raise _unknown(name)
        compiler = _made[name] = found
    return compiler


def _new(name: str) -> Compiler | None:
    """Make a compiler that has not been used yet; None if there is none of that name."""
    if name in _registry:
        return _registry[name]()
    device = _DEVICE.fullmatch(name)
    if device is not None:
        return get(device[1]).for_device(int(device[2])) if device[1] in names() else None
    entry = _entry_points().get(name)
    return None if entry is None else _brought(entry)


def _entry_points() -> dict[str, EntryPoint]:
    """The compilers of other distributions, by name."""
    # Looking through all that is installed takes a while, which a name of ours does not need.
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _brought(entry: EntryPoint) -> Compiler:
    """Load the compiler of another distribution from its entry point."""
    whose = f"the compiler {entry.name!r}, which {entry.dist.name if entry.dist else 'a distribution'} brings,"
    try:
        compile_thread.load(entry.module)
        compiler = entry.load()()
    except Exception as error:
        hint = f"Its entry point is {entry.value}; install what it needs, or uninstall it."
        raise CompilationError(message(f"{whose} cannot be loaded: {type(error).__name__}: {error}", hint)) from error
    if not isinstance(compiler, Compiler):
        hint = f"{entry.value} has to give an instance of nxkernel.compilers.interface.Compiler."
        raise CompilationError(message(f"{whose} is {compiler!r}.", hint))
    return compiler


def _unknown(name: object) -> NxValueError:
    # Imported here, as only a misspelt name needs it.
    from difflib import get_close_matches

    lines, text = [], str(name)
    meant = [(known, match) for known, own in OWN.items() if (match := own.meant.fullmatch(text))]
    near = [known + (match[1] or "" if match.re.groups else "") for known, match in meant]
    near = near or get_close_matches(text.lower(), ["auto", *names()], n=1)
    if near:
        lines.append(f"Did you mean {near[0]!r}?")
    there = ", ".join(map(repr, ["auto", *names()]))
    lines.append(f"The compilers are {there}, and 'numba_cuda:1' for a second GPU.")
    return NxValueError(message(f"there is no compiler {name!r}.", *lines))
