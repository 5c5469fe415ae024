# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""What nxkernel.numpy.array_methods installs on arrays when the package is imported."""

from typing import Any

from nxkernel.numpy.arrays.array import Array

class ArrayMethods:
    """The operators and methods of NumPy's arrays."""

    def __abs__(self) -> Any: ...
    def __add__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any: ...
    def __array_function__(self, function: Any, kinds: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """``__array_function__`` of arrays: NumPy's other functions give arrays; what they lack runs in NumPy at
        once.
        """
    def __array_namespace__(self) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """``__array_ufunc__`` of traced arrays: NumPy's ufuncs give traced arrays."""
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, other: Any) -> Any: ...
    def __divmod__(self, other: Any) -> Any: ...
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def __eq__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __floordiv__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __invert__(self) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __lshift__(self, other: Any) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __mod__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...  # type: ignore[override]
    def __neg__(self) -> Any: ...
    def __or__(self, other: Any) -> Any: ...
    def __pos__(self) -> Any: ...
    def __pow__(self, other: Any) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __rand__(self, other: Any) -> Any: ...
    def __rdivmod__(self, other: Any) -> Any: ...
    def __rfloordiv__(self, other: Any) -> Any: ...
    def __rlshift__(self, other: Any) -> Any: ...
    def __rmatmul__(self, other: Any) -> Any: ...
    def __rmod__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __ror__(self, other: Any) -> Any: ...
    def __round__(self) -> Any: ...
    def __rpow__(self, other: Any) -> Any: ...
    def __rrshift__(self, other: Any) -> Any: ...
    def __rshift__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __rxor__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __xor__(self, other: Any) -> Any: ...
    def all(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, *, axes: Any = None, where: Any = True
    ) -> Any:
        """Whether all elements are true, as :func:`numpy.all`."""
    def any(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, *, axes: Any = None, where: Any = True
    ) -> Any:
        """Whether any element is true, as :func:`numpy.any`."""
    def argmax(self, axis: Any = None, out: Any = None, *, axes: Any = None, keepdims: Any = False) -> Any:
        """The index of the greatest element, as :func:`numpy.argmax`."""
    def argmin(self, axis: Any = None, out: Any = None, *, axes: Any = None, keepdims: Any = False) -> Any:
        """The index of the least element, as :func:`numpy.argmin`."""
    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, axes: int | None = -1
    ) -> Any:
        """The indices that sort the array, as :func:`numpy.argpartition`."""
    def argsort(
        self,
        axis: int | None = -1,
        kind: Any = None,
        order: Any = None,
        *,
        axes: int | None = -1,
        stable: Any = None,
        descending: bool = False,
    ) -> Any:
        """The indices that sort an array, stably, as :func:`numpy.argsort`; `descending` as for :func:`sort`."""
    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """The elements in another type, as :meth:`numpy.ndarray.astype`."""
    def byteswap(self, inplace: bool = False) -> Any:
        """The elements with their bytes in reverse order, as :meth:`numpy.ndarray.byteswap`."""
    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """Elements chosen from several arrays by an index array, as :func:`numpy.choose`."""
    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        """Elements clipped to a range, as :meth:`numpy.ndarray.clip`."""
    def compress(self, condition: Any, axis: int | None = None, *, axes: int | None = None) -> Any:
        """The slices along an axis where a condition holds, as :meth:`numpy.ndarray.compress`."""
    def conj(self) -> Any:
        """The complex conjugate, as :meth:`numpy.ndarray.conj`; a real array is returned itself, without a copy."""
    def conjugate(self) -> Any:
        """The complex conjugate, as :meth:`numpy.ndarray.conj`; a real array is returned itself, without a copy."""
    def copy(self, order: str = "C") -> Any:
        """A copy, as :meth:`numpy.ndarray.copy`; scalars are immutable and returned unchanged."""
    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None, *, axes: int | None = None) -> Any:
        """Running products, as :func:`numpy.cumprod`."""
    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None, *, axes: int | None = None) -> Any:
        """Running sums, as :func:`numpy.cumsum`."""
    @property
    def device(self) -> Any:
        """The name of the place that an array is in, ``"cpu"`` or ``"cuda:0"``; None for where the program will
        run.
        """
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """A diagonal as a read-only view, as :func:`numpy.diagonal`."""
    def dot(self, b: Any, out: Any = None) -> Any:
        """The product of vectors or matrices, as :meth:`numpy.ndarray.dot`."""
    def dump(self, file: Any) -> None:
        """Pickle the array into a file, as :meth:`numpy.ndarray.dump`: a program does it each time that it has
        run.
        """
    def fill(self, value: Any) -> None:
        """Assign one value to all elements, as :meth:`numpy.ndarray.fill`."""
    @property
    def flags(self) -> Any:
        """The flags of an array, as :attr:`numpy.ndarray.flags`; of these ``writeable`` can be set."""
    def flatten(self, order: str = "C") -> Any:
        """A copy of all elements along one axis, as :meth:`numpy.ndarray.flatten`."""
    def getfield(self, dtype: Any, offset: int = 0) -> Any:
        """A part of the bytes of each element as an element of another type, a view:
        :meth:`numpy.ndarray.getfield`.
        """
    def item(self, *index: Any) -> Any:
        """One element, as :meth:`numpy.ndarray.item`: what stands for a Python number."""
    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
        *,
        axes: Any = None,
    ) -> Any:
        """The greatest element, as :func:`numpy.max`."""
    def mean(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        axes: Any = None,
        where: Any = True,
    ) -> Any:
        """The average, as :func:`numpy.mean`."""
    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
        *,
        axes: Any = None,
    ) -> Any:
        """The least element, as :func:`numpy.min`."""
    def nonzero(self, *, size: int | None = None, fill_value: int = 0) -> tuple[Any, ...]:
        """The indices of nonzero elements for each axis, as :func:`numpy.nonzero`; their number is traced."""
    def partition(self, kth: Any, axis: int = -1, kind: Any = None, order: Any = None, *, axes: int = -1) -> None:
        """Partition in place, as :meth:`numpy.ndarray.partition`: all elements are sorted."""
    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = 1,
        where: Any = True,
        *,
        axes: Any = None,
    ) -> Any:
        """The product of elements, as :func:`numpy.prod`."""
    def ptp(self, axis: Any = None, out: Any = None, keepdims: Any = False, *, axes: Any = None) -> Any:
        """The range from the least to the greatest element, as :func:`numpy.ptp`."""
    def put(self, ind: Any, v: Any, mode: str = "raise") -> None:
        """Assign to elements at flat indices, as :func:`numpy.put`."""
    def ravel(self, order: str = "C") -> Any:
        """All elements along one axis, as :func:`numpy.ravel`."""
    def repeat(self, repeats: Any, axis: int | None = None, *, axes: int | None = None) -> Any:
        """Each element repeated, as :func:`numpy.repeat`."""
    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Any:
        """The elements in another shape, as :meth:`numpy.ndarray.reshape`."""
    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Elements rounded to decimals, halves to even, as :func:`numpy.round`."""
    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Insertion indices of values into a sorted vector, as :func:`numpy.searchsorted`, by bisection."""
    def setfield(self, val: Any, dtype: Any, offset: int = 0) -> None:
        """Assign to a part of the bytes of each element, as :meth:`numpy.ndarray.setfield`."""
    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Say whether an array that the program has made may be assigned into."""
    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, axes: int = -1, stable: Any = None) -> None:
        """Sort in place, as :meth:`numpy.ndarray.sort`."""
    def squeeze(self, axis: Any = None, *more: int, axes: Any = None) -> Any:
        """The array without axes of size 1, a view, as :func:`numpy.squeeze`."""
    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        axes: Any = None,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        """The standard deviation, as :func:`numpy.std`."""
    @property
    def strides(self) -> Any:
        """The bytes from one element to the next along each axis, as NumPy's array has them."""
    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = 0,
        where: Any = True,
        *,
        axes: Any = None,
    ) -> Any:
        """The sum of elements, as :func:`numpy.sum`."""
    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Two axes interchanged, a view, as :func:`numpy.swapaxes`."""
    def take(
        self, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise", *, axes: int | None = None
    ) -> Any:
        """Elements at indices of an axis, as :func:`numpy.take`."""
    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array in another place: itself where it is there already, else a copy."""
    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements into a file, as :meth:`numpy.ndarray.tofile`: a program does it each time that it has
        run.
        """
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
        """The sum of a diagonal, as :func:`numpy.trace`."""
    def transpose(self, *axes: Any) -> Any:
        """The axes in another order, a view, as :meth:`numpy.ndarray.transpose`."""
    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        axes: Any = None,
        where: Any = True,
        mean: Any = None,
        correction: Any = None,
    ) -> Any:
        """The variance, as :func:`numpy.var`."""
    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """A view of all elements, as :meth:`numpy.ndarray.view`: their bytes as elements of another type of their
        size.
        """
