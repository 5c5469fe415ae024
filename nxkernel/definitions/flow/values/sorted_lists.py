"""What ``sorted`` gives of an array: a list in Python, an array here; what the two do otherwise is refused."""

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
    """The elements of an array, put in order: they are indexed, gone through, and taken by NumPy's functions."""

    __slots__ = ()
    __hash__ = Array.__hash__

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Listed.of(operand(found)) if isinstance(found, Array) else found


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
