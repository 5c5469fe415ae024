"""Thread-local settings, such as the type promotion rules, set for a block and restored at its end.

An interrupt may strike where ``__exit__`` begins, before it has done anything. So whoever begins something for a person
takes a copy of all that holds, and puts it back when an exception comes out (:func:`settled`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")
Own = TypeVar("Own", bound=threading.local)

_all: list[threading.local] = []


def kept(own: Own) -> Own:
    """Have the attributes of something that each thread has for itself put back by :func:`settled`.

    Parameters
    ----------
    own : threading.local
        Its attributes get other values, which are never changed in place.

    Returns
    -------
    threading.local
        The same.
    """
    _all.append(own)
    return own


class Meanwhile:
    """A context in which an attribute has another value.

    It is no generator: one that was cut off would put the value back when it is collected, which is some time later.

    Parameters
    ----------
    owner : Any
    name : str
    value : Any

    Examples
    --------
    >>> import threading
    >>> own = threading.local()
    >>> own.rules = "first"
    >>> with Meanwhile(own, "rules", "second"):
    ...     print(own.rules)
    second
    >>> own.rules
    'first'
    """

    __slots__ = ("_before", "_name", "_owner", "_value")

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self._owner, self._name, self._value = owner, name, value

    def __enter__(self) -> None:
        self._before = getattr(self._owner, self._name)
        setattr(self._owner, self._name, self._value)

    def __exit__(self, *_: object) -> None:
        setattr(self._owner, self._name, self._before)


def settled(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """A function after whose exceptions everything that holds for a while is what it was before.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
    """

    @functools.wraps(function)
    def run(*args: Given.args, **given: Given.kwargs) -> Made:
        __tracebackhide__ = True
        before = [(own, vars(own).copy()) for own in _all]
        try:
            return function(*args, **given)
        except BaseException:
            for own, values in before:
                now = vars(own)
                for name in now.keys() - values.keys():
                    del now[name]
                now.update(values)
            raise

    return run
