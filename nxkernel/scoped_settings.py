"""Thread-local settings, such as the type promotion rules, set for a block and restored at its end.

An interrupt may strike at the beginning of ``__exit__``, before it restores anything. So functions that users call save
all settings, and restore them when an exception leaves them (:func:`settled`).
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
    """Register the settings of each thread, so that :func:`settled` restores them.

    Parameters
    ----------
    own : threading.local
        Its attributes are the settings. Their values are replaced and never changed in place.

    Returns
    -------
    threading.local
        The same.
    """
    _all.append(own)
    return own


class ScopedSetting:
    """A context in which a setting, an attribute of an object, has another value.

    It is no generator: an interrupted one would restore the value only when it is garbage collected.

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
    >>> with ScopedSetting(own, "rules", "second"):
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
    """A decorator: if the function raises, all registered settings are restored to what they were before the call.

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
