"""Random statements of NumPy programs: assignments to names, to parts and through views, loops, choices, calls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from random_numpy_source import expressions
from random_numpy_source.names import Names


@dataclass
class Statement:
    """A statement as it is written.

    Attributes
    ----------
    text : str
        Its first line.
    body : list of Statement
        What is indented below it.
    name : str
        Which name it assigns to, or into which array; empty where there is none.
    is_rough : bool
        Whether what it assigns is rounded.
    """

    text: str
    body: list[Statement] = field(default_factory=list)
    name: str = ""
    is_rough: bool = False

    def lines(self, indent: str) -> list[str]:
        """Its lines."""
        inner = [line for statement in self.body for line in statement.lines(indent + "    ")]
        return [indent + self.text, *inner]


#: Functions that programs call: they assign into their arguments, return views of them, have loops of their own.
HELPERS = {
    "scaled": """\
def scaled(x, y):
    x[...] = x * 2
    return x[::-1]
""",
    "first": """\
def first(x, y):
    z = x.ravel()
    z[:1] += 1
    return z[:2]
""",
    "folded": """\
def folded(x, y):
    t = x * 0
    for q in range(len(x)):
        t[q] = x[q] + t[q - 1]
    return t
""",
    "chosen": """\
def chosen(x, y):
    if y > 1:
        return x + y
    return x - y
""",
    "counted": """\
def counted(x, y):
    n = 0
    while n < 3 and n < y:
        x += 1
        n += 1
    return n
