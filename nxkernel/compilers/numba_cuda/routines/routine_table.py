"""The table of routines: primitives that are no loop nest (sorts, scans, library calls), and what runs them.

Such a primitive reads its operands from memory and writes its results there, each in C order. Either kernels of our
own do that, or one of NVIDIA's libraries by way of CuPy. On a simulated device, where there is no library, the meaning
of the primitive stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.routines import device_arrays
from nxkernel.compilers.numba_cuda.routines.library_calls import compute_on
from nxkernel.errors import CompilationError, message
from nxkernel.graph.expr import Expr, at_line
from nxkernel.library_functions import HostFunction
from nxkernel.primitives import Primitive

if TYPE_CHECKING:
    from nxkernel.backends.cuda.arrays import DeviceArray


@dataclass(frozen=True, eq=False)
class DeviceRoutine:
    """How an opaque operation runs on a GPU.

    Parameters
    ----------
    node : Expr
    title : str
        What it does, for people.
    kernels : callable or None
        Given a device, the launches of our own kernels, one after the other; their memory is that of operands (as
        they are in `node`), of the result (`node` itself), or the scratch memory (None) with the byte where it begins.
        None for what a library does.
    scratch : int
        Bytes of memory that the launches share besides operands and results.
    capturable : bool
        Whether it may be a part of a CUDA graph: nothing of it waits for the device, or copies from the host.
    """

    node: Expr
    title: str
    kernels: Callable[[Machine], Sequence[KernelLaunch]] | None = None
    scratch: int = 0
    capturable: bool = False

    @property
    def library(self) -> str:
        """The name of the library that computes it; empty for kernels of ours."""
        return "" if self.kernels else LIBRARIES[self.node.primitive][0]

    def launches(self, device: Device) -> list[KernelLaunch]:
        """The launches on a device; empty if a library computes it.

        Parameters
        ----------
        device : Device

        Returns
        -------
        list of KernelLaunch
        """
        return list(self.kernels(device)) if self.kernels else []

    def run(
        self,
        device: Device,
        operands: Sequence[DeviceArray],
        results: Sequence[DeviceArray | None],
        scratch: DeviceArray | None = None,
    ) -> None:
        """Have the library compute the results; on a GPU it may finish later.

        Parameters
        ----------
        device : Device
        operands : sequence of DeviceArray
        results : sequence of (DeviceArray or None)
            None for one that nobody needs.
        scratch : DeviceArray, optional
            Memory of as many bytes as the routine asks for.
        """
        node = self.node
        if device.simulated or not all(array.size for array in operands):
            # For matrices without elements, too, of which libraries want to know nothing.
            inputs = [array.host() for array in operands]
            for target, value in _wanted(node, results, MEANING[node.primitive](node.spec, *inputs, **node.params)):
                device.write(target.pointer, value)
            return
        library, function = LIBRARIES[node.primitive]

        def work() -> None:
            wide = [device_arrays.widened(device_arrays.on_gpu(array), array.dtype) for array in operands]
            for target, value in _wanted(node, results, function(*wide, **node.params)):
                device_arrays.settle(device_arrays.on_gpu(target), target.dtype, value)

        compute_on(device, library, work)


def _wanted(node: Expr, results: Sequence[DeviceArray | None], computed: Any) -> list[tuple[DeviceArray, Any]]:
    """The results that are needed, paired with the arrays that were computed for them."""
    values = computed if type(node.spec) is tuple else (computed,)
    return [(target, x) for target, x in zip(results, values, strict=True) if target is not None and target.size]


#: For each primitive that a library computes the library's name, and a function of CuPy arrays that gives CuPy arrays
#: (a tuple of them for several results), which need not be in the type or in the order that is wanted.
LIBRARIES: dict[Primitive, tuple[str, Callable[..., Any]]] = {}

#: For each primitive the function that gives the routine of a node of it.
ROUTINES: dict[Primitive, Callable[[Expr], DeviceRoutine]] = {}


def by_library(primitive: Primitive, library: str) -> Callable[[Any], Any]:
    """A decorator that registers how a library computes a primitive.

    Parameters
    ----------
    primitive : Primitive
    library : str
        The library's name.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        LIBRARIES[primitive] = library, function
        ROUTINES[primitive] = _of_library
        return function

    return register


def routine(*primitives: Primitive) -> Callable[[Any], Any]:
    """A decorator that registers the function which makes the routine of some primitives."""

    def register(function: Callable[[Expr], DeviceRoutine]) -> Callable[[Expr], DeviceRoutine]:
        for primitive in primitives:
            ROUTINES[primitive] = function
        return function

    return register


def _of_library(node: Expr) -> DeviceRoutine:
    operands = ", ".join(str(operand.spec) for operand in node.operands[:1])
    return DeviceRoutine(node, f"{node.primitive.name} of {operands} by {LIBRARIES[node.primitive][0]}")


@routine(p.njit_call)
def _refused(node: Expr) -> DeviceRoutine:
    function = node.params["function"]
    if isinstance(function, HostFunction) and function.masked:
        raise CompilationError(
            message(
                "numba_cuda cannot print or call a hook in a loop, or for each entry of nx.vmap"
                f"{at_line(node.source)}: it does when the program has run.",
                "Return the values, and print them there; `for i in nx.unroll(range(n))` writes a loop out, which can.",
                'Or run this definition with compiler="numba_cpu".',
            )
        )
    raise CompilationError(
        message(
            f"numba_cuda cannot call {function}{at_line(node.source)}: its code is for the CPU.",
            'Write it with operations of nxkernel, or run this definition with compiler="numba_cpu".',
        )
    )


def routine_of(node: Expr, results: Sequence[Expr | None] = ()) -> DeviceRoutine:
    """The routine of an opaque operation, for the planner.

    Parameters
    ----------
    node : Expr
        Of the families ``cumulative``, ``sorting`` and ``library``.
    results : sequence of (Expr or None), optional
        Which of its values are needed; all are computed.

    Returns
    -------
    DeviceRoutine

    Raises
    ------
    CompilationError
        For a function that Numba has compiled for the CPU.
    """
    return ROUTINES[node.primitive](node)
