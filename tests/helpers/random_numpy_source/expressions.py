"""Random expressions of NumPy: slices, masks, views, functions by the dozen, of the names that there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from random_numpy_source import templates
from random_numpy_source.names import Names


def _filled(names: Names, text: str, value: str, other: Callable[[], str]) -> str:
    """A template with a value for its first place, and other ones of the same, or of something else, for the rest."""
    count = text.count("{}")
    rest = [value if names.random.random() < 0.6 else other() for _ in range(count - 1)]
    return text.format(value, *rest)


def number(names: Names) -> str:
    """A small number as it is written."""
    if names.is_smooth:
        return names.random.choice(["0.5", "2", "1.5", "-0.25"])
    return names.random.choice(["1", "2", "3", "0", "-1", "0.5", "2.0", "-1.5", "True", "4", "7"])


def bound(names: Names, size: int) -> str:
    """A bound of a slice: nothing, a number, also beyond the ends, or one that only the running program knows."""
    random = names.random
    roll = random.random()
    if roll < 0.35:
        return ""
    if roll < 0.75:
        return str(random.randint(-size - 1, size + 1))
    known = [name for name, value in names.values.items() if name[0] == "i" and isinstance(value, int | np.integer)]
    known += list(names.counters)
    if not known:
        return str(random.randint(0, size))
    name = random.choice(known)
    return random.choice([name, name, f"{name} + 1", f"-{name}", f"{name} - 1"])


def slice_of(names: Names, size: int) -> str:
    """A slice of an axis."""
    step = names.random.choice(["", "", "", "", ":2", ":-1", ":-2", ":3", ":1"])
    return f"{bound(names, size)}:{bound(names, size)}{step}"


def index(names: Names, size: int) -> str:
    """One place of an axis."""
    random = names.random
    known = [name for name, (low, high) in names.counters.items() if -size <= low and high < size]
    known += [
        name
        for name, value in names.values.items()
        if name[0] == "i" and isinstance(value, int | np.integer) and value < size
    ]
    if known and random.random() < 0.6:
        return random.choice(known)
    return str(random.randint(-size, size - 1)) if size else "0"


def key(names: Names, name: str, fancy: bool = True) -> str:
    """What stands between the brackets behind a name."""
    random, value = names.random, names.values[name]
    if not value.ndim:
        return random.choice(["...", "()"])
    roll = random.random()
    if fancy and roll < 0.12:
        return mask(names, name)
    if fancy and roll < 0.22 and value.shape[0]:
        return str([random.randint(-value.shape[0], value.shape[0] - 1) for _ in range(random.randint(1, 4))])
    if fancy and roll < 0.26 and value.shape[0]:
        integers = [n for n in names.arrays(rank=1, kinds="iu", least=1, exact=True) if n != name]
        if integers:
            return f"np.abs({random.choice(integers)}) % {value.shape[0]}"
    sizes = value.shape[: random.randint(1, value.ndim)]
    entries = [slice_of(names, size) if random.random() < 0.7 else index(names, size) for size in sizes]
    if fancy and len(entries) > 1 and roll > 0.93 and value.shape[len(entries) - 1]:
        entries[-1] = str([random.randint(0, value.shape[len(entries) - 1] - 1) for _ in range(2)])
    if random.random() < 0.05:
        entries.insert(random.randint(0, len(entries)), "None")
    if random.random() < 0.05:
        entries.insert(0, "...")
    return ", ".join(entries)


def mask(names: Names, name: str) -> str:
    """A condition on an array, in its shape."""
    random, value = names.random, names.values[name]
    alike = [n for n in names.arrays(kinds="b") if names.values[n].shape == value.shape]
    if alike and random.random() < 0.4:
        return random.choice(alike)
    if value.dtype.kind in "bc":
        return f"{name} != 0"
    return f"{name} {random.choice(['>', '<', '!=', '>='])} {random.choice(['0', '1', '2'])}"


def operand(names: Names, like: tuple[int, ...] | None = None) -> str:
    """An array, a part of one, a number or a single element, which fits to a shape as a rule."""
    random = names.random
    roll = random.random()
    if roll < 0.15:
        return number(names)
    if roll < 0.25 and names.numbers():
        return random.choice(names.numbers())
    if roll < 0.3 and names.counters:
        return random.choice(list(names.counters))
    candidates = names.arrays()
    if like is not None:
        fitting = [n for n in candidates if _fits(names.values[n].shape, like)]
        candidates = fitting or candidates
    if not candidates:
        return number(names)
    name = random.choice(candidates + candidates[-3:])
    if random.random() < 0.3 and like is None:
        return f"{name}[{key(names, name)}]"
    return name


def _fits(shape: tuple[int, ...], like: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, like) == like
    except ValueError:
        return False


def expression(names: Names, depth: int = 2, like: tuple[int, ...] | None = None) -> tuple[str, bool]:
    """An expression, and whether it is rounded; `like` a shape that it is to broadcast to."""
    random = names.random
    if not depth or random.random() < 0.15:
        text = operand(names, like)
        return text, names.is_rough(text)
    roll = random.random()
    if roll < 0.4:
        text, rough = expression(names, depth - 1, like)
        return _one(names, text, rough)
    if roll < 0.75 or like is not None:
        left, one = expression(names, depth - 1, like)
        right, other = expression(names, depth - 1, like)
        return _two(names, left, right, one or other)
    text, rough = expression(names, depth - 1)
    if roll < 0.87:
        return _reduced(names, text, rough)
    template = random.choice(templates.SMOOTH_WHOLE if names.is_smooth else templates.WHOLE)
    rounds = any(part in template for part in ("interp", "median", "gradient", "trapezoid", "unwrap"))
    return _filled(names, template, f"({text})", lambda: operand(names)), rough or rounds


def _one(names: Names, text: str, rough: bool) -> tuple[str, bool]:
    random = names.random
    if names.is_smooth:
        return random.choice(templates.SMOOTH).replace("{}", f"({text})"), True
    if rough or random.random() < 0.25:
        return random.choice(templates.ROUGH).replace("{}", f"({text})"), True
    return random.choice(templates.EXACT).replace("{}", f"({text})"), False


def _two(names: Names, left: str, right: str, rough: bool) -> tuple[str, bool]:
    random = names.random
    if names.is_smooth:
        template = random.choice(templates.SMOOTH_BINARY)
    elif rough:
        template = random.choice(
            [*templates.ROUGH_BINARY, "{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.add({}, {})"]
        )
    else:
        template = random.choice(templates.BINARY if random.random() < 0.85 else templates.ROUGH_BINARY)
    sides = (f"({left})", f"({right})", f"({right})")[: template.count("{}")]
    return template.format(*sides), rough or template in templates.ROUGH_BINARY


def _reduced(names: Names, text: str, rough: bool) -> tuple[str, bool]:
    random = names.random
    options = random.choice(["", "", "axis=0", "axis=-1", "axis=0, keepdims=True", "axis=1", "axis=-1, keepdims=True"])
    if names.is_smooth:
        template = random.choice(templates.SMOOTH_REDUCTIONS)
    elif rough:
        template = random.choice([*templates.ROUGH_REDUCTIONS, "np.sum({}{})", "np.max({}{})"])
    else:
        template = random.choice(templates.REDUCTIONS if random.random() < 0.8 else templates.ROUGH_REDUCTIONS)
    if "np." in template and options:
        options = ", " + options
    return template.format(f"({text})", options), rough or template in templates.ROUGH_REDUCTIONS or "prod" in template


def view(names: Names, name: str) -> str:
    """A view of an array, of a view of it, or sometimes a copy of a part."""
    text = name
    for _ in range(names.random.choice([1, 1, 1, 2])):
        if names.random.random() < 0.5:
            text = names.random.choice(templates.VIEWS).replace("{}", text)
        elif text == name:
            text = f"{name}[{key(names, name, fancy=False)}]"
    return text


def result_type(value: Any) -> np.dtype:
    """The type of what a name has."""
    return np.asarray(value).dtype
