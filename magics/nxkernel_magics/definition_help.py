"""``f?`` of a definition: the signature of its function once, and the docstring without markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from nxkernel.definitions.calls.definition import Definition

#: A reference as the documentation has it: ``:func:`nxkernel.defn```, or with a title before the name.
_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|ref|doc):`(?:[^`<]*<)?~?([^`<>]+)>?`")
#: What the help of a callable object has beside that of its function.
_OF_THE_CLASS = ("call_def", "call_docstring", "class_docstring", "init_definition", "init_docstring")
_TEXTS = ("docstring", *_OF_THE_CLASS)


def plain(text: str) -> str:
    """A docstring with references reduced to names.

    Examples
    --------
    >>> plain("As :func:`nxkernel.jit` takes them; see :func:`value_and_grad`.")
    'As nx.jit takes them; see value_and_grad.'
    """
    return _ROLE.sub(lambda match: re.sub(r"^nxkernel\.", "nx.", match[1]), text)


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register with a shell; returns a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell

    Returns
    -------
    callable
    """
    inspector = shell.inspector
    info = inspector.info

    def told(obj: Any, *args: Any, **named: Any) -> Any:
        fields = info(obj, *args, **named)
        if isinstance(obj, Definition):
            fields |= dict.fromkeys(_OF_THE_CLASS)
        for part in _TEXTS:
            if isinstance(fields.get(part), str):
                fields[part] = plain(fields[part])
        return fields

    inspector.info = told

    def remove() -> None:
        if inspector.info is told:
            del inspector.info

    return remove
