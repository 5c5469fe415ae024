"""Bundles the widgets' JavaScript and CSS files for anywidget."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
#: Types and explanations: they are for who reads and checks the sources.
_TOLD = re.compile(r"^ */\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export (?=const |function |class )", re.MULTILINE)


def script(name: str) -> str:
    """A module of the folder ``static`` with all of its imports, as one module.

    Parameters
    ----------
    name : str
        Such as ``"timeline_widget.js"``. Names at the top of a module are not used for other things in those that it
        imports, as they come to stand beside each other.

    Returns
    -------
    str
    """
    parts: dict[str, str] = {}
    _collect(name, parts)
    return "\n".join(parts.values())


def _collect(name: str, parts: dict[str, str]) -> None:
    text = (_FOLDER / name).read_text("utf-8")
    for needed in _IMPORT.findall(text):
        if needed not in parts:
            _collect(needed, parts)
    for pattern in (_IMPORT, _TOLD, _EXPORT):
        text = pattern.sub("", text)
    parts[name] = text


def style(*names: str) -> str:
    """Style sheets of the folder ``static``, concatenated.

    Parameters
    ----------
    *names : str
        Such as ``"palette.css"``.

    Returns
    -------
    str
    """
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)
