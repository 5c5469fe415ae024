"""The programs themselves, under plain NumPy, against libraries and independent formulas: signals, orders, calculus."""

import functools
import itertools
import math

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


class TestFilters:
    def test_recursive(self):
        (signal, b, a), _, out = run("biquad")
        close(out, scipy.signal.lfilter(b, a, signal))
        (signal, weight), _, out = run("exponential_average")
        close(out, scipy.signal.lfilter([weight], [1, weight - 1], signal, zi=[(1 - weight) * signal[0]])[0])

    def test_windows(self):
        (signal, taps), _, out = run("fir")
        close(out, np.convolve(signal, taps, "valid"))
        (signal, width), _, out = run("moving_average")
        close(out, np.convolve(signal, np.full(width, 1 / width), "valid"))
        (signal,), _, out = run("median_of_three")
        np.testing.assert_array_equal(out[1:-1], scipy.ndimage.median_filter(signal, 3)[1:-1])
        (image,), _, out = run("median_image")
        close(out[1:-1, 1:-1], scipy.ndimage.median_filter(image, 3)[1:-1, 1:-1])

    def test_edges(self):
        (image,), _, out = run("edges")
        image = image.astype(float)
        size = np.hypot(scipy.ndimage.sobel(image, 0), scipy.ndimage.sobel(image, 1))[1:-1, 1:-1]
        np.testing.assert_array_equal(out[1:-1, 1:-1], np.rint(size * (255 / size.max())).astype(np.uint8))

    def test_kalman_gain_settles(self):
        (_, drift, noise), _, (_, variances) = run("kalman", 200)
        close(variances[-1], (-drift + math.sqrt(drift**2 + 4 * drift * noise)) / 2, 1e-6)

    def test_bilateral_of_a_flat_image(self):
        close(BY_NAME["bilateral"].function(np.full((5, 5), 3.0), 2, 1.5, 0.3), np.full((5, 5), 3.0))


class TestTables:
    def test_edit_distance(self):
        (a, b), _, found = run("edit_distance")

        @functools.cache
        def distance(i, j):
            if not i or not j:
                return i + j
            return min(
                distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + int(a[i - 1] != b[j - 1])
            )

        assert found == distance(len(a), len(b))

    def test_longest_common(self):
        (a, b), _, (length, found) = run("longest_common", 8)
        tried = [
            part
            for count in range(len(a), -1, -1)
            for part in itertools.combinations(a.tolist(), count)
            if part in set(itertools.combinations(b.tolist(), count))
        ]
        assert length == len(tried[0])
        assert tuple(found[:length].tolist()) in tried

    def test_nussinov(self):
        (seq,), _, table = run("nussinov")

        @functools.cache
        def pairs(i, j):
            if i >= j:
                return 0
            best = max(pairs(i, k) + pairs(k + 1, j) for k in range(i, j))
            return max(best, pairs(i + 1, j - 1) + int(seq[i] + seq[j] == 3 and i < j - 1))

        assert table[0, -1] == pairs(0, len(seq) - 1)

    def test_knapsack(self):
        (values, weights, capacity), _, best = run("knapsack", 8)
        chosen = np.array(list(itertools.product((0, 1), repeat=len(values))))
        fits = chosen @ weights <= capacity
        assert best[-1] == (chosen @ values)[fits].max()

    def test_shortest_paths(self):
        (path,), (after,), _ = run("floyd_warshall")
        np.fill_diagonal(path, 0)
        expected = scipy.sparse.csgraph.floyd_warshall(path)
        away = ~np.eye(len(path), dtype=bool)
        close(after[away], expected[away])
        (distance,), _, (found, _) = run("floyd_warshall_by_loops")
        np.fill_diagonal(distance, 0)
        close(found[away], scipy.sparse.csgraph.floyd_warshall(distance)[away])

    def test_viterbi(self):
        (start, transition, emission, seen), _, (path, score) = run("viterbi", 7)

        def total(states):
            steps = sum(transition[a, b] for a, b in itertools.pairwise(states))
            return start[states[0]] + steps + sum(emission[s, o] for s, o in zip(states, seen, strict=True))

        best = max(itertools.product(range(3), repeat=len(seen)), key=total)
        assert tuple(path.tolist()) == best
        close(score, total(best))

    def test_time_warping_of_equals_is_nothing(self):
        a = np.array([1.0, 3.0, 2.0])
        assert BY_NAME["time_warping"].function(a, np.repeat(a, 2)) == 0

    def test_counting(self):
        assert BY_NAME["matrix_chain"].function(np.array([30, 35, 15, 5, 10, 20, 25])) == 15125
        assert BY_NAME["ways_to_pay"].function(np.array([1, 2, 5, 10, 20, 50, 100]), 100)[100] == 4563


