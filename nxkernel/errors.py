"""The errors that nxkernel raises beyond Python's own, and how their texts are laid out."""

from __future__ import annotations


class NxError(Exception):
    """The base of nxkernel's errors; each also is the Python error that a caller would expect."""


class NxTypeError(NxError, TypeError):
    """A value of a kind or type that the operation does not take."""


class NxValueError(NxError, ValueError):
    """A value of the right kind that the operation cannot use."""


class NxIndexError(NxError, IndexError):
    """A static index outside its axis."""


class NxAttributeError(NxError, AttributeError):
    """A name that is not there."""


class TracedValueError(NxTypeError):
    """Python asked a traced value for its data, which exists only when the compiled program runs.

    Attributes
    ----------
    value : traced value or None
        The one that was asked.
    """

    value: object = None


class CompilationError(NxError, RuntimeError):
    """A definition could not be compiled, or a compilation was not allowed here."""


class VerificationError(NxError, RuntimeError):
    """A pass of a compiler left a graph, a loop nest or a plan that is not well-formed: a fault of nxkernel's.

    Parameters
    ----------
    after : str
        The pass.
    subject : str
        The node, instruction, step or buffer.
    expected, found : str

    Attributes
    ----------
    after, subject, expected, found : str
        As given.
    """

    def __init__(self, after: str, subject: str, expected: str, found: str) -> None:
        what = f"after the pass {after!r}: {subject}: expected {expected}, found {found}."
        super().__init__(message(what, "This is a fault of nxkernel's: please report it, with the definition."))
        self.after, self.subject, self.expected, self.found = after, subject, expected, found


class CudaUnavailableError(NxError, RuntimeError):
    """A GPU was asked for, and there is none that can be used: its text says what is missing."""


class DeviceMemoryError(NxError, MemoryError):
    """A device has too little memory left for what was asked for.

    Attributes
    ----------
    asked, used, total : int
        Bytes: what did not fit, what is taken by arrays that are in use, what may be taken in all.
    """

    asked: int = 0
    used: int = 0
    total: int = 0


class DeviceFaultError(NxError, RuntimeError):
    """A kernel did on the device what it must not, such as reading outside of memory.

    Attributes
    ----------
    kernel : str
        The kernel's name, or those of which one failed.
    lost : bool
        Whether the process must be started again before it can use the device.
    """

    kernel: str = ""
    lost: bool = False


class NanError(NxError, ArithmeticError):
    """A result that is not a number, while :func:`nxkernel.debug_nans` is on."""


class ClosedStreamError(NxError, ValueError):
    """A stream that takes no more inputs, or has no more outputs."""


class StreamTimeoutError(NxError, TimeoutError):
    """A stream did not get to something in the time that it was given."""


class CacheWarning(UserWarning):
    """The disk cache cannot be used; results are the same, later processes compile again."""


class MaskWarning(UserWarning):
    """What looks like a mask indexes a NumPy array, which takes it for positions."""


class ManyArgumentsWarning(UserWarning):
    """A list holds so many Python numbers, each an argument of its own, that compiling takes long."""


class NegativeIndexWarning(UserWarning):
    """An index can be below 0 in a loop of a definition by Nx's rules, where it is clamped."""


class UnrolledWarning(UserWarning):
    """A loop is unrolled while a definition is traced: each iteration becomes part of the program, and takes time."""


def message(what: str, *hints: str) -> str:
    """Join what is wrong and what to do, hints on lines of their own, indented by two.

    Examples
    --------
    >>> print(message("axis 3 is out of range", "The tensor has 2 axes: 0 and 1."))
    axis 3 is out of range
      The tensor has 2 axes: 0 and 1.
    """
    return "\n  ".join([what, *hints])
