"""Tensors as text: in one compact form with NumPy's numbers, and in the layout of Nx.

In the layout of Nx a float is written with the fewest digits that give it back when read in its type, and in scientific
notation where that is shorter, by the rule of Erlang's ``float_to_binary(x, [short])``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nxkernel.backends.numpy_primitives import widened
from nxkernel.operand import VectorizedSpec, axes_text
from nxkernel.types import Type

#: How many elements are printed at most in the layout of Nx.
LIMIT = 50
#: Of more elements, the compact form shows those at the beginning and at the end of each axis.
SHORTENED = 100
#: And so it does with a vector whose numbers would take more lines than that.
_LINES = 24
#: What NumPy prints by, until somebody asks for something else.
_DEFAULTS = {"precision": 8, "floatmode": "maxprec", "threshold": 1000, "edgeitems": 3}


class Text(str):
    """Text of several lines that a cell or a console shows as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def compact(tensor: Any) -> str:
    """What a tensor is, in one form: its numbers, its type and shape, and its device where that is another.

    Examples
    --------
    >>> nx.tensor(1.5), nx.tensor([0.5, 0.1]), nx.iota(1000)
    (Tensor(1.5, f32), Tensor([0.5, 0.1], f32[2]), Tensor([  0,   1,   2, ..., 997, 998, 999], s64[1000]))
    >>> nx.iota((2, 2), names=["row", None])
    Tensor([[0, 1],
            [2, 3]], s64[row: 2][2])
    """
    place = "" if tensor.device == "cpu" else f", {tensor.device}"
    if place and tensor.released:
        return f"Tensor({tensor.spec}{place}, given away)"
    numbers, kind = digits(tensor, prefix="Tensor(", separator=", "), f"{tensor.spec}{place})"
    last = numbers.rpartition("\n")[2]
    width = len(last) + (0 if "\n" in numbers else len("Tensor(")) + len(", ") + len(kind)
    gap = " " if width <= np.get_printoptions()["linewidth"] else "\n       "
    return f"Tensor({numbers},{gap}{kind}"


def digits(tensor: Any, *, prefix: str = "", separator: str = " ") -> str:
    """The numbers as NumPy writes them, all their digits, in lines that are wrapped between numbers.

    Of many numbers those at the beginning and at the end of each axis are shown. What is asked of NumPy by
    :func:`numpy.set_printoptions` holds here, too.
    """
    if not tensor.data.ndim:
        return _scalar(tensor)
    asked, chosen = np.get_printoptions(), {}
    if all(asked[name] == _DEFAULTS[name] for name in ("precision", "floatmode")):
        chosen["floatmode"] = "unique"
    if asked["threshold"] == _DEFAULTS["threshold"]:
        chosen["threshold"] = SHORTENED
    if asked["edgeitems"] == _DEFAULTS["edgeitems"]:
        chosen["edgeitems"] = max(1, 5 - max(tensor.data.ndim, 2))
    numbers = _as_numpy(tensor, separator=separator, prefix=prefix, **chosen)
    if tensor.data.ndim == 1 and numbers.count("\n") >= _LINES and "threshold" in chosen:
        return _as_numpy(tensor, separator=separator, prefix=prefix, **{**chosen, "threshold": 0})
    return numbers


def _scalar(tensor: Any) -> str:
    value = tensor.data[()]
    return number(value, tensor.type) if tensor.type.kind == "bf" else str(value)


def _as_numpy(tensor: Any, **options: Any) -> str:
    """NumPy's text of the elements; those of bf16, which it has no digits for, are written as elsewhere."""
    if tensor.type.kind == "bf":
        options["formatter"] = {"float_kind": lambda value: number(value, tensor.type)}
        return np.array2string(widened(tensor.data), **options)
    return np.array2string(tensor.data, **options)


def text(tensor: Any, limit: int = LIMIT) -> str:
    """The text of a tensor in the layout of Nx, between ``#Nx.Tensor<`` and ``>``.

    Parameters
    ----------
    tensor : Tensor
    limit : int, optional
        After so many elements comes ``...``.

    Returns
    -------
    str

    Examples
    --------
    >>> print(text(nx.tensor([[1.0, 0.1], [1e-10, np.nan]])))
    #Nx.Tensor<
      f32[2][2]
      [
        [1.0, 0.1],
        [1e-10, NaN]
      ]
    >
    """
    spec = tensor.spec
    head = f"{axes_text(spec.vectorized_axes)}\n  {spec.entry}" if type(spec) is VectorizedSpec else spec
    if tensor.device != "cpu":
        head = f"{head}\n  {tensor.device}"
        if tensor.released:
            return f"#Nx.Tensor<\n  {head}, given away\n>"
    return f"#Nx.Tensor<\n  {head}\n  {elements(tensor.data, tensor.type, limit)}\n>"


