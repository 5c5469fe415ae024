"""``a in b``, set and dict operations: keys and members must be known while tracing, as traced values have no hash."""

from __future__ import annotations

import functools
import types as python
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.definitions.flow.control.branches import predicate
from nxkernel.definitions.flow.control.logic import and_, or_
from nxkernel.definitions.flow.control.loop_iterables import Range, counted
from nxkernel.definitions.flow.values.variable_leaves import is_traced, is_value, known
from nxkernel.graph import values_of_call
from nxkernel.graph.expr import TracedValue
from nxkernel.numpy.arrays import subscripts
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.ops.reductions import reduction
from nxkernel.ops.tensors.creation import tensor as new_tensor

#: More numbers than that are compared as one array.
_FEW = 8
_HASHED = dict | set | frozenset
#: Methods whose first argument is a key or a member; of all others each argument has keys or members in it.
_OF_ONE = frozenset({"__contains__", "add", "discard", "get", "pop", "remove", "setdefault"})
_VIEWS = type({}.keys()) | type({}.values())


def contains(member: Any, container: Any) -> Any:
    """``member in container``."""
    if is_value(container) and (_is_open(member) or is_traced(container)):
        return _in_array(member, container)
    if isinstance(container, range | Range) and _is_open([member, container]):
        return _in_range(member, container)
    if isinstance(container, list | tuple | _HASHED | _VIEWS) and _is_open([member, list(container)]):
        return _in_members(member, list(container))
    return _settled(member) in container


def _is_open(value: Any) -> bool:
    """Whether a value, or something in it, is traced."""
    if isinstance(value, list | tuple):
        return any(map(_is_open, value))
    if isinstance(value, Range):
        return any(map(is_traced, (value.start, value.stop, value.step)))
    return is_traced(value)


def _in_array(member: Any, array: Any) -> Any:
    if not (is_number(member) or is_value(member)):
        return False
    # Whichever is traced comes first, as its operator takes the other one.
    contained = reduction.any(operand(array == member if is_traced(array) else member == array))
    proxies = [value for value in (array, member) if isinstance(value, Proxy)]
    return proxies[0].__nx_like__(contained) if proxies else contained


def _in_range(member: Any, numbers: Any) -> Any:
    """``in`` for a range: between the bounds, and a multiple of the step."""
    start, stop, step = numbers.start, numbers.stop, known(numbers.step)
    if is_traced(step):
        return _in_array(member, counted(numbers))
    if not (is_number(member) or is_value(member)):
        return False
    if step < 0:
        start, stop, step = stop + 1, start + 1, -step
        # What is left of the first step is at the other end now.
        offset = numbers.start - member
    else:
        offset = member - start
    inside = and_(lambda: start <= member, lambda: member < stop)
    is_integer = step == 1 and (operand(member).type.is_integer or isinstance(member, bool))
    return inside if is_integer else and_(lambda: inside, lambda: offset % step == 0)


def _in_members(member: Any, members: list[Any]) -> Any:
    if len(members) > _FEW and all(map(is_number, members)) and is_value(member):
        table = np.array(members) if types.follows_numpy() else new_tensor(members)
        return _in_array(member, table)
    contained: Any = False
    for each in members:
        same = _same(member, each)
        if not is_traced(same) and known(same):
            return True
        if is_traced(same):
            predicate(same, "what `in` compares with a member", None)
            contained = (
                same if contained is False else or_(lambda contained=contained: contained, lambda same=same: same)
            )
    return contained


def _same(one: Any, other: Any) -> Any:
    """Whether two values are equal or one object, as ``in`` compares them; sequences member by member."""
    if one is other:
        return True
    for kind in (tuple, list):
        if isinstance(one, kind) and isinstance(other, kind):
            if len(one) != len(other):
                return False
            return functools.reduce(
                lambda before, pair: and_(lambda: before, lambda: _same(*pair)), zip(one, other, strict=True), True
            )
    if not all(is_number(value) or is_value(value) for value in (one, other)):
        return False if is_traced(one) or is_traced(other) else one == other
    return one == other if is_traced(one) else other == one


