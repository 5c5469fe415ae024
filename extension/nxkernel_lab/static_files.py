"""The front-end files of the widgets, each kind put together to the one text that anywidget takes."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "static"


def joined(*names: str) -> str:
    """Files of the folder ``static``, one after the other.

    Parameters
    ----------
    *names : str
        Such as ``"palette.css"``; a script stands after those that it needs.

    Returns
    -------
    str
    """
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)
