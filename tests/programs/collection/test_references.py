"""The programs themselves, under plain NumPy, against libraries and independent formulas: algebra and motion."""

import itertools
import math
import zlib

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.special
import scipy.stats

from collection.references import BY_NAME, close, run


class TestStencils:
    def test_jacobi_1d_is_a_convolution_inside(self):
        (steps, a, b), (_, after, _), _ = run("jacobi_1d")
        for _ in range(steps):
            b[1:-1] = np.convolve(a, [0.33333] * 3, "valid")
            a[1:-1] = np.convolve(b, [0.33333] * 3, "valid")
        close(after, a)

    @pytest.mark.parametrize(("name", "axes"), [("jacobi_2d", 2), ("heat_3d", 3)])
    def test_convolutions_in_more_directions(self, name, axes):
        (steps, a, b), (_, after, _), _ = run(name)
        weight, centre = (0.2, 0.2) if axes == 2 else (0.125, 0.25)
        kernel = np.zeros((3,) * axes)
        for axis in range(axes):
            for end in (0, 2):
                kernel[tuple(end if other == axis else 1 for other in range(axes))] = weight
        kernel[(1,) * axes] = centre
        inner = (slice(1, -1),) * axes
        for _ in range(steps - 1 if axes == 2 else steps):
            b[inner] = scipy.signal.convolve(a, kernel, "valid")
            a[inner] = scipy.signal.convolve(b, kernel, "valid")
        close(after, a)

    def test_seidel_2d_point_by_point(self):
        (steps, a), (_, after), _ = run("seidel_2d")
        for _ in range(steps):
            for i, j in itertools.product(range(1, len(a) - 1), repeat=2):
                a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
        close(after, a)

    def test_laplace_ends_near_a_harmonic_function(self):
        _, (potential, tolerance), (steps, change) = run("laplace_until_still")
        assert steps < 1000
        assert change <= tolerance
        around = scipy.ndimage.convolve(potential, np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]]))[1:-1, 1:-1]
        assert np.abs(around).max() < 4 * tolerance

    def test_wave_keeps_its_shape(self):
        (start, speed, steps), _, now = run("wave_1d")
        angle = np.pi / (len(start) - 1)
        turn = 2 * np.arcsin(speed * np.sin(angle / 2))
        # The exact solution of the scheme for a sine that is at rest half a step before.
        close(now, start * np.cos(turn * (steps + 0.5)) / np.cos(turn / 2), 1e-9)

    def test_gray_scott_without_neighbours(self):
        flat = np.full((4, 4), 0.5)
        u, v = BY_NAME["gray_scott"].function(flat, flat / 2, 1)
        close(u, np.full((4, 4), 0.5 - 0.5 * 0.0625 + 0.035 * 0.5), 1e-6)
        close(v, np.full((4, 4), 0.25 + 0.5 * 0.0625 - 0.095 * 0.25), 1e-6)


