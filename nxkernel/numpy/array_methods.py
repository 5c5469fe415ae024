"""The operators and methods of NumPy's arrays, installed on ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.messages.other_libraries import Hint
from nxkernel.numpy import memory_layout
from nxkernel.numpy.arrays import indexing
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, wrap
from nxkernel.numpy.arrays.casting import is_same_kind, type_of
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.arrays.views import ElementField, Reshape, reshaped
from nxkernel.numpy.base.eager_rules import by_numpys_rules
from nxkernel.numpy.functions import cumulative, integer_powers, products, reductions, selection, shaping, sorting
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.standard import devices
from nxkernel.ops.machinery.dispatch import apply, convert, is_operand, operand
from nxkernel.ops.numpy_names import memory


def _power(base: Any, exponent: Any) -> Any:
    """``base ** exponent``."""
    if isinstance(base, Array | DynamicSlice | MaskedElements) and not base.is_scalar:
        # NumPy's operator, not its function, has functions of their own for a few numbers.
        if base.type is types.bool_ and type(exponent) is int and exponent == 2:
            return e.square(base)
        if not base.type.is_integer and type(exponent) is float and exponent == 0.5:
            return e.sqrt(base)
    result = integer_powers.of_numbers(base, exponent)
    return e.power.as_operator(base, exponent) if result is None else wrap(result)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": e.add, "sub": e.subtract, "mul": e.multiply, "truediv": e.divide, "floordiv": e.floor_divide,
    "mod": e.remainder, "pow": _power, "matmul": products.matmul, "and": e.bitwise_and, "or": e.bitwise_or,
    "xor": e.bitwise_xor, "lshift": e.left_shift, "rshift": e.right_shift, "divmod": e.divmod,
}  # fmt: skip
_COMPARISON: dict[str, Callable[..., Any]] = {
    "eq": e.equal, "ne": e.not_equal, "lt": e.less, "le": e.less_equal, "gt": e.greater, "ge": e.greater_equal,
}  # fmt: skip
_UNARY: dict[str, Callable[..., Any]] = {"neg": e.negative, "pos": e.positive, "abs": e.absolute, "invert": e.invert}


#: What Python's truth values are numbers in; those of NumPy are added and multiplied as truth values.
_COUNTED = frozenset({"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "divmod"})


def _counted(value: Any) -> Any:
    """A Python bool as an int; anything else unchanged."""
    if isinstance(value, Scalar) and value.type is types.bool_ and tracing.weak(value.node):
        return wrap(convert(value.node, types.s64))
    return value


def _operator(function: Callable[..., Any], name: str, swapped: bool = False) -> Callable[..., Any]:
    function = getattr(function, "as_operator", function)
    is_counted = name in _COUNTED

    def method(self: ArrayValue, other: Any) -> Any:
        # `[0] * n` repeats a list, as Python does when asked again: n times, which has to be known.
        repeats = name == "mul" and isinstance(other, list | tuple) and isinstance(self, Scalar)
        if type(other) is range:
            other = as_value(other)
        if repeats or not is_operand(other):
            return NotImplemented
        if is_counted:
            self, other = _counted(self), _counted(other)
        return function(other, self) if swapped else function(self, other)

    return method


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    return by_numpys_rules(lambda self: function.as_operator(_counted(self)))


def _in_place(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        result = function(self, other)
        if self.is_scalar:
            return result
        if not is_same_kind(result.type, self.type):
            raise NxTypeError(
                message(
                    f"an array {self.type} does not take the result of {name}, which is {result.type}, in place.",
                    f"Write x = x {name.rstrip('=')} y for a new array, or convert the array first.",
                )
            )
        self[...] = result
        return self

    return method


def _item(self: ArrayValue, *index: Any) -> Any:
    """One element, as :meth:`numpy.ndarray.item`: what stands for a Python number."""
    if len(index) == 1 and not isinstance(index[0], tuple):
        # A single number counts all elements.
        result = self.reshape(-1)[index[0]]
    elif index:
        result = self[index[0] if len(index) == 1 else index]
    elif self.size != 1:
        raise NxTypeError(message(f"item() of an array with {self.size} elements.", "Give the place of one of them."))
    else:
        result = self.reshape(1)[0] if self.ndim else self
    return _python_number(operand(result))


def _python_number(value: Any) -> Any:
    """A scalar array as a weakly typed number of its kind (int, float, complex), as Python's are."""
    kind = value.type
    wide = kind if kind is types.bool_ else types.c128 if kind.is_complex else types.f64 if kind.is_float else types.s64
    trace = tracing.current()
    if trace is None:
        return wrap(convert(value, wide))
    number = apply(p.reshape, convert(value, wide), shape=(), names=())
    trace.weak.add(number)
    return wrap(number)


