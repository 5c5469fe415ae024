"""The differences of two cache keys as text: for each the innermost path, the old and the new value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.fast_keys import root_of
from nxkernel.definitions.keys.static_values import SETS, Described, constant, describe, is_code
from nxkernel.messages.grammar import counted

#: The parts of a key by name: what is compared, and its text.
Parts = dict[str, tuple[Any, str]]

#: The texts for changed code, and for a value that is missing on one side.
CODE_CHANGED, MADE_ANEW, ABSENT = "its code has changed", "something that it captures was made anew", "absent"
#: The name of the part of a key for the order of keywords.
KEYWORDS = "the order of the keywords"
#: The most lines of a reason, and the most names in a line, for a change that they have in common.
MOST, _NAMED = 6, 2
#: Up to so many keys, a dict with another order is shown in full.
_SHOWN = 8
#: How much of a long text is shown around the first difference.
_AROUND = 20

_ROLES = ("argument", "option", "captured")
#: The kinds of containers of arguments.
_BUILT = frozenset(["tuple", "list", "dict", "object", "static", "held", "again"])
_WITHOUT_PARTS = frozenset([containers.LEAF, containers.NOTHING, "static", "held"])
_TYPE = re.compile(r"(vectorized|bool|bf16|[a-z]\d+)\b(?!['\"])")


def is_type(text: str) -> bool:
    """Whether the text of a part of a key is a type and shape, and not a value.

    Examples
    --------
    >>> is_type("f32[3]"), is_type("s64 (a Python int)"), is_type("0.5"), is_type("'f32'")
    (True, True, False, False)
    """
    return _TYPE.match(text) is not None


class Change(str):
    """One difference between two cache keys: a line of text, with its path, old and new value.

    Attributes
    ----------
    role : str
        ``"argument"``, ``"option"`` or ``"captured"``; empty for anything else, such as the compiler.
    names : tuple of str
        The paths that changed in this way.
    kind : str
        ``"type"`` of arrays; ``"length"`` or ``"structure"`` of containers of arrays; ``"number"`` or ``"value"``;
        ``"code"``; ``"anew"`` for another object that looks the same; ``"evicted"``; ``"first"`` for a first call.
    there, here : str
        The old and the new value.
    integers : bool
        Whether both values are integers, which are often sizes, axes and counts.
    """

    role: str
    names: tuple[str, ...]
    kind: str
    there: str
    here: str
    integers: bool

    @classmethod
    def of(
        cls, role: str, names: Sequence[str], kind: str, there: str = "", here: str = "", integers: bool = False
    ) -> Change:
        """A change whose text is made from its path and values."""
        shown = ", ".join(names[:_NAMED])
        if len(names) > _NAMED:
            shown += f" and {len(names) - _NAMED} more"
        elif len(names) == _NAMED:
            shown = " and ".join(names)
        what = f"{role}s {shown}" if role in _ROLES[:2] and len(names) > 1 else f"{role} {shown}".strip()
        difference = CODE_CHANGED if kind == "code" else f"{there} → {here}"
        return cls.saying(f"{what}: {difference}" if what else difference, kind, role, names, there, here, integers)

    @classmethod
    def saying(
        cls,
        text: str,
        kind: str,
        role: str = "",
        names: Sequence[str] = (),
        there: str = "",
        here: str = "",
        integers: bool = False,
    ) -> Change:
        """A change with a text of its own."""
        change = cls(text)
        change.role, change.names, change.kind = role, tuple(names), kind
        change.there, change.here, change.integers = there, here, integers
        return change

    @property
    def name(self) -> str:
        """The first of its paths."""
        return self.names[0] if self.names else ""


def differing(there: Parts, here: Parts) -> list[str]:
    """The labels of the parts in which two keys differ, in the order of the call.

    Functions, classes and modules that only one key has are left out if there are other differences: they come or go
    with the code that names them. So is a capture with the name of an option that differs, as a partial has both.
    """
    labels, named = [], []
    for label in dict.fromkeys([*here, *there]):
        one, other = there.get(label), here.get(label)
        if one is not None and other is not None and one[0] == other[0]:
            continue
        one_sided = one is None or other is None
        follows = label.startswith("captured ") and is_code((one or other)[0])
        (named if one_sided and (follows or label == KEYWORDS) else labels).append(label)
    twice = {f"captured {label.partition(' ')[2]}" for label in labels if label.startswith("option ")}
    return [label for label in labels if label not in twice] or named


def changes(there: Parts, here: Parts) -> list[Change]:
    """The differences between two cache keys; names with the same change share a line."""
    labels = differing(there, here)
    single: list[Change] = []
    for label in labels:
        single += _between(label, there.get(label), here.get(label))
    single = _explained(single)
    groups: dict[tuple, list[Change]] = {}
    for change in single:
        own = change if change.kind in ("code", "value", "number") else None
        groups.setdefault((change.role, change.kind, change.there, change.here, own), []).append(change)
    return [
        group[0]
        if len(group) == 1
        else Change.of(*key[:1], [name for change in group for name in change.names], *key[1:4])
        for key, group in groups.items()
    ]


def lines(changed: Sequence[Change]) -> tuple[Change, ...]:
    """At most as many changes as a person reads, and then how many more there are."""
    rest = len(changed) - MOST
    if rest <= 1:
        return tuple(changed)
    return (*changed[:MOST], Change.saying(f"and {counted(rest, 'more difference')}", "more"))


def _between(label: str, one: tuple[Any, str] | None, other: tuple[Any, str] | None) -> Iterator[Change]:
    """The changes in one part of a key."""
    role, _, name = label.partition(" ")
    if role not in _ROLES:
        role, name = "", label
    if one is None or other is None:
        there, here = (ABSENT if part is None else part[1] for part in (one, other))
        yield Change.of(role, [name], "type" if is_type((one or other)[1]) else "value", there, here)
        return
    (before, there), (state, here) = one, other
    if role == "argument" and _is_structure(before) and _is_structure(state):
        yield from _built(name, before, state)
    elif role == "argument" and (_is_structure(before) or _is_structure(state)):
        yield Change.of(role, [name], "structure", there, here)
    elif is_code(before) and is_code(state) and there == here:
        if _is_function(state):
            yield Change.of(role, [name], "code")
        else:
            yield Change.saying(f"{role} {name}: {here} was made anew", "anew", role, [name], there, here)
    elif type(there) is Described is type(here) and (pairs := list(_inside(there, here))):
        for suffix, old, new in pairs:
            yield _valued(role, name + suffix, old, new)
    elif type(there) is Described is type(here) and _is_put_in_order(there.inside, here.inside):
        yield Change.saying(f"{role} {name}: its order has changed", "value", role, [name], there, here)
    elif is_type(there) and is_type(here):
        yield Change.of(role, [name], "type", there, f"{here} of other values" if there == here else here)
    elif there == here:
        yield _alike(role, name, before, state, there)
    else:
        number, integers = _numeric(before) and _numeric(state), _integral(before) and _integral(state)
        yield Change.of(role, [name], "number" if number else "value", there, here, integers)


def _valued(role: str, name: str, old: Any, new: Any) -> Change:
    """The change of a number or text in a container; `old` and `new` are one-tuples, empty where there is none."""
    if not old or not new:
        return Change.of(role, [name], "value", *[describe(*each) if each else ABSENT for each in (old, new)])
    before, state = constant(*old), constant(*new)
    there, here = describe(*old), describe(*new)
    if there == here:
        return _alike(role, name, before, state, there)
    return Change.of(
        role, [name], "number" if _numeric(before) and _numeric(state) else "value", there, here,
        _integral(before) and _integral(state),
    )  # fmt: skip


def _inside(there: Described, here: Described) -> Iterator[tuple[str, tuple, tuple]]:
    """The items in which two containers differ: path, old and new item, each as a tuple that is empty for none.

    Nothing for containers that are better shown whole: short ones, and lists of different lengths.
    """
    before, now = there.inside, here.inside
    if type(before) is not type(now):
        return
    if isinstance(before, Mapping):
        for key in dict.fromkeys([*now, *before]):
            old, new = (((held[key],) if key in held else ()) for held in (before, now))
            if not old or not new or constant(*old) != constant(*new):
                yield f"[{key!r}]", old, new
    elif isinstance(before, SETS):
        if there.shortened or here.shortened:
            yield from (("", (each,), ()) for each in sorted(before - now, key=repr))
            yield from (("", (), (each,)) for each in sorted(now - before, key=repr))
    elif there.shortened or here.shortened:
        if len(before) != len(now):
            return
        for index, (old, new) in enumerate(zip(before, now, strict=True)):
            if constant(old) != constant(new):
                yield f"[{index}]", (old,), (new,)


def _alike(role: str, name: str, before: Any, state: Any, text: str) -> Change:
    """The change of something whose old and new text are the same."""
    if all(isinstance(each, tuple) and each[:1] == (str,) for each in (before, state)):
        texts = [each[1] for each in (before, state)]
        first = next((k for k, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
        begin = max(first - _AROUND, 0)
        there, here = (
            f"{'…' if begin else ''}{each[begin : first + _AROUND]!r}{'…' if len(each) > first + _AROUND else ''}"
            for each in texts
        )
        return Change.of(role, [f"{name}, from character {first}"], "value", there, here)
    if isinstance(before, tuple) and isinstance(state, tuple) and len(before) != len(state):
        there, here = (f"{text} of {len(each) - 2}" for each in (before, state))
        return Change.of(role, [name], "value", there, here)
    return _anew(role, name, text)


def _anew(role: str, name: str, text: str) -> Change:
    """The change of an object that looks the same but is another one, such as a class that was defined again."""
    what = re.sub(r"^an? ", "", text)
    return Change.saying(f"{role} {name}: {text} → another {what}", "anew", role, [name], text, f"another {what}")


def _explained(changed: list[Change]) -> list[Change]:
    """Drop changes that follow from others: leaves of a container that changed its length or structure."""
    built = {root_of(change.name) for change in changed if change.kind in ("length", "structure")}

    def follows(change: Change) -> bool:
        one_sided = change.kind in ("type", "value") and ABSENT in (change.there, change.here)
        return change.role == "argument" and one_sided and root_of(change.name) in built

    return [change for change in changed if not follows(change)]


def _is_structure(state: Any) -> bool:
    return isinstance(state, tuple) and len(state) == 3 and type(state[0]) is str and state[0] in _BUILT


def _built(path: str, before: Any, state: Any) -> Iterator[Change]:
    """The changes between two structures of an argument, at the innermost containers that differ."""
    if before == state:
        return
    one, other = (each if isinstance(each, tuple) else (each, None, ()) for each in (before, state))
    if {one[0], other[0]} <= _WITHOUT_PARTS:
        # What is there is a part of the key by itself.
        return
    if one[0] != other[0] or not isinstance(before, tuple) or not isinstance(state, tuple):
        yield Change.of("argument", [path], "structure", *map(containers.describe, (before, state)))
    elif one[0] in ("list", "tuple"):
        if len(one[2]) != len(other[2]):
            kind = one[0]
            yield Change.of("argument", [path], "length", f"a {kind} of {len(one[2])}", f"of {len(other[2])}")
            return
        for index, pair in enumerate(zip(one[2], other[2], strict=True)):
            yield from _built(f"{path}[{index}]", *pair)
    elif one[0] == "dict":
        old, new = (dict(zip(each[1].keys, each[2], strict=True)) for each in (one, other))
        if one[1] != other[1] and old.keys() == new.keys():
            if len(old) > _SHOWN and one[1].class_ is other[1].class_ and one[1].keys != other[1].keys:
                yield Change.saying(f"argument {path}: its order has changed", "structure", "argument", [path])
            else:
                yield Change.of("argument", [path], "structure", *map(containers.describe, (before, state)))
            return
        for key in dict.fromkeys([*new, *old]):
            if key in old and key in new:
                yield from _built(f"{path}[{key!r}]", old[key], new[key])
            else:
                texts = [containers.describe(held[key]) if key in held else ABSENT for held in (old, new)]
                yield Change.of("argument", [f"{path}[{key!r}]"], "structure", *texts)
    elif one[1] == other[1] and one[0] == "object":
        for suffix, *pair in zip(one[1].suffixes, one[2], other[2], strict=True):
            yield from _built(f"{path}{suffix}", *pair)
    else:
        there, here = map(containers.describe, (before, state))
        yield Change.of("argument", [path], "structure", there, here if there != here else f"another {here}")


def _is_put_in_order(before: Any, now: Any) -> bool:
    """Whether two dicts are equal but for the order of their keys."""
    return isinstance(before, Mapping) and before == now and list(before) != list(now)


def _is_function(state: Any) -> bool:
    return isinstance(state, tuple) and state[:1] == ("function",)


def _numeric(state: Any) -> bool:
    """Whether a part of a key stands for a number that is no bool."""
    if not isinstance(state, tuple) or len(state) < 2:
        return False
    kind = state[0]
    return kind in (int, float, complex) or (isinstance(kind, np.dtype) and kind.kind in "iufc")


def _integral(state: Any) -> bool:
    return _numeric(state) and (state[0] is int or (isinstance(state[0], np.dtype) and state[0].kind in "iu"))
