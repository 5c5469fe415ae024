"""Where a traced value is, as the array API asks: where its program will run, which nobody knows yet."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import TracedValueError, message


def device(tensor: Any) -> None:
    """None, for where the program will run, as ``device=None`` says it to functions of the array API."""
    return


def to_device(tensor: Any, device: None, /, *, stream: None = None) -> Any:
    """The traced value, where it is.

    Parameters
    ----------
    tensor : tensor
    device : None
        As :attr:`device` gives it.
    stream : None, optional

    Returns
    -------
    Tensor

    Raises
    ------
    TracedValueError
        For a place by its name: a program runs in one.

    Examples
    --------
    >>> nx.jit(lambda t: t.to_device(t.device) * 2)(3).to_number()
    6
    """
    if device is not None or stream is not None:
        raise TracedValueError(
            message(
                "to_device() of a traced value takes None: a program runs in one place.",
                "Put the tensors that the definition is called with there: f(t.to_device(…)).",
            )
        )
    return tensor
