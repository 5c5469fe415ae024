"""``numpy.random``: refused, since a traced function would draw its numbers once and keep them."""

from __future__ import annotations

from typing import Any, NoReturn

from nxkernel.errors import NxTypeError, message

__all__ = ["refused"]


def refused(name: str) -> Any:
    """A function of ``numpy.random`` as one that tells what to write instead."""

    def function(*args: Any, **options: Any) -> NoReturn:
        raise NxTypeError(
            message(
                f"np.random.{name}() in a definition would draw its numbers once, when it is traced.",
                "Draw them before and pass them as an argument,",
                "or pass a key: def f(x, key), and nx.random.normal(key, 0.0, 1.0, shape=x.shape).",
            )
        )

    function.__name__ = function.__qualname__ = name
    return function
