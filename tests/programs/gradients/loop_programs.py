"""More programs to differentiate: loops, choices, indexing, order, complex numbers and functions."""

import numpy as np

import nxkernel as nx
from gradients.programs import between, draw, program

# Loops and choices ---------------------------------------------------------------------------------------------------


def _pendulum_jax(jnp, jax):
    def loss(start, length):
        def step(_, s):
            def slope(s):
                return jnp.stack([s[1], -9.81 / length * jnp.sin(s[0])])

            return s + 0.1 * slope(s + 0.05 * slope(s))

        return jnp.sum(jax.lax.fori_loop(0, 30, step, start) ** 2)

    return loss


@program(_pendulum_jax, np.array([0.4, 0.0]), 1.3)
def pendulum(start, length):
    def slope(s):
        return nx.stack([s[1], -9.81 / length * nx.sin(s[0])])

    s = start
    for _ in range(30):
        k1 = slope(s)
        s = s + 0.1 * slope(s + 0.05 * k1)
    return nx.sum(s * s)


def _break_jax(jnp, jax):
    def loss(x):
        def step(s, _):
            done = jnp.sum(s) >= 12
            return jnp.where(done, s, s * s * 0.2 + s + x), None

        return jnp.sum(jax.lax.scan(step, x, None, length=20)[0])

    return loss


@program(_break_jax, between(0.2, 0.9, 3))
def loop_with_break(x):
    s = x
    for _ in range(20):
        if nx.sum(s) >= 12:
            break
        s = s * s * 0.2 + s + x
    return nx.sum(s)


def _newton_jax(jnp, jax):
    def loss(a):
        x = a
        for _ in range(8):
            x = x - (x * x * x - a) / (3 * x * x)
        return x

    return loss


@program(_newton_jax, 2.7)
def bounded_while(a):
    x, turn = a, 0
    while turn < 50 and nx.abs(x * x * x - a) > 1e-13:
        x = x - (x * x * x - a) / (3 * x * x)
        turn += 1
    return x


def _cond_in_scan_jax(jnp, jax):
    def loss(xs, w):
        def step(c, x):
            c = jax.lax.cond(x > 0, lambda: c * jnp.cos(x * w), lambda: c + x * x * w)
            return c, c

        return jnp.sum(jax.lax.scan(step, 1.0, xs)[1] ** 2)

    return loss


@program(_cond_in_scan_jax, draw(9), 0.8)
def choice_in_scan(xs, w):
    def step(c, x):
        c = nx.cond(x > 0, lambda: c * nx.cos(x * w), lambda: c + x * x * w)
        return c, c

    return nx.sum(nx.pow(nx.scan(step, nx.f64(1.0), xs)[1], 2))


def _nested_jax(jnp, jax):
    def loss(x, m):
        s = x
        for k in range(4):
            for j in range(k):
                s = jnp.sin(m @ s) * (j + 1)
            s = s + x
        return jnp.sum(s * s)

    return loss


@program(_nested_jax, draw(3), draw(3, 3))
def loops_of_growing_length(x, m):
    s = x
    for k in range(4):
        for j in range(k):
            s = nx.sin(m @ s) * (j + 1)
        s = s + x
    return nx.sum(s * s)


def _heat_jax(jnp, jax):
    def loss(u, k):
        def step(_, u):
            return u.at[1:-1].add(k * (u[2:] - 2 * u[1:-1] + u[:-2]))

        return jnp.sum(jax.lax.fori_loop(0, 12, step, u) ** 3)

    return loss


@program(_heat_jax, draw(9), 0.2)
def heat_equation(u, k):
    for _ in range(12):
        u = nx.put_slice(u, [1], u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2]))
    return nx.sum(u * u * u)


def _sinkhorn_jax(jnp, jax):
    def loss(cost, eps):
        def step(_, fg):
            f, g = fg
            f = -eps * jax.nn.logsumexp((g[None, :] - cost) / eps, axis=1)
            return f, -eps * jax.nn.logsumexp((f[:, None] - cost) / eps, axis=0)

        f, g = jax.lax.fori_loop(0, 9, step, (jnp.zeros(4), jnp.zeros(5)))
        return jnp.sum(jnp.exp((f[:, None] + g[None, :] - cost) / eps) * cost)

    return loss