""",
}
_OPERATORS = ["+=", "+=", "-=", "*=", "+=", "//=", "%=", "|="]


def simple(names: Names) -> Statement | None:
    """A statement of one line; None where there is nothing for it."""
    roll = names.random.random()
    if roll < 0.18 and names.kept is None:
        return _named(names)
    if roll < 0.34:
        return _seen(names)
    if roll < 0.54:
        return _stored(names)
    if roll < 0.72:
        return _augmented(names)
    if roll < 0.80:
        return _single(names)
    return _special(names)


def _named(names: Names) -> Statement:
    text, rough = expressions.expression(names)
    name = names.new()
    if names.random.random() < 0.1 and names.arrays():
        name = names.random.choice(names.arrays())
    return Statement(f"{name} = {text}", name=name, is_rough=rough)


def _seen(names: Names) -> Statement | None:
    source = names.array()
    if source is None:
        return None
    name = names.new()
    return Statement(f"{name} = {expressions.view(names, source)}", name=name, is_rough=source in names.rough)


def _part(names: Names) -> tuple[str, str, tuple[int, ...]] | None:
    """An array, a part of it as it is written, and the shape of that."""
    name = names.array()
    if name is None:
        return None
    key = expressions.key(names, name, fancy=not names.is_smooth and name not in names.rough)
    try:
        shape = np.shape(eval(f"{name}[{key}]", names.space))
    except (IndexError, ValueError, TypeError):
        return None
    return name, f"{name}[{key}]", shape


def _stored(names: Names) -> Statement | None:
    part = _part(names)
    if part is None:
        return None
    name, text, shape = part
    value, rough = _value(names, name, shape)
    target, own = names.values[name], names.values.get(value)
    is_copied = not np.shares_memory(eval(text, names.space), target)
    if is_copied and isinstance(own, np.ndarray) and np.shares_memory(own, target):
        # NumPy assigns at masks and indices element by element, whatever it overwrites on the way.
        value = f"np.copy({value})"
    return Statement(f"{text} = {value}", name=name, is_rough=rough)


def _value(names: Names, name: str, shape: tuple[int, ...]) -> tuple[str, bool]:
    """What is put into a part of an array: numbers that its type holds."""
    text, rough = expressions.expression(names, names.random.choice([0, 1, 1, 2]), shape)
    kind = names.values[name].dtype.kind
    if kind in "iu" and (rough or kind == "u"):
        return expressions.number(names).replace("-", "").replace("0.5", "5").replace("1.5", "6"), False
    return text, rough


def _augmented(names: Names) -> Statement | None:
    random = names.random
    operator = random.choice(["+=", "*=", "-="] if names.is_smooth else _OPERATORS)
    if random.random() < 0.35:
        name = names.array()
        if name is None:
            return None
        text, shape = name, names.values[name].shape
    else:
        part = _part(names)
        if part is None:
            return None
        name, text, shape = part
    if operator in ("//=", "%=", "|=") and name in names.rough:
        operator = "+="
    value, rough = _value(names, name, shape)
    if operator in ("//=", "%=", "|="):
        value, rough = random.choice(["2", "3", "4"]), False
    return Statement(f"{text} {operator} {value}", name=name, is_rough=rough)


def _single(names: Names) -> Statement | None:
    random = names.random
    if names.numbers() and random.random() < 0.5:
        name = random.choice(names.numbers())
        text, rough = expressions.expression(names, 1, ())
        text = f"{name} {random.choice('+-*')} {text}"
        if names.kept is not None and not _keeps(names, name, text):
            return None
        return Statement(f"{name} = {text}", name=name, is_rough=rough)
    source = names.array(least=1)
    if source is None or names.kept is not None:
        return None
    name = names.new()
    value = names.values[source]
    place = ", ".join(expressions.index(names, size) for size in value.shape) if value.ndim else "()"
    return Statement(f"{name} = {source}[{place}]", name=name, is_rough=source in names.rough)


def _keeps(names: Names, name: str, text: str) -> bool:
    """Whether a name keeps its type and shape: what only the running program decides has one type."""
    try:
        found = np.asarray(eval(text, names.space))
    except (TypeError, ValueError, IndexError, ArithmeticError, NameError, AttributeError):
        return False
    before = np.asarray(names.values[name])
    return (found.dtype, found.shape) == (before.dtype, before.shape)


def _special(names: Names) -> Statement | None:
    random = names.random
    name = names.array(least=1)
    if name is None:
        return None
    value, size = names.values[name], names.values[name].shape[0] if names.values[name].ndim else 0
    rough, is_truth = name in names.rough, value.dtype.kind == "b"
    number = expressions.number(names).replace("-", "")
    if value.dtype.kind in "iub":
        number = random.choice(["1", "2", "3"])
    choices = [f"{name}.fill({number})", f"{name}[...] = {name}[::-1]" if size else f"{name}[...] = 1"]
    if size > 1 and not rough and not names.is_smooth:
        mask = expressions.mask(names, name)
        choices += [f"{name}[{mask}] = {number}", f"{name}[{mask}] {'&=' if is_truth else '*='} {2 - is_truth}",
                    f"{name}[{mask}] = {name}[{mask}] {'|' if is_truth else '+'} {name}[{mask}]",
                    f"np.putmask({name}, {mask}, {number})", f"np.place({name}, {mask}, [{number}])",
                    f"np.copyto({name}, {number}, where={mask})"]  # fmt: skip
    if size > 1:
        i, j = (expressions.index(names, size) for _ in range(2))
        choices += [f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]",
                    f"{name}[[{j}, {i}]] = {name}[[{i}, {j}]]",
                    f"{name}[0] = True" if is_truth else f"np.add.at({name}, [0, 1, 0], 1)",
                    f"{name}[1:] = {name}[:-1]", f"{name}[:-1] = {name}[1:]",
                    f"{name}[1:] {'|=' if is_truth else '+='} {name}[:-1]",
                    f"{name}[:] = {name}[::-1].copy()", f"np.put({name}, [0, -1], {number})",
                    f"{name}[::2] = {name}[0]"]  # fmt: skip
        if not names.is_smooth and not rough and value.dtype.kind != "c":
            choices += [f"{name}.sort()", f"{name}.sort(axis=0)"]
    if value.ndim == 2:
        choices += [f"{name}.T[0] = {number}", f"np.fill_diagonal({name}, {number})", f"{name}[:, 0] = {name}[:, -1]",
                    f"{name}.reshape(-1)[::2] = {number}"]  # fmt: skip
    if value.dtype.kind == "f":
        other = names.array(kinds="f", rank=value.ndim)
        if other and names.values[other].shape == value.shape:
            rough = rough or other in names.rough
            choices += [f"np.add({name}, {other}, out={name})", f"np.multiply({other}, 2, out={name})"]
            if not names.is_smooth and name not in names.rough:
                choices.append(f"np.subtract({name}, {other}, out={name}, where={name} > 1)")
    return Statement(random.choice(choices), name=name, is_rough=rough)


def called(names: Names) -> Statement | None:
    """A call of a helper function."""
    random = names.random
    helper = random.choice(list(HELPERS))
    if names.is_smooth and helper in ("chosen", "counted"):
        helper = "scaled"
    source = names.array(least=1, kinds="f" if helper in ("folded", "counted", "scaled") else "fi", rank=None)
    if source is None or not names.values[source].ndim or (helper in ("chosen", "counted") and source in names.rough):
        return None
    names.used.add(helper)
    name = names.new()
    second = random.choice(["1", "2", *names.counters, *[n for n in names.values if n[0] == "i"]])
    return Statement(f"{name} = {helper}({source}, {second})", name=name, is_rough=source in names.rough)


def condition(names: Names) -> str | None:
    """What an ``if`` asks: numbers that are exact."""
    random = names.random
    choices = [f"{name} {random.choice(['>', '<', '=='])} {random.choice('012')}" for name in names.counters]
    choices += [f"{name} % 2 == {random.choice('01')}" for name in names.counters]
    choices += [f"{name} > {random.choice('012')}" for name in names.values if name[0] == "i"]
    if not names.is_smooth:
        exact = names.arrays(kinds="biuf", least=1, exact=True)
        if exact:
            name = random.choice(exact)
            place = ", ".join(expressions.index(names, size) for size in names.values[name].shape) or "()"
            choices += [f"{name}[{place}] > {random.choice('012')}", f"{name}[{place}]",
                        f"{name}.sum() > {random.choice('037')}",
                        f"np.any({name} > 2)", f"{name}.max() < 4 or {name}[{place}] == 1"]  # fmt: skip
        choices += [
            f"{name} > 1"
            for name in names.numbers(exact=True)[:2]
            if not isinstance(names.values[name], complex | np.complexfloating)
        ]
    return random.choice(choices) if choices else None
