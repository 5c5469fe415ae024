"""Splitting variables into leaves that the program computes and parts that stay static, and rebuilding them."""

from __future__ import annotations

import types as python
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from nxkernel import types
from nxkernel.container_classes import object_forms
from nxkernel.definitions.flow.values import array_aliases
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.flow.values.traced_text import is_chosen
from nxkernel.definitions.flow.values.unassigned_variables import is_unassigned
from nxkernel.definitions.keys.containers import written
from nxkernel.definitions.keys.static_values import by_contents
from nxkernel.dict_metadata import form_of, values_of
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue
from nxkernel.graph.tracing import VectorizedValueError
from nxkernel.numpy.arrays.array import Array, as_value
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, settled
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.arrays.subscripts import AxisRange, as_number
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.primitives import Spec, constant

#: How a variable is built, without its leaves: a kind, what belongs to that (the proxy or static value, the class, the
#: keys of a dict), and the structures of its parts.
Structure: TypeAlias = "tuple[str, Any, tuple[Structure, ...]]"
#: The kinds of parts that are no containers.
LEAF, HELD, NONE, PART = "leaf", "held", "unassigned", "part"
_CONSTANTS = (str, bytes, int, float, complex, bool, python.NoneType, python.EllipsisType, range, np.dtype)


def is_value(value: Any) -> bool:
    """Whether a value is a tensor, array or traced value, and no plain Python number."""
    return isinstance(value, Operand | Proxy | np.ndarray | np.generic)


def has_traced_length(value: Any) -> bool:
    """Whether a value is a part of an array whose length only the running program knows."""
    return isinstance(value, DynamicSlice | MaskedElements)


def is_traced(value: Any) -> bool:
    """Whether only the running program knows a value."""
    if has_traced_length(value):
        return True
    if isinstance(value, Proxy):
        value = value.__nx_operand__()
    return isinstance(value, TracedValue) and getattr(value, "primitive", None) is not constant


def known(value: Any) -> Any:
    """A condition or number that tracing knows, as a Python value; a constant of the graph is unwrapped."""
    if isinstance(value, Proxy):
        value = value.__nx_operand__()
    if isinstance(value, TracedValue) and not value.shape:
        return value.params["value"]
    return value


def has_values(value: Any, proxies: bool = True) -> bool:
    """Whether a value is, or contains, a tensor, array or traced value; `proxies` says whether proxies count."""
    if is_unassigned(value):
        return False
    if isinstance(value, Proxy):
        return proxies
    return is_value(value) or any(has_values(member, proxies) for member in _data(value))


def containers(value: Any) -> list[Any]:
    """A container and all containers in it."""
    if _opened(value) is None:
        return []
    return [value, *(container for member in _data(value) for container in containers(member))]


def _opened(value: Any) -> tuple[str, Any, list[Any]] | None:
    """The kind of a container, what its structure keeps of it, and its members; None for anything else."""
    if is_unassigned(value):
        return None
    kind = type(value)
    if kind is tuple or kind is list:
        return kind.__name__, None, list(value)
    found = object_forms.opened(value)
    if found is not None:
        return "object", *found
    form = form_of(value) if isinstance(value, dict) else None
    return None if form is None else ("dict", form, values_of(value))


def _data(value: Any) -> list[Any]:
    """The members of a container that are not static."""
    found = _opened(value)
    if found is None:
        return []
    kind, detail, members = found
    return object_forms.data_of(detail, members) if kind == "object" else members


def entered(values: Sequence[Any]) -> list[Any]:
    """The variables as a branch or loop sees them: NumPy arrays become read-only arrays of the program."""
    if not types.follows_numpy():
        return list(values)
    return [as_value(value) if type(value) is np.ndarray else value for value in values]


def take_apart(value: Any, leaves: list[Any]) -> Structure:
    """Append the leaves of a value, which the program computes, to `leaves`; returns its structure.

    It reads traced arrays, so it must be called in their trace.
    """
    if is_unassigned(value):
        return (NONE, value, ())
    if has_traced_length(value):
        part = settled(value)
        if isinstance(value, DynamicSlice) and part is not value:
            array_aliases.record_part(part.base.root, value.base.root)
        return _split_part(part, leaves)
    if is_number(value) or is_value(value):
        leaves.append(value if is_number(value) else plain(value.content() if is_place(value) else value))
        return (LEAF, value if isinstance(value, Proxy) else None, ())
    if is_chosen(value):
        leaves.append(value.leaves[0])
        return (LEAF, value, ())
    found = _opened(value)
    if found is None:
        return (HELD, value, ())
    kind, detail, members = found
    flags = detail.static_flags if kind == "object" else [False] * len(members)
    pairs = zip(members, flags, strict=True)
    return (kind, detail, tuple([(HELD, m, ()) if is_static else take_apart(m, leaves) for m, is_static in pairs]))


