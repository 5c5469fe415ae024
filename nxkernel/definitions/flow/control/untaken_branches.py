"""Code in branches that is traced although the program may never run it: errors in it say so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.retracing import LearntError, MustUnrollError
from nxkernel.errors import NxError, NxTypeError

#: What is wrong with the text whenever it runs, or with the machine; a misspelt name is told as everywhere.
_AS_EVERYWHERE = (NameError, AttributeError, TypeError, ImportError, RecursionError, MemoryError)


@contextlib.contextmanager
def unreached(code: str, unknown: str, site: Any) -> Iterator[None]:
    """Have errors of such code say that it is looked at in any case.

    Parameters
    ----------
    code : str
        Which code: a side of a branch, an iteration of a loop.
    unknown : str
        What decides whether it runs, and only the running program knows.
    site : Site

    Raises
    ------
    NxTypeError
        For what the code raises, or fails with.
    """
    try:
        yield
    except (NxError, LearntError, MustUnrollError):
        raise
    except Exception as error:
        kind = type(error).__name__
        if source_sites.is_raised(error):
            raise source_sites.error(
                NxTypeError,
                f"{code} raises {kind}, and only the running program knows {unknown}.",
                *source_sites.shown(site),
                "Raise it in an `if` of its own, which the program checks.",
            ) from None
        if isinstance(error, NameError):
            error.add_note(f"{code} is looked at in any case, as only the running program knows {unknown}.")
        if isinstance(error, _AS_EVERYWHERE):
            raise
        raise source_sites.error(
            NxTypeError,
            f"{code} fails with {kind}: {error}. It is looked at in any case, as only the running program knows "
            f"{unknown}.",
            *source_sites.shown(site),
            _advice(error),
        ) from error


def _advice(error: Exception) -> str:
    if isinstance(error, ArithmeticError):
        return "Write it so that it can be computed in any case, such as n / max(k, 1)."
    if isinstance(error, LookupError):
        return "Ask for what is there in any case, such as d.get(key, 0), or decide with what is known before."
    return "Write it so that it works in any case, or decide with what is known before the program runs."