def hashed(key: Any, what: str = "a dict is asked for a key") -> Any:
    """A key of a dict, or member of a set; an error if it is traced.

    Parameters
    ----------
    key : object
    what : str
        The operation that needs it, for the error.

    Raises
    ------
    TracedValueError
    """
    if isinstance(key, tuple) and any(isinstance(part, TracedValue | Proxy | tuple) for part in key):
        parts = [hashed(part, what) for part in key]
        return type(key)(*parts) if hasattr(key, "_fields") else tuple(parts)
    if not isinstance(key, TracedValue | Proxy):
        return key
    if is_traced(key):
        known_now = values_of_call.number(key)
        if known_now is not None:
            return bool(known_now) if operand(key).type is types.bool_ else known_now
        node = operand(key)
        hints = _instead(what, node.type.is_integer)
        raise subscripts.needed(key, f"{what} that only the running program knows: {node.spec}.", *hints)
    return known(key)


def _settled(value: Any) -> Any:
    """A constant of the graph as a number."""
    return known(value) if isinstance(value, TracedValue | Proxy) and not is_traced(value) else value


def _instead(what: str, is_integer: bool) -> list[str]:
    """What to write instead, in the dialect that holds, for integers or other numbers."""
    own, counts = ("np", "np.zeros(n, int)") if types.follows_numpy() else ("nx", "nx.broadcast(0, (n,))")
    if what.startswith("a set"):
        if not is_integer:
            return [f"Put them in order, {own}.sort(x), and compare neighbours."]
        return [f"Keep what was seen in an array: seen = {counts}, then `if seen[v] == 0` and `seen[v] = 1`."]
    hint = "Put the values into one array, and take them by number; or choose with `if`."
    return [hint, f"Counts are an array too: count = {counts}, then `count[v] += 1`."] if is_integer else [hint]


def member(value: Any) -> Any:
    """A member of a set display, checked."""
    return hashed(value, _A_SET)


def key(value: Any) -> Any:
    """A key of a dict display, checked."""
    return hashed(value, _A_DICT)


_A_SET, _A_DICT = "a set is given a member", "a dict is given a key"


def twin(function: Any) -> Callable[..., Any] | None:
    """The replacement for a set or dict class or method; None for anything else."""
    if isinstance(function, type):
        return functools.partial(_made, function) if issubclass(function, _HASHED) else None
    owner = getattr(function, "__self__", None)
    if not isinstance(function, python.BuiltinMethodType):
        return None
    if isinstance(owner, _HASHED) or (isinstance(owner, type) and issubclass(owner, _HASHED)):
        return functools.partial(_asked, function)
    return None


def _made(cls: type, *args: Any, **options: Any) -> Any:
    of_pairs = issubclass(cls, dict) and not issubclass(cls, Counter)
    return cls(*(_members(each, cls, of_pairs) for each in args), **options)


def _asked(method: Any, *args: Any, **options: Any) -> Any:
    owner = method.__self__
    cls = owner if isinstance(owner, type) else type(owner)
    if method.__name__ in _OF_ONE:
        what = "a set is asked for a member" if not issubclass(cls, dict) else "a dict is asked for a key"
        args = (hashed(args[0], _A_SET if method.__name__ == "add" else what), *args[1:]) if args else args
    elif method.__name__ == "fromkeys":
        args = (_members(args[0], cls, False), *args[1:]) if args else args
    else:
        args = tuple([_members(each, cls, issubclass(cls, dict)) for each in args])
    return method(*args, **options)


def _members(source: Any, cls: type, of_pairs: bool) -> Any:
    """The items that a set or dict is made of, checked."""
    what = _A_DICT if issubclass(cls, dict) else _A_SET
    if isinstance(source, TracedValue | Proxy):
        if is_traced(source) and not of_pairs:
            hashed(source, what)
        return source
    if isinstance(source, _HASHED | str) or not isinstance(source, Iterable):
        return source
    members = list(source)
    if of_pairs:
        return [(hashed(pair[0], what), *pair[1:]) if isinstance(pair, tuple | list) else pair for pair in members]
    return [hashed(each, what) for each in members]