def has_traced(value: Any) -> bool:
    """Whether a value is traced, or is a container with traced values."""
    if isinstance(value, TracedValue | Proxy) or not has_values(value):
        return is_traced(value)
    leaves: list[Any] = []
    take_apart(value, leaves)
    return any(map(is_traced, leaves))


def is_place(value: Any) -> bool:
    """Whether a value is an array with storage, or a view of one."""
    return isinstance(value, Array | MutableArgument)


def arrays_of(structure: Structure) -> list[Any]:
    """For each leaf of a structure, the array that it was read from, or None."""
    kind, detail, children = structure
    if kind == LEAF:
        return [detail if is_place(detail) else None]
    return [array for child in children for array in arrays_of(child)]


def arrays_made(structure: Structure, value: Any) -> list[Any]:
    """For each leaf of a structure, the array that it became in a rebuilt value, or None."""
    kind, _, children = structure
    if kind == LEAF:
        return [value if is_place(value) else None]
    if kind in (HELD, NONE):
        return []
    if kind == PART:
        lengths = sum(map(count, children[1:]))
        return [*arrays_made(children[0], value.base), *[None] * lengths]
    members = _opened(value)[2]
    return [a for part, member in zip(children, members, strict=True) for a in arrays_made(part, member)]


def duplicate(value: Any) -> Any:
    """A copy of a container and the containers in it, with the same leaves."""
    leaves: list[Any] = []
    structure = take_apart(value, leaves)
    pairs = zip(leaves, arrays_of(structure), strict=True)
    return rebuild(structure, iter([leaf if array is None else array for leaf, array in pairs]))


def _split_part(part: DynamicSlice, leaves: list[Any]) -> Structure:
    """Split a part of traced length into its base array and the lengths."""
    lengths = [(axis, stretch.length) for axis, stretch in enumerate(part.stretches) if stretch]
    leaves += [plain(part.base.content()), *(as_number(length) for _, length in lengths)]
    return (PART, tuple([axis for axis, _ in lengths]), ((LEAF, part.base, ()), *((LEAF, None, ()) for _ in lengths)))


def _part(axes: Sequence[int], base: Array, lengths: Sequence[Any]) -> DynamicSlice:
    for axis, length in zip(axes, lengths, strict=True):
        if isinstance(length, Expr):
            integer_bounds.assume(length, 0, base.shape[axis])
    known = dict(zip(axes, lengths, strict=True))
    return DynamicSlice(
        base, tuple([AxisRange(0, known[axis]) if axis in known else None for axis in range(base.ndim)])
    )


def stretched(value: Array, axes: Iterable[int]) -> DynamicSlice:
    """An array as a part of itself, so that these axes may get other lengths in a loop."""
    axes = tuple(axes)
    return _part(axes, value, [as_number(value.shape[axis]) for axis in axes])


def plain(value: Any) -> Operand:
    """A tensor or traced value; refused if it has vectorized axes."""
    value_ = operand(value)
    if value_.vectorized_axes:
        raise VectorizedValueError(value_.spec)
    return value_


