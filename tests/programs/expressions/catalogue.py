"""Expressions and short functions as people write them for NumPy: a line each, of the same few names.

`x` and `y` are vectors, `A` and `B` matrices of three rows and columns, `s` is a number of NumPy's, `k` and `f` are
numbers of Python's, `ws` is a list of whole numbers and `d` a dict.
"""

EXPRESSIONS = """
x + y
x - y * k
x * f
x / y
x // y
x % y
x ** 2
x ** 2 - y * y
x ** 0.5
x ** y
2 ** x
-x
+x
abs(x)
x + 1
x + 1.5
1 / x
k - x
f * x + s
x @ y
A @ B
A @ x[:3]
x[:3] @ A
A.T @ A
A + x[:3]
A * x[:3, None]
x > y
x >= 2
(x > 1) & (x < 3)
(x > 1) | (y > 1)
~(x > 1)
(x > 1) ^ (y > 1)
(x > 1).sum()
(x > 1).mean()
(x > 1) + (y > 1)
(x > 1) * x
(x > 1) * 2
(x > 1) * 2.0
x == y
x != y
x[0]
x[-1]
x[1:]
x[::-1]
x[::2]
x[-3:]
x[1:-1]
x[None]
x[:, None]
x[..., None]
x[[0, 2]]
x[np.array([2, 0])]
x[x.argsort()]
A[0]
A[:, 0]
A[0, 1]
A[-1, -1]
A[1:, :2]
A[::-1, ::-1]
A[[0, 1], [1, 2]]
A[:, [0, 2]]
A[..., 0]
A.T
A.T[0]
A[A > 1].sum()
A[A[:, 0] > 1].sum()
x[x > 1].sum()
x[x > 1].mean()
x[x > 1].sum() if (x > 1).any() else 0.0
len(x)
len(A)
x.shape
A.shape[0]
x.size
A.ndim
x.size / 2
x.size // 2
x.sum()
x.sum() / x.size
x.mean()
x.std()
x.var()
x.std(ddof=1)
x.var(ddof=1)
x.max()
x.min()
x.max() - x.min()
x.prod()
x.argmax()
x.argmin()
x.cumsum()
x.cumprod()
x.all()
x.any()
x.ptp() if hasattr(x, "ptp") else np.ptp(x)
x.clip(1, 2)
x.clip(0.5, None)
x.round(1)
x.round()
x.copy()
x.ravel()
x.astype(float)
x.astype(int)
x.astype(np.float32)
x.astype(np.int32)
x.astype(bool)
x.astype(np.uint8)
x.astype(np.int16)
x.astype("f4")
x.astype(complex)
x.repeat(2)
x.reshape(-1, 1)
x.reshape(1, -1)
x.dot(y)
x.nbytes
x.itemsize
x.dtype == np.float64
x.dtype.kind == "f"
A.sum()
A.sum(axis=0)
A.sum(axis=1)
A.sum(axis=-1, keepdims=True)
A.mean(axis=0)
A.mean(axis=1, keepdims=True)
A - A.mean(axis=0)
A / A.sum(axis=1, keepdims=True)
A.max(axis=0)
A.min(axis=1)
A.argmax(axis=1)
A.argmin(axis=0)
A.argmax()
A.std(axis=0)
A.var(axis=1)
A.prod(axis=0)
A.cumsum(axis=1)
A.cumsum()
A.all(axis=0)
A.any(axis=1)
A.trace()
A.diagonal()
A.flatten()
A.ravel()
A.reshape(-1)
A.reshape(9)
A.swapaxes(0, 1)
A.transpose()
A.dot(B)
A.clip(0, 1)
A.squeeze()
A.T.copy()
A.T.ravel()
A.ravel("F")
A.flatten("F")
np.sum(x)
np.sum(x, dtype=float)
np.sum(x > 0)
np.sum(A, axis=0)
np.sum([x[0], x[1]])
np.mean(x)
np.mean(A, axis=1)
np.median(x)
np.median(A, axis=0)
np.std(x)
np.var(x, ddof=1)
np.max(x)
np.min(A, axis=0)
np.amax(x)
np.argmax(x)
np.argsort(x)
np.argsort(-x)
np.sort(x)
np.sort(A, axis=0)
np.sort(x)[::-1]
np.cumsum(x)
np.cumprod(x)
np.diff(x)
np.diff(x, n=2)
np.diff(A, axis=0)
np.diff(x, prepend=0)
np.gradient(x)
np.gradient(x, 0.5)
np.prod(x)
np.ptp(x)
np.percentile(x, 30)
np.quantile(x, 0.3)
np.quantile(x, [0.1, 0.9])
np.average(x)
np.average(x, weights=np.abs(y) + 1)
np.average(A, axis=0)
np.nansum(x)
np.nanmean(x)
np.nanmax(x)
np.nanmin(x)
np.nanstd(x)
np.nancumsum(x)
np.nanargmax(x)
np.all(x > 0)
np.any(x > 2)
np.count_nonzero(x)
np.count_nonzero(x > 1)
np.sqrt(x)
np.sqrt(np.abs(x))
np.exp(x)
np.exp(-x)
np.exp2(x)
np.expm1(x)
np.log(x)
np.log(np.abs(x) + 1)
np.log1p(np.abs(x))
np.log2(x)
np.log10(x)
np.sin(x)
np.cos(x)
np.tan(x)
np.arcsin(x / 10)
np.arctan(x)
np.arctan2(x, y)
np.arctan2(x[0], y[0])
np.sinh(x)
np.cosh(x)
np.tanh(x)
np.hypot(x, y)
np.deg2rad(x)
np.rad2deg(x)
np.degrees(x[0])
np.radians(x[0])
np.abs(x)
np.absolute(x)
np.fabs(x)
np.sign(x)
np.floor(x)
np.ceil(x)
np.trunc(x)
np.rint(x)
np.round(x, 1)
np.round(x[0], 1)
np.around(x)
np.fix(x)
np.square(x)
np.cbrt(x)
np.reciprocal(x + 10)
np.power(x, 2)
np.power(x, 3)
np.power(2.0, x)
np.maximum(x, y)
np.maximum(x, 0)
np.maximum(x, 1.5)
np.minimum(x, 2)
np.fmax(x, y)
np.fmin(x, 1)
np.clip(x, 1, 2)
np.clip(x, 0, 1.5)
np.clip(x[0], 0, 1)
np.mod(x, 3)
np.fmod(x, 3)
np.remainder(x, 2)
np.floor_divide(x, 2)
np.divide(x, 2)
np.true_divide(x, y)
np.add(x, 1)
np.subtract(x, y)
np.multiply(x, 2.0)
np.negative(x)
np.copysign(x, -1.0)
np.heaviside(x, 0.5)
np.isnan(x)
np.isinf(x)
np.isfinite(x)
np.isnan(x).any()
np.isclose(x, y)
np.allclose(x, x)
np.array_equal(x, y)
np.logical_and(x > 0, y > 0)
np.logical_or(x > 1, y > 1)
np.logical_not(x)
np.where(x > 1, x, 0)
np.where(x > 1, x, 0.0)
np.where(x > 1, 1, 0)
np.where(x > 1, x, y)
np.where(x > y, 1.0, -1.0)
np.where(np.isnan(x), 0, x)
np.where(x[0] > 1, 1.5, 2)
np.select([x > 2, x > 1], [x, -x], 0)
np.select([x > 2, x > 1], [1, 2], 0.5)
np.piecewise(x * 1.0, [x < 1, x >= 1], [-1, 1])
np.nan_to_num(x)
np.zeros(3)
np.zeros(3, int)
np.zeros((2, 3))
np.zeros_like(x)
np.zeros_like(x, dtype=float)
np.ones(3)
np.ones_like(x)
np.ones((2, 2), dtype=np.float32)
np.full(3, 7)
np.full(3, f)
np.full(3, s)
np.full_like(x, 2)
np.full_like(x, 1.5)
np.eye(3)
np.eye(2, 3, k=1)
np.eye(3, dtype=int)
np.identity(2)
np.arange(5)
np.arange(1, 6, 2)
np.arange(0, 1, 0.25)
np.arange(len(x))
np.arange(len(x)) * x
np.arange(3.0)
np.arange(k)
np.arange(3, dtype=np.float32)
np.linspace(0, 1, 5)
np.linspace(0, 1, 5, endpoint=False)
np.linspace(0, 10, 4, dtype=int)
np.linspace(x[0], x[1], 3)
np.linspace(0, 1, 5, retstep=True)
np.logspace(0, 2, 3)
np.geomspace(1, 8, 4)
np.diag(x[:3])
np.diag(A)
np.diag(A, k=1)
np.tri(3)
np.tril(A)
np.triu(A)
np.triu(A, k=1)
np.meshgrid(x[:2], y[:3])
np.meshgrid(x[:2], y[:3], indexing="ij")
np.indices((2, 3))
np.array([1, 2, 3])
np.array([1, 2.5])
np.array([x[0], y[0]])
np.array([x[0], 1])
np.array([x[0], 1.5])
np.array([x, y])
np.array([[x[0], 0], [0, y[0]]])
np.array([f, k])
np.array([k, k])
np.array(x)
np.array(x, dtype=float)
np.asarray(x, dtype=np.float32)
np.asarray(ws)
np.asarray(ws, float)
np.asarray([v * 2 for v in ws])
np.array([[1, 2], [3, 4]]) @ x[:2]
np.array((x[0], x[1]))
np.array(3.0) * x
np.atleast_1d(s)
np.atleast_1d(x)
np.atleast_2d(x)
np.concatenate([x, y])
np.concatenate((x, [1]))
np.concatenate((x, [1.5]))
np.concatenate((x[:1], x, x[-1:]))
np.concatenate([A, B], axis=1)
np.stack([x, y])
np.stack([x, y], axis=-1)
np.hstack([x, y])
np.vstack([x, y])
np.column_stack([x, y])
np.dstack([x, y])
np.hstack((A, B))
np.append(x, 1)
np.append(x, y)
np.append(x, 1.5)
np.r_[x, y]
np.r_[x, 1.0]
np.r_[x[0], x, 1]
np.r_[0:3, x]
np.c_[x, y]
np.split(x[:6], 3)
np.array_split(x, 3)
np.tile(x, 2)
np.tile(x, (2, 1))
np.repeat(x, 2)
np.repeat(A, 2, axis=0)
np.roll(x, 1)
np.roll(A, 1, axis=0)
np.flip(x)
np.flip(A, axis=1)
np.fliplr(A)
np.flipud(A)
np.rot90(A)
np.transpose(A)
np.swapaxes(A, 0, 1)
np.moveaxis(A[None], 0, -1)
np.expand_dims(x, 0)
np.squeeze(x[None])
np.ravel(A)
np.reshape(A, (1, 9))
np.broadcast_to(x, (2, x.size))
np.pad(x, 1)
np.pad(x, (1, 2), mode="edge")
np.pad(x, 1, constant_values=2)
np.pad(x, 2, mode="reflect")
np.delete(x, 0)
np.take(x, [0, 2])
np.take(A, 1, axis=0)
np.take_along_axis(A, A.argsort(axis=1), axis=1)
np.choose([0, 1, 0], [x[:3], y[:3]])
np.searchsorted(np.sort(x), 1)
np.searchsorted(np.sort(x), y)
np.digitize(x, [0, 1, 2])
np.bincount(np.abs(x).astype(int) % 5, minlength=6)
np.histogram(x, bins=4)
np.histogram(x, bins=4, range=(0, 4))
np.histogram(x, bins=[0, 1, 2, 3])
np.interp(1.5, np.arange(3.0), x[:3])
np.interp(y, np.arange(7.0), x)
np.interp(y, [0, 1, 2], [0, 1, 4])
np.dot(x, y)
np.dot(A, B)
np.dot(A, x[:3])
np.vdot(x, y)
np.inner(x, y)
np.outer(x[:2], y[:3])
np.cross(x[:3], y[:3])
np.cross(x[:3], x[:3])
np.matmul(A, B)
np.tensordot(A, B, axes=1)
np.einsum("ij,jk->ik", A, B)
np.einsum("ii", A)
np.einsum("ij,j", A, x[:3])
np.kron(x[:2], y[:2])
np.trace(A)
np.linalg.norm(x)
np.linalg.norm(A)
np.linalg.norm(A, axis=1)
np.linalg.norm(x, 1)
np.linalg.norm(x, np.inf)
np.linalg.det(A + 5 * np.eye(3))
np.linalg.inv(A + 5 * np.eye(3))
np.linalg.solve(A + 5 * np.eye(3), x[:3])
np.linalg.matrix_power(A, 2)
np.convolve(x, [1, 2, 1])
np.convolve(x, [0.5, 0.5], mode="same")
np.convolve(x, y, "valid")
np.correlate(x, y[:3])
np.polyval([1, 2, 3], x)
np.polyval(x[:3], 2)
np.trapezoid(x) if hasattr(np, "trapezoid") else np.trapz(x)
np.cov(x, y)
np.cov(A)
np.corrcoef(x, y)[0, 1]
np.unwrap(x)
np.sinc(x)
np.real(x + 1j)
np.imag(x + 1j * y)
np.conj(x + 1j)
np.angle(x + 1j)
np.abs(x + 1j * y)
x + 1j
(x + 1j) * (y - 1j)
(x + 1j) / (y + 2j)
np.exp(1j * x)
np.exp(2j * np.pi * x / 7).real
np.fft.fft(x)
np.fft.rfft(x).real
np.fft.ifft(np.fft.fft(x)).real
np.fft.fftfreq(4, 0.5)
(x + 1j) > (y - 1j)
(x * 1j) <= 0
np.where(x + 1j > 1, x, 0)
np.vdot(x + 1j, y)
(A[:, x[:3] > 0] - A[:, x[:3] > 0].mean(axis=1, keepdims=True)).sum(axis=1)
(A[x[:3] > 0] - A[x[:3] > 0].mean(axis=0, keepdims=True)).sum(axis=0)
(A[A > 0] / A[A > 0].sum(keepdims=True)).sum()
np.cov(x[x > 0])
np.average(x[x > 0], weights=x[x > 0])
np.array_equal(x[x > 0], x[x > 0])
np.array_equal(x[x > 0], x[x > 1])
np.sum(x[x > 0].flat)
np.indices(len(v) for v in (x, ws))
np.array(list(itertools.product(range(3), range(2))))
[x[i] * j for i, j in itertools.product(range(2), ws)]
np.isclose(x > 1, y > 1)
np.linalg.norm(A, np.inf)
np.add.reduce(x)
np.multiply.reduce(x)
np.maximum.reduce(x)
np.add.accumulate(x)
np.add.outer(x[:2], y[:2])
np.multiply.outer(x[:2], y[:2])
np.subtract.outer(x, y)
np.logical_and.reduce(x > 0)
np.pi * x
np.e ** x
np.inf * np.sign(x[0])
np.float32(2) * x
np.float64(2) * x
np.float32(f) + x
np.int32(2) * x
np.int64(2) * x
np.float64(x[0])
np.float32(x[0])
np.int64(x[0])
np.bool_(x[0])
np.finfo(float).eps * x
np.issubdtype(x.dtype, np.integer)
x.dtype.type(2) * x
float(x[0])
float(x[0]) * x
float(s)
int(x[0])
int(x[0]) * x
int(s) + k
bool(x[0] > 1)
complex(x[0], y[0])
complex(x[0])
round(float(x[0]), 2)
round(x[0], 1)
round(float(x[0]))
abs(x[0])
abs(float(x[0]))
max(x)
min(x)
max(x[0], y[0])
max(x[0], x[1], x[2])
min(float(x[0]), f)
sum(x)
sum(x) / len(x)
sum(x, 0.0)
sum([x[0], y[0]])
sum(v * v for v in x)
sum(ws)
sum(w * v for w, v in zip(ws, x))
sum(x > 1)
sum(A)
all(x > 0)
any(x > 2)
np.array(sorted(x))
list(reversed(x))
divmod(x[0], 2)
pow(x[0], 2)
pow(2, k)
len([v for v in x])
[v * 2 for v in x]
[a + b for a, b in zip(x, y)]
[i * v for i, v in enumerate(x)]
np.array([v * 2 for v in x])
tuple(x[:2])
(x[0], [y[0], k])
{"b": x, "a": y[0]}
{key: v for key, v in zip("ba", x)}
list(d)[0] == "b"
list(d.values())[0] * x
[v for v in d.values()]
sum(d.values())
math.sin(x[0])
math.sqrt(abs(x[0]))
math.sqrt(abs(x[0])) * x
math.exp(x[0])
math.log(abs(x[0]) + 1)
math.log10(abs(x[0]) + 1) * x
math.log(abs(x[0]) + 2, 2)
math.atan2(x[0], y[0])
math.hypot(x[0], y[0])
math.floor(x[0])
math.ceil(x[0])
math.floor(x[0]) * x
math.fabs(x[0])
math.pow(x[0], 2)
math.degrees(x[0])
math.radians(x[0]) * x
math.isnan(x[0])
math.isfinite(x[0])
math.isclose(x[0], y[0])
math.copysign(1.0, x[0])
math.fmod(x[0], 2)
math.fsum(x)
math.prod(x[:3])
math.tanh(s)
math.erf(x[0])
math.pi * x[0]
math.tau / k
20 * math.log10(np.mean(np.abs(x)) + 1)
x[0] + k
x[0] * f
x[0] * 2
x[0] / 2
x[0] // 2
x[0] % 2
x[0] ** 2
x[0] ** 0.5
-x[0]
x[0] > 1
x[0] > 1 and y[0] > 1
not x[0] > 1
1 if x[0] > 1 else 2
1.5 if x[0] > 1 else 2.5
x if x[0] > 1 else y
x[0] if x[0] > y[0] else y[0]
s + 1
s * x
s * k
s / 2
s ** 2
s.dtype == x.dtype
s.item() * 2
np.sqrt(s)
np.sqrt(2)
np.sqrt(k)
np.sin(f)
np.abs(k)
np.floor(f)
np.maximum(k, f)
np.sum(ws)
np.mean(ws)
np.array(ws) * x[0]
ws[0] * x
ws[-1] + k
ws[k % 3] * x
k / 2
k // 2
k % 2
k ** 2
k ** -1
k * f
f // 1
f ** 2
-k
k > 2
k & 1
k << 2
k == 3.0
isinstance(x, np.ndarray)
isinstance(x[0], float)
isinstance(x[0], np.floating)
isinstance(x[0], (int, np.integer))
isinstance(s, np.generic)
isinstance(k, int)
isinstance(f, float)
isinstance(math.sin(x[0]), float)
isinstance(math.floor(x[0]), int)
isinstance(math.isnan(x[0]), bool)
isinstance(float(x[0]), float)
isinstance(int(x[0]), int)
isinstance(x.sum(), np.generic)
isinstance(x.shape, tuple)
isinstance(x.size, int)
isinstance(x > 1, np.ndarray)
isinstance(np.sqrt(k), float)
isinstance(bool(x[0] > 1), bool)
np.ndim(x[0])
np.shape(x)
np.size(A)
np.isscalar(k)
np.result_type(x, 1.0) == np.float64
np.can_cast(np.int32, np.float64)
np.mean(x, dtype=int)
np.mean(A, axis=0, dtype=np.int32)
np.mean(x, dtype=np.float32)
np.mean(x, where=x > 0)
np.mean(A, axis=1, keepdims=True, where=A > 0)
np.var(x, dtype=int)
np.std(A, axis=0, dtype=np.int64)
np.var(x, mean=1.0)
np.std(A, axis=1, mean=A.mean(axis=1, keepdims=True))
np.var(x, correction=1)
np.sum(x, dtype=int)
np.sum(x, dtype=bool)
np.sum(x, dtype=np.int8)
np.sum(x, initial=3)
np.sum(x, where=x > 1)
np.sum(A, axis=(0, 1), keepdims=True)
np.prod(x, dtype=int)
np.cumsum(x, dtype=int)
np.cumsum(x, dtype=np.uint8)
np.cumprod(A, axis=0, dtype=int)
np.max(x, initial=2)
np.max(x, where=x > 1, initial=0)
np.min(A, axis=1, where=A > 0, initial=9)
np.any(A, axis=0, keepdims=True)
np.all(A > -5, axis=1, where=A > 0)
np.add(x, y, where=x > 1, out=np.zeros_like(x + y))
np.multiply(x, 2.0, dtype=float)
np.sqrt(np.abs(x), out=np.ones(x.shape), where=x > 0)
np.average(A, axis=1, weights=np.array([200, 100, 100], np.uint8))
np.average(A, axis=0, weights=[1, 2, 3])
np.average(A, weights=np.abs(B) + 1)
np.average(A, axis=1, weights=[1.0, 2.0, 3.0], returned=True)
np.average(x, returned=True)
np.linalg.matrix_power(A, 0)
np.linalg.matrix_power(A, 3)
np.unravel_index(5, (2, 3), order="F")
np.unravel_index([1, 5], (2, 3), "F")
np.ravel_multi_index(([0, 1], [2, 1]), (2, 3), order="F")
np.ravel_multi_index(([0, 3], [2, -1]), (2, 3), mode=("clip", "wrap"))
np.signbit(x)
np.signbit(-x)
np.signbit(-np.abs(y))
np.copysign(2.0, x)
np.copysign(x, -y)
np.convolve(x, y)
np.convolve(x, y, "same")
np.convolve(y, [1.0, 2.0])
np.convolve([1.0, 2.0], y, "same")
np.convolve(x, [0.5, 0.5, 1.0], "same")
np.correlate(x, y)
np.correlate(x, y, "full")
np.correlate(x, [1.0, 2.0], "same")
np.correlate([1.0, 2.0], x, "full")
np.interp([0.0, 1.0, 2.5], [0.0, 1.0, 2.0], y[:3])
np.interp(y, [1.0], [4.0])
np.interp(y, [0.0, 1.0, 2.0], [1.0, 5.0, 3.0], left=-1.0, right=7.0)
np.interp(y, [0.0, 1.0, 1.0, 2.0], [1.0, 5.0, 6.0, 8.0])
np.interp([0.5, 1.0], [0.0, 1.0], [1 + 2j, np.inf + 1j])
np.geomspace(np.float32(1), 10, 3)
np.geomspace(1, 100, 3, dtype=np.float32)
np.geomspace(1, 16, 3, dtype=int)
np.geomspace([1, 2], [100, 8], 3, axis=1)
np.geomspace(1j, 16j, 3)
np.logspace(0, 2, 3, base=2)
np.linspace([0, 1], [1, 3], 3, axis=1)
np.linspace(0, 1, 4, endpoint=False, retstep=True)
np.diff(A, n=9)
np.diff(np.arange(12.0) ** 2, 9)
np.diff(x, append=[1, 2])
np.diff(A, axis=0, prepend=1)
np.clip(x, 0, k)
np.clip(x, -k, k)
np.clip(x.astype(np.uint8), -k, 300)
np.clip(x.astype(np.int8), -200, k)
np.clip(x, 0, 2, where=x > 1, out=np.zeros_like(x))
x.clip(max=2)
x.clip(min=1)
np.take(x, [0, 9], mode="clip")
np.take(x, [0, -9, 9], mode="wrap")
np.choose([0, 4, 1], [x[:3], y[:3]], mode="clip")
np.choose([0, -1, 3], [x[:3], y[:3]], mode="wrap")
np.digitize(x, [3.0, 1.0, 0.0])
np.digitize(x, np.array([np.nan, 3.0, 0.0]))
np.digitize(x, np.array([0.0, 3.0, np.nan]), True)
np.digitize(x, [0.0, 1.0, 3.0], right=True)
np.searchsorted([0.0, 1.0, 3.0], x, side="right")
np.isin(x, [1.5, 2], invert=True)
np.median(A, axis=1, keepdims=True)
np.quantile(A, 0.3, axis=1, keepdims=True)
np.percentile(x, [20, 80], method="lower")
np.percentile(x, 30, method="nearest")
np.quantile(x, 0.4, method="midpoint")
np.einsum("ij,jk->ik", A, B, optimize=True)
np.einsum("ij->j", A, dtype=float)
np.matmul(A, B, dtype=float)
np.linalg.multi_dot([A, B, A], out=np.zeros((3, 3)))
np.gcd(12, 18)
np.gcd(np.array([12, 7]), 18, out=np.zeros(2, int))
np.lcm(np.array([4, 6]), 10, where=[True, False], out=np.ones(2, int))
np.array(x, copy=False) + 1
np.array(x, copy=None, ndmin=2)
np.vander(x[:3], 3, increasing=True)
np.tri(3, 4, 1, dtype=int)
np.cov(A, ddof=0)
np.cov(A, rowvar=False)
np.histogram(y, bins=3, range=(0, 3))
np.histogram(np.abs(y), bins=[0, 1, 2], weights=y)
np.histogram(x, bins=4, range=(-2, 6), density=True)
np.trapezoid(x, dx=0.5)
np.gradient(A, axis=1)
np.gradient(x, edge_order=2)
np.nanmean(A, axis=0, keepdims=True)
np.nansum(x, dtype=float)
np.nanmedian(A, axis=1)
np.argmax(A, axis=1, keepdims=True)
np.argsort(A, axis=None, kind="stable")
np.sort(A, axis=None)
np.rot90(A, k=2)
np.roll(A, (1, 2), axis=(0, 1))
np.pad(x, (1, 2), constant_values=(k, 2))
np.pad(A, 1, mode="edge")
np.tile(A, (1, 2))
np.split(x[:3], [1])
A.item(4)
A.item(-1)
A.item((1, 2))
A.sum(1, keepdims=1)
A.mean(0, float)
A.argmin(None)
A.astype(int, copy=False)
np.unwrap(x, period=4)
np.unwrap(x * 2, period=k)
np.unwrap(x, 1.5, period=2 * k)
np.nan_to_num(x, nan=1.0, posinf=2.0)
np.allclose(x, y, rtol=1.0, atol=2.0)
np.isclose(x, x, equal_nan=True)
np.array_equal(x, x, equal_nan=True)
np.outer(x, y)
np.kron(A, [1, 2])
np.cross(A, B, axis=0)
np.trace(A, offset=1)
np.diagonal(A, -1)
np.linalg.norm(A, axis=1, keepdims=True)
x.astype(np.uint8) < k
x.astype(np.uint8) > -k
x.astype(np.uint8) == 100 * k
x.astype(np.int8) >= 100 * k
(x.astype(np.uint8) <= 300).sum()
100 * k != x.astype(np.uint8)
-k < x.astype(np.uint16)
x.astype(np.uint64) > -k
x.astype(np.int64) < y.astype(np.uint64)
[0] * k
k * [x, y]
[x[0], 1] * 2
(1, 2) * k
[[0.0] * k for _ in range(k)]
(k > 2) is True
(x[0] > 2) is True
(k > 2) is not False
"""

