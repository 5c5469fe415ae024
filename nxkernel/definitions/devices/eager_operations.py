"""Eager operations on device tensors: each primitive is a cached program of one operation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel import fork_safety, passes
from nxkernel.compilers import registry
from nxkernel.compilers.interface import Executable
from nxkernel.errors import CompilationError, message
from nxkernel.graph.content_bytes import contents
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.tracing import Trace
from nxkernel.primitives import Primitive, Spec, broadcast
from nxkernel.tensor import device
from nxkernel.tensor.device import DeviceArray, DeviceTensor
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import Device

#: Programs that are kept, and single numbers on a device; those unused for longest go first.
PROGRAMS, NUMBERS = 1024, 1024
#: What the text of a parameter tells apart.
_PLAIN = frozenset([int, bool, float, complex, str, type(None), Type, Spec, Primitive])


class LeastRecentlyUsed(OrderedDict):
    """A cache of at most `most` entries, which drops those that were unused for longest."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._lock = most, fork_safety.rlock()

    def find(self, key: Any) -> Any:
        """The entry of a key, now the one used last; None where there is none."""
        with self._lock:
            entry = self.get(key)
            if entry is not None:
                self.move_to_end(key)
            return entry

    def keep(self, key: Any, value: Any) -> None:
        """Add an entry, and drop the one that was unused for longest if there are too many."""
        with self._lock:
            self[key] = value
            if len(self) > self._most:
                self.popitem(last=False)


_programs = LeastRecentlyUsed(PROGRAMS)
_numbers = LeastRecentlyUsed(NUMBERS)


def clear() -> None:
    """Forget all cached programs and numbers."""
    _programs.clear()
    _numbers.clear()


def run(primitive: Primitive, operands: Sequence[Tensor], params: Mapping[str, Any]) -> list[DeviceArray]:
    """Apply a primitive to tensors of which at least one is on a device; returns arrays there.

    Parameters
    ----------
    primitive : Primitive
    operands : sequence of Tensor
        Without vectorized axes. Tensors on the host are copied to the device; of one with the same number in all
        elements, only the number.
    params : mapping
        Of the primitive.

    Raises
    ------
    NxValueError
        For tensors on two devices.
    """
    there = [operand for operand in operands if type(operand) is DeviceTensor]
    if len(there) > 1:
        named = [(f"a {operand.spec}", operand.array) for operand in there]
        device.check_together(named, primitive.name, "t")
    where = there[0].array.device
    single = tuple([type(operand) is Tensor and _is_number(operand.data) for operand in operands])
    executable = _executable(primitive, [operand.spec for operand in operands], single, params)
    inputs = []
    for operand, is_single in zip(operands, single, strict=True):
        if type(operand) is DeviceTensor:
            inputs.append(operand.array)
        elif is_single:
            inputs.append(_number(operand.data, where))
        else:
            inputs.append(device.uploaded(operand.data, where))
    return executable.run(inputs)


def _is_number(data: np.ndarray) -> bool:
    """Whether an array holds a single number, once or in all elements."""
    return data.size == 1 or (data.size > 1 and not any(data.strides))


def _number(data: np.ndarray, where: Device) -> DeviceArray:
    """A number as an array on a device, cached."""
    value = data[(0,) * data.ndim]
    key = where, data.dtype, value.tobytes()
    array = _numbers.find(key)
    if array is None:
        array = where.upload(np.array(value, data.dtype))
        _numbers.keep(key, array)
    return array


def _executable(
    primitive: Primitive, specs: Sequence[Spec], single: tuple[bool, ...], params: Mapping[str, Any]
) -> Executable:
    key, graph = (primitive, tuple(specs), single, repr(params)), None
    if not all(map(_is_plain, params.values())):
        graph = _graph(primitive, specs, single, params)
        key = contents(graph)
    executable = None if key is None else _programs.find(key)
    if executable is None:
        graph = graph or _graph(primitive, specs, single, params)
        try:
            executable = registry.get(registry.ON_DEVICES).compile(passes.SIMPLIFY(graph))
        except CompilationError as error:
            what = str(error).partition("\n")[0]
            raise CompilationError(message(what, "Bring the tensors to the host first: nx.backend_copy(t).")) from None
        if key is not None:
            _programs.keep(key, executable)
    return executable


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _graph(primitive: Primitive, specs: Sequence[Spec], single: tuple[bool, ...], params: Mapping[str, Any]) -> Graph:
    """A graph of one primitive."""
    parameters: list[Expr] = []
    with Trace(_refuse) as trace:
        values = []
        for number, (spec, is_single) in enumerate(zip(specs, single, strict=True)):
            own = Spec(spec.type, (), ()) if is_single else spec
            node = parameter(number, f"operand {number}", own)
            parameters.append(node)
            if is_single and spec.shape:
                node = trace.record(broadcast, (node,), {"shape": spec.shape, "axes": (), "names": spec.names})
            values.append(node)
        results = trace.record(primitive, tuple(values), dict(params))
    outputs = list(results) if type(results) is tuple else [results]
    return Graph(primitive.name, parameters, outputs, list)


def _refuse(value: Any) -> Expr:
    raise AssertionError(f"{value!r} is no operand of the primitive")
