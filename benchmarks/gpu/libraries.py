"""The contenders on a GPU: how each takes arrays, compiles a function, is waited for, and gives arrays back."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import GPU_PEERS, SUBJECT
from benchmarks.peers import libraries


@dataclass(frozen=True)
class Library:
    """A contender.

    Parameters
    ----------
    name : str
        As the table says it.
    place : callable
        Takes a NumPy array, gives it where the library's programs want it.
    compiled : callable
        Takes a function, and options by keyword that are fixed, and gives the compiled function.
    wait : callable
        Takes a result and comes back when it is there.
    host : callable
        Takes an array of the library and gives one of NumPy.
    free : callable
        Gives memory back that the library keeps for later.
    """

    name: str
    place: Callable[[np.ndarray], Any]
    compiled: Callable[..., Callable[..., Any]]
    wait: Callable[[Any], Any]
    host: Callable[[Any], np.ndarray]
    free: Callable[[], Any] = gc.collect

    def placed(self, value: Any) -> Any:
        """An array, or a dict of them, where the library wants it."""
        if isinstance(value, Mapping):
            return {key: self.placed(part) for key, part in value.items()}
        return self.place(value)

    def arrays(self, value: Any) -> list[np.ndarray]:
        """What a program gave, a value or containers of them, as arrays of NumPy; dicts in the order of their keys."""
        if isinstance(value, Mapping):
            return [leaf for key in sorted(value) for leaf in self.arrays(value[key])]
        if isinstance(value, tuple | list):
            return [leaf for part in value for leaf in self.arrays(part)]
        return [self.host(value)]


def environment() -> dict[str, str]:
    """The variables of a process that measures: memory is shared, and nothing that was compiled is kept."""
    return {
        "NXKERNEL_CACHE_DIR": "off",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "JAX_ENABLE_COMPILATION_CACHE": "false",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    }


def there(gpu: bool, peers: Sequence[str] = GPU_PEERS) -> tuple[list[Library], list[str]]:
    """The contenders, the subject last, and of those that are missing why.

    Parameters
    ----------
    gpu : bool
        Whether this machine has one; else all of them run on the processor, nxkernel in the simulator.
    peers : sequence of str, optional
        Those that may take part beside the subject.
    """
    found, missing = [], []
    for name, make in zip(GPU_PEERS, (_jax, _torch), strict=True):
        made = make(gpu) if name in peers else f"{name} was left out: with it, no process came up"
        if isinstance(made, Library):
            found.append(made)
        else:
            missing.append(made)
    return [*found, _nxkernel()], missing


def _nxkernel() -> Library:
    from nxkernel.backends.cuda import devices

    device = devices.device(0)

    def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        definition = nx.defn(function, compiler="numba_cuda", promotion="nx")
        return functools.partial(definition, **options) if options else definition

    return Library(
        SUBJECT,
        lambda array: nx.backend_transfer(nx.tensor(array), "cuda:0"),
        compiled,
        lambda result: device.synchronize(),
        np.asarray,
    )


def _jax(gpu: bool) -> Library | str:
    if gpu:
        libraries.on_gpu()
    jax = libraries.jax()
    if jax is None:
        return "JAX is not installed"
    if gpu and jax.default_backend() not in ("gpu", "cuda"):
        return "JAX is installed without its GPU part"
    # Products of f32 are of f32 everywhere, not of numbers cut to TF32.
    jax.config.update("jax_default_matmul_precision", "highest")

    def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        return jax.jit(functools.partial(function, **options))

    return Library("JAX", jax.numpy.asarray, compiled, jax.block_until_ready, np.asarray)


def torch() -> ModuleType | None:
    """PyTorch; None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def torch_device() -> str:
    """Where PyTorch's programs run."""
    return "cuda" if torch().cuda.is_available() else "cpu"


def _torch(gpu: bool) -> Library | str:
    module = torch()
    if module is None:
        return "PyTorch is not installed"
    if gpu and not module.cuda.is_available():
        return "PyTorch is installed without its GPU part"
    where = torch_device()
    module.backends.cuda.matmul.allow_tf32 = False
    module.backends.cudnn.allow_tf32 = False

    def place(array: np.ndarray) -> Any:
        if array.dtype.name == "bfloat16":
            return module.from_numpy(array.view(np.int16)).view(module.bfloat16).to(where)
        return module.from_numpy(np.array(array)).to(where)

    def host(array: Any) -> np.ndarray:
        array = array.detach()
        return (array.float() if array.dtype == module.bfloat16 else array).cpu().numpy()

    def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        return module.compile(functools.partial(function, **options) if options else function)

    def free() -> None:
        gc.collect()
        module.compiler.reset()
        if where == "cuda":
            module.cuda.empty_cache()

    def wait(result: Any) -> None:
        if where == "cuda":
            module.cuda.synchronize()

    return Library("torch.compile", place, compiled, wait, host, free)
