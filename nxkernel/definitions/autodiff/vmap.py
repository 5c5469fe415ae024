"""vmap: a function of one entry becomes a function of many."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.calls.definition import Definition, Parameters, Result
from nxkernel.definitions.flow.control.checks import InnerChecks
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.tracing import dialects, subgraphs
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import a, counted
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.operand import Operand, entry_spec
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.transforms.vectorize import vectorize

#: An axis, None for the same in every entry, or a container of those.
Axes = Any


def vmap(
    function: Callable[Parameters, Result], in_axes: Axes = 0, out_axes: Axes = 0, *, promotion: str | None = None
) -> Definition[Parameters, Result]:
    """Vectorize a function of one entry: the new function takes many, along an axis of each argument.

    Parameters
    ----------
    function : callable
        Takes one entry. A plain function is traced as it is, so its Python loops are unrolled; in a function with
        ``@nx.defn`` they are loops of the program.
    in_axes : int, None or container of them
        Along which axis the entries of the arguments lie: for all of them, or a tuple with one for each, which may be a
        container like the argument. None says that every entry is given the same, and so are functions, texts and None,
        which have no axes. Negative ones count from the end.
    out_axes : int, None or container of them
        Along which axis those of the result lie; None for a result that is the same for every entry.
    promotion : {"nx", "numpy"}, optional
        Whose rules hold, as :func:`nxkernel.defn` takes it.

    Returns
    -------
    callable
        Options, which go by keyword, are the same for every entry.

    Raises
    ------
    NxValueError
        Where arguments have different numbers of entries, or none of them has any.

    Examples
    --------
    >>> nx.vmap(nx.dot)(nx.tensor([[1, 2], [3, 4]]), nx.tensor([[1, 1], [2, 2]])).to_list()
    [3, 14]
    >>> nx.vmap(lambda row, by: row * by, in_axes=(1, None))(nx.tensor([[1, 2], [3, 4]]), 10).to_list()
    [[10, 30], [20, 40]]
    """
    function = differentiated_variables.checked(function, "vmap")
    name, function = f"vmap of {callables.name(function)}", differentiated_variables.inlined(function)

    @differentiated_variables.transform(name)
    @functools.wraps(function, updated=())
    def mapped(*args: Any, **options: Any) -> Any:
        args, options = differentiated_variables.by_position(function, args, options)
        while args and args[-1] is Default.SHARED:
            args.pop()
        arguments = _Arguments(callables.signature(function), args, in_axes, name)
        call = differentiated_variables.guard_shared_arrays(function, name, args, options)

        def one(*nodes: Expr) -> Any:
            with checks:
                result = call(*differentiated_variables.separate_copies(arguments.of_one(nodes)), **options)
            return (result, checks.leaves) if checks.leaves else result

        checks = InnerChecks()
        graph, outside, structure = subgraphs.traced(
            name, one, arguments.specs, differentiated_variables.no_value(name)
        )
        if checks.leaves:
            structure = structure[2][0]
        axes = [*_spread(out_axes, structure, f"{name}: out_axes"), *[0] * len(checks.leaves)]
        flags = [True] * len(arguments.values) + [False] * len(outside)
        batched = vectorize(graph, arguments.size, flags, [axis is not None for axis in axes])
        values = [*arguments.values, *[value if isinstance(value, Operand) else operand(value) for value in outside]]
        made = subgraphs.placed(batched.graph, values)
        count = len(made) - len(checks.leaves)
        checks.keep(made[count:])
        results = [
            _moved(value, axis, flag, arguments.axis_name, name)
            for value, axis, flag in zip(made[:count], axes[:count], batched.mapped[:count], strict=True)
        ]
        return containers.rebuild(structure, iter([differentiated_variables.in_dialect(value) for value in results]))

    # Defaults have no entries: they are left to the function.
    signature = callables.signature(function)
    mapped.__signature__ = signature.replace(parameters=list(map(_left_out, signature.parameters.values())))
    return differentiated_variables.of(function, mapped, promotion)


class Default(enum.Enum):
    """What stands for the default of an argument that a call of a vectorized function leaves out."""

    SHARED = "the same in every entry"


def _left_out(one: inspect.Parameter) -> inspect.Parameter:
    return one if one.default is one.empty or one.kind is one.KEYWORD_ONLY else one.replace(default=Default.SHARED)


class _Arguments:
    """The arguments of a call of a vectorized function, some of which have an axis of entries.

    Attributes
    ----------
    values : list
        The leaves with an axis of entries, which is axis 0.
    specs : list of (str, Spec)
        Path and spec of one entry of each.
    size : int
        The number of entries.
    axis_name : str or None
        The name of that axis, if all arguments agree.
    """

    def __init__(self, signature: inspect.Signature, args: Sequence[Any], in_axes: Axes, name: str) -> None:
        axes = _for_each(in_axes, len(args), name)
        paths = _paths(signature, len(args))
        # A default of NumPy's own is None for most functions, and the rest do without.
        defaults = [None if one.default is LEFT_OUT else one.default for one in signature.parameters.values()]
        self._args = [defaults[place] if value is Default.SHARED else value for place, value in enumerate(args)]
        self._parts: list[tuple[Any, list[Any], list[int | None]] | None] = []
        self.values: list[Operand] = []
        self.specs: list[tuple[str, Spec]] = []
        sizes: list[tuple[int, str, int]] = []
        names: set[str | None] = set()
        for arg, axis, path in zip(args, axes, paths, strict=True):
            if axis is None or dialects.is_static(arg, dialects.current()):
                # What is no data has no entries.
                self._parts.append(None)
                continue
            leaves: list[tuple[str, Any]] = []
            structure = containers.flatten(arg, path, leaves, _no_entries(name))
            leaf_axes = _spread(axis, structure, f"{name}: in_axes of {path}")
            self._parts.append((structure, [leaf for _, leaf in leaves], leaf_axes))
            for (label, leaf), axis_ in zip(leaves, leaf_axes, strict=True):
                if axis_ is None:
                    continue
                value = operand(leaf, label)
                axis_ = _axis(axis_, value.spec, f"{name}: {label}")
                sizes.append((value.shape[axis_], label, axis_))
                names.add(value.names[axis_])
                self.values.append(_in_front(value, axis_))
                spec = entry_spec(self.values[-1].spec)
                self.specs.append((label, Spec(spec.type, spec.shape[1:], spec.names[1:])))
        self.size = _size(sizes, name)
        known = names - {None}
        self.axis_name = known.pop() if len(known) == 1 else None

    def of_one(self, nodes: Sequence[Expr]) -> list[Any]:
        """The arguments that the function gets for one entry."""
        supply, arguments = iter(nodes), []
        for arg, part in zip(self._args, self._parts, strict=True):
            if part is None:
                arguments.append(arg)
                continue
            structure, leaves, axes = part
            seen = [
                leaf if axis is None else differentiated_variables.in_dialect(next(supply), leaf)
                for leaf, axis in zip(leaves, axes, strict=True)
            ]
            arguments.append(containers.rebuild(structure, iter(seen)))
        return arguments


def _no_entries(name: str) -> Callable[[str, Any], Exception]:
    def refuse(path: str, value: Any) -> Exception:
        what = f"{name}: {path} is {a(type(value).__name__)}, which has no axis of entries."
        return NxTypeError(message(what, "None in its place of in_axes gives it to every entry as it is."))

    return refuse


def _for_each(in_axes: Axes, count: int, name: str) -> Sequence[Axes]:
    if in_axes is None or isinstance(in_axes, int):
        return [in_axes] * count
    if not isinstance(in_axes, list | tuple):
        raise NxTypeError(
            message(
                f"{name}: in_axes is an axis, None, or a tuple with one for each argument, got {describe(in_axes)}.",
                "For one argument that is a container, write in_axes=({...},).",
            )
        )
    if len(in_axes) != count:
        raise NxValueError(
            f"{name}: in_axes is for {counted(len(in_axes), 'argument')}, and there are "
            f"{counted(count, 'positional argument')}"
        )
    return in_axes


def _spread(axes: Axes, structure: Any, what: str) -> list[int | None]:
    """The axis of entries of each leaf, from axes that are given for a container or any part of it."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * containers.count(structure)
    if not containers.count(structure):
        # A text or None, which have no axes: what stands in their places is as good as any other.
        return []
    parts = _parts(axes, structure)
    if parts is None:
        raise NxTypeError(
            f"{what}: an axis, None, or a container of them like the value, {containers.describe(structure)}, "
            f"got {axes!r}"
        )
    return [axis for part, child in zip(parts, structure[2], strict=True) for axis in _spread(part, child, what)]


