"""Element-wise functions written anew for each compilation, as source text, so that no cache can know them."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

#: Values stay below this, so that no exponential overflows and no rounding difference grows.
_BOUND = 4.0


def source(name: str, operations: int, seed: int, options: str = "") -> str:
    """The text of a function of `x` and `y` with that many element-wise operations, another for each seed.

    Sums, products, tanh, exp and a choice by sign, each step using the one before and an argument or a value of
    few steps ago. ``m`` stands for the module of functions and ``choose`` for its three-way selection; an option, if
    any, scales the result.

    Parameters
    ----------
    name : str
        The function's.
    operations : int
        How many primitives it records.
    seed : int
        Chooses the operations, their order and the constants.
    options : str
        Such as ``"*, scale=1.0"``: what follows the arguments.
    """
    choice = random.Random(f"{seed} {operations}")
    lines, values, bounds = [], ["x", "y"], {"x": 1.0, "y": 1.0}
    last, left = "x", operations - (1 if options else 0)
    while left:
        other = choice.choice(["y", *values[-5:-1]])
        constant = round(choice.uniform(0.7, 1.4), 6)
        steps = {
            f"{last} + {other}": (1, bounds[last] + bounds[other]),
            f"{last} - {other}": (1, bounds[last] + bounds[other]),
            f"{last} * {constant}": (1, bounds[last] * constant),
            f"{other} - {last} * {other}": (2, bounds[other] * (1 + bounds[last])),
            f"m.tanh({last})": (1, 1.0),
            f"m.exp({last})": (1, 2.718281828 ** bounds[last]),
            f"choose({last} > 0, {last}, {last} * {constant})": (3, bounds[last]),
        }
        text = choice.choice([step for step, (cost, bound) in steps.items() if cost <= left and bound <= _BOUND])
        cost, bound = steps[text]
        last = f"v{len(lines)}"
        lines.append(f"    {last} = {text}")
        values.append(last)
        bounds[last] = bound
        left -= cost
    result = f"{last} * scale" if options else last
    return "\n".join([f"def {name}(x, y{', ' + options if options else ''}):", *lines, f"    return {result}", ""])


def chain(steps: int) -> str:
    """The text of `chain(x, y, z)`: multiply-adds, every fifth step an exp, each using the two values before."""
    lines = ["def chain(x, y, z):"]
    for step in range(steps):
        formula = "m.exp(y * 0.25 - x)" if step % 5 == 4 else "y - x * z"
        lines.append(f"    x, y = y, {formula}")
    return "\n".join([*lines, "    return y", ""])


def build(text: str, module: Any, choose: Callable[..., Any], label: str) -> Callable[..., Any]:
    """The function that a text defines, its source known to tracebacks and to those who read it.

    Parameters
    ----------
    text : str
        One function.
    module, choose
        What ``m`` and ``choose`` stand for.
    label : str
        Tells texts of one name apart.
    """
    file = f"<{label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"m": module, "choose": choose, "__name__": "benchmarks.generated"}
    exec(compile(text, file, "exec"), space)
    return space[text[4 : text.index("(")]]
