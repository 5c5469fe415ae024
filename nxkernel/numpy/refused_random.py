"""``numpy.random``: refused, since a traced function would draw its numbers once and keep them."""

from __future__ import annotations

from typing import Any, NoReturn

from nxkernel.errors import NxTypeError, message

__all__ = ["refused"]

_UNIFORM = "nx.random.uniform(key, 0.0, 1.0, shape=x.shape)"
_NORMAL = "nx.random.normal(key, 0.0, 1.0, shape=x.shape)"
_RANDINT = "nx.random.randint(key, 0, 10, shape=x.shape)"
#: What draws such numbers from a key, by the names of NumPy's functions and methods.
_SAMPLERS = {
    **dict.fromkeys(("rand", "random", "random_sample", "ranf", "sample", "uniform"), _UNIFORM),
    **dict.fromkeys(("randn", "normal", "standard_normal"), _NORMAL),
    **dict.fromkeys(("randint", "integers", "random_integers"), _RANDINT),
    **dict.fromkeys(("permutation", "permuted", "shuffle"), "nx.random.shuffle(key, x)"),
    "choice": "nx.random.choice(key, x, samples=5)",
}


def refused(name: str) -> Any:
    """A stand-in for a ``numpy.random`` function, whose error says what to write instead."""

    def function(*args: Any, **options: Any) -> NoReturn:
        raise NxTypeError(
            message(
                f"np.random.{name}() in a definition would draw its numbers once, when it is traced.",
                "Draw them before and pass them as an argument,",
                f"or pass a key, nx.random.key(42): def f(x, key), and drawn, key = {_SAMPLERS.get(name, _NORMAL)}.",
            )
        )

    function.__name__ = function.__qualname__ = name
    return function
