"""The result of ``sorted`` of an array: an array, which refuses operators that mean something else on a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.errors import NxTypeError, message
from nxkernel.numpy.arrays.array import Array
from nxkernel.ops.machinery.dispatch import operand

_SIGNS = {
    "add": "+", "radd": "+", "iadd": "+=", "mul": "*", "rmul": "*", "imul": "*=", "sub": "-", "rsub": "-",
    "truediv": "/", "rtruediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "neg": "-", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


class Listed(Array):
    """The sorted elements of an array, which can be indexed, iterated and passed to NumPy's functions."""

    __slots__ = ()
    __hash__ = Array.__hash__

    @property
    def __nx_class__(self) -> type:
        """The class that it stands for."""
        return list

    def __nx_parts__(self) -> tuple[Any, list[tuple[str, Any]]]:
        """What makes a list of the array, in results."""
        return list, [("", Array.of(operand(self)))]

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        return Listed.of(operand(part)) if isinstance(part, Array) else part


def _refusing(sign: str) -> Callable[..., Any]:
    def refuse(self: Listed, *others: Any) -> Any:
        raise NxTypeError(
            message(
                f"sorted() gives a list in Python, of which {sign} is something else than of an array.",
                "np.sort(x) gives an array.",
            )
        )

    return refuse


for _name, _sign in _SIGNS.items():
    setattr(Listed, f"__{_name}__", _refusing(_sign))
