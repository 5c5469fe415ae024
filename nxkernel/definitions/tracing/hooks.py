"""``hook`` and ``print_value``: callbacks on values of a compiled program, each time that it comes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.definitions.flow.control import repeated_calls
from nxkernel.definitions.keys import containers
from nxkernel.definitions.outputs import hook_delivery
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.outputs.printed_values import Labelled
from nxkernel.definitions.tracing import trace
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.ops.machinery import dispatch
from nxkernel.shapes import describe


def are_possible() -> bool:
    """Whether a hook can be called from here: branches, loops and functions that are mapped enclose the active trace,
    and nothing else.
    """
    return tracing.current().runs_once or repeated_calls.are_possible()


def hook(tensor: Any, name: str, function: Callable[[Any], Any] | None = None) -> Any:
    """Call a host function with the value of a tensor, or of a container, each time that the compiled program comes by.

    The function is the one that ``hooks=`` has for the name, as in ``nx.jit(f, hooks={"loss": losses.append})``, else
    `function`. Without a function the hook is no part of the program. Functions are called in the thread of the call,
    in the order of the hooks, before the call returns; their results are not used. The names in ``hooks=`` are part of
    the cache key, the functions are not: another function for a name compiles nothing.

    Parameters
    ----------
    tensor : tensor or container
    name : str
    function : callable, optional
        Takes the value, which has the structure of `tensor`.

    Returns
    -------
    tensor or container
        `tensor`. The hook is called whether or not this is used.

    Raises
    ------
    NxTypeError
        If there is a function for the name: in what is traced on its own, such as the function of
        :func:`nxkernel.reduce`; and in a loop for the compiler ``numba_cuda``.

    Notes
    -----
    There are no tokens, which Nx has had for hooks whose value nothing uses, and deprecates: a hook is part of the
    program by itself, and hooks are called in the order in which they are written.

    In a branch it is called if that is taken, and in a loop in each turn, while the program runs. Under
    :func:`nxkernel.vmap` it is called for each entry that comes by, one after the other; with a value that is the same
    for all of them, once. Other hooks are called when the program has run, or when the next loop begins that has one.
    Gradients call it as often as the function itself would. Values come out in no other way: a call does not return
    what it has marked, for that a function returns it beside its result.

    Programs with a `function` belong to one function object: if a cell defines it again, they are made again, of the
    cached kernels.

    Examples
    --------
    >>> @nx.defn
    ... def step(w, x):
    ...     loss = nx.hook(nx.sum((w * x - 1) ** 2), "loss")
    ...     return w - 0.1 * loss
    >>> losses = []
    >>> watched = nx.jit(step, hooks={"loss": losses.append})
    >>> _ = watched(2.0, nx.tensor([1.0, 2.0]))
    >>> [float(loss) for loss in losses]
    [10.0]

    In a loop, and for many entries:

    >>> @nx.defn
    ... def halved(x):
    ...     while x > 1:
    ...         x = nx.hook(x / 2, "half")
    ...     return x
    >>> halves = []
    >>> _ = nx.jit(nx.vmap(halved), hooks={"half": halves.append})(nx.tensor([6.0, 1.0, 2.0]))
    >>> [float(half) for half in halves]
    [3.0, 1.0, 1.5, 0.75]
    """
    if not isinstance(name, str):
        raise NxTypeError(
            message(f"the name of a hook is a str, got {describe(name)}.", 'Write nx.hook(tensor, "name", fun).')
        )
    if function is not None and not callable(function):
        raise NxTypeError(
            message(
                f"the hook {name!r} takes a function, got {describe(function)}.", 'Write nx.hook(tensor, "name", fun).'
            )
        )
    run = tracing.current()
    if run is None:
        structure, leaves = _taken_apart(tensor, "hook")
        if function is not None:
            value = containers.rebuild(structure, iter([dispatch.operand(leaf) for _, leaf in leaves]))
            Hook(name, function).call(value, {}, "no definition")
        return tensor
    if trace.is_given(name, run):
        _ask(Hook(name, None), tensor, run, "hook")
    elif (called := hook_delivery.of_parts(name) or function) is not None:
        _ask(Hook(name, called), tensor, run, "hook")
    return tensor


def print_value(tensor: Any, label: str = "") -> Any:
    """Print the value of a tensor, or of a container of tensors, each time that the compiled program comes by.

    Values are printed in the order in which the definition asks for them: in loops while the program runs, those of
    each turn; under :func:`nxkernel.vmap` those of each entry; others before the next loop that prints, or when the
    program has finished.

    Parameters
    ----------
    tensor : tensor or container
    label : str, optional
        Printed before it, with a colon; one that ends in a blank is printed as it is.

    Returns
    -------
    tensor or container
        `tensor`.

    Examples
    --------
    >>> double = nx.jit(lambda t: nx.print_value(t * 2, "twice"))
    >>> _ = double(4.0)
    twice: Tensor(8.0, f32)
    """
    if not isinstance(label, str):
        raise NxTypeError(f"the label of a value that is printed is a str, got {describe(label)}")
    if label and not label[-1].isspace():
        label = f"{label.removesuffix(':')}: "
    show, run = Labelled(label), tracing.current()
    if run is None:
        show(tensor)
    else:
        _ask(Hook(None, show), tensor, run, "print_value")
    return tensor


def defer_call(call: Callable[[tuple], Any], leaves: tuple) -> None:
    """Have a call made after the program has run, with values that it computes."""
    _ask(Hook(None, call), leaves, tracing.current(), "print_value")


def _ask(hook: Hook, value: Any, run: tracing.Trace, function: str) -> None:
    structure, leaves = _taken_apart(value, function)
    trace.ask(hook, structure, [trace.output_of(leaf, run) for _, leaf in leaves], run)


def _taken_apart(value: Any, function: str) -> tuple[Any, list[tuple[str, Any]]]:
    leaves: list[tuple[str, Any]] = []
    return containers.flatten(value, "the value", leaves, containers.no_tensor(function)), leaves
