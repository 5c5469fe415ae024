"""Impure functions of Python and installed packages: those that read more than their arguments (time, random, files).

They read files, the environment, clocks or the current directory: their results may differ at the next call, and there
is nothing to compare. Functions of Python count as impure unless a list has them; those of other packages count as pure
unless they are listed here.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from typing import Any

#: Modules of Python whose functions and classes are pure.
_PURE = frozenset(
    {
        "abc", "argparse", "array", "ast", "base64", "binascii", "bisect", "builtins", "cmath", "collections",
        "colorsys",
        "contextlib", "contextvars", "copy", "copyreg", "ctypes", "dataclasses", "datetime", "difflib",
        "enum", "fractions", "functools", "graphlib", "hashlib", "heapq", "hmac", "ipaddress", "itertools", "json",
        "keyword", "math", "numbers", "operator", "pprint", "random", "re", "reprlib", "sre", "statistics", "string",
        "struct", "textwrap", "types", "typing", "unicodedata", "warnings", "weakref", "weakrefset", "zlib",
    }
)  # fmt: skip
#: The impure builtins, and those that run code given as text.
_BUILTINS = frozenset(map(vars(builtins).get, ("open", "input", "eval", "exec", "globals", "__import__")))
#: Functions of `logging`, and methods of its loggers, that log: what they do waits until a program has run.
LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log"})
#: Functions of `decimal` that read or set its context; what the others read of that is compared.
_CONTEXTS = frozenset({"getcontext", "localcontext", "setcontext"})
#: Class methods that read the clock or the file system.
_CLASS_METHODS = frozenset({"now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp"})
#: Names in NumPy that read files or the system's randomness, or read NumPy's settings.
_NUMPY = frozenset(
    {
        "DataSource", "SeedSequence", "array2string", "array_repr", "array_str", "fromfile", "fromregex", "genfromtxt",
        "get_printoptions", "getbufsize", "geterr", "geterrcall", "load", "loadtxt", "memmap", "open_memmap",
    }
)  # fmt: skip
#: Packages, and modules of packages, all of whose functions read files.
_READERS = ("nxkernel.formats", "scipy.io")


def is_impure(value: Any) -> bool:
    """Whether a function or class of an installed package may give other results for the same arguments.

    Parameters
    ----------
    value : callable or module
        Of Python or of an installed package.

    Examples
    --------
    >>> import os, math
    >>> is_impure(os.getcwd), is_impure(math.sqrt), is_impure(np.sqrt), is_impure(np.load)
    (True, False, False, True)
    """
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type):
        return value.__name__ in _CLASS_METHODS or is_impure(owner)
    if isinstance(value, types.ModuleType):
        return not _is_pure(value.__name__)
    module = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(value, "__module__", None)
    if isinstance(value, types.FunctionType):
        if str(module).startswith(_READERS):
            return True
        # A decorator may have given it the name of another one.
        module = value.__globals__.get("__name__")
    if not isinstance(module, str):
        return False
    name = getattr(value, "__name__", "")
    if module.partition(".")[0] == "numpy":
        return name in _NUMPY
    if module == "builtins" or value is builtins.open:
        return value in _BUILTINS
    if module == "decimal":
        return name in _CONTEXTS
    return not (_is_pure(module) or (module == "logging" and name in LOGGING))


@functools.cache
def read_from_loggers() -> frozenset[str]:
    """The attributes of loggers, other than those that log, by which a function can read how logging is set up."""
    import logging

    return frozenset(name for name in dir(logging.Logger("")) if not name.startswith("__")) - LOGGING


def gives_logger(value: Any) -> bool:
    """Whether a value is a logger, or a function that gives one.

    Examples
    --------
    >>> import logging
    >>> gives_logger(logging.getLogger), gives_logger(logging.getLogger("fit")), gives_logger(logging.basicConfig)
    (True, True, False)
    """
    return is_logger(value) or ("logging" in sys.modules and value is sys.modules["logging"].getLogger)


def is_logger(value: Any) -> bool:
    """Whether a value is a logger of Python's `logging`, or an adapter of one."""
    logging = sys.modules.get("logging")
    return isinstance(value, (getattr(logging, "Logger", ()), getattr(logging, "LoggerAdapter", ())))


def is_decimal(value: Any) -> bool:
    """Whether a value is a function or class of `decimal`, whose results depend on the thread's decimal context."""
    return getattr(value, "__module__", None) == "decimal" and "decimal" in sys.modules


@functools.cache
def _is_pure(module: str) -> bool:
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return root.lstrip("_") in _PURE
    return not module.startswith(_READERS)