class TestLinearAlgebra:
    def test_cholesky(self):
        (a,), (after,), _ = run("cholesky")
        close(np.tril(after), np.linalg.cholesky(a))

    def test_lu(self):
        (a,), (after,), _ = run("lu")
        close((np.tril(after, -1) + np.eye(len(a))) @ np.triu(after), a)

    def test_lu_with_pivots(self):
        (a,), _, (both, order) = run("lu_with_pivots")
        close(both, scipy.linalg.lu_factor(a)[0])
        close((np.tril(both, -1) + np.eye(len(a))) @ np.triu(both), a[order])

    def test_gram_schmidt(self):
        (a,), _, (q, r) = run("gram_schmidt")
        close(q @ r, a)
        close(q.T @ q, np.eye(q.shape[1]))

    def test_substitutions(self):
        (lower, _, b), (_, x, _), _ = run("forward_substitution")
        close(x, np.linalg.solve(lower, b))
        (upper, b), _, x = run("back_substitution")
        close(x, np.linalg.solve(upper, b))

    def test_durbin(self):
        (r,), _, y = run("durbin")
        close(y, scipy.linalg.solve_toeplitz(np.concatenate(([1.0], r[:-1])), -r))

    def test_ldl(self):
        (a,), _, (lower, diagonal) = run("ldl")
        close(lower * diagonal @ lower.T, a, 1e-5)

    def test_householder(self):
        (a,), _, r = run("householder")
        close(np.abs(r[: a.shape[1]]), np.abs(np.linalg.qr(a.astype(np.float64))[1]))

    def test_inverse_and_eigenvalues(self):
        (a,), _, inverse = run("gauss_jordan_inverse")
        close(inverse, np.linalg.inv(a))
        (a, _), _, values = run("jacobi_eigenvalues")
        close(values, np.linalg.eigvalsh(a))

    def test_symm(self):
        (alpha, beta, c, a, b), (_, _, after, _, _), _ = run("symm")
        close(after, beta * c + alpha * (np.tril(a) + np.tril(a, -1).T) @ b)

    def test_rank_updates(self):
        (alpha, beta, c, a), (_, _, after, _), _ = run("syrk")
        close(np.tril(after), np.tril(beta * c + alpha * a @ a.T))
        close(np.triu(after, 1), np.triu(c, 1))
        (alpha, beta, c, a, b), (_, _, after, _, _), _ = run("syr2k")
        close(np.tril(after), np.tril(beta * c + alpha * (a @ b.T + b @ a.T)))

    def test_trmm(self):
        (alpha, a, b), (_, _, after), _ = run("trmm")
        close(after, alpha * (np.tril(a, -1).T + np.eye(len(a))) @ b)

    def test_products(self):
        (a, b), _, c = run("triple_loop")
        close(c, a @ b)
        (a, c4), (after, _), _ = run("doitgen")
        close(after, np.einsum("rqp,ps->rqs", a, c4), 1e-5)
        (a, p, r), _, (s, q) = run("bicg")
        close(s, a.T @ r)
        close(q, a @ p)
        (a, exponent), _, power = run("matrix_power")
        close(power, np.linalg.matrix_power(a, exponent))
        (a, b), _, product = run("kronecker")
        np.testing.assert_array_equal(product, np.kron(a, b))

    def test_gemver(self):
        (alpha, beta, a, u1, v1, u2, v2, _, _, y, z), after, _ = run("gemver")
        a = a + np.outer(u1, v1) + np.outer(u2, v2)
        close(after[8], beta * a.T @ y + z)
        close(after[7], alpha * a @ (beta * a.T @ y + z))

    def test_iterations(self):
        (a, _), _, (value, x) = run("power_iteration")
        close(value, np.abs(np.linalg.eigvals(a)).max())
        close(a @ x, value * x, 1e-8)
        (a, b), _, (x, steps) = run("conjugate_gradient")
        close(x, np.linalg.solve(a, b))
        assert steps <= 2 * len(b)

    def test_tridiagonal(self):
        (lower, diagonal, upper, right), _, x = run("thomas")
        matrix = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
        close(x, np.linalg.solve(matrix, right))

    def test_crank_nicolson(self):
        (u, number, steps), _, after = run("crank_nicolson")
        second = np.diag(np.full(len(u), -2.0)) + np.eye(len(u), k=1) + np.eye(len(u), k=-1)
        step = np.linalg.solve(np.eye(len(u)) - number / 2 * second, np.eye(len(u)) + number / 2 * second)
        close(after, np.linalg.matrix_power(step, steps) @ u)

    def test_vertical_advection_solves_every_column(self):
        (stage, wind, now, tendency, u_stage, step), (after, *_), _ = run("vertical_advection")
        levels = stage.shape[2]
        for i, j in np.ndindex(stage.shape[:2]):
            below = -0.25 * (wind[i + 1, j] + wind[i, j])
            above = np.append(-below[1:], 0.0)
            below[0] = 0.0
            matrix = np.diag(step - (below + above) / 2)
            matrix += np.diag(below[1:] / 2, -1) + np.diag(above[:-1] / 2, 1)
            u = u_stage[i, j]
            right = step * now[i, j] + tendency[i, j] + stage[i, j]
            right[1:] -= below[1:] / 2 * (u[:-1] - u[1:])
            right[:-1] -= above[:-1] / 2 * (u[1:] - u[:-1])
            x = np.linalg.solve(matrix, right)
            assert len(x) == levels
            close(after[i, j], step * (x - now[i, j]), 1e-8)

    def test_spline(self):
        (x, y, places), _, found = run("natural_spline")
        close(found, scipy.interpolate.CubicSpline(x, y, bc_type="natural")(places))

    def test_sparse(self):
        (indptr, indices, data, x), _, y = run("spmv")
        close(y, scipy.sparse.csr_array((data, indices, indptr)) @ x, 1e-5)
        (indptr, indices, data, x), _, y = run("spmv_by_scalars")
        close(y, scipy.sparse.csr_array((data, indices, indptr)) @ x)
        (rows, columns, values, x, count), _, y = run("spmv_by_triplets")
        close(y, scipy.sparse.coo_array((values, (rows, columns)), (count, count)) @ x)
        (indptr, indices, data, columns), _, dense = run("dense_from_csr")
        close(dense, scipy.sparse.csr_array((data, indices, indptr), (len(indptr) - 1, columns)).toarray())

    def test_sparse_systems(self):
        (indptr, indices, data, b, _), _, (x, rounds) = run("sparse_jacobi")
        close(x, np.linalg.solve(scipy.sparse.csr_array((data, indices, indptr)).toarray(), b))
        assert rounds < 500
        (indptr, indices, damping, _), _, rank = run("pagerank", 60)
        n = len(indptr) - 1
        links = np.zeros((n, n))
        for page in range(n):
            np.add.at(links, (indices[indptr[page] : indptr[page + 1]], page), 1)
        totals = links.sum(0)
        links = np.where(totals > 0, links / np.where(totals > 0, totals, 1), 1 / n)
        close(rank, np.linalg.solve(np.eye(n) - damping * links, np.full(n, (1 - damping) / n)), 1e-6)


