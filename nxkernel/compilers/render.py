"""A loop nest as Numba source: what the kernel does, in the words of somebody who would write it by hand.

It is for reading. Arrays are flat, and sizes, strides and constants are arguments, as they are in the kernel; vectors,
tiles and masks, and what becomes of NaN and of zero divisors, are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from nxkernel import types
from nxkernel.compilers.loops import Nest, Op, Reduce, Section
from nxkernel.types import Type

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "pow": "**", "bitwise_and": "&", "bitwise_or": "|",
    "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>", "equal": "==", "not_equal": "!=", "greater": ">",
    "less": "<", "greater_equal": ">=", "less_equal": "<=", "logical_and": "and", "logical_or": "or",
}  # fmt: skip
_MATH = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "sqrt": "sqrt", "erf": "erf", "erfc": "erfc",
    "floor": "floor", "ceil": "ceil", "truncate": "trunc", "is_nan": "isnan", "is_infinity": "isinf", "atan2": "atan2",
    "remainder": "fmod",
}  # fmt: skip
_FORMS: dict[str, str] = {
    "negate": "-{0}",
    "abs": "abs({0})",
    "select": "({1} if {0} else {2})",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "logical_not": "not {0}",
    "logical_xor": "bool({0}) != bool({1})",
    "bitwise_not": "~{0}",
    "sign": "np.sign({0})",
    "round": "math.copysign(math.floor(abs({0}) + 0.5), {0})",
    "round_half_even": "np.rint({0})",
    "rsqrt": "1 / math.sqrt({0})",
    "sigmoid": "1 / (1 + math.exp(-{0}))",
    "cbrt": "np.cbrt({0})",
    "quotient": "truncated({0} / {1})",
    "real": "{0}",
    "imag": "0 * {0}",
    "conjugate": "{0}",
    "phase": "np.angle({0})",
    "erf_inv": "erf_inv({0})",
    "population_count": "popcount({0})",
    "count_leading_zeros": "leading_zeros({0})",
    "threefry2x32": "threefry2x32({0}, {1}, {2}, {3})[{word}]",
}
#: Functions of complex numbers; other names of `_MATH` are NumPy's with them.
_COMPLEX_FORMS: dict[str, str] = {
    "complex": "complex({0}, {1})",
    "real": "{0}.real",
    "imag": "{0}.imag",
    "conjugate": "np.conj({0})",
    "rsqrt": "1 / np.sqrt({0})",
    "sigmoid": "1 / (1 + np.exp(-{0}))",
    "cbrt": "{0} ** (1 / 3)",
}
_COMPLEX_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_START = {"sum": "0", "product": "1", "all": "True", "any": "False"}
_UPDATE = {
    "sum": "{0} += {1}",
    "product": "{0} *= {1}",
    "reduce_max": "{0} = max({0}, {1})",
    "reduce_min": "{0} = min({0}, {1})",
    "all": "{0} = {0} and {1} != 0",
    "any": "{0} = {0} or {1} != 0",
}
#: Expressions up to this length stay inside the one that uses them.
_INLINE = 44


def render(nest: Nest) -> str:
    """Python source for a nest.

    Parameters
    ----------
    nest : Nest

    Returns
    -------
    str
        A function decorated with ``numba.njit``.
    """
    return _Renderer(nest).run()


def names(nest: Nest) -> tuple[list[str], list[str]]:
    """What the function's arguments are called: arrays, and then the words of a call's table in their order."""
    arrays = [_buffer(number) for number in nest.memory]
    words = []
    for kind, number, axis in nest.words():
        words.append(
            {
                "size": f"n{axis}",
                "tiles": "tiles",
                "block": "block",
                "blocks": "blocks",
                "step": "step",
                "start": f"{_buffer(number)}_start",
                "stride": f"{_buffer(number)}_{axis}",
                "constant": f"c{number}",
            }[kind]
            + _part_name(nest, kind, number, axis)
        )
    return arrays, words


def _part_name(nest: Nest, kind: str, number: int, part: int) -> str:
    """What tells the two words of a complex constant from each other."""
    if kind != "constant" or not nest.constants[number].is_complex:
        return ""
    return ("_real", "_imag")[part]


def _buffer(number: int) -> str:
    return "abdefgh"[number] if number < 7 else f"a{number}"


class _Renderer:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.lines: list[str] = []
        self.depth = 1
        self.temporaries = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def run(self) -> str:
        nest = self.nest
        arrays, words = names(nest)
        types_ = [f"{_buffer(number)}: {nest.buffers[number].type}" for number in nest.memory]
        head = [
            "@numba.njit(parallel=True)",
            f"def {nest.kind}({', '.join([*arrays, *words])}):",
            f"    # {', '.join(types_)}; vectors run along {self._axis_name(self._lane_axis())}",
        ]
        for axis in range(nest.outer):
            self.line(f"for i{axis} in {'numba.prange' if axis == 0 else 'range'}(n{axis}):")
            self.depth += 1
        if nest.split >= 0:
            self.line(f"for block_number in {'range' if nest.outer else 'numba.prange'}(blocks):")
            self.depth += 1
        for row in range(len(nest.scratches)):
            self.line(f"row{row} = np.empty(n{nest.outer + nest.inner - 1}, np.{nest.scratches[row].dtype})")
        for section in nest.sections:
            if section.level == "row":
                self._section(section)
            else:
                self._full(section)
        return "\n".join([*head, *self.lines, ""])

    def _axis_name(self, axis: int) -> str:
        return f"i{axis}" if axis < self.nest.outer else f"j{axis}"

    def _lane_axis(self) -> int:
        return self.nest.outer - 1 if self.nest.lanes != "inner" else self.nest.outer + self.nest.inner - 1

    def _full(self, section: Section) -> None:
        nest, before = self.nest, self.depth
        for reduce in section.reduces:
            self.line(f"s{reduce.slot} = {self._start(reduce)}")
            if len(reduce.args) > 1:
                self.line(f"s{reduce.slot}_at = 0")
        for axis in range(nest.outer, nest.outer + nest.inner):
            stop = f"n{axis}"
            span = stop
            if nest.split == axis - nest.outer:
                span = f"block_number * block, min({stop}, (block_number + 1) * block)"
            parallel = axis == 0 and not section.reduces
            self.line(f"for j{axis} in {'numba.prange' if parallel else 'range'}({span}):")
            self.depth += 1
        self._section(section)
        self.depth = before
        for reduce in section.reduces:
            if len(reduce.args) > 1:
                self.line(f"s{reduce.slot} = s{reduce.slot}_at")

    def _start(self, reduce: Reduce) -> str:
        if reduce.name in _START:
            return _START[reduce.name]
        number = types.least(reduce.type) if reduce.name.endswith("max") else types.greatest(reduce.type)
        return str(number).replace("inf", "np.inf")

    def _section(self, section: Section) -> None:
        uses = [0] * len(section.code)
        for used in [n for op in section.code for n in op.args] + [n for r in section.reduces for n in r.args]:
            uses[used] += 1
        for pairs in (section.stores, section.keeps, section.scratches):
            for _, number in pairs:
                uses[number] += 1
        texts: list[str] = []
        for number, op in enumerate(section.code):
            text = self._op(op, texts)
            plain = text.isidentifier() or (op.name in ("load", "gather") and uses[number] == 1)
            if not plain and (uses[number] > 1 or len(text) > _INLINE):
                name = f"t{self.temporaries}"
                self.temporaries += 1
                self.line(f"{name} = {text}")
                text = name
            texts.append(text)
        for row, number in section.scratches:
            self.line(f"row{row}[j{self._lane_axis()}] = {texts[number]}")
        for buffer, number in section.stores:
            place = self._place(buffer)
            if section.level == "row" and self.nest.split >= 0:
                place = f"{place} + block_number * step"
            self.line(f"{_buffer(buffer)}[{place}] = {texts[number]}")
        for slot, number in section.keeps:
            self.line(f"s{slot} = {texts[number]}")
        for reduce in section.reduces:
            self._update(reduce, texts)

    def _update(self, reduce: Reduce, texts: list[str]) -> None:
        name = f"s{reduce.slot}"
        if len(reduce.args) == 1:
            self.line(_UPDATE[reduce.name].format(name, texts[reduce.args[0]]))
            return
        sign = {"argmax": ">", "argmin": "<"}[reduce.name] + ("=" if reduce.extra == "high" else "")
        value, index = (texts[number] for number in reduce.args)
        self.line(f"if not ({value} {_opposite(sign)} {name}):")
        self.depth += 1
        self.line(f"{name}, {name}_at = {value}, {index}")
        self.depth -= 1

    def _place(self, buffer: int) -> str:
        parts = []
        access = self.nest.buffers[buffer]
        if access.role == "index":
            parts.append(f"{_buffer(buffer)}_start")
        for axis, stride in enumerate(access.strides):
            if stride == "m":
                parts.append(f"{self._axis_name(axis)} * n{axis + 1}")
            elif stride == "1":
                parts.append(self._axis_name(axis))
            elif stride == "2":
                parts.append(f"2 * {self._axis_name(axis)}")
            elif stride == "-":
                parts.append(f"-{self._axis_name(axis)}")
            elif stride == "s":
                parts.append(f"{self._axis_name(axis)} * {_buffer(buffer)}_{axis}")
        return " + ".join(parts) or "0"

    def _op(self, op: Op, texts: list[str]) -> str:
        given = [texts[number] for number in op.args]
        leaf: dict[str, Callable[[], str]] = {
            "const": lambda: f"complex(c{op.extra}_real, c{op.extra}_imag)" if op.type.is_complex else f"c{op.extra}",
            "slot": lambda: f"s{op.extra}",
            "scratch": lambda: f"row{op.extra}[j{self._lane_axis()}]",
            "index": lambda: self._place(op.extra),
            "gather": lambda: f"{_buffer(op.extra)}[{' + '.join([self._place(op.extra), *given])}]",
            "load": lambda: f"{_buffer(op.extra)}[{' + '.join([self._place(op.extra), *given])}]",
        }
        if op.name in leaf:
            return leaf[op.name]()
        if op.name in _INFIX:
            left, right = (_grouped(text) for text in given)
            return f"{left} {_INFIX[op.name]} {right}"
        of_complex = op.type.is_complex or (isinstance(op.extra, Type) and op.extra.is_complex)
        if of_complex and op.name in _COMPLEX_FORMS:
            return _COMPLEX_FORMS[op.name].format(*(_grouped(text) for text in given))
        if op.name in _MATH:
            function = _COMPLEX_NAMES.get(op.name, _MATH[op.name]) if of_complex else _MATH[op.name]
            return f"{'np' if of_complex else 'math'}.{function}({', '.join(given)})"
        if op.name in ("as_type", "bitcast"):
            dropped = ".real" if of_complex and not op.type.is_complex else ""
            return f"{_cast(op.type)}({_grouped(given[0]) if dropped else given[0]}{dropped})"
        return _FORMS[op.name].format(*(_grouped(text) for text in given), word=op.extra)


def _grouped(text: str) -> str:
    simple = text.replace("_", "").replace(".", "").isalnum() or (
        text.endswith(")") and text.count("(") == 1 and " " not in text.split("(")[0]
    )
    return (
        text
        if simple or (text.endswith("]") and text.count("[") == 1 and " " not in text.split("[")[0])
        else f"({text})"
    )


def _cast(type_: Type) -> str:
    return f"np.{type_.dtype.name}" if type_ is not types.bool_ else "bool"


def _opposite(sign: str) -> str:
    return {">": "<=", "<": ">=", ">=": "<", "<=": ">"}[sign]
