"""Kernel performance as text: time, share, achieved rates, bottleneck."""

from __future__ import annotations

from nxkernel.definitions.observe.compilation_report import KernelView, Measurement
from nxkernel.messages.quantities import amount, duration

#: From this part of what the machine reaches on, that is what a kernel waits for.
_HELD_BACK = 0.5
#: Shorter runs are mostly their own beginning and end.
_SHORT = 5e-6


def share(kernel: KernelView, measured: Measurement | None) -> float:
    """The fraction of the measured time that a kernel takes; 0 if not measured."""
    if measured is None or kernel.index not in measured.kernels:
        return 0.0
    total = sum(each.seconds for each in measured.kernels.values())
    return measured.kernels[kernel.index].seconds / max(total, measured.seconds)


def pace(kernel: KernelView, measured: Measurement | None) -> str:
    """A kernel's time and achieved rates in a line; empty if not measured.

    Parameters
    ----------
    kernel : KernelView
    measured : Measurement, optional

    Returns
    -------
    str
        Such as ``"97 % of the time on made-up inputs, 100 runs of 100 µs, 41 GB/s, 10 Gflop/s, memory bound"``; in a
        simulator no more than the times.
    """
    if measured is None or kernel.index not in measured.kernels:
        return ""
    timing = measured.kernels[kernel.index]
    seconds = max(timing.seconds / timing.runs, 1e-9)
    runs = f"{timing.runs} runs of " if timing.runs > 1 else ""
    parts = [
        f"{100 * share(kernel, measured):.0f} % of the time on {measured.inputs}",
        f"{runs}{duration(1e3 * seconds)}",
    ]
    if not measured.bandwidth:
        return ", ".join(parts)
    moved, done = kernel.moved / seconds, kernel.operations / seconds
    parts += [f"{amount(moved)}B/s"] * bool(moved) + [f"{amount(done)}flop/s"] * bool(done)
    return ", ".join([*parts, bound(seconds, moved, done, measured)])


def bound(seconds: float, moved: float, done: float, measured: Measurement) -> str:
    """The bottleneck of a kernel, memory or arithmetic, relative to this machine's peaks.

    Parameters
    ----------
    seconds : float
        One run.
    moved, done : float
        Bytes and operations a second.
    measured : Measurement

    Returns
    -------
    str
    """
    if seconds < _SHORT:
        return "too short to tell what holds it back"
    if done >= _HELD_BACK * measured.arithmetic:
        return "compute bound"
    if moved > 1.3 * measured.bandwidth:
        return "out of the cache"
    if moved >= _HELD_BACK * measured.bandwidth:
        return "memory bound"
    return "below what memory and arithmetic allow"


def whole(measured: Measurement) -> str:
    """The time of one run of a program and how it was measured, in a line without a full stop."""
    return f"One run takes {duration(1e3 * measured.seconds)}: {measured.how}"


def machine(measured: Measurement) -> str:
    """The measured peaks of this machine, in a line; empty for a simulated one."""
    if not measured.bandwidth:
        return ""
    reached = f"{amount(measured.bandwidth)}B/s from memory, {amount(measured.arithmetic)}flop/s in products of f32"
    return f"this machine reaches {reached}; functions such as exp count as one operation"