class TestMotion:
    def test_n_body_keeps_its_energy(self):
        _, _, (kinetic, potential) = run("n_body")
        total = kinetic + potential
        assert np.ptp(total) < 0.01 * np.ptp(kinetic) + 0.05

    def test_planets_keep_their_momentum(self):
        (_, speed, mass, _, _), (_, after, _, _, _), _ = run("planets")
        close(mass @ after, mass @ speed, 1e-10)

    def test_lennard_jones_by_all_pairs(self):
        (position, box, cutoff), _, (force, energy) = run("lennard_jones")
        apart = position[:, None] - position[None]
        apart -= box * np.round(apart / box)
        square = (apart**2).sum(-1)
        near = (square < cutoff**2) & ~np.eye(len(position), dtype=bool)
        sixth = np.where(near, 1 / np.where(near, square, 1) ** 3, 0)
        close(energy, (4 * sixth * (sixth - 1)).sum() / 2)
        close(force, ((48 * sixth * (sixth - 0.5) / np.where(near, square, 1))[..., None] * apart).sum(1), 1e-8)

    def test_flows(self):
        (h, *_), _, water = run("shallow_water")
        close(water, h.sum())
        (f, *_), (after, *_), _ = run("lattice_boltzmann")
        close(after.sum(), f.sum())
        (u, *_), _, after = run("burgers")
        assert np.abs(after).max() < np.abs(u).max()

    def test_channel_flow_is_parallel(self):
        _, (u, *_), count = run("channel_flow")
        assert count > 10
        close(u, np.broadcast_to(u[:, :1], u.shape))
        close(u, u[::-1])

    def test_cavity_flow_has_a_lid(self):
        _, after, _ = run("cavity_flow")
        u, v = after[4], after[5]
        np.testing.assert_array_equal(u[-1], 1)
        assert np.abs(v).max() > 0

    def test_fractals(self):
        (width, height, steps), _, counts = run("mandelbrot_by_pixels")
        c = -2.0 + 2.5 * np.arange(width) / width + 1j * (-1.25 + 2.5 * np.arange(height) / height)[:, None]
        z, expected = np.zeros_like(c), np.zeros(c.shape, int)
        for _ in range(steps):
            inside = np.abs(z) <= 2
            expected += inside
            z = np.where(inside, z * z + c, z)
        np.testing.assert_array_equal(counts, expected)

    def test_sandpiles_settle(self):
        (grid,), (after,), topplings = run("sandpile")
        assert 0 <= after.min() <= after.max() < 4
        # In any order of toppling the same piles are left.
        topples = 0
        while (grid >= 4).any():
            i, j = np.argwhere(grid >= 4)[0]
            grid[i, j] -= 4
            topples += 1
            for y, x in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if 0 <= y < len(grid) and 0 <= x < len(grid):
                    grid[y, x] += 1
        np.testing.assert_array_equal(after, grid)
        assert topplings == topples

    def test_newton_fractal_finds_the_root_on_the_real_line(self):
        _, _, which = run("newton_fractal", 31)
        assert set(np.unique(which)) == {0, 1, 2}