FUNCTIONS = """
def f0(x, y, A, B, s, k, f, ws, d):
    total = 0
    for v in x:
        total += v
    return total
def f1(x, y, A, B, s, k, f, ws, d):
    total = 0
    for i in range(3):
        total += ws[i] * np.cos(x[i])
    return total
def f2(x, y, A, B, s, k, f, ws, d):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]
    return out
def f3(x, y, A, B, s, k, f, ws, d):
    out = x.copy()
    out[out > 2] = 2
    out[0] = -1
    out[1:3] *= 2
    return out
def f4(x, y, A, B, s, k, f, ws, d):
    out = np.zeros_like(x)
    for i, v in enumerate(x):
        if v > 1:
            out[i] = v
        else:
            out[i] = -v
    return out
def f5(x, y, A, B, s, k, f, ws, d):
    best, place = x[0], 0
    for i in range(1, len(x)):
        if x[i] > best:
            best, place = x[i], i
    return best, place
def f6(x, y, A, B, s, k, f, ws, d):
    out = []
    for i in range(len(x) - 1):
        out.append(x[i + 1] - x[i])
    return np.array(out)
def f7(x, y, A, B, s, k, f, ws, d):
    s = np.float64(0)
    for v in d.values():
        s = s * 10 + v
    return s
def f8(x, y, A, B, s, k, f, ws, d):
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, j] * (i + 1) - B[j, i]
    return out
def f9(x, y, A, B, s, k, f, ws, d):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = A[i, j] + i * j
    return np.array(table)
def f10(x, y, A, B, s, k, f, ws, d):
    n = 0
    value = abs(float(x[0])) + 1
    while value < 100:
        value *= 1.5
        n += 1
    return n, value
def f11(x, y, A, B, s, k, f, ws, d):
    h = x
    place = np.argmax(h)
    if place < 2:
        h = h[::-1]
        place = h.size - place - 1
    return h * 2, place
def f12(x, y, A, B, s, k, f, ws, d):
    centred = x - x.mean()
    norm = np.sqrt(np.sum(centred ** 2))
    return centred / norm if norm > 0 else centred
def f13(x, y, A, B, s, k, f, ws, d):
    a, b = x[0], x[1]
    a, b = b, a + b
    return a, b, a / 2
def f14(x, y, A, B, s, k, f, ws, d):
    result = {"z": x.sum(), "a": x.max()}
    result["m"] = result["z"] / 2
    return result
def f15(x, y, A, B, s, k, f, ws, d):
    total = 0.0
    for i, j in itertools.product(range(3), range(3)):
        total += A[i, j] * (i - j)
    return total
def f16(x, y, A, B, s, k, f, ws, d):
    x = np.asarray(x, dtype=float)
    x[0] += 1
    mask = x > 1
    x[mask] = x[mask] * 2
    return x, mask
def f17(x, y, A, B, s, k, f, ws, d):
    out = A.copy()
    out[0], out[1] = A[1], A[0]
    out[:, 2] = x[:3]
    out += 1
    return out
def f18(x, y, A, B, s, k, f, ws, d):
    count = 0
    for v in x:
        if v < 0:
            continue
        if v > 3:
            break
        count += 1
    return count
def f19(x, y, A, B, s, k, f, ws, d):
    def scale(v, by=2):
        return v * by
    return scale(x), scale(y, by=0.5), scale(k), list(map(scale, ws))
def f20(x, y, A, B, s, k, f, ws, d):
    label = f"{x[0]:.2f}"
    print("seen", label, end="")
    return x
def f21(x, y, A, B, s, k, f, ws, d):
    lo, hi = np.min(x), np.max(x)
    return (x - lo) / (hi - lo + 1), int(hi > lo)
def f22(x, y, A, B, s, k, f, ws, d):
    acc = 1
    for w in ws:
        acc *= w
    return acc, acc * x[0]
def f23(x, y, A, B, s, k, f, ws, d):
    z = complex(x[0], y[0])
    return z * z, abs(z), z.real, z.conjugate()
def f24(x, y, A, B, s, k, f, ws, d):
    if k > 2:
        r = x
    elif k > 1:
        r = y
    else:
        r = A
    return r, None
def f25(x, y, A, B, s, k, f, ws, d):
    counts = [0] * (k + 1)
    for w in ws:
        counts[w] += k
    return counts, [[f] * k for _ in range(2)]
def f26(x, y, A, B, s, k, f, ws, d):
    seen = [False] * k
    seen[1] = k > 2
    n = 0
    for flag in seen:
        if flag is True:
            n += 1
        if flag is not False:
            n += 10
    return n, (x[0] > 1) is True
def f27(x, y, A, B, s, k, f, ws, d):
    rows = [ws, [4, 5, 6]]
    total = 0
    for i in range(2):
        row = rows[i].copy()
        total += row[0] + rows[i][1:][0] + copy.copy(rows[i])[2] + (rows[i] + [7])[3]
    return total
def f28(x, y, A, B, s, k, f, ws, d):
    for _ in range(9):
        x = np.diff(np.concatenate([x, x]))
    return x
"""
