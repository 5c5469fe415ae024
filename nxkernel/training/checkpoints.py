"""Checkpoints: containers of tensors and notes saved to one safetensors file; those of another model are refused."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.leaves import spec_of
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.formats import load_safetensors, load_safetensors_metadata, save_safetensors
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

_NOTES = "nxkernel.training"
_VERSION = 1


def save_checkpoint(path: str | os.PathLike, parts: Mapping[str, Any], notes: Mapping[str, Any] | None = None) -> None:
    """Save containers of tensors, such as parameters and optimizer state, with notes, to a checkpoint file.

    What was at that path is replaced when all is written and on the disk: a crash leaves the one or the other.

    Parameters
    ----------
    path : path
        A safetensors file, which other programs read too.
    parts : dict of containers
        By name. The names of tensors begin with it: ``params['dense']['kernel']``.
    notes : dict, optional
        Numbers, texts, lists and dicts, as JSON has them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from nxkernel import training
    >>> params = {"w": nx.tensor([1.0, 2.0])}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.safetensors"
    ...     training.save_checkpoint(path, {"params": params}, {"epoch": 3})
    ...     parts, notes = training.load_checkpoint(path, {"params": params})
    >>> parts["params"]["w"].to_list(), notes
    ([1.0, 2.0], {'epoch': 3})
    """
    tensors = {path_: leaf for name, part in parts.items() for path_, leaf in _leaves(name, part)}
    text = json.dumps({"version": _VERSION, "notes": dict(notes or {})}, separators=(",", ":"))
    save_safetensors(path, tensors, metadata={_NOTES: text})


def load_checkpoint(
    path: str | os.PathLike, like: Mapping[str, Any], *, optional: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Load a checkpoint file that :func:`save_checkpoint` wrote.

    Parameters
    ----------
    path : path
    like : dict of containers
        Built as what is to be read: the first parameters, the first state. Their values do not count.
    optional : sequence of str, optional
        Names of parts that may be missing as a whole; None stands for such a one.

    Returns
    -------
    (dict of containers, dict)
        The parts and the notes.

    Raises
    ------
    NxValueError
        For a checkpoint of another model, with the first difference, and for what is no checkpoint.
    """
    name = os.fspath(path)
    notes = _notes(name, load_safetensors_metadata(path))
    tensors = load_safetensors(path)
    containers_: dict[str, Any] = {}
    expected: set[str] = set()
    for part, value in like.items():
        leaves: list[tuple[str, Any]] = []
        structure = containers.flatten(value, part, leaves, _refuse)
        if part in optional and not any(_is_part(known, part) for known in tensors):
            containers_[part] = None
            continue
        for path_, leaf in leaves:
            _check(name, path_, leaf, tensors)
        expected.update(path_ for path_, _ in leaves)
        containers_[part] = containers.rebuild(structure, iter([tensors[path_] for path_, _ in leaves]))
    more = next((path_ for path_ in tensors if path_ not in expected), None)
    if more is not None:
        raise _other(name, f"It has {more} ({tensors[more].spec}), which is not here.")
    return containers_, notes


def _is_part(path: str, part: str) -> bool:
    return path == part or path.startswith((f"{part}[", f"{part}."))


def _check(name: str, path: str, leaf: Any, tensors: Mapping[str, Tensor]) -> None:
    here = spec_of(leaf)
    if path not in tensors:
        raise _other(name, f"It has no {path}, which is {here} here.")
    there = tensors[path].spec
    if (there.type, there.shape) != (here.type, here.shape):
        raise _other(name, f"{path} is {there} in it, and {here} here.")


def _other(name: str, difference: str) -> NxValueError:
    return NxValueError(message(f"{name} is a checkpoint of another model or optimizer.", difference))


def _notes(name: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    if _NOTES not in metadata:
        raise NxValueError(
            message(
                f"{name} is no checkpoint of nxkernel.training.",
                "nx.load_safetensors reads the tensors of any such file.",
            )
        )
    try:
        told = json.loads(metadata[_NOTES])
        version, notes = told["version"], told["notes"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NxValueError(f"cannot read {name}: its notes are damaged") from error
    if version != _VERSION or not isinstance(notes, dict):
        raise NxValueError(f"cannot read {name}: its notes are of version {version!r}, this reads {_VERSION}")
    return notes


def _leaves(name: str, part: Any) -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    containers.flatten(part, name, leaves, _refuse)
    return leaves


def _refuse(path: str, value: Any) -> Exception:
    return NxTypeError(f"a checkpoint has tensors in it, {path} is {describe(value)}")