class TestChecksums:
    def test_of_bytes(self):
        data = np.frombuffer(b"123456789", np.uint8)
        function = {name: BY_NAME[name].function for name in ("crc16", "crc32_by_table", "adler32", "fletcher16")}
        # The published check value of CRC-16/X-25, its bytes swapped.
        assert function["crc16"](data) == 0x6E90
        assert function["crc32_by_table"](data) == zlib.crc32(data)
        assert function["adler32"](data) == zlib.adler32(data)
        assert function["fletcher16"](np.frombuffer(b"abcde", np.uint8)) == 0xC8F0

    def test_xorshift(self):
        (state, count), _, found = run("xorshift")
        for place in range(count):
            state ^= state << 13 & (1 << 64) - 1
            state ^= state >> 7
            state ^= state << 17 & (1 << 64) - 1
            assert int(found[place]) == state

    def test_bits_and_digits(self):
        (words,), _, bits = run("bits_set")
        np.testing.assert_array_equal(bits, np.bitwise_count(words))
        assert BY_NAME["luhn"].function(np.array([7, 9, 9, 2, 7, 3, 9, 8, 7, 1])) == 3

    def test_darts(self):
        assert abs(BY_NAME["quarters_of_circle"].function(1, 20000) - math.pi) < 0.05


class TestNetworks:
    def test_softmax(self):
        (x,), _, y = run("softmax")
        close(y, scipy.special.softmax(x, axis=-1), 1e-5)

    def test_convolution(self):
        (image, weights, bias), _, out = run("convolution_bias")
        for n, o in itertools.product(range(image.shape[0]), range(weights.shape[3])):
            expected = sum(
                scipy.signal.correlate(image[n, :, :, c], weights[:, :, c, o], "valid") for c in range(image.shape[3])
            )
            close(out[n, :, :, o], expected + bias[o], 1e-5)

    def test_attention_looks_back_only(self):
        (x, *rest), _, y = run("attention")
        other = x.copy()
        other[-1] += 1
        close(BY_NAME["attention"].function(other, *rest)[:-1], y[:-1], 1e-6)

    def test_logistic_regression_learns(self):
        _, _, (_, _, losses) = run("logistic_regression")
        assert (np.diff(losses) < 0).all()

    def test_k_means_are_means(self):
        (points, *_), _, (centres, label) = run("k_means")
        assert centres.shape == (3, 2)
        close(label, np.argmin(scipy.spatial.distance.cdist(points, centres), axis=1), 1.0)