def rebuild(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Build a value from its structure and new leaves, with new mutable arrays."""
    kind, detail, children = structure
    if kind == LEAF:
        leaf = next(leaves)
        if detail is None or leaf is detail:
            return leaf
        result = detail.anew(leaf) if type(detail) is MutableArgument else detail.__nx_like__(leaf)
        if isinstance(detail, Array) and isinstance(result, Array):
            result.root.doubt = detail.root.doubt
        return result
    if kind in (HELD, NONE):
        return detail
    members = [rebuild(child, leaves) for child in children]
    if kind == PART:
        return _part(detail, members[0], members[1:])
    if kind == "list":
        return members
    return tuple(members) if kind == "tuple" else detail.filled(members)


def write_back(original: Any, new: Any) -> Any:
    """Replace the contents of a list, dict or object in place, for all who hold it."""
    found = object_forms.opened(original)
    if found is not None:
        found[0].write(original, new)
    elif isinstance(original, list):
        original[:] = new
    else:
        original.clear()
        original.update(new)
    return original


def is_mutable(value: Any) -> bool:
    """Whether a container can be changed in place."""
    found = _opened(value)
    if found is None or isinstance(value, tuple):
        return False
    parameters = getattr(type(value), "__dataclass_params__", None)
    return parameters is None or not parameters.frozen


def count(structure: Structure) -> int:
    """The number of leaves in a structure."""
    kind, _, children = structure
    return 1 if kind == LEAF else sum(map(count, children))


def same(one: Any, other: Any) -> bool:
    """Whether two static values are interchangeable: one object, or equal constants."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, types.Type):
        return one == other
    if isinstance(one, _CONSTANTS):
        return repr(one) == repr(other)
    state = by_contents(one)
    return state is not None and state == by_contents(other)


class MismatchError(Exception):
    """Raised where two values of one variable have different structures."""

    def __init__(self, path: str, one: Structure, other: Structure) -> None:
        super().__init__(path)
        self.path, self.parts = path, (one, other)


def fit(
    one: Structure, other: Structure, path: str, missing: Callable[[str, int], Any], keep_arrays: bool = False
) -> Structure:
    """The common structure of two values; what only one of them has becomes unassigned.

    Parameters
    ----------
    keep_arrays : bool, optional
        Whether an array that both values are stays that array, and is no leaf.
    missing : callable
        Makes the unassigned value for a part that one of them lacks, from its path and which one: 0 or 1.

    Raises
    ------
    MismatchError
    """
    if one[0] == NONE and one[1].pending:
        return arrays_kept(other, tracing.current()) if keep_arrays else other
    if other[0] == NONE and other[1].pending:
        return arrays_kept(one, tracing.current()) if keep_arrays else one
    if NONE in (one[0], other[0]):
        return (NONE, missing(path, 0 if one[0] == NONE else 1), ()) if one[0] != other[0] else one
    if one[0] == LEAF == other[0]:
        if is_chosen(one[1]) is not is_chosen(other[1]):
            raise MismatchError(path, one, other)
        if keep_arrays and is_place(one[1]) and is_place(other[1]) and _shows_same(one[1], other[1]):
            return (HELD, one[1], ())
        return (LEAF, one[1] if one[1] is not None else other[1], ())
    if one[0] == HELD == other[0]:
        if same(one[1], other[1]):
            return one
        raise MismatchError(path, one, other)
    alike = one[0] == other[0] and one[0] not in (LEAF, HELD) and len(one[2]) == len(other[2])
    if not alike or (one[1] is not other[1] and one[1] != other[1]):
        raise MismatchError(path, one, other)
    labels = _labels(one)
    children = [
        fit(a, b, f"{path}{label}", missing, keep_arrays) for a, b, label in zip(one[2], other[2], labels, strict=True)
    ]
    return (one[0], one[1], tuple(children))


def arrays_kept(structure: Structure, outside: tracing.Trace) -> Structure:
    """A structure in which arrays that the outer trace knows stay as they are, and are no leaves."""
    kind, detail, children = structure
    if kind == LEAF and is_place(detail) and not detail.steps and outside.knows(detail.root.cell):
        return (HELD, detail, ())
    return (kind, detail, tuple([arrays_kept(child, outside) for child in children]))


def _shows_same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, Array) and one.shows_same(other))


def paths(structure: Structure, path: str) -> list[str]:
    """The path of each leaf, as a person would write it."""
    if structure[0] == LEAF:
        return [path]
    if structure[0] in (HELD, NONE):
        return []
    labels = _labels(structure)
    return [inner for child, label in zip(structure[2], labels, strict=True) for inner in paths(child, path + label)]


def _labels(structure: Structure) -> list[str]:
    kind, detail, children = structure
    if kind == PART:
        return ["", *(f".shape[{axis}]" for axis in detail)]
    if kind == "dict":
        return [f"[{key!r}]" for key in detail.keys]
    if kind == "object":
        return detail.suffixes
    return [f"[{number}]" for number in range(len(children))]


def leaves_of(structure: Structure, leaves: Iterator[Any], wanted: Structure, missing: Any) -> list[Any]:
    """The leaves of a structure that a common structure has, too, in order; `missing` stands for others."""
    if wanted[0] == NONE:
        for _ in range(count(structure)):
            next(leaves)
        return []
    if structure[0] == NONE:
        return [missing] * count(wanted)
    if structure[0] == LEAF:
        selected = [next(leaves)]
        return selected if wanted[0] == LEAF else []
    selected = []
    for child, inner in zip(structure[2], wanted[2], strict=True):
        selected += leaves_of(child, leaves, inner, missing)
    return selected


def described(structure: Structure, leaves: Iterator[Any]) -> str:
    """A value for messages: its type, or what it is."""
    kind, detail, children = structure
    if kind == LEAF:
        return str(spec_of(next(leaves)))
    if kind == HELD:
        if isinstance(detail, _CONSTANTS):
            return repr(detail)
        return getattr(detail, "__name__", None) or type(detail).__name__
    if kind == NONE:
        return "no value"
    inner = [described(child, leaves) for child in children]
    if kind == PART:
        return f"a part of {inner[0]}"
    return written(kind, detail, inner)


def spec_of(leaf: Any) -> Spec:
    """The type, shape and axis names of a leaf."""
    return Spec(types.infer(leaf), (), ()) if is_number(leaf) else leaf.spec


def is_weak(leaf: Any) -> bool:
    """Whether a leaf is a Python number, or a traced value that stands for one."""
    return is_number(leaf) or tracing.weak(leaf)