def _fill(self: Any, value: Any) -> None:
    """Assign one value to all elements, as :meth:`numpy.ndarray.fill`."""
    self[...] = value


def _sort_in_place(self: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """Sort in place, as :meth:`numpy.ndarray.sort`."""
    self[...] = sorting.sort(self, axis)


def _view(self: ArrayValue, dtype: Any = None, type: Any = None) -> Any:
    """A view of all elements, as :meth:`numpy.ndarray.view`: their bytes as elements of another type of their size."""
    wanted = self.type if dtype is None else type_of(dtype, self.type)
    if wanted.size != self.type.size:
        raise NxTypeError(
            message(
                f"view() shows elements of {self.type} as those of types of {self.type.size} bytes, not as {wanted}.",
                "astype() converts; getfield() shows a part of the bytes of each element.",
            )
        )
    return self[...] if wanted is self.type else _field(self, wanted, 0, "view()")


def _field(self: ArrayValue, type_: Any, offset: int, caller: str) -> Any:
    """A view of a part of the bytes of each element; of a scalar, which has no memory that is seen, a scalar."""
    if type_ is not self.type and (type_ is types.bool_ or (self.type is types.bool_ and not type_.is_integer)):
        raise NxTypeError(
            message(f"{caller} shows no elements of {self.type} as those of {type_}.", "x != 0 and astype() convert.")
        )
    if not 0 <= offset <= self.type.size - type_.size:
        raise NxValueError(
            f"{caller}: an element of {self.type} has {self.type.size} bytes, and no {type_} from byte {offset} on"
        )
    array: Any = Array.of(operand(self)) if self.is_scalar else self
    if type_ is self.type:
        found = array.view_all()
    else:
        found = array.through(ElementField(array.shape, array.type, type_, offset))
    return wrap(operand(found)) if self.is_scalar else found


def _getfield(self: ArrayValue, dtype: Any, offset: int = 0) -> Any:
    """A part of the bytes of each element as an element of another type, a view: :meth:`numpy.ndarray.getfield`."""
    return _field(self, type_of(dtype, self.type), offset, "getfield()")


def _setfield(self: Any, val: Any, dtype: Any, offset: int = 0) -> None:
    """Assign to a part of the bytes of each element, as :meth:`numpy.ndarray.setfield`."""
    _getfield(self, dtype, offset)[...] = val


def _byteswap(self: Any, inplace: bool = False) -> Any:
    """The elements with their bytes in reverse order, as :meth:`numpy.ndarray.byteswap`."""
    swapped = wrap(memory.byteswap(operand(self)))
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def _tofile(self: ArrayValue, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements into a file, as :meth:`numpy.ndarray.tofile`: a program does it each time that it has run."""
    operand(self).tofile(fid, sep, format)


def _dump(self: ArrayValue, file: Any) -> None:
    """Pickle the array into a file, as :meth:`numpy.ndarray.dump`: a program does it each time that it has run."""
    operand(self).dump(file)


def _dot(self: ArrayValue, b: Any, out: Any = None) -> Any:
    """The product of vectors or matrices, as :meth:`numpy.ndarray.dot`."""
    return products.dot(self, b, out)


def _conjugate(self: ArrayValue) -> Any:
    """The complex conjugate, as :meth:`numpy.ndarray.conj`; a real array is returned itself, without a copy."""
    return e.conjugate(self) if self.type.is_complex else self


def _compress(self: ArrayValue, condition: Any, axis: int | None = None) -> Any:
    """The slices along an axis where a condition holds, as :meth:`numpy.ndarray.compress`."""
    return selection.compress(condition, self, axis)


def _partition_in_place(self: Any, kth: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
    """Partition in place, as :meth:`numpy.ndarray.partition`: all elements are sorted."""
    self[...] = sorting.sort(self, axis)


METHODS: dict[str, Callable[..., Any]] = {
    name: getattr(reductions, name)
    for name in ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "ptp", "std", "sum", "var")
}


def _rounded(self: ArrayValue, ndigits: Any = None) -> Any:
    """``round``: without a number of digits it gives a Python int."""
    return operand(self).__round__() if ndigits is None else selection.round(self, ndigits)


METHODS |= {
    "byteswap": _byteswap, "dump": _dump, "getfield": _getfield, "setfield": _setfield, "tofile": _tofile,
    "argpartition": sorting.argpartition, "argsort": sorting.argsort, "partition": _partition_in_place,
    "astype": shaping._astype_method, "choose": selection.choose,
    "clip": selection._clip_method, "compress": _compress,
    "conj": _conjugate, "conjugate": _conjugate, "copy": shaping._copy_method, "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum, "diagonal": products.diagonal, "dot": _dot, "fill": _fill,
    "flatten": shaping._flatten, "item": _item, "nonzero": selection.nonzero, "put": selection.put,
    "ravel": shaping.ravel, "repeat": shaping.repeat, "reshape": shaping._reshape_method, "round": selection.round,
    "searchsorted": sorting.searchsorted, "sort": _sort_in_place, "squeeze": shaping.squeeze,
    "swapaxes": shaping.swapaxes, "take": selection.take, "trace": products.trace,
    "transpose": shaping._transpose_method, "view": _view,
}  # fmt: skip
METHODS["__round__"] = _rounded
METHODS["__copy__"] = lambda self: shaping._copy_method(self, "K")
METHODS["__deepcopy__"] = lambda self, memo: shaping._copy_method(self, "K")


class Flat(Array):
    """The result of ``a.flat``: all elements in C order along one axis. Assigning to it writes to the array."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        result = indexing.get(self, key)
        return result.copy() if isinstance(result, Array) else result


def _flat(self: Array) -> Flat:
    """All elements along one axis."""
    return Flat(self.root, (*self.steps, Reshape(self.shape, (self.size,))), self.writeable)


def _set_flat(self: Array, value: Any) -> None:
    self.assign(reshaped(operand(shaping.resize(value, (self.size,))), self.shape))


_WHERE = "Where elements lie in memory is for the compiler to say: each program decides anew."
_BYTES = "The bytes are there when the program has run: return the array, and ask for them where it is called."
#: What only memory that is there can tell.
_OF_MEMORY = {
    "data": ("x", _WHERE),
    "ctypes": ("x", _WHERE), "base": ("np.shares_memory(a, b)", _WHERE),
    "dumps": ("x", _BYTES),
    "resize": ("x = np.resize(x, shape)", "The array keeps its size, and the variable gets another one."),
}  # fmt: skip


def _put_on(cls: type, table: dict[str, Callable[..., Any]]) -> None:
    """Install the functions of a table as methods of a class."""
    for name, function in table.items():
        setattr(cls, name, by_numpys_rules(function) if callable(function) else function)


def _install() -> None:
    for name, function in _BINARY.items():
        setattr(ArrayValue, f"__{name}__", by_numpys_rules(_operator(function, name)))
        setattr(ArrayValue, f"__r{name}__", by_numpys_rules(_operator(function, name, swapped=True)))
        if name != "divmod":
            for cls in (Array, DynamicSlice, MaskedElements):
                setattr(cls, f"__i{name}__", by_numpys_rules(_in_place(function, f"{_SIGNS[name]}=")))
    for name, function in _COMPARISON.items():
        setattr(ArrayValue, f"__{name}__", by_numpys_rules(_operator(function, name)))
    for name, function in _UNARY.items():
        setattr(ArrayValue, f"__{name}__", _of_one(function))
    _put_on(ArrayValue, METHODS)
    _put_on(ArrayValue, devices.METHODS)
    for name, entry in _OF_MEMORY.items():
        setattr(ArrayValue, name, Hint(name, entry, "an array of a NumPy program"))
    _put_on(ArrayValue, {"strides": property(memory_layout.strides), "flags": property(memory_layout.MemoryFlags)})
    _put_on(ArrayValue, {"setflags": memory_layout.setflags})
    _put_on(Array, {"__getitem__": indexing.get, "__setitem__": indexing.put, "flat": property(_flat, _set_flat)})
    _put_on(Scalar, selection.SCALAR_PARTS)
    _put_on(Scalar, {"T": property(lambda self: self), "flat": property(lambda self: Array.of(self.node).flat)})
    Scalar.with_shape = lambda self, shape: Array.of(self.node).with_shape(shape)


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip

_install()
