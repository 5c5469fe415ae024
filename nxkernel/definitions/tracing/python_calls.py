"""``host_call``: a Python function of arrays whose result a compiled program goes on with."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.keys import callables, containers, source_locations
from nxkernel.definitions.outputs import host_results
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.library_functions import HostFunction
from nxkernel.numpy.arrays.array import wrap
from nxkernel.operand import Operand, Proxy, VectorizedSpec, entry_spec
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.machinery.known_parts import Slot, filled, frozen, given_copies, taken_out
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Template


def host_call(function: Callable[..., Any], like: Any, *args: Any, vectorized: bool = False) -> Any:
    """Call a Python function in the middle of a compiled program, which goes on with its result.

    It is for what a program cannot compute: a function of another library, a table on disk, a generator of numbers. The
    function gets NumPy's arrays of its own at each run, in loops at each turn, and the interpreter is locked while it
    runs. What it raises comes out of the call of the program.

    Parameters
    ----------
    function : callable
        Takes the arguments, with arrays and NumPy's numbers in place of traced values. It is called whenever the
        program needs the result: not at all where nothing uses it, and once where two calls are equal.
    like : tensor, array, number, template or container of these
        Of the shapes and types that the function gives.
    *args : tensor, number or container
        What a program does not compute, such as texts, whole numbers and None, is passed as it is.
    vectorized : bool, optional
        Whether the function takes arrays with one more axis in front, and gives such: under :func:`nxkernel.vmap` it is
        called once, with all entries of each argument. Else it is called for each entry.

    Returns
    -------
    tensor or container of tensors
        As `like`.

    Raises
    ------
    NxTypeError
        If `function` cannot be called, or `like` holds anything but numbers; for a gradient through the call, which
        :func:`nxkernel.custom_grad` gives.
    NxValueError
        When the program runs, for a result of another shape, a wider type or another structure than `like`.

    Notes
    -----
    The compiler ``numba_cuda`` refuses it.

    Examples
    --------
    >>> def median(x):
    ...     return sorted(x)[len(x) // 2]
    >>> @nx.jit
    ... def centred(x):
    ...     return x - nx.host_call(median, x[0], x)
    >>> centred(nx.tensor([5.0, 1.0, 3.0])).to_list()
    [2.0, -2.0, 0.0]

    The gradient is one's own:

    >>> @nx.jit
    ... def power(x):
    ...     y = nx.host_call(lambda x: x**3, x, x)
    ...     return nx.custom_grad(y, [x], lambda g: [g * 3 * x**2])
    >>> float(nx.grad(power)(2.0))
    12.0
    """
    if not callable(function):
        raise NxTypeError(
            message(
                f"host_call takes a function, got {describe(function)}.",
                "Write nx.host_call(function, like, x): then what its result is like, then its arguments.",
            )
        )
    _check_captures(function)
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(like, "like", leaves, _no_number)
    arrays: list[Any] = []
    known = taken_out(args, arrays)
    name = callables.name(function)
    in_order = all(type(one) is Slot and one.index == place for place, one in enumerate(known))

    def call_once(values: tuple[np.ndarray, ...]) -> list[Any]:
        own = given_copies(values)
        return _parts(name, function(*(own if in_order else filled(known, own))), structure)

    def call(*values: np.ndarray) -> list[Any]:
        return host_results.of(identity, values, functools.partial(call_once, values))

    identity = ("host_call", id(function), vectorized, frozen(known), structure)
    called = HostFunction(
        name,
        identity,
        call,
        tuple([_declared(path, leaf) for path, leaf in leaves]),
        len(leaves) == 1,
        elementwise=bool(vectorized),
        quiet=False,
        declared_by=f"nx.host_call ({source_locations.caller()}) says so by `like`: mend that, or what {name} returns.",
        underivable="Nobody but its author knows the derivative of a Python function.",
    )
    results = _applied(called, [operand(array) for array in arrays]) if leaves else []
    return containers.rebuild(structure, iter(map(_in_dialect, results)))


def _in_dialect(value: Operand) -> Any:
    return wrap(value) if types.follows_numpy() else value


def _declared(path: str, leaf: Any) -> Spec:
    spec = leaf.spec if isinstance(leaf, Template) else operand(leaf).spec
    if isinstance(spec, VectorizedSpec):
        spec = entry_spec(spec)
    return Spec(spec.type, spec.shape, spec.names)


def _no_number(path: str, value: Any) -> Exception:
    return NxTypeError(
        message(
            f"host_call has to be told what its function gives: {path} is {describe(value)}.",
            'Write an array or number like it, or nx.template((3,), "f32"), or a list, tuple or dict of these.',
        )
    )


def _check_captures(function: Callable[..., Any]) -> None:
    """Refuse a function that reads traced values from around it: when it is called they are gone."""
    for name, cell in zip(*_cells(function), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if isinstance(value, TracedValue | Proxy):
            raise NxTypeError(
                message(
                    f"host_call: {callables.name(function)} reads {name} from around it, a traced value.",
                    f"Make it an argument: nx.host_call({callables.name(function)}, like, ..., {name}).",
                )
            )


def _cells(function: Callable[..., Any]) -> tuple[Sequence[str], Sequence[Any]]:
    plain = callables.plain(function)
    code = getattr(plain, "__code__", None)
    return (code.co_freevars, plain.__closure__ or ()) if code is not None else ((), ())


def _parts(name: str, result: Any, structure: containers.Structure) -> list[Any]:
    """The parts of what the function gave, in the order of those of `like`."""
    if structure == containers.LEAF:
        return [result]

    def refuse(path: str, value: Any) -> Exception:
        return _other_structure(name, f"{describe(value)} as {path}", structure)

    leaves: list[tuple[str, Any]] = []
    found = containers.flatten(result, "the result", leaves, refuse)
    ordered = containers.leaves_like(structure, found, leaves)
    if ordered is None:
        raise _other_structure(name, containers.describe(found), structure)
    return [value for _, value in ordered]


def _other_structure(name: str, gave: str, structure: containers.Structure) -> NxValueError:
    return NxValueError(
        message(
            f"{name} gave {gave}, expected was {containers.describe(structure)}.",
            "The second argument of nx.host_call is built as the result is.",
        )
    )


def _applied(function: HostFunction, values: Sequence[Operand]) -> list[Operand]:
    run = tracing.current()
    if run is not None:
        host_results.note_call(run)

    def of(*nodes: Operand) -> list[Operand]:
        found = apply(p.njit_call, *nodes, function=function)
        return [found] if function.single else list(found)

    if not any(value.vectorized_axes for value in values):
        return of(*values)
    if run is None:
        raise NxTypeError(
            message(
                f"{function.name} is called with tensors that have vectorized axes.",
                "Call it in a definition, or nx.vmap(...) of a function that does, or on nx.devectorize(t).",
            )
        )
    specs = [(f"x{number}", entry_spec(value.spec)) for number, value in enumerate(values)]
    graph, outside, _ = subgraphs.traced("host_call", of, specs, _no_number)
    return subgraphs.placed(graph, [*values, *outside])
