"""Functions of tensors applied to each leaf of a container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.container_classes.object_forms import opened
from nxkernel.dict_metadata import form_of, values_of


def each(value: Any, function: Callable[[Any], Any], is_leaf: Callable[[list], bool] = lambda _: False) -> Any:
    """A container of the results of a function for each leaf.

    Parameters
    ----------
    value : container, or a leaf
        Values of static fields stay what they are.
    function : callable
    is_leaf : callable, optional
        Whether a list is a leaf; without it none is.
    """
    if isinstance(value, list) and is_leaf(value):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)([each(item, function, is_leaf) for item in value])
    found = opened(value)
    if found is not None:
        form, parts = found
        pairs = zip(parts, form.static_flags, strict=True)
        return form.filled([part if is_static else each(part, function, is_leaf) for part, is_static in pairs])
    if isinstance(value, dict):
        form = form_of(value)
        values = [each(item, function, is_leaf) for item in values_of(value)]
        return dict(zip(value, values, strict=True)) if form is None else form.filled(values)
    return function(value)
