"""The structure of containers as JSON: lists, tuples, dicts and leaves, without code.

Texts, booleans and None are themselves. Everything else is a list whose first item tells what it is::

    ["int", "12"]                ["float", "0.5"]           ["complex", "1.0", "-2.0"]
    ["tensor", 3]                its place among the tensors
    ["type", "f32"]
    ["list", [item, …]]          ["tuple", [item, …]]       ["dict", [[key, value], …]]
    ["named", "module", "Pair", [["a", value], …]]          a named tuple
    ["dataclass", "module", "Params", [["w", value], …]]
    ["object", "module", "Layer", items, [["w", value], …]]  of another declared class; items are None, a list or a dict

Numbers are text, since JSON has no infinities and no whole numbers beyond 53 bits that every reader keeps. Of a class
there is only the name: it is one that whoever reads has given, or declared by :func:`nxkernel.container`, and its
objects are made without running its code.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from types import FunctionType, MemberDescriptorType
from typing import Any

from nxkernel import types
from nxkernel.container_classes.declarations import declaration_of, declared_class
from nxkernel.container_classes.object_forms import ObjectForm, opened
from nxkernel.dict_metadata import Form, items_of
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.formats.file_access import ByteSource, brief
from nxkernel.formats.tensor_headers import tensor_of
from nxkernel.messages.grammar import a
from nxkernel.operand import Operand
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

#: How deep containers may be nested: JSON's readers stop somewhere, and a container may hold itself.
DEPTH = 100

_NUMBERS = {"int": int, "float": float}


class StructureWriter:
    """Converts containers to JSON and collects their tensors; a tensor met twice is stored once.

    Attributes
    ----------
    tensors : list of Tensor
    """

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []

    def node(self, value: Any, path: str, depth: int = 0) -> Any:
        """The JSON of a value; `path` is its Python expression for errors."""
        if depth > DEPTH:
            raise NxValueError(f"containers are nested more than {DEPTH} deep, or hold themselves: {path[:60]}…")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return ["int", _digits(value, path)]
        if kind is float:
            return ["float", repr(value)]
        if kind is complex:
            return ["complex", repr(value.real), repr(value.imag)]
        if kind is Type:
            return ["type", str(value)]
        if kind is list or kind is tuple:
            items = [self.node(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
            return [kind.__name__, items]
        if kind is dict:
            return ["dict", [self._pair(key, item, path, depth) for key, item in value.items()]]
        told = _kind(kind)
        found = None if told is None else opened(value)
        if found is not None:
            form = found[0]
            pairs = [[name, self.node(getattr(value, name), f"{path}.{name}", depth + 1)] for name in form.names]
            if told != "object":
                return [told, kind.__module__, kind.__qualname__, pairs]
            _check_default(value, path)
            items = None
            if form.items is not None:
                plain = dict(items_of(value)) if isinstance(form.items, Form) else found[1][: form.items]
                items = self.node(plain, path, depth + 1)
            return [told, kind.__module__, kind.__qualname__, items, pairs]
        if isinstance(value, Operand) or hasattr(value, "__array__"):
            return ["tensor", self._place(value, path)]
        raise _refusal(value, path)

    def _pair(self, key: Any, item: Any, path: str, depth: int) -> list[Any]:
        where = f"{path}[{key!r}]"
        if not _is_key(key):
            raise NxTypeError(
                message(
                    f"a {type(key).__name__} cannot be written as the key of a dict: {where}.",
                    "Keys are texts, numbers, booleans, None and tuples of them.",
                )
            )
        return [self.node(key, where, depth + 1), self.node(item, where, depth + 1)]

    def _place(self, value: Any, path: str) -> int:
        index = self._places.get(id(value))
        if index is None:
            index = self._places[id(value)] = len(self.tensors)
            self.tensors.append(tensor_of(value, path))
            self._kept.append(value)
        return index


def _is_key(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_key, key))
    return key is None or type(key) in (str, bool, int, float, complex)


def _digits(value: int, path: str) -> str:
    try:
        return str(value)
    except ValueError:
        raise NxValueError(f"{path} has more digits than Python writes: {value.bit_length()} bits") from None


def _kind(cls: type) -> str | None:
    """What tells objects of a class: ``"named"``, ``"dataclass"`` or ``"object"``; None for what cannot be written."""
    declaration = declaration_of(cls)
    if declaration is None:
        return None
    if dataclasses.is_dataclass(cls) and declaration.fields == tuple([each.name for each in dataclasses.fields(cls)]):
        return "dataclass" if declaration.items is None else "object"
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and declaration.fields == cls._fields:
        return "named"
    return "object" if declaration.by_name else None


def _check_default(value: Any, path: str) -> None:
    if isinstance(value, defaultdict) and value.default_factory is not None:
        raise NxTypeError(
            message(
                f"{a(type(value).__name__)} with a default_factory cannot be written: {path}.",
                "Functions and classes are no data: write dict(x) in its place, or set its default_factory to None.",
            )
        )


def _fits(cls: type, names: Sequence[Any]) -> bool:
    """Whether these are the attributes that objects of a class have, which are set without running its code."""
    fields = declaration_of(cls).fields
    if fields is not None:
        return tuple(names) == fields
    return len(set(map(str, names))) == len(names) and all(
        isinstance(name, str) and name.isidentifier() and not name.startswith("__") and not _is_computed(cls, name)
        for name in names
    )


def _is_computed(cls: type, name: str) -> bool:
    member = getattr(cls, name, None)
    return hasattr(type(member), "__set__") and not isinstance(member, MemberDescriptorType)


def _refusal(value: Any, path: str) -> NxTypeError:
    hint = "Write tensors, arrays, numbers, texts, and containers of them, whose classes nx.container declares."
    for kind in (dict, list, tuple, str, int, float):
        if isinstance(value, kind):
            name = kind.__name__
            declared = f", or declare it: nx.container({type(value).__name__})" if kind in (dict, list, tuple) else ""
            hint = f"Its class would be lost: write {name}(x) in its place{declared}."
    if isinstance(value, FunctionType):
        hint = (
            "Functions are no data: nx.training.save_checkpoint leaves static fields out, and reads them from `like`."
        )
    return NxTypeError(message(f"a {type(value).__name__} cannot be written: {path}.", hint))


class StructureReader:
    """Rebuilds containers from JSON.

    Parameters
    ----------
    source : ByteSource
    tensors : sequence of Tensor
    classes : iterable of class
        The named tuples and dataclasses that may be made, besides classes that are declared.
    """

    def __init__(self, source: ByteSource, tensors: Sequence[Tensor], classes: Iterable[type]) -> None:
        self._source, self._tensors = source, tensors
        self._classes: dict[str, type] = {}
        for kind in classes:
            if not isinstance(kind, type) or _kind(kind) is None:
                raise NxTypeError(f"classes are named tuples, dataclasses and declared ones, got {kind!r}")
            if self._classes.setdefault(kind.__qualname__, kind) is not kind:
                raise NxValueError(f"two of the classes are called {kind.__qualname__}")

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value of a JSON node."""
        if node is None or isinstance(node, bool | str):
            return node
        if depth > DEPTH:
            self._source.refuse(f"its containers are nested more than {DEPTH} deep")
        if not isinstance(node, list) or len(node) < 2 or not isinstance(node[0], str):
            self._invalid(node)
        kind, *rest = node
        if kind in ("list", "tuple") and len(rest) == 1:
            items = [self.value(item, depth + 1) for item in self._list(rest[0])]
            return items if kind == "list" else tuple(items)
        if kind == "dict" and len(rest) == 1:
            return self._dict(rest[0], depth)
        if kind in ("named", "dataclass") and len(rest) == 3:
            return self._instance(kind, *rest[:2], None, rest[2], depth)
        if kind == "object" and len(rest) == 4:
            return self._instance(kind, *rest, depth)
        if kind == "tensor" and len(rest) == 1 and type(rest[0]) is int and 0 <= rest[0] < len(self._tensors):
            return self._tensors[rest[0]]
        if kind == "type" and len(rest) == 1 and isinstance(rest[0], str) and rest[0] in types.TYPES:
            return types.TYPES[rest[0]]
        if len(rest) == 1 and kind in _NUMBERS:
            return self._number(_NUMBERS[kind], rest[0])
        if kind == "complex" and len(rest) == 2:
            return complex(*(self._number(float, part) for part in rest))
        return self._invalid(node)

    def _invalid(self, node: Any) -> Any:
        self._source.refuse(f"its structure has {brief(node)}, which is nothing that version 1 of the format has")

    def _list(self, items: Any) -> list[Any]:
        return items if isinstance(items, list) else self._invalid(items)

    def _pairs(self, items: Any) -> list[list[Any]]:
        for item in self._list(items):
            if not isinstance(item, list) or len(item) != 2:
                self._invalid(item)
        return items

    def _number(self, kind: type, text: Any) -> Any:
        # Python's own readers take blanks and underscores too, which is no way that this format has of a number.
        if not isinstance(text, str) or not text or set(text) - set("+-.0123456789aefin"):
            self._invalid(text)
        try:
            return kind(text)
        except ValueError as error:
            self._source.refuse(f"{brief(text)} is no {kind.__name__}", cause=error)

    def _dict(self, items: Any, depth: int) -> dict[Any, Any]:
        made = {}
        for key, item in self._pairs(items):
            name = self.value(key, depth + 1)
            if not _is_key(name):
                self._source.refuse(f"{brief(key)} is the key of a dict")
            if name in made:
                self._source.refuse(f"the key {brief(name)} of a dict is there twice")
            made[name] = self.value(item, depth + 1)
        return made

    def _instance(self, kind: str, module: Any, name: Any, items: Any, fields: Any, depth: int) -> Any:
        if not isinstance(module, str) or not isinstance(name, str):
            self._invalid([kind, module, name])
        class_ = self._classes.get(name) or declared_class(module, name)
        short = name.rpartition(".")[2]
        if class_ is None:
            self._source.refuse(
                f"it holds a {brief(name)} of the module {brief(module)}, which is not among the classes given.",
                f"Pass the class to be made: classes=[{short[:60]}].",
            )
        pairs = self._pairs(fields)
        names = [field for field, _ in pairs]
        if kind != _kind(class_) or not _fits(class_, names):
            wanted = declaration_of(class_).fields
            text = "other names for its attributes" if wanted is None else ", ".join(wanted)
            self._source.refuse(f"the {short[:60]} in it has the fields {brief(names)}, the class given has {text}")
        form, inner = self._form(class_, names, items, depth)
        # Not by its constructor: reading runs nobody's code.
        return form.filled([*inner, *[self.value(item, depth + 1) for _, item in pairs]])

    def _form(self, class_: type, names: list[str], items: Any, depth: int) -> tuple[ObjectForm, list[Any]]:
        """The form of an object of a class with these attributes, and its items."""
        declaration = declaration_of(class_)
        parts = None if items is None else self.value(items, depth + 1)
        if type(parts) is not {list: list, tuple: list, dict: dict, None: type(None)}[declaration.items]:
            self._invalid(items)
        length: Form | int | None = None
        if isinstance(parts, dict):
            length = Form(tuple(parts), tuple(map(type, parts)), class_)
        elif parts is not None:
            length = len(parts)
        inner = [*parts.values()] if isinstance(parts, dict) else parts or []
        return ObjectForm(class_, length, tuple(names), declaration.static), inner