def _parts(axes: Axes, structure: Any) -> list[Axes] | None:
    """The axes that are given for each part of a container; None where the axes are built differently."""
    if structure == containers.LEAF:
        return None
    kind, detail, children = structure
    inner: list[Axes] | None = None
    if kind == "object" and isinstance(axes, detail.class_):
        opened = containers.inside(axes)
        inner = [part for _, part in opened[2]] if opened is not None and opened[1].names == detail.names else None
    elif (kind in ("tuple", "list") or (kind == "object" and issubclass(detail.class_, tuple | list))) and isinstance(
        axes, list | tuple
    ):
        inner = list(axes)
    elif kind == "dict" and isinstance(axes, dict) and set(axes) == set(detail.keys):
        inner = [axes[key] for key in detail.keys]
    return inner if inner is not None and len(inner) == len(children) else None


def _axis(axis: int, spec: Any, what: str) -> int:
    rank = len(spec.shape)
    if not -rank <= axis < rank:
        raise NxValueError(
            message(
                f"{what} has no axis {axis}, it is {spec}.",
                "in_axes and out_axes say along which axis entries lie; in_axes=None is for what all of them share.",
            )
        )
    return axis % rank


def _size(sizes: Sequence[tuple[int, str, int]], name: str) -> int:
    if not sizes:
        raise NxValueError(
            message(
                f"{name}: no argument has an axis of entries.",
                "in_axes says along which axis they lie; None is for what is the same in every entry.",
            )
        )
    if len({size for size, _, _ in sizes}) > 1:
        counts = ", ".join(f"{label} has {size} along axis {axis}" for size, label, axis in sizes)
        raise NxValueError(
            message(f"{name}: arguments have different numbers of entries: {counts}.", "in_axes=None keeps one whole.")
        )
    return sizes[0][0]


