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


class _Kept(OrderedDict):
    """The things used last, at most so many of them."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most, self._lock = most, fork_safety.rlock()

    def find(self, key: Any) -> Any:
        with self._lock:
            found = self.get(key)
            if found is not None:
                self.move_to_end(key)
            return found

    def keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self[key] = value
            if len(self) > self._most:
                self.popitem(last=False)


_programs = _Kept(PROGRAMS)
_numbers = _Kept(NUMBERS)


def clear() -> None:
    """Forget all programs and numbers."""
    _programs.clear()
    _numbers.clear()


def run(primitive: Primitive, operands: Sequence[Tensor], params: Mapping[str, Any]) -> list[DeviceArray]:
    """What a primitive gives for tensors of which one at least is on a device: arrays there.

    Parameters
    ----------
    primitive : Primitive
    operands : sequence of Tensor
        Without vectorized axes. Those on the host are brought to the device; of one that is the same number in all
        elements, the number alone.
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
    given = []
    for operand, is_single in zip(operands, single, strict=True):
        if type(operand) is DeviceTensor:
            given.append(operand.array)
        elif is_single:
            given.append(_number(operand.data, where))
        else:
            given.append(device.uploaded(operand.data, where))
    return executable.run(given)


def _is_number(data: np.ndarray) -> bool:
    """Whether an array is one number, in one element or in all of them."""
    return data.size == 1 or (data.size > 1 and not any(data.strides))


def _number(data: np.ndarray, where: Device) -> DeviceArray:
    """A single number on a device."""
    value = data[(0,) * data.ndim]
    key = where, data.dtype, value.tobytes()
    found = _numbers.find(key)
    if found is None:
        found = where.upload(np.array(value, data.dtype))
        _numbers.keep(key, found)
    return found


def _executable(
    primitive: Primitive, specs: Sequence[Spec], single: tuple[bool, ...], params: Mapping[str, Any]
) -> Executable:
    key, graph = (primitive, tuple(specs), single, repr(params)), None
    if not all(map(_is_plain, params.values())):
        graph = _graph(primitive, specs, single, params)
        key = contents(graph)
    found = None if key is None else _programs.find(key)
    if found is None:
        graph = graph or _graph(primitive, specs, single, params)
        try:
            found = registry.get(registry.ON_DEVICES).compile(passes.SIMPLIFY(graph))
        except CompilationError as error:
            what = str(error).partition("\n")[0]
            raise CompilationError(message(what, "Bring the tensors to the host first: nx.backend_copy(t).")) from None
        if key is not None:
            _programs.keep(key, found)
    return found


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _graph(primitive: Primitive, specs: Sequence[Spec], single: tuple[bool, ...], params: Mapping[str, Any]) -> Graph:
    """The primitive alone."""
    parameters: list[Expr] = []
    with Trace(_refuse) as trace:
        values = []
        for place, (spec, is_single) in enumerate(zip(specs, single, strict=True)):
            given = Spec(spec.type, (), ()) if is_single else spec
            node = parameter(place, f"operand {place}", given)
            parameters.append(node)
            if is_single and spec.shape:
                node = trace.record(broadcast, (node,), {"shape": spec.shape, "axes": (), "names": spec.names})
            values.append(node)
        made = trace.record(primitive, tuple(values), dict(params))
    outputs = list(made) if type(made) is tuple else [made]
    return Graph(primitive.name, parameters, outputs, list)


def _refuse(value: Any) -> Expr:
    raise AssertionError(f"{value!r} is no operand of the primitive")
