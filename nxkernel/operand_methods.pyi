# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""What nxkernel.ops.tensor_methods installs on operands and on tensors when the package is imported."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, overload

from nxkernel.ops.shapes.batching import TensorBatches
from nxkernel.tensor.heatmap import Heatmap
from nxkernel.tensor.printing import Text

class OperandMethods:
    """The operators and methods of tensors and traced values."""

    @property
    def T(self) -> Self:
        """The tensor with its axes in reverse order."""
    def __abs__(self) -> Self: ...
    def __add__(self, other: Any) -> Self: ...
    def __and__(self, other: Any) -> Self: ...
    def __divmod__(self, other: Any) -> tuple[Self, Self]: ...
    def __eq__(self, other: Any) -> Self: ...  # type: ignore[override]
    def __floordiv__(self, other: Any) -> Self: ...
    def __ge__(self, other: Any) -> Self: ...
    def __getitem__(self, key: Any) -> Self:
        """The result of ``t[key]``: ints drop their axis, slices keep it, None adds one, index tensors are
        clamped.
        """
    def __gt__(self, other: Any) -> Self: ...
    def __invert__(self) -> Self: ...
    def __le__(self, other: Any) -> Self: ...
    def __lshift__(self, other: Any) -> Self: ...
    def __lt__(self, other: Any) -> Self: ...
    def __matmul__(self, other: Any) -> Self: ...
    def __mod__(self, other: Any) -> Self: ...
    def __mul__(self, other: Any) -> Self: ...
    def __ne__(self, other: Any) -> Self: ...  # type: ignore[override]
    def __neg__(self) -> Self: ...
    def __or__(self, other: Any) -> Self: ...
    def __pos__(self) -> Self: ...
    def __pow__(self, other: Any) -> Self: ...
    def __radd__(self, other: Any) -> Self: ...
    def __rand__(self, other: Any) -> Self: ...
    def __rdivmod__(self, other: Any) -> tuple[Self, Self]: ...
    def __rfloordiv__(self, other: Any) -> Self: ...
    def __rlshift__(self, other: Any) -> Self: ...
    def __rmatmul__(self, other: Any) -> Self: ...
    def __rmod__(self, other: Any) -> Self: ...
    def __rmul__(self, other: Any) -> Self: ...
    def __ror__(self, other: Any) -> Self: ...
    def __rpow__(self, other: Any) -> Self: ...
    def __rrshift__(self, other: Any) -> Self: ...
    def __rshift__(self, other: Any) -> Self: ...
    def __rsub__(self, other: Any) -> Self: ...
    def __rtruediv__(self, other: Any) -> Self: ...
    def __rxor__(self, other: Any) -> Self: ...
    def __sub__(self, other: Any) -> Self: ...
    def __truediv__(self, other: Any) -> Self: ...
    def __xor__(self, other: Any) -> Self: ...
    def abs(self) -> Self:
        """The absolute value. Integers wrap."""
    def acos(self) -> Self:
        """The angle in radians whose cosine each element is."""
    def acosh(self) -> Self:
        """The inverse of the hyperbolic cosine."""
    def add(self, right: Any) -> Self:
        """Add. Integers wrap."""
    def all(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """Whether no element is 0."""
    def all_close(self, b: Any, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Self:
        """Whether all elements are equal within a tolerance."""
    def any(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """Whether some element is not 0."""
    def argmax(
        self,
        axis: int | str | None = None,
        *,
        axes: int | str | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
        tie_break: str = "low",
        type: Any = "s64",
        dtype: Any = "s64",
    ) -> Self:
        """The index of the greatest element. NaN wins."""
    def argmin(
        self,
        axis: int | str | None = None,
        *,
        axes: int | str | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
        tie_break: str = "low",
        type: Any = "s64",
        dtype: Any = "s64",
    ) -> Self:
        """The index of the least element. NaN wins."""
    def argpartition(self, kth: Any, axis: int | str = -1, *, axes: int | str = -1) -> Self:
        """Indices that bring the smaller elements before the `kth` and the greater after it: they sort all."""
    def argsort(
        self,
        axis: int | str = 0,
        *,
        axes: int | str = 0,
        direction: str = "asc",
        stable: bool = False,
        type: Any = "s64",
        dtype: Any = "s64",
    ) -> Self:
        """The indices that sort the elements along an axis."""
    def as_type(self, type: Any) -> Self:
        """Convert to another type."""
    def asin(self) -> Self:
        """The angle in radians whose sine each element is."""
    def asinh(self) -> Self:
        """The inverse of the hyperbolic sine."""
    def astype(self, type: Any) -> Self:
        """Convert to another type."""
    def atan(self) -> Self:
        """The angle in radians whose tangent each element is."""
    def atan2(self, right: Any) -> Self:
        """The angle of the point (right, left) in radians, from -π to π."""
    def atanh(self) -> Self:
        """The inverse of the hyperbolic tangent."""
    def axes(self) -> list[int]:
        """The indices of all axes, in order."""
    def axis_index(self, axis: int | str) -> int:
        """The index of an axis given by name or negative index."""
    def axis_size(self, axis: int | str) -> int:
        """The size of one axis."""
    def bit_size(self) -> int:
        """The size of the elements in bits, vectorized axes included."""
    def bitcast(self, type: Any) -> Self:
        """Reinterpret the bits as another type of equal width."""
    def bitwise_and(self, right: Any) -> Self:
        """The bits that both integers have."""
    def bitwise_not(self) -> Self:
        """Flip every bit of integers."""
    def bitwise_or(self, right: Any) -> Self:
        """The bits that either integer has."""
    def bitwise_xor(self, right: Any) -> Self:
        """The bits that exactly one of two integers has."""
    def broadcast(
        self,
        shape: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        names: Sequence[str | None] | None = None,
    ) -> Self:
        """Repeat a tensor so that it fills a shape."""
    def byte_size(self) -> int:
        """The size of the elements in bytes, vectorized axes included."""
    def byteswap(self) -> Self:
        """The elements whose bytes are those of the tensor's in reverse order."""
    def cbrt(self) -> Self:
        """The cube root."""
    def ceil(self) -> Self:
        """Round up."""
    def choose(self, choices: Any) -> Self:
        """For each element, which is a place in a list of tensors, the element of that one."""
    def clip(self, min: Any = None, max: Any = None) -> Self:
        """Clip elements to a range."""
    def compatible(self, right: Any) -> bool:
        """Whether two tensors, or containers of tensors, agree in type, shape, names and vectorized axes."""
    def compress(
        self,
        condition: Any,
        axis: int | str | None = None,
        *,
        axes: int | str | None = None,
        size: int | None = None,
        fill_value: Any = 0,
    ) -> Self:
        """The slices along an axis at the places where a condition holds; with a `size`, what ``t[mask]`` is in a
        program.
        """
    def concatenate(self, axis: int | str = 0, *, axes: int | str = 0) -> Self:
        """Join tensors along an existing axis."""
    def conj(self) -> Self:
        """The complex conjugate."""
    def conjugate(self) -> Self:
        """The complex conjugate."""
    def conv(
        self,
        kernel: Any,
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        input_dilation: int | Sequence[int] = 1,
        kernel_dilation: int | Sequence[int] = 1,
        feature_group_size: int = 1,
        batch_group_size: int = 1,
        input_permutation: Sequence[int | str] | None = None,
        kernel_permutation: Sequence[int | str] | None = None,
        output_permutation: Sequence[int | str] | None = None,
    ) -> Self:
        """Convolution over the spatial axes of a batch (cross-correlation: the kernel is not flipped)."""
    def copy(self) -> Self:
        """The tensor itself: nobody can write into it, so that a copy would say nothing else."""
    def cos(self) -> Self:
        """The cosine of an angle in radians."""
    def cosh(self) -> Self:
        """The hyperbolic cosine."""
    def count_leading_zeros(self) -> Self:
        """How many bits of an integer come before its first 1."""
    def covariance(self, mean: Any = None, *, ddof: int = 0) -> Self:
        """The covariance matrix of variables, given observations as rows."""
    def cumprod(self, axis: int | str | None = None, *, axes: int | str | None = None) -> Self:
        """For each element the product of those up to it."""
    def cumsum(self, axis: int | str | None = None, *, axes: int | str | None = None) -> Self:
        """For each element the sum of those up to it."""
    def cumulative_max(self, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Self:
        """For each element the greatest of those up to it."""
    def cumulative_min(self, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Self:
        """For each element the least of those up to it."""
    def cumulative_product(self, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Self:
        """For each element the product of those up to it."""
    def cumulative_sum(self, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Self:
        """For each element the sum of those up to it."""
    def devectorize(self, *, keep_names: bool = True) -> Any:
        """Turn all vectorized axes back into plain leading axes."""
    def diagonal(self, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Self:
        """The diagonals of the matrices in two axes, which are the first two as in NumPy."""
    def diff(self, *, order: int = 1, axis: int | str = -1, axes: int | str = -1) -> Self:
        """Differences of consecutive elements along an axis."""
    def divide(self, right: Any) -> Self:
        """Divide."""
    @overload
    def dot(self, right: Any, /) -> Self: ...
    @overload
    def dot(self, contract_left: Sequence[int | str], right: Any, contract_right: Sequence[int | str], /) -> Self: ...
    @overload
    def dot(
        self,
        contract_left: Sequence[int | str],
        batch_left: Sequence[int | str],
        right: Any,
        contract_right: Sequence[int | str],
        batch_right: Sequence[int | str],
        /,
    ) -> Self: ...
    def equal(self, right: Any) -> Self:
        """Whether elements are equal. NaN equals nothing."""
    def erf(self) -> Self:
        """The error function."""
    def erf_inv(self) -> Self:
        """The inverse of the error function."""
    def erfc(self) -> Self:
        """One minus the error function."""
    def exp(self) -> Self:
        """The exponential: e to the power of each element."""
    def expm1(self) -> Self:
        """``exp(x) - 1``, precise for small x."""
    def fft(
        self, length: int | str | None = None, *, axis: int | str = -1, axes: int | str = -1, eps: float | None = None
    ) -> Self:
        """The discrete Fourier transform along an axis."""
    def fft2(
        self,
        axes: Sequence[int | str] = (-2, -1),
        *,
        axis: Sequence[int | str] = (-2, -1),
        lengths: Sequence[int | str] | None = None,
        eps: float | None = None,
    ) -> Self:
        """The discrete Fourier transform along two axes."""
    def fill(self, value: Any, *, type: Any = None, dtype: Any = None) -> Self:
        """A tensor filled with one value, with the shape and names of another."""
    @property
    def flat(self) -> Self:
        """All elements in one axis, in C order."""
    def flat_size(self) -> int:
        """The number of elements including those of vectorized axes."""
    def flatten(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Merge all or adjacent axes into one."""
    def floor(self) -> Self:
        """Round down."""
    def gather(
        self,
        indices: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Gather elements, or slices of the remaining axes, at coordinates."""
    def getfield(self, dtype: Any, offset: int = 0) -> Self:
        """A part of the bytes of each element, read as an element of another type."""
    def greater(self, right: Any) -> Self:
        """Whether left is greater than right."""
    def greater_equal(self, right: Any) -> Self:
        """Whether left is at least right."""
    def ifft(
        self, length: int | str | None = None, *, axis: int | str = -1, axes: int | str = -1, eps: float | None = None
    ) -> Self:
        """The inverse of the discrete Fourier transform along an axis, which divides by its length."""
    def ifft2(
        self,
        axes: Sequence[int | str] = (-2, -1),
        *,
        axis: Sequence[int | str] = (-2, -1),
        lengths: Sequence[int | str] | None = None,
        eps: float | None = None,
    ) -> Self:
        """The inverse of the discrete Fourier transform along two axes, which divides by the product of their
        lengths.
        """
    @property
    def imag(self) -> Self:
        """The imaginary part, as :func:`nxkernel.imag` gives it."""
    def indexed_add(
        self,
        indices: Any,
        updates: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Add to elements, or to slices of the remaining axes, at coordinates; repeated coordinates add up."""
    def indexed_max(
        self,
        indices: Any,
        updates: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Replace elements, or slices of the remaining axes, at coordinates by what is greater than they. NaN
        wins.
        """
    def indexed_min(
        self,
        indices: Any,
        updates: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Replace elements, or slices of the remaining axes, at coordinates by what is less than they. NaN wins."""
    def indexed_multiply(
        self,
        indices: Any,
        updates: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Multiply elements, or slices of the remaining axes, at coordinates; all factors of one place count."""
    def indexed_put(
        self,
        indices: Any,
        updates: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Replace elements, or slices of the remaining axes, at coordinates; of repeated coordinates the last
        wins.
        """
    def inspect(self, *, limit: int | None = 50) -> Text:
        """A tensor as text in the layout of Nx: its type and shape in a line, below them its elements, a row a
        line.
        """
    def irfft(
        self, length: int | str | None = None, *, axis: int | str = -1, axes: int | str = -1, eps: float | None = None
    ) -> Self:
        """The inverse of :func:`rfft`: a real signal from the non-redundant half of its transform."""
    def is_infinity(self) -> Self:
        """Whether elements are infinite, of either sign."""
    def is_nan(self) -> Self:
        """Whether elements are NaN."""
    def left_shift(self, right: Any) -> Self:
        """Move the bits of integers up, zeros follow."""
    def less(self, right: Any) -> Self:
        """Whether left is less than right."""
    def less_equal(self, right: Any) -> Self:
        """Whether left is at most right."""
    def log(self, base: Any = None) -> Self:
        """The natural logarithm, or the logarithm to a base."""
    def log10(self) -> Self:
        """The logarithm to base 10."""
    def log1p(self) -> Self:
        """``log(1 + x)``, precise for small x."""
    def log2(self) -> Self:
        """The logarithm to base 2."""
    def logical_and(self, right: Any) -> Self:
        """Whether both are true. All but 0 counts as true."""
    def logical_not(self) -> Self:
        """Whether elements are 0."""
    def logical_or(self, right: Any) -> Self:
        """Whether one is true. All but 0 counts as true."""
    def logical_xor(self, right: Any) -> Self:
        """Whether exactly one is true. All but 0 counts as true."""
    def logsumexp(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
        exp_scaling_factor: Any = None,
    ) -> Self:
        """The logarithm of the sum of exponentials, without overflow."""
    @property
    def mT(self) -> Self:
        """The tensor with its last two axes swapped."""
    def make_diagonal(self, offset: int = 0) -> Self:
        """A square matrix with the given elements on a diagonal and zeros elsewhere."""
    def map(self, function: Callable[[Any], Any], *, type: Any = None, dtype: Any = None) -> Self:
        """Apply a scalar function to each element."""
    def max(
        self,
        right: Any = None,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The greatest element of each pair; of one tensor the greatest of all, or along axes. NaN wins."""
    def mean(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The average."""
    def median(
        self,
        axis: int | str | None = None,
        *,
        axes: int | str | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The middle of the sorted elements."""
    def min(
        self,
        right: Any = None,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The least element of each pair; of one tensor the least of all, or along axes. NaN wins."""
    def mode(
        self,
        axis: int | str | None = None,
        *,
        axes: int | str | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The most frequent element; of several, the smallest."""
    def multiply(self, right: Any) -> Self:
        """Multiply. Integers wrap."""
    def negate(self) -> Self:
        """Change the sign. Integers wrap."""
    def new_axis(self, axis: int, name: str | None = None) -> Self:
        """Insert an axis of size 1."""
    def nonzero(self, *, size: int | None = None, fill_value: int = 0) -> tuple[Self, ...]:
        """The indices of the elements that are not 0, in C order."""
    def not_equal(self, right: Any) -> Self:
        """Whether elements differ. NaN differs from all."""
    def one_hot(self, n: int, axis: int = -1, *, axes: int = -1, type: Any = "f32", dtype: Any = "f32") -> Self:
        """For each index a vector of zeros with a one at its place."""
    def outer(self, right: Any) -> Self:
        """Each element of one tensor times each element of another."""
    def pad(self, pad_value: Any, padding_config: Sequence[Sequence[int]]) -> Self:
        """Pad with a value before, after and between the elements of each axis."""
    def pad_outer(self, pad_value_or_type: Any, padding_config: Sequence[Sequence[int]]) -> Self:
        """Pad a tensor at its edges."""
    def phase(self) -> Self:
        """The angle of complex numbers in radians, from -π to π."""
    def population_count(self) -> Self:
        """How many bits of an integer are 1."""
    def pow(self, right: Any) -> Self:
        """Raise to a power."""
    def prod(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """Multiply all."""
    def product(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """Multiply all."""
    def put_diagonal(self, diagonal: Any, offset: int = 0) -> Self:
        """Replace the elements on a diagonal of a matrix."""
    def put_slice(self, start_indices: Sequence[Any], slice: Any) -> Self:
        """Replace a slice, given by its start along each axis."""
    def quotient(self, right: Any) -> Self:
        """Divide integers, truncating toward zero. The quotient by zero is 0."""
    def ravel(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Merge all or adjacent axes into one."""
    @property
    def real(self) -> Self:
        """The real part, as :func:`nxkernel.real` gives it."""
    def reduce(
        self,
        acc: Any,
        function: Callable[[Any, Any], Any],
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
        type: Any = None,
        dtype: Any = None,
    ) -> Self:
        """Reduce axes with a binary function and an initial value."""
    def reduce_max(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The greatest element. NaN wins."""
    def reduce_min(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The least element. NaN wins."""
    def reflect(self, *, padding_config: Sequence[Sequence[int]]) -> Self:
        """Pad a tensor by reflecting it at its outermost elements."""
    def remainder(self, right: Any) -> Self:
        """What remains of a division that truncates; it has the dividend's sign. Of integers by zero it is 0."""
    def rename(self, names: Sequence[str | None]) -> Self:
        """Rename the axes."""
    def repeat(self, repeats: Any, axis: int | str | None = None, *, axes: int | str | None = None) -> Self:
        """Repeat each element."""
    def reshape(self, new_shape: Any, *more: int, names: Sequence[str | None] | None = None) -> Self:
        """Change the shape; elements keep their C order."""
    def revectorize(
        self,
        target_axes: str | Sequence[str | tuple[str, int]] | Mapping[str, int],
        *,
        target_shape: Sequence[int | str] | None = None,
        target_names: Sequence[str | None] | None = None,
    ) -> Any:
        """Rearrange the vectorized axes and elements, in C order."""
    def reverse(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Reverse the order of elements along axes."""
    def rfft(
        self, length: int | str | None = None, *, axis: int | str = -1, axes: int | str = -1, eps: float | None = None
    ) -> Self:
        """The discrete Fourier transform of a real signal: its non-redundant half."""
    def right_shift(self, right: Any) -> Self:
        """Move the bits of integers down; signed ones keep their sign."""
    def round(self, decimals: int = 0) -> Self:
        """Round to the nearest whole number, or to so many decimals; halves go away from zero."""
    def rsqrt(self) -> Self:
        """One over the square root."""
    def searchsorted(self, values: Any, side: str = "left") -> Self:
        """Where values would be inserted into a sorted vector so that it stays sorted."""
    def segment_max(self, segment_ids: Any, num_segments: int | None = None) -> Self:
        """The greatest element of the rows of each segment."""
    def segment_min(self, segment_ids: Any, num_segments: int | None = None) -> Self:
        """The least element of the rows of each segment."""
    def segment_prod(self, segment_ids: Any, num_segments: int | None = None) -> Self:
        """The product of the rows of each segment."""
    def segment_sum(self, segment_ids: Any, num_segments: int | None = None) -> Self:
        """The sum of the rows of each segment."""
    def select(self, on_true: Any, on_false: Any) -> Self:
        """Choose elements from two tensors by a condition."""
    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        """Say that nobody writes into the tensor, which is so anyway."""
    def sigmoid(self) -> Self:
        """The logistic function, ``1 / (1 + exp(-x))``."""
    def sign(self) -> Self:
        """-1, 0 or 1 as each element is; NaN stays."""
    def sin(self) -> Self:
        """The sine of an angle in radians."""
    def sinh(self) -> Self:
        """The hyperbolic sine."""
    def slice(self, start_indices: Sequence[Any], lengths: Sequence[int], *, strides: int | Sequence[int] = 1) -> Self:
        """Take a slice, given by its start and length along each axis."""
    def slice_along_axis(
        self, start_index: Any, length: int, axis: int | str = 0, *, axes: int | str = 0, strides: int = 1
    ) -> Self:
        """Take a slice along one axis, and all of the others."""
    def sort(self, axis: int | str = 0, *, axes: int | str = 0, direction: str = "asc", stable: bool = False) -> Self:
        """Sort the elements along an axis."""
    def split(self, split: int | float, axis: int | str = 0, *, axes: int | str = 0) -> tuple[Self, Self]:
        """Cut a tensor in two along an axis."""
    def sqrt(self) -> Self:
        """The square root."""
    def squeeze(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *more: int,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Remove axes of size 1."""
    def stack(self, axis: int = 0, *, axes: int = 0, name: str | None = None) -> Self:
        """Join tensors of one shape along a new axis."""
    def standard_deviation(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        ddof: int = 0,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The square root of the variance."""
    def std(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        ddof: int = 0,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The square root of the variance."""
    def subtract(self, right: Any) -> Self:
        """Subtract. Integers wrap."""
    def sum(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """Add up."""
    def swapaxes(self, axis1: int | str, axis2: int | str) -> Self:
        """Swap two axes."""
    def take(self, indices: Any, axis: int | str = 0, *, axes: int | str = 0) -> Self:
        """Take elements or slices at the given indices of an axis."""
    def take_along_axis(self, indices: Any, axis: int | str = 0, *, axes: int | str = 0) -> Self:
        """Take elements along an axis, at indices given for each 1-d slice."""
    def take_diagonal(self, offset: int = 0) -> Self:
        """The elements on a diagonal of each matrix."""
    def tan(self) -> Self:
        """The tangent of an angle in radians."""
    def tanh(self) -> Self:
        """The hyperbolic tangent."""
    def tile(self, repetitions: Sequence[int] | int) -> Self:
        """Repeat a tensor as a whole along its axes."""
    def top_k(self, k: int = 1) -> tuple[Self, Self]:
        """The `k` largest elements along the last axis, and their indices."""
    def trace(self, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Self:
        """The sum of a diagonal of the matrices in two axes."""
    def transpose(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *more: int,
        axis: int | str | Sequence[int | str] | None = None,
    ) -> Self:
        """Permute the axes."""
    def tril(self, k: int = 0) -> Self:
        """The lower triangle of each matrix, zeros above."""
    def triu(self, k: int = 0) -> Self:
        """The upper triangle of each matrix, zeros below."""
    def unique(
        self,
        *,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
        size: int | None = None,
        fill_value: Any = None,
    ) -> Any:
        """The different elements in ascending order. NaN counts as one."""
    def var(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        ddof: int = 0,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The variance: the mean squared deviation from the mean."""
    def variance(
        self,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        ddof: int = 0,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The variance: the mean squared deviation from the mean."""
    def vectorize(self, name_or_axes: str | Sequence[str | tuple[str, int]] | Mapping[str, int]) -> Any:
        """Turn leading axes into vectorized axes, which functions no longer see."""
    def weighted_mean(
        self,
        weights: Any,
        axes: int | str | Sequence[int | str] | None = None,
        *,
        axis: int | str | Sequence[int | str] | None = None,
        keep_axes: bool = False,
        keepdims: bool = False,
    ) -> Self:
        """The average in which each element counts as much as its weight says."""
    def window_max(
        self,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """The greatest element of each window."""
    def window_mean(
        self,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """The mean of each window."""
    def window_min(
        self,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """The least element of each window."""
    def window_product(
        self,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """The product of each window."""
    def window_reduce(
        self,
        acc: Any,
        window_dimensions: int | Sequence[int],
        function: Callable[[Any, Any], Any],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """Reduce each window with a binary function and an initial value."""
    def window_scatter_max(
        self,
        source: Any,
        init_value: Any,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
    ) -> Self:
        """Add each element of `source` where its window has its greatest element."""
    def window_scatter_min(
        self,
        source: Any,
        init_value: Any,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
    ) -> Self:
        """Add each element of `source` where its window has its least element."""
    def window_sum(
        self,
        window_dimensions: int | Sequence[int],
        *,
        padding: str | Sequence[tuple[int, int]] = "valid",
        strides: int | Sequence[int] = 1,
        window_dilations: int | Sequence[int] = 1,
    ) -> Self:
        """The sum of each window."""

class TensorMethods:
    """The methods of tensors that ask for their elements."""

    def to_batched(self, batch_size: int, *, leftover: str = "repeat") -> TensorBatches:
        """Split a tensor along its first axis into batches of equal size."""
    def to_binary(self, *, limit: int | None = None) -> bytes:
        """The elements in C order as bytes in native byte order."""
    def to_flat_list(self, *, limit: int | None = None) -> list[Any]:
        """The elements in C order as one list of Python numbers."""
    def to_heatmap(self, *, ansi_enabled: bool | None = None, ansi_whitespace: str = "\u3000") -> Heatmap:
        """Show a tensor as a heat map, dark where elements are small."""
    def to_list(self) -> Any:
        """The elements as nested lists of Python numbers; a scalar as a number."""
    def to_number(self) -> int | float | complex:
        """The element of a scalar tensor as a Python number."""
    def to_template(self) -> Any:
        """The type, shape and names of a tensor, or of each tensor in a container, without data."""
