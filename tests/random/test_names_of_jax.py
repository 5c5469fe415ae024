"""Every name of ``jax.random`` has a twin here, with its numbers where the algorithm is the same, or a reason."""

import numpy as np
import pytest

import nxkernel as nx

#: Names of ``jax.random`` that are other names here, or none.
OTHERWISE = {
    "PRNGKey": "nx.random.key: keys are u32[2], as those of PRNGKey",
    "clone": "keys are numbers, and nothing says whether one was used",
    "key_data": "a key is its data",
    "key_dtype": "keys are u32[2]",
    "key_impl": "there is one algorithm, threefry2x32",
    "random_gamma_p": "a primitive of JAX's; gamma is made of others here",
    "wrap_key_data": "a key is its data",
}
#: Samplers whose numbers are not JAX's, with the reason.
OTHER_NUMBERS = {
    "bits": "narrow types: see the package", "randint": "Nx draws both halves from one stream",
    "choice": "with replacement and without p, by randint", "rayleigh": "JAX takes log(u) of a u that may be 0",
    "rademacher": "JAX draws floats of its default type, here f32",
}  # fmt: skip


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax", reason="JAX comes with the extra `bench`")
    before = jax.config.jax_enable_x64, jax.config.jax_threefry_partitionable
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_threefry_partitionable", False)
    yield jax
    jax.config.update("jax_enable_x64", before[0])
    jax.config.update("jax_threefry_partitionable", before[1])


def test_every_name_has_a_twin_or_a_reason(jax):
    theirs = {name for name in dir(jax.random) if not name.startswith("_") and name not in ("prng", "typing")}
    assert {name for name in theirs if name not in nx.random.__all__} == set(OTHERWISE)
    assert set(OTHER_NUMBERS) <= theirs
    compared = {*SAMPLERS, "key", "split", "fold_in", "uniform", "normal", "gumbel", *OTHER_NUMBERS, *OTHERWISE}
    assert theirs - compared == {"multivariate_normal"}


A = np.array([0.1, 0.5, 1.0, 2.5, 30.0, 1000.0] * 5)
RATES = np.array([0.0, 0.5, 4.0, 9.9, 10.0, 50.0] * 5)
COUNTS, CHANCES = np.array([0, 5, 40, 1000] * 5), np.array([0.1, 0.5, 0.7, 0.9] * 5)
SHAPE = (30,)
#: By name: what ours takes, and a call of JAX's with its module, a key and a type.
SAMPLERS = {
    "ball": ((3, 1.5), {"shape": SHAPE}, lambda r, k, t: r.ball(k, 3, 1.5, SHAPE, t)),
    "bernoulli": (("p",), {"shape": SHAPE}, lambda r, k, t: r.bernoulli(k, np.asarray(0.3, t), SHAPE)),
    "beta": ((A, A[::-1]), {}, lambda r, k, t: r.beta(k, A.astype(t), A[::-1].astype(t), dtype=t)),
    "binomial": (
        (COUNTS, CHANCES), {}, lambda r, k, t: r.binomial(k, COUNTS.astype(t), CHANCES.astype(t), dtype=t)
    ),
    "categorical": (
        (np.log([0.1, 0.2, 0.7]),), {"shape": SHAPE},
        lambda r, k, t: r.categorical(k, np.log([0.1, 0.2, 0.7]).astype(t), shape=SHAPE),
    ),
    "cauchy": ((), {"shape": SHAPE}, lambda r, k, t: r.cauchy(k, SHAPE, t)),
    "chisquare": ((A,), {}, lambda r, k, t: r.chisquare(k, A.astype(t), dtype=t)),
    "dirichlet": ((A[:6],), {"shape": (5,)}, lambda r, k, t: r.dirichlet(k, A[:6].astype(t), (5,), t)),
    "double_sided_maxwell": (
        (1.0, 2.0), {"shape": SHAPE}, lambda r, k, t: r.double_sided_maxwell(k, 1.0, 2.0, SHAPE, t)
    ),
    "exponential": ((), {"shape": SHAPE}, lambda r, k, t: r.exponential(k, SHAPE, t)),
    "f": ((A, A + 1), {}, lambda r, k, t: r.f(k, A.astype(t), (A + 1).astype(t), dtype=t)),
    "gamma": ((A,), {}, lambda r, k, t: r.gamma(k, A.astype(t), dtype=t)),
    "generalized_normal": ((1.5,), {"shape": SHAPE}, lambda r, k, t: r.generalized_normal(k, 1.5, SHAPE, t)),
    "geometric": (("p",), {"shape": SHAPE}, lambda r, k, t: r.geometric(k, np.asarray(0.3, t), SHAPE)),
    "laplace": ((), {"shape": SHAPE}, lambda r, k, t: r.laplace(k, SHAPE, t)),
    "loggamma": ((A,), {}, lambda r, k, t: r.loggamma(k, A.astype(t), dtype=t)),
    "logistic": ((), {"shape": SHAPE}, lambda r, k, t: r.logistic(k, SHAPE, t)),
    "lognormal": ((0.5,), {"shape": SHAPE}, lambda r, k, t: r.lognormal(k, np.asarray(0.5, t), SHAPE, t)),
    "maxwell": ((), {"shape": SHAPE}, lambda r, k, t: r.maxwell(k, SHAPE, t)),
    "multinomial": (
        (50, CHANCES[:4]), {"shape": (5,)},
        lambda r, k, t: r.multinomial(k, np.asarray(50.0, t), CHANCES[:4].astype(t), shape=(5, 4), dtype=t),
    ),
    "orthogonal": ((3,), {"shape": (4,)}, lambda r, k, t: r.orthogonal(k, 3, (4,), t)),
    "pareto": ((3.0,), {"shape": SHAPE}, lambda r, k, t: r.pareto(k, np.asarray(3.0, t), SHAPE, t)),
    "permutation": ((30,), {}, lambda r, k, t: r.permutation(k, 30)),
    "poisson": ((RATES,), {}, lambda r, k, t: r.poisson(k, RATES)),
    "t": ((A,), {}, lambda r, k, t: r.t(k, A.astype(t), dtype=t)),
    "triangular": (
        (0.0, 1.0, 5.0), {"shape": SHAPE},
        lambda r, k, t: r.triangular(k, np.asarray(0.0, t), np.asarray(1.0, t), np.asarray(5.0, t), SHAPE, t),
    ),
    "truncated_normal": ((-1.0, 2.0), {"shape": SHAPE}, lambda r, k, t: r.truncated_normal(k, -1.0, 2.0, SHAPE, t)),
    "wald": ((2.0,), {"shape": SHAPE}, lambda r, k, t: r.wald(k, np.asarray(2.0, t), SHAPE, t)),
    "weibull_min": ((2.0, 3.0), {"shape": SHAPE}, lambda r, k, t: r.weibull_min(k, 2.0, 3.0, SHAPE, t)),
}  # fmt: skip
#: Samplers whose type is that of what they draw, not of a parameter.
COUNTED = {"bernoulli", "binomial", "categorical", "geometric", "multinomial", "permutation", "poisson"}
#: Signs are those of floats of JAX's default type, which is f64 in these tests.
OF_F64 = {"ball", "double_sided_maxwell", "generalized_normal"}


