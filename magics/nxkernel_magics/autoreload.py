"""Support of ``%autoreload``: definitions imported by name are updated when their module is reloaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nxkernel.definitions import Definition

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Have ``%autoreload`` update definitions as it updates functions, whenever that extension is loaded.

    Parameters
    ----------
    shell : InteractiveShell

    Returns
    -------
    callable
        Takes that back.
    """

    def tell(*_: Any) -> None:
        rules = _rules()
        if rules is not None and _RULE not in rules:
            rules.append(_RULE)

    def forget() -> None:
        shell.events.unregister("pre_run_cell", tell)
        rules = _rules()
        if rules is not None and _RULE in rules:
            rules.remove(_RULE)

    tell()
    shell.events.register("pre_run_cell", tell)
    return forget


def _rules() -> list[tuple] | None:
    """IPython's update rules of ``%autoreload``; None while the extension is not loaded."""
    return getattr(sys.modules.get("IPython.extensions.autoreload"), "UPDATE_RULES", None)


def _are_definitions(old: Any, new: Any) -> bool:
    return type(old) is Definition and type(new) is Definition


def _become(old: Definition, new: Definition) -> None:
    for name in old.__dict__.keys() - new.__dict__.keys():
        del old.__dict__[name]
    old.__dict__.update(new.__dict__)


_RULE = (_are_definitions, _become)
