"""Functions of tensors applied to each leaf of a container."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from nxkernel.dict_metadata import form_of, values_of


def each(value: Any, function: Callable[[Any], Any], is_leaf: Callable[[list], bool] = lambda _: False) -> Any:
    """A container of the results of a function for each leaf.

    Parameters
    ----------
    value : tuple, list, dict, named tuple or dataclass, or a leaf
    function : callable
    is_leaf : callable, optional
        Whether a list is a leaf; without it none is.
    """
    if isinstance(value, tuple) or (isinstance(value, list) and not is_leaf(value)):
        items = [each(item, function, is_leaf) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        form = form_of(value)
        values = [each(item, function, is_leaf) for item in values_of(value)]
        return dict(zip(value, values, strict=True)) if form is None else form.filled(values)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # Not by its constructor, which may check or convert what it is given, and not take every field.
        container = object.__new__(type(value))
        for field in dataclasses.fields(value):
            object.__setattr__(container, field.name, each(getattr(value, field.name), function, is_leaf))
        return container
    return function(value)
