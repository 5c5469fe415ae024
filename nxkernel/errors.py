"""nxkernel's exceptions and warnings, and the layout of their messages."""

from __future__ import annotations

import numpy as np


class NxError(Exception):
    """The base of nxkernel's errors; each is also the builtin error that callers expect.

    Attributes
    ----------
    of_python : bool
        Whether plain Python and NumPy raise an error of that kind at the place, too.
    """

    of_python = False


class NxTypeError(NxError, TypeError):
    """A value of a type that the operation does not accept."""


class NxOverflowError(NxTypeError, OverflowError):
    """A Python number that the type of an operation does not hold."""

    of_python = True


class NxValueError(NxError, ValueError):
    """A value that the operation cannot use."""


class NxIndexError(NxError, IndexError):
    """An index out of bounds: a static one, or any while :func:`nxkernel.checked` is on."""

    of_python = True


class NxAxisError(NxIndexError, np.exceptions.AxisError):
    """An axis that an array does not have."""

    def __str__(self) -> str:
        # NumPy's class keeps the text that it was made with, to which lines are added.
        return str(*self.args)


class NxLinAlgError(NxValueError, np.linalg.LinAlgError):
    """A matrix of a shape that an operation does not take."""

    of_python = True


class NxAttributeError(NxError, AttributeError):
    """A missing attribute or name."""


class TracedValueError(NxTypeError):
    """A traced value was asked for its data, which exists only when the compiled program runs.

    Attributes
    ----------
    value : traced value or None
        The one that was asked.
    """

    value: object = None


class CompilationError(NxError, RuntimeError):
    """A definition could not be compiled, or a compilation was not allowed here."""


class VerificationError(NxError, RuntimeError):
    """A compiler pass produced a malformed graph, loop nest or plan: a bug in nxkernel.

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
    """A GPU was asked for and cannot be used; the message says what is missing."""


class DeviceMemoryError(NxError, MemoryError):
    """Out of device memory.

    Attributes
    ----------
    asked, used, total : int
        Bytes: what did not fit, what is taken by arrays that are in use, what may be taken in all.
    """

    asked: int = 0
    used: int = 0
    total: int = 0


class DeviceFaultError(NxError, RuntimeError):
    """A kernel failed on the device, for example by an illegal memory access.

    Attributes
    ----------
    kernel : str
        The kernel's name, or those of which one failed.
    lost : bool
        Whether the process must be started again before it can use the device.
    """

    kernel: str = ""
    lost: bool = False


class DivisionByZeroError(NxError, ZeroDivisionError):
    """A whole number was divided by zero, while :func:`nxkernel.checked` is on."""


class CheckError(NxError, AssertionError):
    """What :func:`nxkernel.check` raises."""


class NanError(NxError, ArithmeticError):
    """A result is NaN, while :func:`nxkernel.debug_nans` or :func:`nxkernel.checked` is on."""


class ClosedStreamError(NxError, ValueError):
    """A stream accepts no more inputs, or has no more outputs."""


class StreamTimeoutError(NxError, TimeoutError):
    """A stream operation timed out."""


class CacheWarning(UserWarning):
    """The disk cache cannot be used; results are the same, but later processes compile again."""


class StreamWaitingWarning(UserWarning):
    """An input of a stream waits for room, which somebody makes who receives outputs."""


class OmittedOutputWarning(UserWarning):
    """A loop printed or handed to hooks more than is kept until its program has ended."""


class ManyArgumentsWarning(UserWarning):
    """A list of many Python numbers was passed, each an argument of its own, which makes compiling slow."""


class PromotionWarning(UserWarning):
    """A function that computes with NumPy and nxkernel has a type that NumPy's rules would make another one."""


class NegativeIndexWarning(UserWarning):
    """An index in a loop may be negative by Nx's rules, where it is clamped."""


class UnrolledWarning(UserWarning):
    """A loop is unrolled while a definition is traced: each iteration becomes part of the program, and takes time."""


def message(what: str, *hints: str) -> str:
    """Join an error's statement and its hints, which go on lines of their own, indented by two.

    Examples
    --------
    >>> print(message("axis 3 is out of range", "The tensor has 2 axes: 0 and 1."))
    axis 3 is out of range
      The tensor has 2 axes: 0 and 1.
    """
    return "\n  ".join([what, *hints])
