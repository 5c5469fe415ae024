"""Results of solvers: dicts whose items are attributes, too, as SciPy's are."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import numpy as np

from nxkernel.errors import NxAttributeError, NxTypeError, message
from nxkernel.operand import Operand, Proxy
from nxkernel.tensor.tensor import StoredTensor


class Result(dict):
    """The result of a solver: its items are attributes, too.

    In a definition it is a container of traced values, which definitions return and take as any dict.

    Attributes
    ----------
    message : str
        How it ended, in words; a list of them where there are several runs, as of ``nx.vmap``.
    """

    #: What each status means.
    MEANINGS: ClassVar[dict[int, str]] = {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            pass
        there = ", ".join([*self, "message"])
        raise NxAttributeError(message(f"the result has no {name!r}.", f"It has {there}."))

    @property
    def message(self) -> Any:
        """How it ended, in words."""
        status = self["status"]
        if isinstance(status, Operand | Proxy) and not isinstance(status, StoredTensor):
            raise NxTypeError(
                message(
                    "the message of a result is known when the program has run.",
                    "In a definition, ask for .status or .success, or return the whole result.",
                )
            )
        return self._meaning(np.asarray(status).tolist())

    def _meaning(self, status: Any) -> Any:
        return [self._meaning(one) for one in status] if isinstance(status, list) else self.MEANINGS[int(status)]

    def __dir__(self) -> list[str]:
        return [*self, "message", *super().__dir__()]

    def __repr__(self) -> str:
        items = dict(self)
        with contextlib.suppress(NxTypeError):
            items["message"] = self.message
        width = max(map(len, items))
        margin = " " * (width + 2)
        return "\n".join(
            f"{name:>{width}}: {repr(value).replace(chr(10), chr(10) + margin)}" for name, value in items.items()
        )
