"""``checked``: programs that raise errors for what other ones clamp, wrap or go on with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from nxkernel.definitions.keys import default_options
from nxkernel.errors import NxTypeError, message
from nxkernel.shapes import describe

Given = ParamSpec("Given")
Made = TypeVar("Made")


class CheckedPrograms:
    """The result of :func:`checked`: a context manager, and a decorator of functions that call definitions.

    Parameters
    ----------
    on : bool
    """

    def __init__(self, on: bool) -> None:
        self._on = on
        self._before: list[default_options.PreviousOptions] = []

    def __repr__(self) -> str:
        return f"checked({self._on})"

    def __enter__(self) -> CheckedPrograms:
        self._before.append(default_options.default_options(checked=self._on))
        return self

    def __exit__(self, *_: object) -> None:
        self._before.pop().__exit__()

    def __call__(self, function: Callable[Given, Made]) -> Callable[Given, Made]:
        """A function all of whose calls are in such a block."""
        if not callable(function):
            raise NxTypeError(
                message(f"checked() takes a function, got {describe(function)}.", "Write it above one: @nx.checked().")
            )

        @functools.wraps(function, updated=())
        def call(*args: Given.args, **options: Given.kwargs) -> Made:
            with CheckedPrograms(self._on):
                return function(*args, **options)

        return call


def checked(on: bool = True) -> CheckedPrograms:
    """Have definitions raise errors for what goes wrong while their programs run, with the line and the turn.

    Errors are raised for an index, or a part, out of the bounds of an axis, which is clamped else; for a whole number
    that is divided by zero, which gives 0 else; for NaN in a result; and, by NumPy's rules, for sizes in a loop that
    do not fit. It holds for this context (a thread, a task) until the end of the block as ``with nx.checked():``, or of
    the call of a function with ``@nx.checked()``; ``nx.default_options(checked=True)`` and ``%nx options checked=True``
    switch it on for longer.

    Parameters
    ----------
    on : bool, optional
        False has programs go on as always, in a block within such a block.

    Returns
    -------
    context manager and decorator

    Raises
    ------
    NxIndexError
        An IndexError. From the call whose program has run, with the first error of the run; a note says in which turns
        of the two loops around it, and for which entry under :func:`nxkernel.vmap`.
    DivisionByZeroError
        A ZeroDivisionError.
    NanError
        As of :func:`nxkernel.debug_nans`.

    Notes
    -----
    Programs are others, and are compiled again; those of before are not touched. What both sides of a `select` compute
    counts, also where the other side is taken. Calls of nxkernel's functions outside of definitions are not checked,
    nor are the functions of :func:`nxkernel.reduce` and gradients.

    Examples
    --------
    >>> @nx.defn
    ... def picked(x, places):
    ...     total = 0.0
    ...     for place in places:
    ...         total += x[place]
    ...     return total
    >>> x, places = nx.tensor([1.0, 2.0]), nx.tensor([0, 1, 7])
    >>> float(picked(x, places))
    5.0
    >>> with nx.checked():
    ...     picked(x, places)
    Traceback (most recent call last):
    nxkernel.errors.NxIndexError: index 7 is out of bounds for axis 0 with size 2
    In turn 3 of the loop.
    """
    if not isinstance(on, bool):
        raise NxTypeError(message(f"checked takes True or False, got {describe(on)}.", "Write `with nx.checked():`."))
    return CheckedPrograms(on)
