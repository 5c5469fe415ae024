# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""The public functions on tensors (`nx.sum`, `nx.dot`, …), one module a family."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from nxkernel.element_types import Type
from nxkernel.ops.shapes.batching import TensorBatches
from nxkernel.tensor import Tensor
from nxkernel.tensor.heatmap import Heatmap
from nxkernel.tensor.printing import Text
from nxkernel.tensor.tensor import Template

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "all_close",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "array",
    "as_type",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "axes",
    "axis_index",
    "axis_size",
    "bf16",
    "bit_size",
    "bitcast",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_vectors",
    "byte_size",
    "c64",
    "c128",
    "cbrt",
    "ceil",
    "choose",
    "clip",
    "compatible",
    "complex",
    "concatenate",
    "conj",
    "conjugate",
    "conv",
    "copy",
    "cos",
    "cosh",
    "count_leading_zeros",
    "covariance",
    "cumprod",
    "cumsum",
    "cumulative_max",
    "cumulative_min",
    "cumulative_product",
    "cumulative_sum",
    "devectorize",
    "diagonal",
    "diff",
    "divide",
    "dot",
    "empty",
    "equal",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "expm1",
    "eye",
    "f16",
    "f32",
    "f64",
    "fft",
    "fft2",
    "fill",
    "flat_size",
    "flatten",
    "floor",
    "from_binary",
    "from_dlpack",
    "full",
    "gather",
    "greater",
    "greater_equal",
    "ifft",
    "ifft2",
    "imag",
    "indexed_add",
    "indexed_max",
    "indexed_min",
    "indexed_multiply",
    "indexed_put",
    "inspect",
    "iota",
    "irfft",
    "is_infinity",
    "is_nan",
    "is_tensor",
    "left_shift",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "make_diagonal",
    "map",
    "mat",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "multiply",
    "names",
    "negate",
    "new_axis",
    "njit_call",
    "njit_map",
    "nonzero",
    "not_equal",
    "one_hot",
    "ones",
    "outer",
    "pad",
    "pad_outer",
    "phase",
    "population_count",
    "pow",
    "prod",
    "product",
    "put_diagonal",
    "put_slice",
    "quotient",
    "rank",
    "ravel",
    "real",
    "reduce",
    "reduce_max",
    "reduce_min",
    "reflect",
    "remainder",
    "rename",
    "repeat",
    "reshape",
    "reshape_vectors",
    "revectorize",
    "reverse",
    "rfft",
    "right_shift",
    "round",
    "rsqrt",
    "s8",
    "s16",
    "s32",
    "s64",
    "searchsorted",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "select",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "size",
    "slice",
    "slice_along_axis",
    "sort",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "standard_deviation",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "take_diagonal",
    "tan",
    "tanh",
    "template",
    "tensor",
    "tile",
    "to_batched",
    "to_binary",
    "to_flat_list",
    "to_heatmap",
    "to_list",
    "to_number",
    "to_template",
    "to_tensor",
    "top_k",
    "trace",
    "transpose",
    "tri",
    "tril",
    "triu",
    "type",
    "u8",
    "u16",
    "u32",
    "u64",
    "unique",
    "var",
    "variance",
    "vec",
    "vectorize",
    "weighted_mean",
    "where",
    "window_max",
    "window_mean",
    "window_min",
    "window_product",
    "window_reduce",
    "window_scatter_max",
    "window_scatter_min",
    "window_sum",
    "zeros",
]

def abs(tensor: Any) -> Tensor:
    """The absolute value. Integers wrap."""

def acos(tensor: Any) -> Tensor:
    """The angle in radians whose cosine each element is."""

def acosh(tensor: Any) -> Tensor:
    """The inverse of the hyperbolic cosine."""

def add(left: Any, right: Any) -> Tensor:
    """Add. Integers wrap."""