def _in_front(value: Operand, axis: int) -> Operand:
    """Move an axis to the front, and drop its name."""
    if axis:
        order = (axis, *[other for other in range(value.rank) if other != axis])
        value = apply(p.transpose, value, axes=order)
    if value.names[0] is None:
        return value
    return apply(p.reshape, value, shape=value.shape, names=(None, *value.names[1:]))


def _moved(value: Operand, axis: int | None, mapped: bool, axis_name: str | None, name: str) -> Operand:
    """Move the axis of entries, the first one, to where ``out_axes`` wants it."""
    if axis is None:
        if mapped:
            raise NxValueError(
                message(
                    f"{name}: out_axes=None is for a result that is the same for every entry, and one of them differs.",
                    "out_axes=0 puts the entries along its first axis.",
                )
            )
        return value
    axis = _axis(axis, value.spec, f"{name}: the result")
    if axis_name is not None and axis_name not in value.names:
        entry = entry_spec(value.spec)
        value = apply(p.reshape, value, shape=entry.shape, names=(axis_name, *entry.names[1:]))
    if not axis:
        return value
    order = list(range(1, value.rank))
    order.insert(axis, 0)
    return apply(p.transpose, value, axes=tuple(order))


def _paths(signature: inspect.Signature, count: int) -> list[str]:
    parameters = signature.parameters.values()
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return [*names[:count], *callables.rest(signature, count - len(names))]