@program(_sinkhorn_jax, between(0, 1, 4, 5), 0.5)
def sinkhorn_transport(cost, eps):
    f, g = nx.broadcast(nx.f64(0.0), (4,)), nx.broadcast(nx.f64(0.0), (5,))
    for _ in range(9):
        f = -eps * nx.logsumexp((nx.new_axis(g, 0) - cost) / eps, axes=[1])
        g = -eps * nx.logsumexp((nx.new_axis(f, 1) - cost) / eps, axes=[0])
    return nx.sum(nx.exp((nx.new_axis(f, 1) + nx.new_axis(g, 0) - cost) / eps) * cost)


def _fibonacci_jax(jnp, jax):
    def loss(x):
        y = jnp.zeros(8).at[0].set(x[0]).at[1].set(x[1])
        for k in range(2, 8):
            y = y.at[k].set(y[k - 1] * jnp.cos(y[k - 2]) + 0.3)
        return jnp.sum(y**2)

    return loss


@program(_fibonacci_jax, draw(2))
def recurrence_in_an_array(x):
    y = nx.put_slice(nx.broadcast(nx.f64(0.0), (8,)), [0], x)
    for k in range(2, 8):
        y = nx.put_slice(y, [k], nx.new_axis(y[k - 1] * nx.cos(y[k - 2]) + 0.3, 0))
    return nx.sum(y * y)


def _bisection_jax(jnp, jax):
    def loss(a):
        low, high = 0.0 * a, a
        for _ in range(10):
            middle = (low + high) / 2
            up = middle * middle < a
            low, high = jnp.where(up, middle, low), jnp.where(up, high, middle)
        return low + high * a

    return loss


@program(_bisection_jax, 3.7)
def bisection(a):
    low, high = 0.0 * a, a
    for _ in range(10):
        middle = (low + high) / 2
        if middle * middle < a:
            low = middle
        else:
            high = middle
    return low + high * a


# Indexing, order, sums -----------------------------------------------------------------------------------------------


@program(
    lambda jnp, jax: lambda x: jnp.sum(x[1:, ::2] * x[:-1, 1::2]) + x[0, -1] ** 3 + jnp.sum(x[::-1, 2] ** 2),
    draw(4, 6),
)
def slices(x):
    return nx.sum(x[1:, ::2] * x[:-1, 1::2]) + x[0, -1] ** 3 + nx.sum(nx.pow(nx.reverse(x, axes=[0])[:, 2], 2))


@program(lambda jnp, jax: lambda x: jnp.sum(jnp.sort(x) * jnp.arange(7.0)) + jnp.sort(x)[2] ** 2, draw(7))
def order_statistics(x):
    ordered = nx.sort(x)
    return nx.sum(ordered * nx.iota((7,), type="f64")) + ordered[2] ** 2


@program(lambda jnp, jax: lambda x, y: jnp.mean(jnp.abs(jnp.sort(x) - jnp.sort(y))), draw(8), draw(8))
def transport_distance(x, y):
    return nx.mean(nx.abs(nx.sort(x) - nx.sort(y)))


@program(lambda jnp, jax: lambda x: jnp.sum(jnp.log(1 + jnp.exp(jnp.cumsum(x) * x))), draw(6))
def cumulative(x):
    return nx.sum(nx.log(1 + nx.exp(nx.cumulative_sum(x) * x)))


@program(lambda jnp, jax: lambda x: jnp.sum(jnp.cumprod(x)[::2] ** 2) + jnp.prod(x), between(0.5, 2, 6))
def products(x):
    return nx.sum(nx.pow(nx.cumulative_product(x)[::2], 2)) + nx.product(x)


@program(
    lambda jnp, jax: lambda x: jax.scipy.special.logsumexp(x, axis=1).sum() + jnp.max(x) ** 2 + jnp.min(x, 0).sum(),
    draw(3, 5),
)
def extremes(x):
    most = nx.reduce_max(x, axes=[1], keep_axes=True)
    sums = nx.log(nx.sum(nx.exp(x - most), axes=[1])) + most[:, 0]
    return nx.sum(sums) + nx.reduce_max(x) ** 2 + nx.sum(nx.reduce_min(x, axes=[0]))


@program(
    lambda jnp, jax: lambda x, u: jnp.sum(jnp.zeros(4).at[jnp.array([0, 2, 0, 3, 2])].add(u * x) ** 2), draw(5), 1.5
)
def histogram_of_weights(x, u):
    places = nx.new_axis(nx.tensor([0, 2, 0, 3, 2]), 1)
    found = nx.indexed_add(nx.broadcast(nx.f64(0.0), (4,)), places, u * x)
    return nx.sum(found * found)


