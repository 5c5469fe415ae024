"""The programs themselves, under plain NumPy, against libraries and independent formulas: idioms and whole arrays."""

import itertools
import math

import numpy as np
import scipy.signal
import scipy.stats

from collection.references import BY_NAME, close, run


class TestIdioms:
    def test_searches(self):
        function = BY_NAME["find_pair"].function
        assert function(np.array([1, 9, 3, 7]), 10) == (0, 1)
        assert function(np.array([1, 9, 3, 8]), 11) == (2, 3)
        assert function(np.array([1, 9]), 11) == (-1, -1)
        function = BY_NAME["first_above"].function
        assert function(np.array([1.0, 2.0, 3.0]), 1.5) == (1, 2.0)
        assert math.isnan(function(np.array([1.0]), 1.5)[1])

    def test_numbers(self):
        assert BY_NAME["prime_factors"].function(2**3 * 3 * 97) == (97, 5)
        found = BY_NAME["gaps_without_primes"].function(13)
        np.testing.assert_array_equal(found[4::2], [2, 3, 3, 3, 5])
        np.testing.assert_array_equal(BY_NAME["spiral"].function(3), [[0, 1, 2], [7, 8, 3], [6, 5, 4]])
        np.testing.assert_array_equal(BY_NAME["bouncing_counter"].function(14), [1, 2, 2, 2, 2, 2, 2, 1])

    def test_sums(self):
        (rows, other), _, found = run("dot_products")
        close(found, np.einsum("ij,ij->i", rows, other))
        (matrix,), _, (tails, anti) = run("reversed_sums")
        close(tails[0], np.trace(matrix))
        close(anti, np.trace(matrix[::-1]))
        (values,), _, (total, plain) = run("two_sums")
        assert total == math.fsum(values)
        close(plain, total)

    def test_choices(self):
        out, inside = BY_NAME["clamp_chain"].function(np.array([-3.0, -0.6, 0.0, 0.5, 0.8, 2.0]), -0.5, 0.8)
        np.testing.assert_array_equal(out, [-1.0, -0.75, 0.0, 0.5, 0.8, 0.8])
        assert inside == 2

    def test_layers(self):
        x = 1.0
        for k in range(4):
            x = (0.5 + k) * x + k / 3
            x = min(x * x if k % 2 == 0 else x, 10.0)
        last = [(0.5 + k) * x + k / 3 for k in range(4)]
        expected = sum(min(v * v if k % 2 == 0 else v, 5.0) for k, v in enumerate(last))
        close(BY_NAME["weighted_layers"].function(np.ones(1)), [expected])


class TestWholeArrays:
    def test_algebra(self):
        (a, b), (_, _), (x, _) = run("solve_by_lu")
        close(x, np.linalg.solve(a, b))
        (a,), (after,), _ = run("cholesky_whole")
        close(after, np.linalg.cholesky(a) + np.triu(a, 1))
        (x, y, degree), _, found = run("polynomial_fit")
        close(found, np.polynomial.polynomial.polyfit(x, y, degree), 1e-6)
        (points,), _, (axis, spread) = run("principal_axis")
        values, vectors = np.linalg.eigh(np.cov(points, rowvar=False))
        close(spread, values[-1])
        close(np.abs(axis), np.abs(vectors[:, -1]))

    def test_self_energies(self):
        (neighbours, dh, g, d, _), (*_, sigma), _ = run("self_energies")
        expected = np.zeros_like(sigma)
        for e, w in itertools.product(range(g.shape[1]), range(d.shape[1])):
            if e >= w:
                left = np.einsum("kabmn,abinp->kabimp", g[:, e - w][:, neighbours], dh)
                expected[:, e] += np.einsum("kabimp,qabij,abjpn->kamn", left, d[:, w], dh)
        close(sigma, expected)

    def test_oscillators_keep_their_energy(self):
        (end, dt, _), _, energy = run("oscillators")
        assert len(energy) == math.ceil(end / dt) + 1
        assert np.ptp(energy) < 0.05 * energy[0]

    def test_histograms(self):
        (data, radius, bins), _, found = run("azimuthal_by_helpers")
        close(found, scipy.stats.binned_statistic(radius, data, "mean", bins)[0])

    def test_spectrogram(self):
        (signal, width, step), _, found = run("spectrogram")
        transform = scipy.signal.ShortTimeFFT(scipy.signal.get_window("hann", width), step, 1.0)
        expected = np.abs(transform.stft(signal, p0=2, p1=2 + len(found))) ** 2
        close(found, expected.T)

    def test_series(self):
        (values,), _, (places, falling, sums) = run("ranks")
        np.testing.assert_array_equal(places + 1, scipy.stats.rankdata(values))
        close(falling, np.sort(values)[::-1])
        close(sums[-1], values.sum())
        (prices,), _, (_, _, fall, where) = run("drawdown")
        deepest = max(1 - prices[j] / prices[: j + 1].max() for j in range(len(prices)))
        close(fall, deepest)
        close(1 - prices[where] / prices[: where + 1].max(), deepest)

    def test_out(self):
        (a, b, _), (_, _, out), result = run("scaled_into")
        expected = np.sqrt(np.abs(2 * a + b))
        expected[::2] *= -1
        expected[:, -1] = 0
        close(out, expected)
        close(result, expected[::-1].T)
