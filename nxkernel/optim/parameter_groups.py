"""Transformations by parameter group: `masked`, `multi_transform` by label, and `set_to_zero` to freeze."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.optim import _leaves
from nxkernel.optim.transformation import Transformation, check, stateless, transformation
from nxkernel.shapes import describe


@transformation
def masked(inner: Transformation, mask: Any) -> Transformation:
    """Apply a transformation to the parameters that a mask selects; the gradients of the others pass unchanged.

    Parameters
    ----------
    inner : Transformation
    mask : container of bool, or callable
        Built like the parameters, where one bool can stand for a whole part; or what makes such a container of them.

    Returns
    -------
    Transformation
        Its state has ``()`` in place of the leaves that it leaves alone.

    Examples
    --------
    >>> from nxkernel import optim
    >>> decay = optim.masked(optim.add_decayed_weights(0.1), {"w": True, "b": False})
    >>> params = {"w": nx.tensor(2.0), "b": nx.tensor(2.0)}
    >>> updates, _ = decay.update({"w": nx.tensor(0.0), "b": nx.tensor(0.0)}, decay.init(params), params)
    >>> round(float(updates["w"]), 6), float(updates["b"])
    (0.2, 0.0)
    """
    check("optim.masked takes a gradient transformation, the first argument", inner)
    _leaves.check_labels(mask, bool, "mask", _no_flag)

    def init(params: Any) -> Any:
        return inner.init(_leaves.only(params, flags(params, "params"), "params"))

    def flags(value: Any, name: str) -> list[bool]:
        return _leaves.spread(mask(value) if callable(mask) else mask, value, bool, name, "mask", _no_flag)

    def change(grads: Any, state: Any, params: Any, learning_rate: Any = None) -> tuple[Any, Any]:
        grads = grads if params is None else _leaves.arranged(grads, params)
        chosen = flags(grads, "grads") if params is None else flags(params, "params")
        some = None if params is None else _leaves.only(params, chosen, "params")
        updates, state = inner.update(_leaves.only(grads, chosen, "grads"), state, some, learning_rate)
        return _put(grads, [(updates, chosen)]), state

    return Transformation(init, change, inner.rated)


@transformation
def multi_transform(transformations: Mapping[str, Transformation], labels: Any) -> Transformation:
    """Apply a different transformation to each group of parameters, by label: other learning rates, frozen layers.

    Parameters
    ----------
    transformations : dict
        By label.
    labels : container of str, or callable
        Built like the parameters, where one label can stand for a whole part; or what makes such a container of them.

    Returns
    -------
    Transformation
        Its state is a dict by label. A learning rate that an update is given goes before those of all of them.

    Examples
    --------
    >>> from nxkernel import optim
    >>> optimizer = optim.multi_transform(
    ...     {"fine": optim.sgd(0.1), "frozen": optim.set_to_zero()}, {"encoder": "frozen", "head": "fine"}
    ... )
    >>> params = {"encoder": {"w": nx.tensor(1.0), "b": nx.tensor(1.0)}, "head": {"w": nx.tensor(1.0)}}
    >>> updates, _ = optimizer.update(params, optimizer.init(params), params)
    >>> float(updates["encoder"]["w"]), round(float(updates["head"]["w"]), 6)
    (0.0, -0.1)
    """
    if not isinstance(transformations, Mapping) or not transformations:
        raise NxTypeError(
            message(
                f"optim.multi_transform takes transformations by label in a dict, got {describe(transformations)}.",
                'Such as {"fine": optim.adam(1e-4), "frozen": optim.set_to_zero()}.',
            )
        )
    for label, one in transformations.items():
        check(f"optim.multi_transform takes gradient transformations, that of {label!r}", one)
    _leaves.check_labels(labels, str, "labels", _no_label)
    rated = any(one.rated for one in transformations.values())

    def chosen(value: Any, name: str) -> dict[str, list[bool]]:
        labels_ = _leaves.spread(labels(value) if callable(labels) else labels, value, str, name, "labels", _no_label)
        for (path, _), label in zip(_leaves.flat(value, name)[1], labels_, strict=True):
            if label not in transformations:
                known = ", ".join(map(repr, transformations))
                raise NxValueError(f"optim.multi_transform: {path} has the label {label!r}, and there are {known}")
        return {label: [one == label for one in labels_] for label in transformations}

    def init(params: Any) -> dict[str, Any]:
        groups = chosen(params, "params")
        return {
            label: one.init(_leaves.only(params, groups[label], "params")) for label, one in transformations.items()
        }

    def change(grads: Any, state: dict, params: Any, learning_rate: Any = None) -> tuple[Any, dict]:
        if set(state) != set(transformations):
            raise NxValueError(
                message(
                    "the state of optim.multi_transform has the labels "
                    f"{sorted(transformations)}, got {sorted(state)}.",
                    "It belongs to another optimizer: make one with init(params).",
                )
            )
        grads = grads if params is None else _leaves.arranged(grads, params)
        groups = chosen(grads, "grads") if params is None else chosen(params, "params")
        parts, after = [], {}
        for label, one in transformations.items():
            some = None if params is None else _leaves.only(params, groups[label], "params")
            part = _leaves.only(grads, groups[label], "grads")
            updates, after[label] = one.update(part, state[label], some, learning_rate if one.rated else None)
            parts.append((updates, groups[label]))
        return _put(grads, parts), after

    return Transformation(init, change, rated, dict)


@transformation
def set_to_zero() -> Transformation:
    """Updates of 0, whatever the gradients are: it freezes parameters.

    Returns
    -------
    Transformation

    Examples
    --------
    >>> from nxkernel import optim
    >>> optim.set_to_zero().update(nx.tensor([3.0, float("nan")]), ())[0].to_list()
    [0.0, 0.0]
    """
    return Transformation(stateless, lambda grads, state, params: (_leaves.zeros(grads), state))


def _put(grads: Any, parts: list[tuple[Any, list[bool]]]) -> Any:
    """Gradients in which the leaves that were chosen are replaced by their updates."""
    structure, leaves = _leaves.flat(grads, "grads")
    leaves_ = [leaf for _, leaf in leaves]
    for updates, chosen in parts:
        supply = iter(_leaves.flat(updates, "updates")[1])
        leaves_ = [next(supply)[1] if take else leaf for leaf, take in zip(leaves_, chosen, strict=True)]
    return containers.rebuild(structure, iter(leaves_))


def _no_flag(path: str, value: Any) -> Exception:
    return NxTypeError(f"a mask has True or False for each leaf, {path} is {describe(value)}")


def _no_label(path: str, value: Any) -> Exception:
    return NxTypeError(f"labels are a str for each leaf, {path} is {describe(value)}")