@program(
    lambda jnp, jax: lambda x, v: jnp.sum(jnp.sin(jax.lax.pad(x, v, [(1, 2, 1), (0, -1, 0)])) ** 2), draw(3, 4), 0.4
)
def padding(x, v):
    return nx.sum(nx.pow(nx.sin(nx.pad(x, v, [(1, 2, 1), (0, -1, 0)])), 2))


# Complex numbers and signals -----------------------------------------------------------------------------------------


@program(lambda jnp, jax: lambda z, w: jnp.sum(jnp.abs(jnp.exp(1j * z) * w + z**2) ** 2), draw(4), draw(4))
def complex_waves(z, w):
    return nx.sum(nx.pow(nx.abs(nx.exp(1j * z) * w + nx.pow(z, 2)), 2))


@program(lambda jnp, jax: lambda x: jnp.sum(jnp.abs(jnp.fft.fft(x)) ** 2 * jnp.arange(8.0)), draw(8))
def power_spectrum(x):
    return nx.sum(nx.pow(nx.abs(nx.fft(x)), 2) * nx.iota((8,), type="f64"))


@program(
    lambda jnp, jax: lambda z: jnp.sum(jnp.real(z * jnp.conj(jnp.sin(z)))) + jnp.sum(jnp.imag(z**3)),
    draw(3) + 1j * draw(3),
)
def complex_argument(z):
    return nx.sum(nx.real(z * nx.conjugate(nx.sin(z)))) + nx.sum(nx.imag(nx.pow(z, 3)))


@program(
    lambda jnp, jax: lambda x, k: jnp.sum(jnp.real(jnp.fft.ifft(jnp.fft.fft(x) * jnp.fft.fft(k))) ** 3),
    draw(6),
    draw(6),
)
def circular_convolution(x, k):
    return nx.sum(nx.pow(nx.real(nx.ifft(nx.fft(x) * nx.fft(k))), 3))


# Functions -----------------------------------------------------------------------------------------------------------


@program(
    lambda jnp, jax: lambda x: jnp.sum(
        jnp.sinh(x) * jnp.arctan(x) + jax.scipy.special.erf(x) / jnp.cosh(x) + jnp.log1p(x) * jnp.expm1(x)
        + jnp.cbrt(x) + jnp.arctan2(x, 2 - x) + x**x
    ),
    between(0.2, 1.5, 6),
)  # fmt: skip
def elementary_functions(x):
    return nx.sum(
        nx.sinh(x) * nx.atan(x) + nx.erf(x) / nx.cosh(x) + nx.log1p(x) * nx.expm1(x)
        + nx.cbrt(x) + nx.atan2(x, 2 - x) + nx.pow(x, x)
    )  # fmt: skip


@program(lambda jnp, jax: lambda x, y: jnp.sum((1 - x) ** 2 + 100 * (y - x * x) ** 2), draw(3), draw(3))
def rosenbrock(x, y):
    return nx.sum(nx.pow(1 - x, 2) + 100 * nx.pow(y - x * x, 2))


def _ising_jax(jnp, jax):
    def energy(s):
        return -jnp.sum(s * jnp.roll(s, 1, 0) + s * jnp.roll(s, 1, 1)) + jnp.sum(jnp.fmod(s, 0.7) * s)

    return energy


@program(_ising_jax, draw(4, 4))
def lattice_energy(s):
    def rolled(t, axis):
        n = t.shape[axis]
        return nx.concatenate(
            [nx.slice_along_axis(t, n - 1, 1, axis=axis), nx.slice_along_axis(t, 0, n - 1, axis=axis)], axis=axis
        )

    return -nx.sum(s * rolled(s, 0) + s * rolled(s, 1)) + nx.sum(nx.remainder(s, 0.7) * s)


def _lens_jax(jnp, jax):
    def loss(p):
        curve, x = p["curve"], p["rays"]
        height = jnp.where(jnp.abs(x) < 1, curve * x * x, curve * (2 * jnp.abs(x) - 1))
        return jnp.sum(jnp.clip(height, -0.5, 0.625) * x) + jnp.sum(jnp.minimum(x, 0.3) ** 2)

    return loss


@program(_lens_jax, {"curve": np.float64(0.8), "rays": draw(6)})
def piecewise_functions(p):
    curve, x = p["curve"], p["rays"]
    height = nx.select(nx.abs(x) < 1, curve * x * x, curve * (2 * nx.abs(x) - 1))
    return nx.sum(nx.clip(height, -0.5, 0.625) * x) + nx.sum(nx.pow(nx.min(x, 0.3), 2))