#: By sampler, its parameters, and what JAX 0.10.2 gives in f32 for the second key of
#: ``split(PRNGKey(42))``, three of each.
RECORDED = {
    "exponential": ((), [0.3357108, 0.9466079, 0.1931631]),
    "laplace": ((), [0.5615218, -0.2534609, 1.0461]),
    "logistic": ((), [-0.9189578, 0.4554952, -1.546084]),
    "cauchy": ((), [-0.8002731, 0.3669398, -1.624367]),
    "maxwell": ((), [1.699383, 0.6495937, 0.6725436]),
    "gamma": ((0.5,), [2.338412, 0.7444459, 0.2045804]),
    "loggamma": ((2.5,), [1.309528, 0.9770272, 1.277501]),
    "beta": ((0.5, 2.0), [0.1680124, 0.441473, 0.3414757]),
    "t": ((3.0,), [-0.8035936, -0.3638465, -0.9524499]),
    "pareto": ((3.0,), [1.118405, 1.370994, 1.066506]),
    "wald": ((2.0,), [1.112027, 2.717897, 1.059011]),
    "truncated_normal": ((-1.0, 2.0), [-0.2738654, 0.4113446, -0.5173858]),
    "poisson": ((4.0,), [1, 4, 5]),
    "binomial": ((100, 0.3), [41, 39, 29]),
    "geometric": ((0.3,), [4, 2, 5]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_numbers(name):
    parameters, expected = RECORDED[name]
    found, _ = getattr(nx.random, name)(nx.random.key(42), *parameters, shape=(3,))
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("type_", ["float32", "float64"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_numbers(jax, name, type_):
    if name in OF_F64 and type_ == "float32":
        type_ = "float64"
    given, options, theirs = SAMPLERS[name]
    given = [np.asarray(0.3, type_) if one == "p" else one for one in given] if "p" in map(str, given) else given
    given = [one.astype(type_) if isinstance(one, np.ndarray) and one.dtype.kind == "f" else one for one in given]
    options = options if name in COUNTED else options | {"type": type_}
    key = nx.random.key(42)
    before = jax.random.PRNGKey(42)
    following, now = jax.random.split(before)
    found, new = getattr(nx.random, name)(key, *given, **options)
    expected = np.asarray(theirs(jax.random, before if name == "permutation" else now, type_))
    assert found.shape == expected.shape
    if name == "permutation":
        np.testing.assert_array_equal(found.to_numpy(), expected)
        return
    np.testing.assert_array_equal(new.to_numpy(), following)
    # Logarithms near 0 lose digits.
    rounding = 2e-5 if type_ == "float32" else 1e-11
    np.testing.assert_allclose(found.to_numpy().astype(float), expected.astype(float), rtol=rounding, atol=rounding)


@pytest.mark.slow
@pytest.mark.parametrize("a", [0.2, 3.0, 50.0])
def test_the_gradient_of_gamma(jax, a):
    _, now = jax.random.split(jax.random.PRNGKey(42))
    expected = jax.grad(lambda b: jax.random.gamma(now, b, (8,)).sum())(a)
    found = nx.grad(lambda b: nx.sum(nx.random.gamma(nx.random.key(42), b, shape=(8,))[0]))(nx.f64(a))
    np.testing.assert_allclose(float(found), float(expected), rtol=1e-6)
