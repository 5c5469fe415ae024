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
    """The compiler for a call.

    Parameters
    ----------
    named : str or None
        What the definition names; None leaves it to the default options.
    values : sequence
        The arguments' leaves and what is captured: where nobody names a compiler, programs run where tensors are.
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
    """Whether a compiler's programs take and give arrays of devices."""
    return registry.get(compiler).on_devices


def on_host(arrays: Sequence[Any]) -> list[np.ndarray]:
    """Arrays of which some are on devices, as arrays of the host."""
    return [array.host() if type(array) is DeviceArray else array for array in arrays]


def duplicate(array: Any) -> Any:
    """A copy of an array, where it is."""
    return array.device.bring(array) if type(array) is DeviceArray else array.copy()


def donated(graph: Graph, places: Collection[int]) -> Graph:
    """A graph whose results are put into the memory of arguments that nobody needs afterwards, where one fits.

    Each argument's memory becomes that of the first result of its type and shape that has none yet.

    Parameters
    ----------
    graph : Graph
    places : collection of int
        The parameters that are donated.
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
    return dataclasses.replace(graph, updates=(*graph.updates, *found)) if found else graph


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
    make = registry.get(compiler).compile
    if not is_for_devices(compiler):
        return make(graph), None
    sharing = donated(graph, given_away)
    executable = make(sharing)
    # A result that is made elsewhere and copied into the argument's memory gains nothing.
    reused = executable.in_place() - set(graph.updates)
    if len(reused) < len(sharing.updates) - len(graph.updates):
        executable = make(dataclasses.replace(graph, updates=(*graph.updates, *sorted(reused))))
    return executable, DeviceProgram(executable, function, arguments, given_away, [place for place, _ in reused])


class DeviceProgram:
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
        where = None
        for value in given:
            if type(value) is DeviceArray:
                if where is None:
                    where = value.device
                elif value.device is not where:
                    there = zip(self._names, given, strict=True)
                    device.check_together([pair for pair in there if type(pair[1]) is DeviceArray], self._function)
        if where is None:
            where = self._executable.device
        for place in self._kept:
            if type(given[place]) is np.ndarray:
                given[place] = device.uploaded(given[place], where)
        return self._with_donated(given, where) if self._given_away else self._executable.run(given)

    def _with_donated(self, given: list[Any], where: Device) -> list[Any]:
        """Run with arguments that are given away."""
        self._refuse_twice(given)
        donated = [given[place] for place in self._given_away]
        for place in self._reused:
            array = given[place]
            # Another array of the same memory goes on when this one is given away.
            given[place] = where.bring(array) if device.is_shared(array) else array.reshape(array.shape)
        made = self._executable.run(given)
        for array in donated:
            array.release()
        return made

    def _refuse_twice(self, given: list[Any]) -> None:
        """Refuse a tensor that is given away and also passed as something else."""
        first: dict[int, int] = {}
        for place, value in enumerate(given):
            other = first.setdefault(id(value), place)
            if other != place and type(value) is DeviceArray and {place, other}.intersection(self._given_away):
                one, two = (
                    self._names[each] for each in sorted((place, other), key=lambda k: k not in self._given_away)
                )
                raise NxValueError(
                    message(
                        f"{self._function} gives {one} away, and {two} is the same tensor.",
                        f'Pass a copy: nx.backend_copy({one}, "{value.device.name}").',
                    )
                )


Made = tuple[Executable, DeviceProgram | None]


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
            if type(value) is DeviceTensor and any(_is_in(path, name) for name in names)
        ]
    )


def _is_in(path: str, name: str) -> bool:
    """Whether a path is that of an argument, or of something in it: ``params['w']`` of ``params``."""
    return path == name or path.startswith((f"{name}[", f"{name}."))
