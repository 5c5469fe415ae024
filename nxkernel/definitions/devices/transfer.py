"""Transfers of tensors between devices and the host, and freeing their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nxkernel.definitions.keys import tree_functions
from nxkernel.errors import NxValueError, TracedValueError, message
from nxkernel.graph.expr import TracedValue, at_line
from nxkernel.messages import number_checks
from nxkernel.ops.machinery.dispatch import lasting
from nxkernel.ops.tensors.python_conversion import eager
from nxkernel.tensor import device

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import DeviceMemory


def backend_transfer(container: Any, backend: str = device.HOST) -> Any:
    """Move tensors to a device or to the host; their memory on another device is freed.

    A tensor that is there already is returned as it is. Tensors on the host can still be used afterwards. Tensors on a
    device cannot be used any more after their transfer, and neither can tensors that share their memory.

    Parameters
    ----------
    container : tensor or container
        Tensors, arrays and numbers.
    backend : str, optional
        ``"cpu"``, which is the host, or ``"cuda:0"`` and so on; ``"cuda"`` is the first GPU.

    Returns
    -------
    Tensor or container
        The same structure.

    Raises
    ------
    CudaUnavailableError
        Where no GPU can be used.
    DeviceMemoryError
        If its memory is too small.
    NxValueError
        If there is no such device.

    Examples
    --------
    >>> params = {"w": nx.tensor([1.0, 2.0]), "b": 0.5}
    >>> nx.backend_transfer(params, "cpu")["w"].device
    'cpu'
    """
    device.device_of(backend)
    return _each("backend_transfer", container, lambda tensor: device.transferred(tensor, backend))


def backend_copy(container: Any, backend: str = device.HOST) -> Any:
    """Copy tensors to a device or to the host; the originals stay.

    Parameters
    ----------
    container : tensor or container
        Tensors, arrays and numbers.
    backend : str, optional
        As for :func:`nxkernel.backend_transfer`.

    Returns
    -------
    Tensor or container
        The same structure. On a device each tensor has memory of its own; tensors on the host may share memory, as they
        are immutable.

    Raises
    ------
    CudaUnavailableError, DeviceMemoryError, NxValueError
        As for :func:`nxkernel.backend_transfer`.

    Examples
    --------
    >>> [each.to_list() for each in nx.backend_copy([nx.tensor([1, 2]), nx.tensor(3)])]
    [[1, 2], 3]
    """
    device.device_of(backend)
    return _each("backend_copy", container, lambda tensor: device.copied(tensor, backend))


def backend_deallocate(container: Any) -> int:
    """Free the memory of tensors on devices at once; using them afterwards is an error.

    Parameters
    ----------
    container : tensor or container

    Returns
    -------
    int
        The number of bytes freed; 0 for tensors on the host and for donated ones.

    Examples
    --------
    >>> nx.backend_deallocate(nx.tensor([1.0, 2.0]))
    0
    """
    freed: list[int] = []
    _each("backend_deallocate", container, lambda tensor: freed.append(device.deallocate(tensor)))
    return sum(freed)


def backend_names() -> list[str]:
    """The names of the devices: the host, and each GPU that can be used.

    Returns
    -------
    list of str

    Examples
    --------
    >>> nx.backend_names()[0]
    'cpu'
    """
    from nxkernel.backends.cuda import devices

    return [device.HOST, *(f"cuda:{index}" for index in range(devices.count()))]


def backend_memory(backend: str = "cuda", *, limit: int | str | None = "as it is") -> DeviceMemory:
    """The memory of a device in bytes: total, free, and this process's limit.

    Parameters
    ----------
    backend : str, optional
        ``"cuda:0"`` and so on.
    limit : int or None, optional
        The most bytes that this process takes from now on; None removes the limit. By default it stays as it is.

    Returns
    -------
    DeviceMemory
        In bytes: used by tensors, held for them and later ones, total, free, and the limit.

    Raises
    ------
    CudaUnavailableError
        Where no GPU can be used.
    NxTypeError, NxValueError
        If there is no such device, and for a limit that is no number of bytes.

    Examples
    --------
    To leave half of a GPU to others::

        nx.backend_memory("cuda:0", limit=nx.backend_memory("cuda:0").total // 2)
    """
    gpu = device.device_of(backend)
    if gpu is None:
        raise NxValueError(message("the memory of the host is not counted here.", 'Write "cuda:0".'))
    if limit != "as it is":
        if limit is not None:
            number_checks.count("backend_memory", "limit", limit)
        gpu.limit_memory(limit)
    return gpu.memory


def _each(function: str, container: Any, change: Any) -> Any:
    # A tensor that is in two places is brought over once.
    done: dict[int, Any] = {}
    kept = []

    def changed(leaf: Any) -> Any:
        if isinstance(leaf, TracedValue):
            raise TracedValueError(
                message(
                    f"{function} moves data; a traced value of type {leaf.spec} has none yet{at_line(leaf.source)}.",
                    "Move tensors before they are passed to a definition, or what it returns.",
                )
            )
        tensor = eager(lasting(leaf), function)
        if id(tensor) not in done:
            kept.append(tensor)
            done[id(tensor)] = change(tensor)
        return done[id(tensor)]

    return tree_functions.map_leaves(changed, container)