class TestTransforms:
    @pytest.mark.parametrize("name", ["slow_fourier", "fourier_by_bits", "fast_by_reshapes"])
    def test_fourier(self, name):
        (x,), _, y = run(name)
        close(y, np.fft.fft(x))

    @pytest.mark.parametrize("size", [2, 3, 4])
    def test_stockham(self, size):
        (_, _, x, _), (_, _, _, y), _ = run("stockham", size)
        close(y, np.fft.fft(x))

    def test_others(self):
        (a,), (after,), _ = run("walsh_hadamard")
        np.testing.assert_array_equal(after, scipy.linalg.hadamard(len(a)) @ a)
        (signal, _), _, out = run("haar")
        close(out @ out, signal @ signal)
        (x,), _, out = run("cosine")
        close(out, scipy.fft.dct(x))
        (signal, frequency), _, power = run("goertzel")
        close(power, np.abs(signal @ np.exp(-2j * np.pi * frequency * np.arange(len(signal)))) ** 2)


class TestImages:
    def test_azimuthal(self):
        (data, radius, rings), _, found = run("azimuthal_by_histograms")
        close(found, scipy.stats.binned_statistic(radius, data, "mean", rings)[0])
        (data, radius, rings), _, found = run("azimuthal_by_masks")
        inside = radius < radius.max()
        expected = scipy.stats.binned_statistic(radius[inside], data[inside], "mean", rings, (0, radius.max()))
        close(found, expected[0])

    def test_histogram(self):
        (values, bins, low, high), _, counts = run("histogram_by_loop")
        np.testing.assert_array_equal(counts, np.histogram(values, bins, (low, high))[0])

    def test_equalized_uses_the_whole_range(self):
        _, _, image = run("equalized")
        assert (image.min(), image.max()) == (0, 255)

    def test_a_glider_moves(self):
        board = np.zeros((8, 8), int)
        board[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
        np.testing.assert_array_equal(BY_NAME["life"].function(board, 4), np.roll(board, (1, 1), (0, 1)))

    def test_between_points(self):
        (image, y, x), _, found = run("bilinear")
        close(found, scipy.ndimage.map_coordinates(image, (y, x), order=1))
        (x, y, places), _, found = run("lookup")
        close(found, np.interp(places, x, y))

    def test_areas(self):
        (image, radius), _, found = run("summed_area")
        inner = slice(radius, -radius)
        close(found, scipy.ndimage.uniform_filter(image, 2 * radius + 1)[inner, inner])
        (obstacles,), _, found = run("distance_field")
        np.testing.assert_array_equal(found, scipy.ndimage.distance_transform_cdt(~obstacles, "taxicab"))


class TestOrders:
    @pytest.mark.parametrize("name", ["bubble_sort", "insertion_sort", "odd_even_sort", "bitonic_sort"])
    def test_sorts(self, name):
        (a,), (after,), result = run(name)
        np.testing.assert_array_equal(after if result is None else result, np.sort(a))

    def test_numbers(self):
        assert BY_NAME["sieve"].function(100) == (25, 1060)
        np.testing.assert_array_equal(BY_NAME["first_primes"].function(8), [2, 3, 5, 7, 11, 13, 17, 19])
        assert BY_NAME["collatz"].function(30) == (27, 112)
        assert [BY_NAME["queens"].function(n) for n in range(4, 9)] == [2, 10, 4, 40, 92]
        (a, b), _, found = run("common_divisors")
        np.testing.assert_array_equal(found, np.gcd(a, b))
        (values, wanted), _, found = run("lower_bounds")
        np.testing.assert_array_equal(found, np.searchsorted(values, wanted))


class TestCalculus:
    def test_roots(self):
        _, _, (x, _) = run("newton_root")
        close(x, np.max(np.roots([1, 0, -2, -5]).real))
        (values,), _, found = run("square_roots")
        close(found, np.sqrt(values))

    def test_equations_of_motion(self):
        (start, sigma, rho, beta, h, steps), _, path = run("lorenz")

        def slope(t, p):
            return [sigma * (p[1] - p[0]), p[0] * (rho - p[2]) - p[1], p[0] * p[1] - beta * p[2]]

        exact = scipy.integrate.solve_ivp(slope, (0, h * steps), start, rtol=1e-10, atol=1e-10)
        close(path[-1], exact.y[:, -1], 1e-3)
        _, _, (_, energy) = run("pendulum")
        assert np.ptp(energy) < 1e-6
        (rate, end, _), _, (y, accepted, _) = run("adaptive_decay")
        close(y, math.exp(-rate * end), 0.1)
        assert accepted > 5

    def test_integrals(self):
        (low, high, count), _, found = run("simpson")
        x = np.linspace(low, high, count + 1)
        close(found, scipy.integrate.simpson(np.exp(-(x**2)), x=x))
        (n,), _, (x, w) = run("legendre_points")
        points, weights = np.polynomial.legendre.leggauss(n)
        close(x, points[::-1])
        close(w, weights[::-1])

    def test_contour_integral(self):
        (blocks, _, points, y), _, (p0, p1) = run("contour_integral")
        parts = [
            np.sign(abs(z) - 1) * np.linalg.inv(np.tensordot(z ** np.arange(-1.0, 2.0), blocks, 1)) @ y for z in points
        ]
        close(p0, sum(parts))
        close(p1, sum(z * part for z, part in zip(points, parts, strict=True)))

    def test_arcs(self):
        (theta1, phi1, theta2, phi2), _, found = run("arc_distance")

        def place(theta, phi):
            return np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)])

        close(found, np.arccos((place(theta1, phi1) * place(theta2, phi2)).sum(0)), 1e-6)

    def test_others(self):
        (a,), _, found = run("go_fast")
        close(found, a + np.tanh(np.diag(a)).sum(), 1e-5)
        (coefficients, x), _, found = run("horner")
        close(found, np.polynomial.polynomial.polyval(x, coefficients))


