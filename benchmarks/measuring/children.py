"""Figures that need a process of their own: what it prints last is the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

_CHILD = """\
import importlib, json, sys
module, function, arguments = json.loads(sys.argv[1])
print(json.dumps(getattr(importlib.import_module(module), function)(*arguments)))
"""


class ChildError(RuntimeError):
    """A child process failed; what it printed last tells why."""


def call(module: str, function: str, *arguments: Any, environment: dict[str, str] | None = None) -> Any:
    """What a function gives in a fresh Python process.

    Parameters
    ----------
    module, function : str
        Where it is.
    arguments
        As JSON can carry them; so is the answer.
    environment : dict, optional
        Variables to set.
    """
    return script(_CHILD, json.dumps([module, function, arguments]), environment=environment)


def script(text: str, *arguments: str, environment: dict[str, str] | None = None) -> Any:
    """What a program prints last, read as JSON, in a fresh Python process."""
    inherited = dict(os.environ)
    # Modules are compiled to bytecode once, as an installation does, not in every process.
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments],
        cwd=ROOT,
        env=inherited | (environment or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.splitlines() or ["nothing printed"])[-1]
        raise ChildError(f"the process ended with status {done.returncode}: {last}")
    return json.loads(lines[-1])
