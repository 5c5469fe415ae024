"""Programs on devices: which compiler makes them, what they are given, and what becomes of donated arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from nxkernel.compilers import interface
from nxkernel.compilers.interface import Executable
from nxkernel.defn import defaults
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import parameter
from nxkernel.tensor import device
from nxkernel.tensor.device import DeviceArray, DeviceTensor

#: The compiler of programs that run on devices.
COMPILER = "numba_cuda"


def compiler_of(named: str | None, values: Sequence[Any]) -> str:
    """The compiler for a call.

    Parameters
    ----------
    named : str or None
        What the definition names; None leaves it to the default options.
    values : sequence
        The arguments' leaves and what is captured: where nobody names a compiler, programs run where tensors are.
    """
    name = named or defaults.compiler()
    if name is not None and name != defaults.AUTO:
        return name
    if any(type(value) is DeviceTensor for value in values):
        return COMPILER
    if name == defaults.AUTO:
        from nxkernel.backends.cuda import availability

        return COMPILER if availability.is_available() else defaults.BUILT_IN
    return defaults.BUILT_IN


def is_for_devices(compiler: str) -> bool:
    """Whether a compiler's programs take and give arrays of devices."""
    return compiler.partition(":")[0] == COMPILER


def on_host(arrays: Sequence[Any]) -> list[np.ndarray]:
    """Arrays of which some are on devices, as arrays of the host."""
    return [array.host() if type(array) is DeviceArray else array for array in arrays]


def duplicate(array: Any) -> Any:
    """A copy of an array, where it is."""
    return array.device.bring(array) if type(array) is DeviceArray else array.copy()


def donated(graph: Graph, places: Collection[int]) -> tuple[Graph, frozenset[int]]:
    """A graph whose results are put into the memory of arguments that nobody needs afterwards, where one fits.

    Parameters
    ----------
    graph : Graph
    places : collection of int
        The parameters that are donated.

    Returns
    -------
    Graph
    frozenset of int
        The parameters whose memory it uses: each for one result of the same type and shape.
    """
    taken = {number for _, number in graph.updates}
    changed = {place for place, _ in graph.updates}
    inputs = set(graph.parameters)
    found: list[tuple[int, int]] = []
    for place in sorted(set(places) - changed):
        spec = graph.parameters[place].spec
        for number, node in enumerate(graph.outputs):
            if number not in taken and node not in inputs and node.spec[:2] == spec[:2]:
                found.append((place, number))
                taken.add(number)
                break
    return dataclasses.replace(graph, updates=(*graph.updates, *found)), frozenset(place for place, _ in found)


def compiled(graph: Graph, compiler: str, function: str, arguments: int, given_away: Sequence[int]) -> Made:
    """Compile a graph.

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
    OnDevice or None
        What calls it, where it runs on a device.
    """
    if not is_for_devices(compiler):
        return interface.get(compiler).compile(graph), None
    graph, reused = donated(graph, given_away)
    executable = interface.get(compiler).compile(graph)
    return executable, OnDevice(executable, function, arguments, given_away, reused)


class OnDevice:
    """A program that runs on a device, called with arrays of the host or of a device.

    Parameters
    ----------
    executable : Executable
        Takes arrays of NumPy and of a device, and gives arrays of a device.
    function : str
        What errors call it.
    arguments : int
        How many parameters are arguments; those after them are captured.
    given_away : collection of int
        The arguments that are donated.
    reused : collection of int
        Those of them whose memory the program uses.
    """

    __slots__ = ("_executable", "_function", "_given_away", "_kept", "_names", "_reused")

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
        self._kept = tuple([k for k in sorted(read) if k >= arguments and graph.parameters[k].shape])

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Its results, which stay on the device.

        Arguments on the host are brought over in each call, and so are captured arrays that may be written into; other
        captured arrays only once.
        """
        given = [value.array if type(value) is DeviceTensor else value for value in arrays]
        there = [(self._names[place], value) for place, value in enumerate(given) if type(value) is DeviceArray]
        if len(there) > 1:
            device.check_together(there, self._function)
        if self._kept:
            place_of_all = there[0][1].device if there else self._executable.device
            for place in self._kept:
                if type(given[place]) is np.ndarray:
                    given[place] = device.uploaded(given[place], place_of_all)
        if not self._given_away:
            return self._executable.run(given)
        return self._with_donated(given, there[0][1].device if there else self._executable.device)

    def _with_donated(self, given: list[Any], where: device.Device) -> list[Any]:
        """Run with arguments that are given away."""
        donated = {place: given[place] for place in self._given_away}
        for place, array in donated.items():
            for other, value in enumerate(given):
                if other != place and value is array and type(array) is DeviceArray:
                    raise NxValueError(
                        message(
                            f"{self._function} gives {self._names[place]} away, and {self._names[other]} is the same "
                            "tensor.",
                            f"Pass a copy: nx.backend_copy({self._names[place]}, {where.name!r}).",
                        )
                    )
        for place in self._reused:
            array = given[place]
            if type(array) is not DeviceArray:
                given[place] = where.upload(array)
            elif device.is_shared(array):
                given[place] = where.bring(array)
            else:
                # Another array of the same memory, which goes on when this one is given away.
                given[place] = array.reshape(array.shape)
        made = self._executable.run(given)
        for array in donated.values():
            if type(array) is DeviceArray:
                array.release()
        return made


Made = tuple[Executable, OnDevice | None]


def places_of(paths: Sequence[str], names: Collection[str], values: Sequence[Any]) -> tuple[int, ...]:
    """The leaves of arguments with these names that are tensors of a device: what is donated of them.

    Parameters
    ----------
    paths : sequence of str
        Of each leaf, as a person would write it.
    names : collection of str
        Of arguments.
    values : sequence
        The leaves.
    """
    return tuple(
        [
            place
            for place, (path, value) in enumerate(zip(paths, values, strict=True))
            if type(value) is DeviceTensor and _argument_of(path) in names
        ]
    )


def _argument_of(path: str) -> str:
    """The argument that a path begins with: ``params`` of ``params['w'].x``."""
    ends = [place for place in (path.find("["), path.find(".")) if place >= 0]
    return path[: min(ends)] if ends else path
