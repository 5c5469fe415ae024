"""Dict metadata: key order, class and default factory, kept when dicts are flattened and rebuilt."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Form(NamedTuple):
    """The metadata of a dict: key order, class, default factory.

    Parameters
    ----------
    keys : tuple
        In the order of the dict.
    kinds : tuple of type
        Of the keys: 1, 1.0 and True are equal.
    class_ : type
    default : callable, optional
        What a defaultdict asks for values that are missing.
    open : bool
        Whether its items are its attributes, too, as after ``self.__dict__ = self``.
    """

    keys: tuple
    kinds: tuple[type, ...]
    class_: type = dict
    default: Callable[[], Any] | None = None
    open: bool = False

    def filled(self, values: Sequence[Any]) -> dict:
        """A dict of this form with the given values."""
        if self.class_ is dict:
            return dict(zip(self.keys, values, strict=True))
        # Not by its constructor or its own assignment, which may take something else.
        result = self.class_.__new__(self.class_)
        if issubclass(self.class_, defaultdict):
            result.default_factory = self.default
        if self.open:
            result.__dict__ = result
        assign = OrderedDict.__setitem__ if isinstance(result, OrderedDict) else dict.__setitem__
        for key, value in zip(self.keys, values, strict=True):
            assign(result, key, value)
        return result


def items_of(value: dict) -> list[tuple[Any, Any]]:
    """The items of a dict in its own order, whatever its class makes of them.

    An ordered dict has an order beside that of the dict which it is.

    Examples
    --------
    >>> ordered = OrderedDict(a=1, b=2)
    >>> ordered.move_to_end("a")
    >>> items_of(ordered)
    [('b', 2), ('a', 1)]
    """
    return list((OrderedDict if isinstance(value, OrderedDict) else dict).items(value))


def values_of(value: dict) -> list[Any]:
    """The values of a dict in its own order."""
    return [each for _, each in items_of(value)]


def form_of(value: dict, attributes: bool = False) -> Form | None:
    """The form of a dict; None for dicts with other state, which could not be rebuilt.

    Parameters
    ----------
    value : dict
    attributes : bool, optional
        Whether somebody else keeps its attributes.
    """
    class_ = type(value)
    keys = tuple([key for key, _ in items_of(value)])
    kinds = tuple(map(type, keys))
    if class_ is dict:
        return Form(keys, kinds)
    default = value.default_factory if isinstance(value, defaultdict) else None
    state = getattr(value, "__dict__", None)
    if state and state is not value and not attributes:
        return None
    return Form(keys, kinds, class_, default, open=state is value)
