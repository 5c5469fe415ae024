"""Object code to addresses."""

from __future__ import annotations

import functools
import threading
from typing import Any

from llvmlite import binding as llvm

_lock = threading.Lock()


@functools.cache
def target() -> llvm.Target:
    """The kind of machine that this process runs on, as LLVM knows it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


@functools.cache
def _engine() -> Any:
    machine = target().create_target_machine(reloc="static", codemodel="jitdefault", jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


@functools.cache
def processor() -> str:
    """The processor and its features, as far as they decide what machine code may be used."""
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


def define_symbol(name: str, address: int) -> None:
    """Let code that is loaded from now on find `name` at an address."""
    llvm.add_symbol(name, address)


def load(code: bytes, symbol: str) -> int:
    """Load an object file and give the address of one of its functions.

    The code stays for the life of the process: other code may hold its address.
    """
    with _lock:
        engine = _engine()
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(symbol)
    if not address:
        raise ValueError(f"the object file does not define {symbol}")
    define_symbol(symbol, address)
    return address


def after_fork() -> None:
    """In a child process: no lock is held, nothing is being built."""
    global _lock
    _lock = threading.Lock()
