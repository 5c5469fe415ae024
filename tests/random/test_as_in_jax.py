"""The numbers that the documentation promises to be those of ``jax.random``, recorded and drawn beside it."""

import numpy as np
import pytest

import nxkernel as nx

SEEDS = [0, 42, 1701, 2**32 - 1, 999_999_999_999, -3]


def key_of(words):
    return nx.tensor(np.asarray(words, np.uint32))


KEY = [961309823, 1704866707]

#: By sampler, type and shape: what JAX 0.10.2 gives for the key above.
RECORDED = {
    ("bits", "u32", (5,)): [3055862017, 1851172388, 432068121, 3714135836, 4211939616],
    ("bits", "u64", (3,)): [13124827427817731868, 7950724869930162464, 10118949331691835900],
    ("uniform", "f32", (5,)): [0.71149826, 0.43100965, 0.10059869, 0.8647646, 0.98066854],
    ("uniform", "f64", (3,)): [0.7114983205368659, 0.43100965884064046, 0.5485493424345516],
    ("normal", "f32", (4,)): [-2.0154467, -0.31248325, 1.2523537, 0.18353269],
    ("normal", "f64", (3,)): [0.5577672060251827, -0.17380423286678617, 0.12199709981039777],
    ("gumbel", "f32", (4,)): [-1.3402373, 0.02571009, 2.1966226, 0.5848287],
    ("gumbel", "f64", (3,)): [1.0776861107056266, 0.17242099491026747, 0.5100292002400901],
}
#: How exact samplers are that take elementary functions of uniform numbers, relative and absolute.
ROUNDING = {"f32": 1e-5, "f64": 1e-13}


def same(found, expected, sampler, type_):
    if sampler in ("bits", "uniform"):
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=ROUNDING[type_], atol=ROUNDING[type_])


@pytest.mark.parametrize(("sampler", "type_", "shape"), RECORDED, ids=str)
def test_recorded_numbers(sampler, type_, shape):
    """With ``jax_enable_x64`` on and ``jax_threefry_partitionable`` off, of the key above as an array of uint32:

    ``jax.random.bits(key, shape, "uint32")``, ``jax.random.uniform(key, shape, "float32")`` and so on.
    """
    drawn = getattr(nx.random, f"{sampler}_split")(key_of(KEY), shape=shape, type=type_)
    same(drawn.to_numpy(), np.array(RECORDED[sampler, type_, shape], drawn.dtype), sampler, type_)


def test_recorded_keys():
    """``jax.random.split(jax.random.PRNGKey(1701), 3)`` and ``jax.random.fold_in(jax.random.PRNGKey(42), 1234)``."""
    split = nx.random.split(nx.random.key(1701), parts=3)
    assert split.to_list() == [
        [927208350, 3916705582],
        [1835323421, 676898860],
        [3164047411, 4010691890],
    ]
    assert nx.random.fold_in(nx.random.key(42), 1234).to_list() == [1356445167, 2917756949]


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="JAX comes with the extra `bench`")
    before = jax.config.jax_enable_x64, jax.config.jax_threefry_partitionable
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_threefry_partitionable", False)
    yield jax
    jax.config.update("jax_enable_x64", before[0])
    jax.config.update("jax_threefry_partitionable", before[1])


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", SEEDS)
def test_keys(jax, seed):
    ours, theirs = nx.random.key(seed), jax.random.PRNGKey(seed)
    np.testing.assert_array_equal(ours.to_numpy(), theirs)
    for parts in (2, 3, 8):
        np.testing.assert_array_equal(nx.random.split(ours, parts=parts).to_numpy(), jax.random.split(theirs, parts))
    for data in (0, 1, 99, 2**31 - 1):
        np.testing.assert_array_equal(nx.random.fold_in(ours, data).to_numpy(), jax.random.fold_in(theirs, data))


@pytest.mark.sampled(every=18)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (0,), (5000,)], ids=str)
def test_samples(jax, seed, shape):
    theirs = jax.random.PRNGKey(seed)
    ours = key_of(theirs)
    for type_ in ("u32", "u64"):
        expected = jax.random.bits(theirs, shape, f"uint{type_[1:]}")
        np.testing.assert_array_equal(nx.random.bits_split(ours, shape=shape, type=type_).to_numpy(), expected)
    for type_ in ("f32", "f64"):
        for low, high in ((0.0, 1.0), (-3.0, 5.0), (1e-3, 1e3)):
            found = nx.random.uniform_split(ours, low, high, shape=shape, type=type_).to_numpy()
            expected = jax.random.uniform(theirs, shape, f"float{type_[1:]}", low, high)
            if (low, high) == (0, 1):
                np.testing.assert_array_equal(found, expected)
            # The product and the sum are rounded once or twice, as the compiler likes.
            np.testing.assert_allclose(found, expected, rtol=0, atol=2 * high * np.finfo(found.dtype).eps)
        for sampler in ("normal", "gumbel"):
            found = getattr(nx.random, f"{sampler}_split")(ours, shape=shape, type=type_).to_numpy()
            same(found, getattr(jax.random, sampler)(theirs, shape, f"float{type_[1:]}"), sampler, type_)