def plain(tensor: Any) -> str:
    """The text that ``print`` shows: a number where there are no axes, else the type and NumPy's text of the elements.

    Examples
    --------
    >>> print(nx.tensor(1.5), nx.tensor([1, 2, 3]), nx.eye(2, names=["row", "column"]))
    1.5 s64[3] [1 2 3] s64[row: 2][column: 2]
    [[1 0]
     [0 1]]
    """
    if tensor.device != "cpu" and tensor.released:
        return compact(tensor)
    if not tensor.data.ndim:
        return _scalar(tensor)
    return f"{tensor.spec}{' ' if tensor.data.ndim == 1 else chr(10)}{_as_numpy(tensor)}"


def elements(data: np.ndarray, type_: Type, limit: int = LIMIT) -> str:
    """The elements in brackets, one row a line, indented by two."""
    flat = data.reshape(-1)[:limit]
    numbers = [number(value, type_) for value in flat]
    if not data.ndim:
        return numbers[0]
    return _RowNumbers(numbers, data.size).lines(data.shape, 1)


class _RowNumbers:
    """Iterates over numbers, with ``...`` once where the limit is reached."""

    def __init__(self, numbers: list[str], size: int) -> None:
        self.numbers, self.size, self.next = numbers, size, 0

    def lines(self, shape: tuple[int, ...], depth: int) -> str:
        items = []
        for _ in range(shape[0]):
            if self.next == len(self.numbers) and self.next < self.size:
                items.append("...")
                break
            if len(shape) == 1:
                items.append(self.numbers[self.next])
                self.next += 1
            else:
                items.append(self.lines(shape[1:], depth + 1))
        if len(shape) == 1 or not items:
            return f"[{', '.join(items)}]"
        pad = "  " * (depth + 1)
        return "[\n" + ",\n".join(pad + item for item in items) + "\n" + "  " * depth + "]"


def number(value: Any, type_: Type) -> str:
    """The text of one element.

    Parameters
    ----------
    value : number
        A Python number or a NumPy scalar that the type holds.
    type_ : Type

    Returns
    -------
    str

    Examples
    --------
    >>> from nxkernel import types
    >>> number(0.1, types.f32), number(1e-10, types.f64), number(6e-5, types.f16), number(1 - 2j, types.c64)
    ('0.1', '1.0e-10', '6e-5', '1.0-2.0i')
    """
    if type_.is_integer:
        return str(bool(value) if type_.kind == "bool" else int(value))
    if type_.is_float:
        return _real(value, type_)
    part = np.float32 if type_.bits == 64 else np.float64
    real, imag = (_digits_of(part(side), type_.bits == 128) for side in (value.real, value.imag))
    return f"{real}{imag if imag.startswith('-') else '+' + imag}i"


def _real(value: Any, type_: Type) -> str:
    if type_.kind == "bf":
        return _special(float(value)) or _layout(*_bfloat_digits(value, type_), dotted=False)
    return _digits_of(type_.dtype.type(value), type_.bits == 64)


def _special(value: float) -> str:
    """The text of NaN, infinity and zero; empty for other numbers."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return "" if value else str(value)


def _digits_of(value: np.floating, dotted: bool) -> str:
    return _special(float(value)) or _layout(*_split(np.format_float_scientific(value, trim="-")), dotted=dotted)


def _split(scientific: str) -> tuple[str, str, int]:
    """Sign, digits and exponent of text such as ``-1.25e-03``."""
    mantissa, exponent = scientific.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    return sign, mantissa.lstrip("-").replace(".", ""), int(exponent)


def _bfloat_digits(value: Any, type_: Type) -> tuple[str, str, int]:
    wide = float(value)
    for precision in range(5):
        candidate = f"{wide:.{precision}e}"
        if type_.dtype.type(float(candidate)) == type_.dtype.type(value):
            break
    sign, digits, exponent = _split(candidate)
    return sign, digits.rstrip("0") or "0", exponent


def _layout(sign: str, digits: str, exponent: int, *, dotted: bool) -> str:
    """Digits as a decimal number, or in scientific notation if that is shorter.

    Parameters
    ----------
    sign, digits : str
    exponent : int
        Of the first digit.
    dotted : bool
        Whether one digit before an exponent is followed by ``.0``, as f64 has it.
    """
    point, count = exponent + 1, len(digits)
    cost = len(str(exponent)) + (3 if count == 1 else 2)
    if point <= 0 and (2 - point <= cost or not point):
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point < count:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if point >= count and point - count + 2 <= cost:
        return f"{sign}{digits}{'0' * (point - count)}.0"
    tail = digits[1:] or ("0" if dotted else "")
    return f"{sign}{digits[0]}{'.' if tail else ''}{tail}e{exponent}"
