"""The tensor: an immutable array of one type with axis names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from nxkernel import compile_thread, types
from nxkernel.errors import NxAttributeError, NxTypeError, message
from nxkernel.operand import Operand, OperandType, VectorizedAxes, VectorizedSpec, vectorized_spec
from nxkernel.primitives import Spec
from nxkernel.shapes import Names, normalize_names, unnamed
from nxkernel.tensor import printing
from nxkernel.tensor.foreign_arrays import array_of_numbers
from nxkernel.tensor.html import page
from nxkernel.tensor.interop import ArrayProtocols


class _TensorType(OperandType, type):
    """The class of `Tensor`, of which traced values are instances, too: they stand for tensors in definitions."""

    def __instancecheck__(cls, instance: Any) -> bool:
        # Python does not ask for what is of the class itself.
        if cls is Tensor and isinstance(instance, Operand):
            return not isinstance(instance, Template)
        return super().__instancecheck__(instance)


class Tensor(ArrayProtocols, Operand, metaclass=_TensorType):
    """An immutable array with a type, a shape and axis names.

    Make one with :func:`nxkernel.tensor`, or from a NumPy array with :meth:`from_numpy`, which shares its memory.

    Attributes
    ----------
    spec : Spec or VectorizedSpec
        Type, shape and names, and vectorized axes where it has some.
    data : numpy.ndarray
        The elements, read-only and in C order; vectorized axes are the first ones.
    """

    __slots__ = ("__weakref__", "data", "spec")

    data: np.ndarray

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NxTypeError("Tensor() is not called; write nx.tensor([1, 2, 3]) or nx.Tensor.from_numpy(array)")

    @classmethod
    def wrap(cls, data: np.ndarray, spec: Spec | VectorizedSpec) -> Tensor:
        """A tensor over an array that nobody else writes to, of the type and shape of `spec`.

        The array cannot be written into any more: that would change every tensor that shares it.
        """
        data.flags.writeable = False
        self = _new(cls)
        _set_data(self, data)
        _set_spec(self, spec)
        return self

    @classmethod
    def from_numpy(cls, array: np.ndarray, names: Names | None = None) -> Tensor:
        """A tensor over a NumPy array, without a copy if that is C-ordered, aligned and in native byte order.

        The tensor sees the array's memory: whoever writes into the array afterwards changes the tensor. Copy first
        (``array.copy()``) where that could happen.
        """
        array = array_of_numbers(array, "array")
        type_ = types.normalize(array.dtype)
        data = np.require(array, dtype=type_.dtype, requirements=["C", "A"])
        if data is array:
            data = data.view()
        data = data.reshape(array.shape)
        data.flags.writeable = False
        return Tensor.wrap(data, Spec(type_, data.shape, normalize_names(names, data.shape)))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise NxAttributeError(
            message(
                f"tensors are immutable: t.{name} = ... is not possible.",
                "t.to_numpy().copy() is an array that can be written into.",
            )
        )

    @property
    def device(self) -> str:
        """Where the elements are: ``"cpu"`` for host memory, ``"cuda:0"`` for a GPU."""
        return "cpu"

    def with_spec(self, spec: Spec | VectorizedSpec) -> Tensor:
        """The same elements under another spec with the same sizes, such as other names."""
        return Tensor.wrap(self.data, spec)

    def rows(self, start: int, stop: int) -> Tensor:
        """A slice of the first axis, without a copy; the tensor has no vectorized axes."""
        type_, shape, names = self.spec
        return Tensor.wrap(self.data[start:stop], Spec(type_, (stop - start, *shape[1:]), names))

    def to_backend(self, backend: str) -> Tensor:
        """The tensor on a device, copied if it is elsewhere; this tensor stays valid.

        Parameters
        ----------
        backend : str
            ``"cpu"``, or ``"cuda:0"`` and so on; ``"cuda"`` is the first GPU.

        Returns
        -------
        Tensor

        Examples
        --------
        >>> nx.tensor([1, 2]).to_backend("cpu").device
        'cpu'
        """
        from nxkernel.tensor.device import placed

        return placed(self, backend)

    def to_device(self, device: str) -> Tensor:
        """The tensor on a device, as :meth:`to_backend` gives it, under the name of the array API."""
        return self.to_backend(device)

    def __bool__(self) -> bool:
        return bool(self._one_element("bool()"))

    def __float__(self) -> float:
        return float(self._one_element("float()"))

    def __int__(self) -> int:
        return int(self._one_element("int()"))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._one_element("round()"), digits)

    def __complex__(self) -> complex:
        return complex(self._one_element("complex()"))

    def __index__(self) -> int:
        if self.data.shape or not self.type.is_integer:
            raise NxTypeError(f"only a scalar of an integer type is an index, this tensor is {self.spec}")
        return int(self.data)

    @property
    def _numba_type_(self) -> Any:
        # Numba asks for it when one of its functions is called.
        if self.vectorized_axes:
            what = f"a function compiled by Numba takes no vectorized axes, got {self.spec}."
            raise NxTypeError(message(what, "nx.devectorize(t) makes plain axes of them."))
        compile_thread.load("nxkernel.tensor.numba_types")
        from nxkernel.tensor import numba_types

        return numba_types.type_of(self.data)

    def _one_element(self, asked: str) -> Any:
        if self.data.size != 1:
            raise NxTypeError(
                message(
                    f"{asked} needs a tensor with one element, this one is {self.spec}.",
                    "Reduce it first, for example with nx.any(t), nx.all(t) or nx.sum(t).",
                )
            )
        return self.item()

    def __repr__(self) -> str:
        return printing.compact(self)

    def __str__(self) -> str:
        return printing.plain(self)

    def _repr_html_(self) -> str:
        return page(self)

    def __format__(self, form: str) -> str:
        if form:
            return format(self._one_element("a format"), form)
        return str(self)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NxTypeError(
            message(
                "tensors are immutable: t[...] = v is not possible.",
                "Use nx.put_slice(t, [start], values), which returns a new tensor.",
                "What writes in place, as rng.shuffle does, takes a copy: a = t.to_numpy().copy(). rng.permutation(t) "
                "gives a new array.",
            )
        )

    def __reduce__(self) -> tuple:
        return (_restore, (self.data, self.names, self.vectorized_axes))


#: Tensors that have elements: what :func:`isinstance` takes where a traced value is another case.
if TYPE_CHECKING:
    StoredTensor = Tensor
else:
    StoredTensor = ArrayProtocols

_new = object.__new__


def _restore(data: np.ndarray, names: Names, axes: VectorizedAxes) -> Tensor:
    tensor = Tensor.from_numpy(data)
    entry = Spec(tensor.type, tensor.shape[len(axes) :], names)
    return Tensor.wrap(tensor.data, vectorized_spec(entry, axes))


#: As slots are set: the class itself refuses that to everybody.
_set_data, _set_spec = Tensor.__dict__["data"].__set__, Tensor.__dict__["spec"].__set__


class Template(Operand):
    """The type, shape, names and vectorized axes of a tensor, without data, as :func:`nxkernel.compile` takes them.

    Examples
    --------
    >>> Template(types.f32, (2, 3))
    template f32[2][3]
    """

    __slots__ = ("spec",)

    def __init__(
        self, type_: types.Type, shape: tuple[int, ...], names: Names | None = None, axes: VectorizedAxes = ()
    ) -> None:
        self.spec = vectorized_spec(Spec(type_, shape, unnamed(shape) if names is None else names), axes)

    def __repr__(self) -> str:
        return f"template {self.spec}"

    def __hash__(self) -> int:
        return hash(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other.spec == self.spec

    def __ne__(self, other: object) -> bool:
        return not self == other