class TestStatistics:
    def test_matrices(self):
        (data,), _, found = run("correlation", 20)
        close(found, np.corrcoef(data, rowvar=False))
        (data,), _, found = run("covariance")
        close(found, np.cov(data, rowvar=False), 1e-4)

    def test_running(self):
        (values,), _, (means, variances) = run("running_moments")
        close(means, [values[: i + 1].mean() for i in range(len(values))])
        close(variances[1:], [values[: i + 1].var(ddof=1) for i in range(1, len(values))])
        (values,), _, (low, high, where, spread) = run("running_extremes")
        assert (low, high, where) == (values.min(), values.max(), values.argmax())
        assert spread == high - low

    def test_distances_and_densities(self):
        (points,), _, found = run("pairwise")
        close(found, scipy.spatial.distance.cdist(points, points), 1e-5)
        (samples, places, width), _, found = run("gaussian_kernel_density")
        close(found, scipy.stats.norm.pdf(places[:, None], samples, width).mean(1))
        (x, y), _, (slope, intercept, r2) = run("least_squares_line")
        line = scipy.stats.linregress(x, y)
        close([slope, intercept, r2], [line.slope, line.intercept, line.rvalue**2])

    def test_prices(self):
        (price, strike, time, rate, volatility), _, (call, put) = run("black_scholes")
        d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * time) / (volatility * np.sqrt(time))
        normal = scipy.stats.norm.cdf
        discounted = strike * np.exp(-rate * time)
        close(call, price * normal(d1) - discounted * normal(d1 - volatility * np.sqrt(time)), 1e-5)
        close(put, discounted * normal(volatility * np.sqrt(time) - d1) - price * normal(-d1), 1e-5)
        (quotes, price, strikes, time, rate), _, found = run("implied_volatility")
        close(BY_NAME["black_scholes"].function(price, strikes, time, rate, found)[0], quotes, 1e-6)

    def test_binomial_tree(self):
        (price, strike, time, rate, volatility, steps), _, found = run("binomial_tree", 4)
        dt = time / steps
        up = math.exp(volatility * math.sqrt(dt))
        chance = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)

        def value(step, ups):
            now = strike - price * up ** (2 * ups - step)
            if step == steps:
                return max(now, 0)
            later = chance * value(step + 1, ups + 1) + (1 - chance) * value(step + 1, ups)
            return max(now, math.exp(-rate * dt) * later)

        close(found, value(0, 0))
