"""Loading object code as callable functions, and keeping it alive while it is used."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from llvmlite import binding as llvm

from nxkernel import library_functions
from nxkernel.compilers.numba_cpu.target import target_processor
from nxkernel.errors import CompilationError, message

#: Whether object files are linked by code of our own, into memory that programs share.
OWN = sys.platform.startswith("linux") and platform.machine() == "x86_64"
if OWN:
    from nxkernel.compilers.numba_cpu.runtime import elf_linker, executable_memory

#: Addresses by name that any code may ask for, and the code that is never taken away again.
_defined: dict[str, int] = {}
_lasting: set[LoadedCode] = set()
#: Symbols of functions of libraries in an object file.
_PUBLISHED = re.compile(rf"(?:{library_functions.PREFIX}|{library_functions.LINEAR_ALGEBRA})\w+".encode())


class MissingFunctionsError(CompilationError):
    """Machine code calls functions that do not exist, for which LLVM's loader would end the process.

    Parameters
    ----------
    code : str
        What calls them, in words.
    names : sequence of str
    """

    def __init__(self, code: str, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(
            message(
                f"{code} needs what this system does not have: {', '.join(names)}.",
                f"Its machine code is for {target_processor.name()}; NXKERNEL_CPU may name another processor.",
                'Or run the definition with compiler="evaluator", which makes no machine code.',
            )
        )


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class LoadedCode:
    """Loaded machine code, which is freed with its last reference.

    Parameters
    ----------
    address : int
        Of the function that it was loaded for.
    functions : dict
        The addresses of all functions that it has for others.
    size : int
        Bytes of the object file.
    memory : object
        Where it is.
    uses : tuple of LoadedCode
        What it calls.
    loaded : float
        When that was, in seconds since the epoch.
    """

    address: int
    functions: Mapping[str, int]
    size: int
    memory: object
    uses: tuple[LoadedCode, ...]
    loaded: float = field(default_factory=time.time)

    def last(self) -> None:
        """Keep the code forever, and export its functions to code that is loaded later."""
        _lasting.add(self)
        _defined.update(self.functions)


class _MappedBlock:
    """A code block with its data, freed with its last reference."""

    __slots__ = ("_block", "_data")

    def __init__(self, block: executable_memory.CodeBlock, data: object) -> None:
        self._block, self._data = block, data

    def __del__(self, is_over: Callable[[], bool] = sys.is_finalizing) -> None:
        # Threads of our own still run when the interpreter has gone.
        if not is_over():
            self._block.release()


def lasts(code: LoadedCode) -> bool:
    """Whether code is kept for the life of the process."""
    return code in _lasting


def define_symbol(name: str, address: int) -> None:
    """Define the symbol `name`, at an address, for code that is loaded from now on."""
    _defined[name] = address


def load(
    code: bytes, symbol: str, uses: Mapping[str, LoadedCode] | None = None, also: Sequence[str] = ()
) -> LoadedCode:
    """Load an object file.

    Parameters
    ----------
    code : bytes
    symbol : str
        The function that it is loaded for.
    uses : mapping of str to LoadedCode, optional
        Other code that it calls, by name; it stays as long as this one does.
    also : sequence of str, optional
        Other functions of it that are asked for.

    Returns
    -------
    LoadedCode

    Raises
    ------
    MissingFunctionsError
    MemoryError
    ValueError
        Where it does not define the function, or is no object file.
    """
    uses = uses or {}
    _define_published(code)
    if OWN:
        memory, functions = _link(code, symbol, uses)
    else:
        memory, functions = _link_by_llvm(code, [symbol, *also], uses)
    if symbol not in functions:
        raise ValueError(f"the object file does not define {symbol}")
    return LoadedCode(functions[symbol], functions, len(code), memory, tuple(uses.values()))


def _define_published(code: bytes) -> None:
    """Define the functions of libraries whose symbols an object file has."""
    for name in {found.decode() for found in _PUBLISHED.findall(code)} - set(_defined):
        address = library_functions.address(name)
        if address is not None:
            define_symbol(name, address)


def _link(code: bytes, symbol: str, uses: Mapping[str, LoadedCode]) -> tuple[object, dict[str, int]]:
    def find(name: str) -> int | None:
        return uses[name].address if name in uses else _address(name)

    try:
        block, data, functions = elf_linker.ObjectFile(code).link(find)
    except elf_linker.MissingSymbolsError as error:
        raise MissingFunctionsError(symbol, error.args) from None
    return _MappedBlock(block, data), functions


def _link_by_llvm(code: bytes, names: list[str], uses: Mapping[str, LoadedCode]) -> tuple[object, dict[str, int]]:
    from nxkernel.compilers.numba_cpu.runtime import orc_linker

    symbols = {name: used.address for name, used in uses.items()} | _defined
    try:
        return orc_linker.link(code, names, symbols)
    except RuntimeError as error:
        raise MissingFunctionsError(names[0], [str(error)]) from error


def _address(name: str) -> int | None:
    """The address of a function of this process, by name."""
    address = _defined.get(name) or llvm.address_of_symbol(name)
    if address:
        return address
    for library in _libraries():
        try:
            return ctypes.cast(library[name], ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


@functools.cache
def _libraries() -> list[ctypes.CDLL]:
    """The libraries to find symbols in: those loaded, and the compiler's runtime, for example for 128-bit division."""
    libraries = [ctypes.CDLL(None)]
    with contextlib.suppress(OSError):
        libraries.append(ctypes.CDLL("libgcc_s.so.1"))
    return libraries


def give_back() -> None:
    """Free the memory of code without references now, instead of with the next code."""
    if OWN:
        executable_memory.give_back()


def check_memory() -> None:
    """Check that there is memory for LLVM, which ends the process when it runs out.

    Raises
    ------
    MemoryError
    """
    if OWN:
        executable_memory.check_mappings()
