"""Programs on devices: choosing the compiler, transferring arguments, donating their memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel.compilers import registry
from nxkernel.compilers.interface import Executable
from nxkernel.definitions.keys import default_options
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import parameter
from nxkernel.tensor import device
from nxkernel.tensor.device import DeviceArray, DeviceTensor

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import Device


def compiler_of(named: str | None, values: Sequence[Any]) -> str:
    """The compiler for a call: the one that was asked for, or the default for where its tensors are.

    Parameters
    ----------
    named : str or None
        The compiler that the definition asks for; None leaves it to the default options.
    values : sequence
        The leaves of the arguments and the captured arrays: without a compiler, programs run where tensors are.
    """
    name = named or default_options.compiler()
    if name is not None and name != default_options.AUTO:
        return name
    if any(type(value) is DeviceTensor for value in values):
        return registry.ON_DEVICES
    if name == default_options.AUTO:
        from nxkernel.backends.cuda import availability

        return registry.ON_DEVICES if availability.is_available() else registry.BUILT_IN
    return registry.BUILT_IN


def is_for_devices(compiler: str) -> bool:
    """Whether a compiler's programs run on a device."""
    return registry.get(compiler).on_devices


def on_host(arrays: Sequence[Any]) -> list[np.ndarray]:
    """Copy arrays that are on devices to the host."""
    return [array.host() if type(array) is DeviceArray else array for array in arrays]


def duplicate(array: Any) -> Any:
    """A copy of an array, on the same device."""
    return array.device.bring(array) if type(array) is DeviceArray else array.copy()


def donated(graph: Graph, positions: Collection[int]) -> Graph:
    """A graph whose results reuse the memory of donated arguments of the same type and shape.

    Each argument's memory becomes that of the first result of its type and shape that has none yet.

    Parameters
    ----------
    graph : Graph
    positions : collection of int
        The parameters that are donated.
    """
    taken = {number for _, number in graph.updates}
    changed = {position for position, _ in graph.updates}
    inputs = set(graph.parameters)
    reused: list[tuple[int, int]] = []
    for position in sorted(set(positions) - changed):
        spec = graph.parameters[position].spec
        for number, node in enumerate(graph.outputs):
            if number not in taken and node not in inputs and node.spec[:2] == spec[:2]:
                reused.append((position, number))
                taken.add(number)
                break
    return dataclasses.replace(graph, updates=(*graph.updates, *reused)) if reused else graph


def compiled(graph: Graph, compiler: str, function: str, arguments: int, given_away: Sequence[int]) -> Made:
    """Compile a graph for a device or the host.

    Parameters
    ----------
    graph : Graph
    compiler : str
    function : str
        What errors call it.
    arguments : int
        How many parameters are arguments; those after them are captured.
    given_away : sequence of int
        The arguments that are donated.

    Returns
    -------
    Executable
    DeviceProgram or None
        The program to call, if it runs on a device.
    """
    make = registry.get(compiler).compile
    if not is_for_devices(compiler):
        return make(graph), None
    sharing = donated(graph, given_away)
    executable = make(sharing)
    # A result that is made elsewhere and copied into the argument's memory gains nothing.
    reused = executable.in_place() - set(graph.updates)
    if len(reused) < len(sharing.updates) - len(graph.updates):
        executable = make(dataclasses.replace(graph, updates=(*graph.updates, *sorted(reused))))
    return executable, DeviceProgram(executable, function, arguments, given_away, [position for position, _ in reused])


class DeviceProgram:
    """A program that runs on a device; its arguments may be on the host or a device.

    Parameters
    ----------
    executable : Executable
        Takes NumPy arrays and arrays on a device, and returns arrays on a device.
    function : str
        What errors call it.
    arguments : int
        How many parameters are arguments; those after them are captured.
    given_away : collection of int
        The arguments that are donated.
    reused : collection of int
        Those of them whose memory the program reuses.
    """

    __slots__ = ("_captured", "_executable", "_function", "_given_away", "_names", "_reused")

    def __init__(
        self,
        executable: Executable,
        function: str,
        arguments: int,
        given_away: Collection[int] = (),
        reused: Collection[int] = (),
    ) -> None:
        graph = executable.graph
        self._executable, self._function = executable, function
        self._names = [str(node.params["name"]) for node in graph.parameters]
        self._given_away, self._reused = tuple(sorted(given_away)), frozenset(reused)
        read = {node.params["index"] for node in post_order(graph.outputs) if node.primitive is parameter}
        # Single numbers stay on the host, where the program may count with them.
        self._captured = tuple([k for k in sorted(read) if k >= arguments and graph.parameters[k].shape])

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Run it; the results stay on the device.

        Arguments on the host are copied to the device in each call, and so are captured arrays that may be written to;
        other captured arrays are copied once.
        """
        inputs = [value.array if type(value) is DeviceTensor else value for value in arrays]
        where = None
        for value in inputs:
            if type(value) is DeviceArray:
                if where is None:
                    where = value.device
                elif value.device is not where:
                    there = zip(self._names, inputs, strict=True)
                    device.check_together([pair for pair in there if type(pair[1]) is DeviceArray], self._function)
        if where is None:
            where = self._executable.device
        for position in self._captured:
            if type(inputs[position]) is np.ndarray:
                inputs[position] = device.uploaded(inputs[position], where)
        return self._with_donated(inputs, where) if self._given_away else self._executable.run(inputs)

    def _with_donated(self, inputs: list[Any], where: Device) -> list[Any]:
        """Run with donated arguments, whose memory becomes that of results."""
        self._refuse_twice(inputs)
        donated = [inputs[position] for position in self._given_away]
        for position in self._reused:
            array = inputs[position]
            # Another array of the same memory goes on when this one is given away.
            inputs[position] = where.bring(array) if device.is_shared(array) else array.reshape(array.shape)
        results = self._executable.run(inputs)
        for array in donated:
            array.release()
        return results

    def _refuse_twice(self, inputs: list[Any]) -> None:
        """Refuse a donated tensor that is also passed as another argument."""
        first: dict[int, int] = {}
        for position, value in enumerate(inputs):
            other = first.setdefault(id(value), position)
            if other != position and type(value) is DeviceArray and {position, other}.intersection(self._given_away):
                one, two = (
                    self._names[each] for each in sorted((position, other), key=lambda k: k not in self._given_away)
                )
                raise NxValueError(
                    message(
                        f"{self._function} gives {one} away, and {two} is the same tensor.",
                        f'Pass a copy: nx.backend_copy({one}, "{value.device.name}").',
                    )
                )


Made = tuple[Executable, DeviceProgram | None]


def places_of(paths: Sequence[str], names: Collection[str], values: Sequence[Any]) -> tuple[int, ...]:
    """The positions of donated leaves: tensors on a device in arguments with these names.

    Parameters
    ----------
    paths : sequence of str
        The path of each leaf.
    names : collection of str
        The names of donated arguments.
    values : sequence
        The leaves.
    """
    return tuple(
        [
            position
            for position, (path, value) in enumerate(zip(paths, values, strict=True))
            if type(value) is DeviceTensor and any(_is_in(path, name) for name in names)
        ]
    )


def _is_in(path: str, name: str) -> bool:
    """Whether a path belongs to an argument or a part of it: ``params['w']`` to ``params``."""
    return path == name or path.startswith((f"{name}[", f"{name}."))
