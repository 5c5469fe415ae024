"""Tangents of each family of primitives: NumPy's function of complex steps, or central differences of it, is right."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

RANDOM = np.random.default_rng(5)
A, B, C = (RANDOM.normal(size=(3, 4)) for _ in range(3))
V, W = RANDOM.normal(size=5), RANDOM.normal(size=5)
S = A @ A.T + 3 * np.eye(3)
Z = (V + 1j * W)[:4].reshape(2, 2)
PLACES = np.array([3, 0, 3])


def windowed(x):
    return np.lib.stride_tricks.sliding_window_view(x, 2)


def put(x, part):
    whole = x.astype(np.result_type(x, part))
    whole[:, 1:3] = part[:, :2]
    return whole


def scattered(x, updates):
    whole = x.astype(np.result_type(x, updates))
    np.add.at(whole, PLACES, updates[:3])
    return whole


def correlated(x, kernel):
    return np.array([np.sum(x[k : k + 3] * kernel[:3]) for k in range(3)])


def lower(a):
    return np.linalg.cholesky(a)


#: By name our function, NumPy's, and where.
SMOOTH = {
    "arithmetic": (lambda x, y: (x + y) * x / (2 - y) - x, lambda x, y: (x + y) * x / (2 - y) - x, (A, B)),
    "over": (lambda y: 2 / y, lambda y: 2 / y, (V,)),
    "power": (lambda x: x**3 + x**-2 + x**0, lambda x: x**3 + x**-2 + x**0, (V,)),
    "powers": (lambda x, y: nx.pow(x * x, y), lambda x, y: (x * x) ** y, (V, W)),
    "elementary": (
        lambda x: nx.sin(x) + nx.exp(x) * nx.tanh(x) + nx.log(x * x + 1) + nx.sqrt(x * x + 2) + nx.sinh(x),
        lambda x: np.sin(x) + np.exp(x) * np.tanh(x) + np.log(x * x + 1) + np.sqrt(x * x + 2) + np.sinh(x),
        (V,),
    ),
    "inverse functions": (
        lambda x: nx.asinh(x) + nx.atan(x) + nx.asin(x / 3) + nx.rsqrt(x * x + 1) + nx.expm1(x) + nx.log1p(x * x),
        lambda x: np.arcsinh(x) + np.arctan(x) + np.arcsin(x / 3) + 1 / np.sqrt(x * x + 1) + np.expm1(x)
        + np.log1p(x * x),
        (V,),
    ),
    "shapes": (
        lambda x: nx.reverse(nx.transpose(nx.reshape(x, (4, 3)))[::-1, 1:], axes=[1]) * nx.broadcast(x[0, 0], (3, 3)),
        lambda x: x.reshape(4, 3).T[::-1, 1:][:, ::-1] * x[0, 0],
        (A,),
    ),
    "joined": (
        lambda x, y: nx.concatenate([x, y, y[:, ::2]], axis=1), lambda x, y: np.concatenate([x, y, y[:, ::2]], 1),
        (A, B),
    ),
    "padded": (
        lambda x, y: nx.pad(x, y[0, 0], [(1, 0, 0), (0, 2, 0)]),
        lambda x, y: np.block([[np.full((1, 6), y[0, 0])], [x, np.full((3, 2), y[0, 0])]]),
        (A, B),
    ),
    "windows": (lambda x: nx.window_sum(x, (2,)), lambda x: windowed(x).sum(1), (V,)),
    "products of windows": (lambda x: nx.window_product(x, (2,)), lambda x: windowed(x).prod(1), (V,)),
    "taken": (lambda x: nx.take(x, PLACES) * nx.take(x, PLACES + 1), lambda x: x[PLACES] * x[PLACES + 1], (V,)),
    "put": (lambda x, y: nx.put_slice(x, [0, 1], y[:, :2]), put, (A, B)),
    "added at places": (lambda x, y: nx.indexed_add(x, PLACES[:, None], y[:3]), scattered, (V, W)),
    "sums": (
        lambda x: nx.sum(x, axes=[1]) * nx.mean(x) + nx.product(x, axes=[1]),
        lambda x: x.sum(1) * x.mean() + x.prod(1), (A,),
    ),
    "running sums": (lambda x: nx.cumulative_sum(x, reverse=True), lambda x: np.cumsum(x[::-1])[::-1], (V,)),
    "running products": (lambda x: nx.cumulative_product(x), np.cumprod, (V,)),
    "products": (lambda x, y: nx.dot(x, nx.transpose(y)), lambda x, y: x @ y.T, (A, B)),
    "a convolution": (
        lambda x, y: nx.conv(x[None, None], y[None, None, :3])[0, 0], correlated, (V, W)
    ),
    "a transform": (lambda x: nx.real(nx.fft(x)) * x, lambda x: transform(x) * x, (V,)),
    "equations": (
        lambda a, b: nx.linalg.solve(a + 0, b[:, :2]) + nx.linalg.invert(a)[:, :2],
        lambda a, b: np.linalg.solve(a, b[:, :2]) + np.linalg.inv(a)[:, :2], (S, B),
    ),
    "a determinant": (nx.linalg.determinant, np.linalg.det, (S,)),
    "a fold": (
        lambda x: nx.reduce(x, 1.0, lambda a, b: a * b + a, axes=[0]),
        lambda x: (((1 * x[0] + x[0]) * x[1] + x[1]) * x[2] + x[2]), (A,),
    ),
}  # fmt: skip


def transform(x):
    numbers = np.arange(len(x))
    return np.cos(2 * np.pi * np.outer(numbers, numbers) / len(x)) @ x


#: The same, of functions that NumPy does not have for complex numbers, or that have corners.
REAL = {
    "corners": (
        lambda x, y: nx.abs(x) + nx.max(x, y) * nx.min(x, y) + nx.remainder(x, 0.7) + nx.select(x > y, x, y * y),
        lambda x, y: np.abs(x) + np.maximum(x, y) * np.minimum(x, y) + np.fmod(x, 0.7) + np.where(x > y, x, y * y),
        (A, B),
    ),
    "angles": (nx.atan2, np.arctan2, (V, W)),
    "constant between jumps": (lambda x: nx.floor(x) * x + nx.sign(x), lambda x: np.floor(x) * x + np.sign(x), (V,)),
    "extremes": (
        lambda x: nx.reduce_max(x, axes=[0]) * nx.reduce_min(x), lambda x: x.max(0) * x.min(), (A,)
    ),
    "sorting": (lambda x: nx.sort(x, axis=1, direction="desc"), lambda x: -np.sort(-x, 1), (A,)),
    "running extremes": (
        lambda x: nx.cumulative_max(x) - nx.cumulative_min(x, reverse=True),
        lambda x: np.maximum.accumulate(x) - np.minimum.accumulate(x[::-1])[::-1], (V,),
    ),
    "greatest of windows": (lambda x: nx.window_max(x, (2,)), lambda x: windowed(x).max(1), (V,)),
    "a factor": (lambda a: nx.linalg.cholesky((a + nx.transpose(a)) / 2), lambda a: lower((a + a.T) / 2), (S,)),
    "eigenvalues": (
        lambda a: nx.linalg.eigh((a + nx.transpose(a)) / 2)[0], lambda a: np.linalg.eigvalsh((a + a.T) / 2)[::-1], (S,)
    ),
    "singular values": (lambda a: nx.linalg.svd(a)[1], lambda a: np.linalg.svd(a)[1], (A,)),
    "a triangle": (
        lambda a, b: nx.linalg.triangular_solve(a, b), lambda a, b: np.linalg.solve(np.tril(a), b), (S, B)
    ),
    "q r": (
        lambda a: nx.abs(nx.linalg.qr(nx.transpose(a))[1]), lambda a: np.abs(np.linalg.qr(a.T)[1]), (A,)
    ),
}  # fmt: skip


def directions(args):
    return tuple(np.cos(np.arange(arg.size) + number).reshape(arg.shape) for number, arg in enumerate(args))


@pytest.fixture(autouse=True)
def evaluated():
    with nx.default_options(compiler="evaluator"):
        yield


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions(name):
    ours, theirs, args = SMOOTH[name]
    along = directions(args)
    value, tangent = nx.jvp(ours, args, along)
    np.testing.assert_allclose(value, theirs(*args), rtol=1e-13, atol=1e-14)
    steps = [arg + 1e-30j * direction for arg, direction in zip(args, along, strict=True)]
    np.testing.assert_allclose(tangent, np.imag(theirs(*steps)) / 1e-30, rtol=1e-12, atol=1e-13)
    # Of one argument alone.
    for number, direction in enumerate(along if len(args) > 1 else ()):
        still = [args[k] if k != number else args[k] + 1e-30j * direction for k in range(len(args))]
        only = nx.jit(lambda d, n=number: nx.jvp(lambda x: ours(*args[:n], x, *args[n + 1 :]), (args[n],), (d,))[1])
        np.testing.assert_allclose(only(direction), np.imag(theirs(*still)) / 1e-30, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", REAL)
def test_functions_of_real_numbers(name):
    ours, theirs, args = REAL[name]
    along = directions(args)
    value, tangent = nx.jvp(ours, args, along)
    np.testing.assert_allclose(value, theirs(*args), rtol=1e-12, atol=1e-13)
    near = [theirs(*[a + h * d for a, d in zip(args, along, strict=True)]) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(tangent, (near[0] - near[1]) / 2e-6, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda z: z * nx.exp(z) / (z + 3), lambda z: z * np.exp(z) / (z + 3)),
        (lambda z: nx.conjugate(z) * z, lambda z: np.conj(z) * z), (lambda z: nx.abs(z) ** 2, lambda z: np.abs(z) ** 2),
        (lambda z: nx.real(z) * nx.imag(z), lambda z: np.real(z) * np.imag(z)), (nx.phase, np.angle),
        (lambda z: nx.complex(nx.imag(z), nx.real(z)), lambda z: np.imag(z) + 1j * np.real(z)),
        (nx.ifft, np.fft.ifft), (nx.linalg.invert, np.linalg.inv), (nx.linalg.determinant, np.linalg.det),
        (lambda z: nx.dot(z, z), lambda z: z @ z), (lambda z: nx.real(nx.as_type(z, "c64")), np.real),
    ],
)  # fmt: skip
def test_functions_of_complex_numbers(ours, theirs):
    along = np.exp(1j * np.arange(4)).reshape(2, 2)
    near = [theirs(Z + h * along) for h in (1e-6, -1e-6)]
    tolerance = 1e-5 if str(nx.jvp(ours, (Z,), (along,))[1].type) == "f32" else 1e-7
    np.testing.assert_allclose(nx.jvp(ours, (Z,), (along,))[1], (near[0] - near[1]) / 2e-6, rtol=tolerance, atol=1e-8)


@pytest.mark.parametrize("special", [0.0, 1e-200, -0.0])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_products_with_factors_that_cannot_be_divided_by(special, reverse):
    x = V.copy()
    x[2] = special

    def run(x):
        return np.cumprod(x[::-1])[::-1] if reverse else np.cumprod(x)

    def ours(x):
        return nx.cumulative_product(x, reverse=reverse)

    expected = np.imag(run(x + 1e-30j * W)) / 1e-30
    np.testing.assert_allclose(nx.jvp(ours, (x,), (W,))[1], expected, rtol=1e-12, atol=1e-14)
    rows = nx.vmap(lambda x: nx.jvp(ours, (x,), (W,))[1])(np.stack([x, V]))
    np.testing.assert_allclose(rows[0], expected, rtol=1e-12, atol=1e-14)
    slopes = nx.vmap(nx.grad(lambda x: nx.sum(nx.jvp(ours, (x,), (W,))[1])))(np.stack([x, V]))
    assert np.isfinite(slopes).all()


def test_what_stays_has_no_tangent():
    value, tangent = nx.jvp(lambda x: (nx.stop_grad(x), x * 0 + 1, V), (V,), (W,))
    assert [np.asarray(one).tolist() for one in tangent] == [[0.0] * 5] * 3
    assert np.asarray(value[2]).tolist() == V.tolist()


def test_numbers_taken_as_others():
    _, tangent = nx.jvp(lambda x: nx.as_type(x, "f32") * 2, (V,), (W,))
    assert str(tangent.type) == "f32"
    np.testing.assert_allclose(tangent, 2 * W.astype("float32"))
    assert nx.jvp(lambda x: (nx.as_type(x, "s64"), x), (V,), (W,))[1][0].to_list() == [0.0] * 5


def test_empty_arrays():
    empty = np.zeros((0, 3))
    for function in (lambda x: nx.sum(x, axes=[0]), lambda x: nx.sort(nx.sin(x)), lambda x: nx.cumulative_product(x)):
        value, tangent = nx.jvp(function, (empty,), (empty,))
        assert value.shape == tangent.shape
    fold = nx.jvp(lambda x, s: nx.reduce(x, s, nx.add, axes=[0]), (empty, 2.0), (empty, 0.5))
    assert [one.to_list() for one in fold] == [[2.0] * 3, [0.5] * 3]


def test_what_has_no_derivative_says_so():
    with pytest.raises(NxTypeError, match=r"bitcast of f64\[5\] has no gradient.*\n.*\n.*nx.stop_grad"):
        nx.jvp(lambda x: nx.bitcast(x, "s64") * x, (V,), (W,))
    with pytest.raises(NxTypeError, match=r"cube of .* has no gradient .*test_tangents.py, line"):
        nx.jvp(lambda x: nx.host_call(cube, x, x), (V,), (W,))
    with pytest.raises(NxTypeError, match="through whole numbers only, which have no gradient: argmax"):
        nx.jvp(nx.argmax, (V,), (W,))


def cube(x):
    return x**3