def all(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Whether no element is 0."""

def all_close(a: Any, b: Any, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor: ...
def any(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Whether some element is not 0."""

def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    type: Any = None,
    *,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> Tensor: ...
def argmax(
    tensor: Any,
    axis: int | str | None = None,
    *,
    axes: int | str | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
    tie_break: str = "low",
    type: Any = "s64",
    dtype: Any = "s64",
) -> Tensor:
    """The index of the greatest element. NaN wins."""

def argmin(
    tensor: Any,
    axis: int | str | None = None,
    *,
    axes: int | str | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
    tie_break: str = "low",
    type: Any = "s64",
    dtype: Any = "s64",
) -> Tensor:
    """The index of the least element. NaN wins."""

def argpartition(tensor: Any, kth: Any, axis: int | str = -1, *, axes: int | str = -1) -> Tensor: ...
def argsort(
    tensor: Any,
    axis: int | str = 0,
    *,
    axes: int | str = 0,
    direction: str = "asc",
    stable: bool = False,
    type: Any = "s64",
    dtype: Any = "s64",
) -> Tensor: ...
def array(value: Any, type: Any = None, *, dtype: Any = None, names: Sequence[str | None] | None = None) -> Tensor: ...
def as_type(tensor: Any, type: Any) -> Tensor: ...
def asarray(
    value: Any, type: Any = None, *, dtype: Any = None, names: Sequence[str | None] | None = None
) -> Tensor: ...
def asin(tensor: Any) -> Tensor:
    """The angle in radians whose sine each element is."""

def asinh(tensor: Any) -> Tensor:
    """The inverse of the hyperbolic sine."""

def astype(tensor: Any, type: Any) -> Tensor: ...
def atan(tensor: Any) -> Tensor:
    """The angle in radians whose tangent each element is."""

def atan2(left: Any, right: Any) -> Tensor:
    """The angle of the point (right, left) in radians, from -π to π."""

def atanh(tensor: Any) -> Tensor:
    """The inverse of the hyperbolic tangent."""

def axes(tensor: Any) -> list[int]: ...
def axis_index(tensor: Any, axis: int | str) -> int: ...
def axis_size(tensor: Any, axis: int | str) -> int: ...

bf16: Type

def bit_size(tensor: Any) -> int: ...
def bitcast(tensor: Any, type: Any) -> Tensor: ...
def bitwise_and(left: Any, right: Any) -> Tensor:
    """The bits that both integers have."""

def bitwise_not(tensor: Any) -> Tensor:
    """Flip every bit of integers."""

def bitwise_or(left: Any, right: Any) -> Tensor:
    """The bits that either integer has."""

def bitwise_xor(left: Any, right: Any) -> Tensor:
    """The bits that exactly one of two integers has."""

def broadcast(
    tensor: Any,
    shape: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    names: Sequence[str | None] | None = None,
) -> Tensor: ...
def broadcast_vectors(tensors: Sequence[Any], *, align_ranks: bool = False) -> list[Any]: ...
def byte_size(tensor: Any) -> int: ...

c128: Type
c64: Type

def cbrt(tensor: Any) -> Tensor:
    """The cube root."""

def ceil(tensor: Any) -> Tensor:
    """Round up."""

def choose(tensor: Any, choices: Any) -> Tensor: ...
def clip(tensor: Any, min: Any = None, max: Any = None) -> Tensor: ...
def compatible(left: Any, right: Any) -> bool: ...
def complex(real: Any, imag: Any) -> Tensor: ...
def concatenate(tensors: Any, axis: int | str = 0, *, axes: int | str = 0) -> Tensor: ...
def conj(tensor: Any) -> Tensor: ...
def conjugate(tensor: Any) -> Tensor: ...
def conv(
    tensor: Any,
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
) -> Tensor: ...
def copy(tensor: Any) -> Tensor: ...
def cos(tensor: Any) -> Tensor:
    """The cosine of an angle in radians."""

def cosh(tensor: Any) -> Tensor:
    """The hyperbolic cosine."""

def count_leading_zeros(tensor: Any) -> Tensor:
    """How many bits of an integer come before its first 1."""

def covariance(tensor: Any, mean: Any = None, *, ddof: int = 0) -> Tensor: ...
def cumprod(tensor: Any, axis: int | str | None = None, *, axes: int | str | None = None) -> Tensor: ...
def cumsum(tensor: Any, axis: int | str | None = None, *, axes: int | str | None = None) -> Tensor: ...
def cumulative_max(tensor: Any, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Tensor:
    """For each element the greatest of those up to it."""

def cumulative_min(tensor: Any, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Tensor:
    """For each element the least of those up to it."""

def cumulative_product(tensor: Any, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Tensor:
    """For each element the product of those up to it."""

def cumulative_sum(tensor: Any, axis: int | str = 0, *, axes: int | str = 0, reverse: bool = False) -> Tensor:
    """For each element the sum of those up to it."""

def devectorize(tensor: Any, *, keep_names: bool = True) -> Any: ...
def diagonal(tensor: Any, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Tensor: ...
def diff(tensor: Any, *, order: int = 1, axis: int | str = -1, axes: int | str = -1) -> Tensor: ...
def divide(left: Any, right: Any) -> Tensor:
    """Divide."""

@overload
def dot(left: Any, right: Any, /) -> Tensor: ...
@overload
def dot(
    left: Any, contract_left: Sequence[int | str], right: Any, contract_right: Sequence[int | str], /
) -> Tensor: ...
@overload
def dot(
    left: Any,
    contract_left: Sequence[int | str],
    batch_left: Sequence[int | str],
    right: Any,
    contract_right: Sequence[int | str],
    batch_right: Sequence[int | str],
    /,
) -> Tensor: ...
def empty(
    shape: Any, type: Any = "f32", *, dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> Tensor: ...
def equal(left: Any, right: Any) -> Tensor:
    """Whether elements are equal. NaN equals nothing."""

def erf(tensor: Any) -> Tensor:
    """The error function."""

def erf_inv(tensor: Any) -> Tensor:
    """The inverse of the error function."""

def erfc(tensor: Any) -> Tensor:
    """One minus the error function."""

def exp(tensor: Any) -> Tensor:
    """The exponential: e to the power of each element."""

def expm1(tensor: Any) -> Tensor:
    """``exp(x) - 1``, precise for small x."""

def eye(
    n: Any,
    *more: int,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
    vectorized_axes: Any = None,
) -> Tensor: ...

f16: Type
f32: Type
f64: Type

def fft(
    tensor: Any,
    length: int | str | None = None,
    *,
    axis: int | str = -1,
    axes: int | str = -1,
    eps: float | None = None,
) -> Tensor: ...
def fft2(
    tensor: Any,
    axes: Sequence[int | str] = (-2, -1),
    *,
    axis: Sequence[int | str] = (-2, -1),
    lengths: Sequence[int | str] | None = None,
    eps: float | None = None,
) -> Tensor: ...
def fill(tensor: Any, value: Any, *, type: Any = None, dtype: Any = None) -> Tensor: ...
def flat_size(tensor: Any) -> int: ...
def flatten(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def floor(tensor: Any) -> Tensor:
    """Round down."""

def from_binary(binary: bytes, type: Any) -> Tensor: ...
def from_dlpack(value: Any) -> Tensor: ...
def full(
    shape: Any, fill_value: Any, type: Any = None, *, dtype: Any = None, names: Sequence[str | None] | None = None
) -> Tensor: ...
def gather(
    tensor: Any,
    indices: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def greater(left: Any, right: Any) -> Tensor:
    """Whether left is greater than right."""

def greater_equal(left: Any, right: Any) -> Tensor:
    """Whether left is at least right."""

def ifft(
    tensor: Any,
    length: int | str | None = None,
    *,
    axis: int | str = -1,
    axes: int | str = -1,
    eps: float | None = None,
) -> Tensor: ...
def ifft2(
    tensor: Any,
    axes: Sequence[int | str] = (-2, -1),
    *,
    axis: Sequence[int | str] = (-2, -1),
    lengths: Sequence[int | str] | None = None,
    eps: float | None = None,
) -> Tensor: ...
def imag(tensor: Any) -> Tensor: ...
def indexed_add(
    target: Any,
    indices: Any,
    updates: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor:
    """Add to elements, or to slices of the remaining axes, at coordinates; repeated coordinates add up."""

def indexed_max(
    target: Any,
    indices: Any,
    updates: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor:
    """Replace elements, or slices of the remaining axes, at coordinates by what is greater than they. NaN wins."""

def indexed_min(
    target: Any,
    indices: Any,
    updates: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor:
    """Replace elements, or slices of the remaining axes, at coordinates by what is less than they. NaN wins."""

def indexed_multiply(
    target: Any,
    indices: Any,
    updates: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor:
    """Multiply elements, or slices of the remaining axes, at coordinates; all factors of one place count."""

def indexed_put(
    target: Any,
    indices: Any,
    updates: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor:
    """Replace elements, or slices of the remaining axes, at coordinates; of repeated coordinates the last wins."""

def inspect(tensor: Any, *, limit: int | None = 50) -> Text: ...
def iota(
    shape: Any,
    *,
    axis: int | str | None = None,
    axes: int | str | None = None,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
    vectorized_axes: Any = None,
) -> Tensor: ...
def irfft(
    tensor: Any,
    length: int | str | None = None,
    *,
    axis: int | str = -1,
    axes: int | str = -1,
    eps: float | None = None,
) -> Tensor: ...
def is_infinity(tensor: Any) -> Tensor:
    """Whether elements are infinite, of either sign."""

def is_nan(tensor: Any) -> Tensor:
    """Whether elements are NaN."""

def is_tensor(value: Any) -> bool: ...
def left_shift(left: Any, right: Any) -> Tensor:
    """Move the bits of integers up, zeros follow."""

def less(left: Any, right: Any) -> Tensor:
    """Whether left is less than right."""

def less_equal(left: Any, right: Any) -> Tensor:
    """Whether left is at most right."""

def linspace(
    start: Any,
    stop: Any,
    n: int,
    *,
    type: Any = "f32",
    dtype: Any = "f32",
    endpoint: bool = True,
    name: str | None = None,
) -> Tensor: ...
def log(tensor: Any, base: Any = None) -> Tensor: ...
def log10(tensor: Any) -> Tensor:
    """The logarithm to base 10."""

def log1p(tensor: Any) -> Tensor:
    """``log(1 + x)``, precise for small x."""

def log2(tensor: Any) -> Tensor:
    """The logarithm to base 2."""

def logical_and(left: Any, right: Any) -> Tensor:
    """Whether both are true. All but 0 counts as true."""

def logical_not(tensor: Any) -> Tensor:
    """Whether elements are 0."""

def logical_or(left: Any, right: Any) -> Tensor:
    """Whether one is true. All but 0 counts as true."""

def logical_xor(left: Any, right: Any) -> Tensor:
    """Whether exactly one is true. All but 0 counts as true."""

def logsumexp(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
    exp_scaling_factor: Any = None,
) -> Tensor: ...
def make_diagonal(tensor: Any, offset: int = 0) -> Tensor: ...
def map(tensor: Any, function: Callable[[Any], Any], *, type: Any = None, dtype: Any = None) -> Tensor: ...
def mat(text: str, *, type: Any = None, dtype: Any = None) -> Tensor: ...
def max(
    left: Any,
    right: Any = None,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """The greatest element of each pair; of one tensor the greatest of all, or along axes. NaN wins."""

def mean(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def median(
    tensor: Any,
    axis: int | str | None = None,
    *,
    axes: int | str | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def min(
    left: Any,
    right: Any = None,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """The least element of each pair; of one tensor the least of all, or along axes. NaN wins."""

def mode(
    tensor: Any,
    axis: int | str | None = None,
    *,
    axes: int | str | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def multiply(left: Any, right: Any) -> Tensor:
    """Multiply. Integers wrap."""

def names(tensor: Any) -> list[str | None]: ...
def negate(tensor: Any) -> Tensor:
    """Change the sign. Integers wrap."""

def new_axis(tensor: Any, axis: int, name: str | None = None) -> Tensor: ...
def njit_call(
    function: Callable[..., Any],
    *arguments: Any,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
    templates: Sequence[Any] | None = None,
) -> Any: ...
def njit_map(function: Callable[..., Any], *arguments: Any, **options: Any) -> Tensor: ...
def nonzero(tensor: Any, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor, ...]: ...
def not_equal(left: Any, right: Any) -> Tensor:
    """Whether elements differ. NaN differs from all."""

def one_hot(
    indices: Any, n: int, axis: int = -1, *, axes: int = -1, type: Any = "f32", dtype: Any = "f32"
) -> Tensor: ...
def ones(shape: Any, type: Any = "f32", *, dtype: Any = "f32", names: Sequence[str | None] | None = None) -> Tensor: ...
def outer(left: Any, right: Any) -> Tensor: ...
def pad(tensor: Any, pad_value: Any, padding_config: Sequence[Sequence[int]]) -> Tensor: ...
def pad_outer(tensor: Any, pad_value_or_type: Any, padding_config: Sequence[Sequence[int]]) -> Tensor: ...
def phase(tensor: Any) -> Tensor: ...
def population_count(tensor: Any) -> Tensor:
    """How many bits of an integer are 1."""

def pow(left: Any, right: Any) -> Tensor: ...
def prod(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Multiply all."""

def product(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Multiply all."""

def put_diagonal(tensor: Any, diagonal: Any, offset: int = 0) -> Tensor: ...
def put_slice(tensor: Any, start_indices: Sequence[Any], slice: Any) -> Tensor: ...
def quotient(left: Any, right: Any) -> Tensor:
    """Divide integers, truncating toward zero. The quotient by zero is 0."""

def rank(tensor: Any) -> int: ...
def ravel(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def real(tensor: Any) -> Tensor: ...
def reduce(
    tensor: Any,
    acc: Any,
    function: Callable[[Any, Any], Any],
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
    type: Any = None,
    dtype: Any = None,
) -> Tensor: ...
def reduce_max(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """The greatest element. NaN wins."""

def reduce_min(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """The least element. NaN wins."""

def reflect(tensor: Any, *, padding_config: Sequence[Sequence[int]]) -> Tensor: ...
def remainder(left: Any, right: Any) -> Tensor:
    """What remains of a division that truncates; it has the dividend's sign. Of integers by zero it is 0."""

def rename(tensor: Any, names: Sequence[str | None]) -> Tensor: ...
def repeat(tensor: Any, repeats: Any, axis: int | str | None = None, *, axes: int | str | None = None) -> Tensor: ...
def reshape(tensor: Any, new_shape: Any, *more: int, names: Sequence[str | None] | None = None) -> Tensor: ...
def reshape_vectors(tensors: Sequence[Any], *, align_ranks: bool = False) -> list[Any]: ...
def revectorize(
    tensor: Any,
    target_axes: str | Sequence[str | tuple[str, int]] | Mapping[str, int],
    *,
    target_shape: Sequence[int | str] | None = None,
    target_names: Sequence[str | None] | None = None,
) -> Any: ...
def reverse(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def rfft(
    tensor: Any,
    length: int | str | None = None,
    *,
    axis: int | str = -1,
    axes: int | str = -1,
    eps: float | None = None,
) -> Tensor: ...
def right_shift(left: Any, right: Any) -> Tensor:
    """Move the bits of integers down; signed ones keep their sign."""

def round(tensor: Any, decimals: int = 0) -> Tensor: ...
def rsqrt(tensor: Any) -> Tensor:
    """One over the square root."""

s16: Type
s32: Type
s64: Type
s8: Type

def searchsorted(tensor: Any, values: Any, side: str = "left") -> Tensor: ...
def segment_max(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor:
    """The greatest element of the rows of each segment."""

def segment_min(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor:
    """The least element of the rows of each segment."""

def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor:
    """The product of the rows of each segment."""

def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor:
    """The sum of the rows of each segment."""

def select(pred: Any, on_true: Any, on_false: Any) -> Tensor: ...
def shape(tensor: Any) -> tuple[int, ...]: ...
def sigmoid(tensor: Any) -> Tensor:
    """The logistic function, ``1 / (1 + exp(-x))``."""

def sign(tensor: Any) -> Tensor:
    """-1, 0 or 1 as each element is; NaN stays."""

def sin(tensor: Any) -> Tensor:
    """The sine of an angle in radians."""

def sinh(tensor: Any) -> Tensor:
    """The hyperbolic sine."""

def size(tensor: Any) -> int: ...
def slice(
    tensor: Any, start_indices: Sequence[Any], lengths: Sequence[int], *, strides: int | Sequence[int] = 1
) -> Tensor: ...
def slice_along_axis(
    tensor: Any, start_index: Any, length: int, axis: int | str = 0, *, axes: int | str = 0, strides: int = 1
) -> Tensor: ...
def sort(
    tensor: Any, axis: int | str = 0, *, axes: int | str = 0, direction: str = "asc", stable: bool = False
) -> Tensor: ...
def split(tensor: Any, split: int | float, axis: int | str = 0, *, axes: int | str = 0) -> tuple[Tensor, Tensor]: ...
def sqrt(tensor: Any) -> Tensor:
    """The square root."""

def squeeze(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *more: int,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def stack(tensors: Any, axis: int = 0, *, axes: int = 0, name: str | None = None) -> Tensor: ...
def standard_deviation(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    ddof: int = 0,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def std(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    ddof: int = 0,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def subtract(left: Any, right: Any) -> Tensor:
    """Subtract. Integers wrap."""

def sum(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Add up."""

def swapaxes(tensor: Any, axis1: int | str, axis2: int | str) -> Tensor: ...
def take(tensor: Any, indices: Any, axis: int | str = 0, *, axes: int | str = 0) -> Tensor: ...
def take_along_axis(tensor: Any, indices: Any, axis: int | str = 0, *, axes: int | str = 0) -> Tensor: ...
def take_diagonal(tensor: Any, offset: int = 0) -> Tensor: ...
def tan(tensor: Any) -> Tensor:
    """The tangent of an angle in radians."""

def tanh(tensor: Any) -> Tensor:
    """The hyperbolic tangent."""

def template(
    shape: Any, type: Any, *, names: Sequence[str | None] | None = None, vectorized_axes: Any = None
) -> Template: ...
def tensor(value: Any, *, type: Any = None, dtype: Any = None, names: Sequence[str | None] | None = None) -> Tensor: ...
def tile(tensor: Any, repetitions: Sequence[int] | int) -> Tensor: ...
def to_batched(tensor: Any, batch_size: int, *, leftover: str = "repeat") -> TensorBatches: ...
def to_binary(tensor: Any, *, limit: int | None = None) -> bytes: ...
def to_flat_list(tensor: Any, *, limit: int | None = None) -> list[Any]: ...
def to_heatmap(tensor: Any, *, ansi_enabled: bool | None = None, ansi_whitespace: str = "\u3000") -> Heatmap: ...
def to_list(tensor: Any) -> Any: ...
def to_number(tensor: Any) -> int | float | builtins.complex: ...
def to_template(value: Any) -> Any: ...
def to_tensor(value: Any) -> Any: ...
def top_k(tensor: Any, k: int = 1) -> tuple[Tensor, Tensor]: ...
def trace(tensor: Any, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Tensor: ...
def transpose(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *more: int,
    axis: int | str | Sequence[int | str] | None = None,
) -> Tensor: ...
def tri(n: int, m: int | None = None, k: int = 0, *, type: Any = "u8", dtype: Any = "u8") -> Tensor: ...
def tril(tensor: Any, k: int = 0) -> Tensor: ...
def triu(tensor: Any, k: int = 0) -> Tensor: ...
def type(tensor: Any) -> Type: ...

u16: Type
u32: Type
u64: Type
u8: Type

def unique(
    tensor: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    size: int | None = None,
    fill_value: Any = None,
) -> Any: ...
def var(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    ddof: int = 0,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def variance(
    tensor: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    ddof: int = 0,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def vec(text: str, *, type: Any = None, dtype: Any = None) -> Tensor: ...
def vectorize(tensor: Any, name_or_axes: str | Sequence[str | tuple[str, int]] | Mapping[str, int]) -> Any: ...
def weighted_mean(
    tensor: Any,
    weights: Any,
    axes: int | str | Sequence[int | str] | None = None,
    *,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def where(condition: Any, x: Any = None, y: Any = None) -> Any: ...
def window_max(
    tensor: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor:
    """The greatest element of each window."""

def window_mean(
    tensor: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor: ...
def window_min(
    tensor: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor:
    """The least element of each window."""

def window_product(
    tensor: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor:
    """The product of each window."""

def window_reduce(
    tensor: Any,
    acc: Any,
    window_dimensions: int | Sequence[int],
    function: Callable[[Any, Any], Any],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor: ...
def window_scatter_max(
    tensor: Any,
    source: Any,
    init_value: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
) -> Tensor:
    """Add each element of `source` where its window has its greatest element."""

def window_scatter_min(
    tensor: Any,
    source: Any,
    init_value: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
) -> Tensor:
    """Add each element of `source` where its window has its least element."""

def window_sum(
    tensor: Any,
    window_dimensions: int | Sequence[int],
    *,
    padding: str | Sequence[tuple[int, int]] = "valid",
    strides: int | Sequence[int] = 1,
    window_dilations: int | Sequence[int] = 1,
) -> Tensor:
    """The sum of each window."""

def zeros(
    shape: Any, type: Any = "f32", *, dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> Tensor: ...
