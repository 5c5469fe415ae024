"""Combinators of layers: `serial` (sequential), `parallel`, `residual` (skip connection) and `repeat`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.messages.grammar import counted
from nxkernel.nn.modules import Module, as_module, module
from nxkernel.ops.machinery.dispatch import operand

__all__ = ["parallel", "repeat", "residual", "serial"]


@module
def serial(*layers: Module | Callable[..., Any]) -> Callable[..., Any]:
    """Sequential: apply layers one after the other.

    Parameters
    ----------
    *layers : Module or callable
        Each takes what the one before gives. Functions of a tensor, such as ``nn.relu``, are layers without parameters.
        A module that stands in several places is one layer, with one set of parameters.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> net = nn.serial(nn.dense(16), nn.relu, nn.parallel(nn.dense(4), nn.dense(4)))
    >>> x = nx.iota((2, 3), type="f32")
    >>> params = net.init(nx.random.key(0), x)
    >>> left, right = net(params, x)
    >>> left.shape, right.shape
    ((2, 4), (2, 4))
    """
    layers = _modules("serial", layers)

    def apply(x: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return x

    return apply


@module
def parallel(*layers: Module | Callable[..., Any]) -> Callable[..., Any]:
    """Apply layers side by side: all to one input, or each to its own; gives a tuple.

    Parameters
    ----------
    *layers : Module or callable
        Given a tuple or list, each takes one of its entries; given anything else, each takes all of it.

    Returns
    -------
    Module
        It gives a tuple with what each layer gives.

    Raises
    ------
    NxValueError
        For a tuple or list of another length.

    Examples
    --------
    >>> from nxkernel import nn
    >>> both = nn.parallel(nn.relu, nn.tanh)
    >>> both({}, (nx.tensor(-1.0), nx.tensor(0.0)))[0].to_number()
    0.0
    """
    layers = _modules("parallel", layers)

    def apply(x: Any) -> tuple:
        if not isinstance(x, tuple | list):
            return tuple([layer(x) for layer in layers])
        if len(x) != len(layers):
            raise NxValueError(
                message(
                    f"expected {counted(len(layers), 'input')}, one for each layer, got {len(x)}.",
                    "A tensor goes to all of them.",
                )
            )
        return tuple([layer(one) for layer, one in zip(layers, x, strict=True)])

    return apply


@module
def residual(*layers: Module | Callable[..., Any], shortcut: Module | Callable[..., Any] | None = None) -> Any:
    """A residual block: apply layers one after the other and add the input (skip connection).

    Parameters
    ----------
    *layers : Module or callable
    shortcut : Module or callable, optional
        What the input goes through before it is added, such as ``nn.dense(16)`` where sizes differ.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.residual(nn.relu)({}, nx.tensor([-1.0, 2.0])).to_list()
    [-1.0, 4.0]
    """
    layers = _modules("residual", layers)
    around = as_module(shortcut, "the shortcut of residual") if shortcut is not None else None

    def apply(x: Any) -> Any:
        result = x
        for layer in layers:
            result = layer(result)
        straight = operand(around(x) if around is not None else x)
        if operand(result).shape != straight.shape:
            raise NxValueError(
                message(
                    f"expected layers that give {straight.spec}, as their input is, got {operand(result).spec}.",
                    "shortcut=nn.dense(…) brings the input to another size.",
                )
            )
        return straight + result

    return apply


def repeat(layer: Module, times: int) -> Module:
    """Stack copies of a layer one after the other, each with its own parameters.

    Parameters
    ----------
    layer : Module
    times : int

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> sorted(nn.repeat(nn.dense(3), 2).init(nx.random.key(0), nx.template((1, 3), "f32")))
    ['dense', 'dense_1']
    """
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise NxValueError(f"repeat takes a module and how many times it is repeated, at least 1, got {times!r}")
    layer = as_module(layer, "what repeat takes")
    return serial(*[layer.fresh() for _ in range(times)])


def _modules(name: str, layers: tuple) -> tuple[Module, ...]:
    return tuple([as_module(layer, f"{name}[{index}]") for index, layer in enumerate(layers)])
