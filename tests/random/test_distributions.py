"""Samplers: the numbers of Nx and JAX, the distributions that they promise, and what they refuse."""

import math

import ml_dtypes
import numpy as np
import pytest
import scipy.stats

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError

KEY = nx.random.key(2024)
FLOATS = ["bf16", "f16", "f32", "f64"]
WHOLE = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]


#: The parameters that samplers are tested with.
PARAMETERS = {"bits": (), "randint": (0, 100), "uniform": (-1, 2), "normal": (1, 2), "gumbel": ()}


@pytest.mark.parametrize(("name", "parameters"), PARAMETERS.items())
def test_samplers_split_their_key(name, parameters):
    draw, split = getattr(nx.random, name), getattr(nx.random, f"{name}_split")
    drawn, following = draw(KEY, *parameters, shape=(3, 2), names=["a", None])
    keys = nx.random.split(KEY)
    assert following.to_list() == keys[0].to_list()
    assert (drawn.shape, drawn.names) == ((3, 2), ("a", None))
    second, _ = draw(following, *parameters, shape=(3, 2))
    assert not np.array_equal(drawn.to_numpy(), second.to_numpy())
    np.testing.assert_array_equal(split(keys[1], *parameters, shape=(3, 2)).to_numpy(), drawn.to_numpy())


# Values ----------------------------------------------------------------------------------------------------------


def test_uniform_floats_are_the_upper_bits():
    for type_ in FLOATS:
        info, dtype = ml_dtypes.finfo(types.normalize(type_).dtype), types.normalize(type_).dtype
        bits = nx.random.bits_split(KEY, shape=(50,), type=f"u{info.bits}").to_numpy().astype(object)
        expected = [(word >> (info.bits - info.nmant)) / 2.0**info.nmant for word in bits]
        found = nx.random.uniform_split(KEY, shape=(50,), type=type_)
        assert found.type == type_
        np.testing.assert_array_equal(found.to_numpy(), np.array(expected).astype(dtype))


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 100)], ids=str)
def test_compiled_uniforms_are_those_of_the_evaluator(type_, shape):
    expected = nx.random.uniform_split(KEY, shape=shape, type=type_)
    found = nx.jit(lambda key: nx.random.uniform_split(key, shape=shape, type=type_))(KEY)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("draw", [nx.random.normal_split, nx.random.gumbel_split])
def test_compiled_samples_are_those_of_the_evaluator_but_for_rounding(type_, draw):
    expected = draw(KEY, shape=(2000,), type=type_).to_numpy().astype(np.float64)
    found = nx.jit(lambda key: draw(key, shape=(2000,), type=type_))(KEY).to_numpy().astype(np.float64)
    # Near its zero the double logarithm loses digits of u, so that distances are absolute there.
    eps = float(ml_dtypes.finfo(types.normalize(type_).dtype).eps)
    np.testing.assert_allclose(found, expected, rtol=8 * eps, atol=8 * eps)


def test_values_of_jax():
    """What jax.random gives with jax_threefry_partitionable=False for jax.random.key(42), of JAX 0.10."""
    key = nx.random.key(42)
    found = nx.random.uniform_split(key, shape=(3,)).to_numpy()
    np.testing.assert_array_equal(found, np.array(JAX["uniform f32"], np.float32))
    found = nx.random.uniform_split(key, shape=(3,), type="f64").to_numpy()
    np.testing.assert_array_equal(found, JAX["uniform f64"])
    found = nx.random.normal_split(key, shape=(3,)).to_numpy()
    np.testing.assert_allclose(found, JAX["normal f32"], rtol=1e-6)
    found = nx.random.normal_split(key, shape=(3,), type="f64").to_numpy()
    np.testing.assert_allclose(found, JAX["normal f64"], rtol=1e-12)
    found = nx.random.gumbel_split(key, shape=(3,)).to_numpy()
    np.testing.assert_allclose(found, JAX["gumbel f32"], rtol=1e-6)


JAX = {
    "uniform f32": [0.5741443634033203, 0.1001582145690918, 0.059461116790771484],
    "uniform f64": [0.7298188969046309, 0.8691938242843895, 0.8723002596642415],
    "normal f32": [0.18693546950817108, -1.2806504964828491, -1.559313178062439],
    "normal f64": [0.6122653570510959, 1.1225883830713081, 1.1373320995160152],
    "gumbel f32": [0.5890134572982788, -0.8333456516265869, -1.0375992059707642],
}


@pytest.mark.parametrize("sampler", [nx.random.uniform, nx.random.normal])
@pytest.mark.parametrize("type_", ["c64", "c128"])
def test_complex_numbers_have_two_parts_of_one_stream(sampler, type_):
    part = types.to_real(type_)
    found, _ = sampler(KEY, 2, 3, shape=(5, 2), type=type_)
    parts, _ = sampler(KEY, 2, 3, shape=(5, 2, 2), type=part)
    assert (found.type, found.shape) == (type_, (5, 2))
    parts = parts.to_numpy()
    np.testing.assert_array_equal(found.to_numpy().real, parts[..., 0])
    np.testing.assert_array_equal(found.to_numpy().imag, parts[..., 1])


def test_uniform_stays_within_its_bounds():
    # In bf16 the product rounds up to the width of the range, and the sum below the lower bound.
    for low, high in ((3.0, 3.03), (-1e-3, 1e-3), (1e30, 3e38)):
        for type_ in FLOATS[1:]:
            if type_ == "f16" and high > 1e4:
                continue
            x = nx.random.uniform_split(KEY, low, high, shape=(3000,), type=type_).to_numpy()
            dtype = types.normalize(type_).dtype
            assert x.min() >= dtype.type(low)
            assert x.max() <= dtype.type(high)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("type_", WHOLE)
@pytest.mark.parametrize("bounds", [(0, 1), (3, 10), (0, 100)])
def test_randint_is_within_its_bounds_and_compiles(type_, bounds):
    found = nx.random.randint_split(KEY, *bounds, shape=(501,), type=type_)
    assert found.type == type_
    numbers = found.to_numpy()
    assert numbers.min() == bounds[0]
    assert numbers.max() == bounds[1] - 1
    compiled = nx.jit(lambda key: nx.random.randint_split(key, *bounds, shape=(501,), type=type_))(KEY)
    np.testing.assert_array_equal(compiled.to_numpy(), numbers)


@pytest.mark.parametrize("type_", WHOLE)
def test_randint_over_the_whole_type_is_bits(type_):
    low, high = types.limits(types.normalize(type_))
    numbers = nx.random.randint_split(KEY, low, high + 1, shape=(500,), type=type_).to_numpy()
    width = types.normalize(type_).bits
    bits = nx.random.bits_split(KEY, shape=(2, 500), type=f"u{width}").to_numpy()[1]
    np.testing.assert_array_equal(numbers.astype(object), bits.astype(object) + low)


def test_randint_uses_twice_the_bits():
    key = nx.random.key(5)
    for type_, width in (("u8", 8), ("u32", 32), ("s64", 64)):
        higher, lower = nx.random.bits_split(key, shape=(2, 40), type=f"u{width}").to_numpy().astype(object)
        # A range whose square fits the type, so that no product wraps.
        span = 2 ** (width // 2) - 3
        expected = [(high * 2**width + low) % span for high, low in zip(higher, lower, strict=True)]
        found = nx.random.randint_split(key, 0, span, shape=(40,), type=type_)
        assert found.to_list() == expected


def test_randint_with_a_range_for_each_element():
    low = nx.tensor([0, 10, 5, 7], type="s16")
    high = nx.tensor([5, 20, 6, 7], type="s16")
    found, _ = nx.random.randint(KEY, low, high, shape=(200, 4))
    assert found.type == "s16"
    numbers = found.to_numpy()
    np.testing.assert_array_equal(numbers.min(0), [0, 10, 5, 7])
    np.testing.assert_array_equal(numbers.max(0), [4, 19, 5, 7])
    compiled, _ = nx.jit(lambda key, low, high: nx.random.randint(key, low, high, shape=(200, 4)))(KEY, low, high)
    np.testing.assert_array_equal(compiled.to_numpy(), numbers)


def test_parameters_give_shape_and_type():
    means = nx.tensor([[0.0], [100.0]], type="f64")
    x, _ = nx.random.normal(KEY, means, nx.tensor([1.0, 2.0, 3.0]))
    assert (x.type, x.shape) == ("f64", (2, 3))
    assert len(set(x.to_numpy().reshape(-1).tolist())) == 6
    assert nx.random.uniform(KEY, 0, 10)[0].type == "f32"
    assert nx.random.randint(KEY, 0, 10)[0].type == "s64"
    assert nx.random.uniform(KEY, nx.f16(0.0), nx.u8(3))[0].type == "f16"


@pytest.mark.parametrize("name", ["bits", "randint", "uniform", "normal", "gumbel"])
def test_keys_along_vectorized_axes(name):
    """Every entry draws what its key draws alone."""
    keys = nx.random.split(KEY, parts=3)

    def draw(key):
        return getattr(nx.random, name)(key, *PARAMETERS[name], shape=(4, 2))

    alone = [draw(keys[i]) for i in range(3)]
    for function in (draw, nx.jit(draw)):
        drawn, following = function(nx.vectorize(keys, "key"))
        assert (drawn.vectorized_axes, drawn.shape) == ((("key", 3),), (4, 2))
        expected = [one.to_numpy() for one, _ in alone]
        np.testing.assert_allclose(nx.devectorize(drawn).to_numpy(), expected, rtol=1e-5, atol=1e-6)
        assert nx.devectorize(following).to_list() == [key.to_list() for _, key in alone]


def test_parameters_along_vectorized_axes():
    means = nx.vectorize(nx.f32([0.0, 100.0]), "mean")
    drawn, following = nx.random.normal(KEY, means, 1.0, shape=(3,))
    assert (drawn.vectorized_axes, drawn.shape) == ((("mean", 2),), (3,))
    assert (following.vectorized_axes, following.shape) == ((), (2,))
    alone = nx.random.normal(KEY, 0.0, 1.0, shape=(3,))[0].to_numpy()
    np.testing.assert_allclose(nx.devectorize(drawn).to_numpy(), [alone, alone + 100], rtol=1e-5)


# Distributions ---------------------------------------------------------------------------------------------------


def significant(sample, distribution):
    """Whether a sample of a fixed key is likely to come from a distribution."""
    return scipy.stats.kstest(np.asarray(sample, np.float64).reshape(-1), distribution).pvalue > 0.01


@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_distributions(type_):
    key = nx.random.key(11)
    x, key = nx.random.uniform(key, 2, 5, shape=(20_000,), type=type_)
    assert significant(x.to_numpy(), scipy.stats.uniform(2, 3).cdf)
    x, key = nx.random.normal(key, -1, 0.5, shape=(100, 200), type=type_)
    assert significant(x.to_numpy(), scipy.stats.norm(-1, 0.5).cdf)
    x, key = nx.random.gumbel(key, shape=(20_000,), type=type_)
    assert significant(x.to_numpy(), scipy.stats.gumbel_r.cdf)


def test_moments():
    x, _ = nx.random.normal(nx.random.key(8), shape=(200_000,))
    x = x.to_numpy().astype(np.float64)
    moments = [np.mean(x**power) for power in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.03)


def test_integers_are_equally_likely():
    numbers, _ = nx.random.randint(nx.random.key(9), 0, 10, shape=(20_000,))
    assert scipy.stats.chisquare(np.bincount(numbers.to_numpy())).pvalue > 0.01
    bits, _ = nx.random.bits(nx.random.key(9), shape=(20_000,), type="u8")
    assert scipy.stats.chisquare(np.bincount(bits.to_numpy())).pvalue > 0.01


def test_numbers_of_different_keys_are_unrelated():
    keys = nx.random.split(nx.random.key(1), parts=20)
    samples = np.array([nx.random.normal_split(keys[i], shape=(5000,)).to_numpy() for i in range(20)])
    correlations = np.corrcoef(samples) - np.eye(20)
    assert np.abs(correlations).max() < 5 / math.sqrt(5000)


# Bad input -------------------------------------------------------------------------------------------------------


def refused(error, text, function, *args, **kwargs):
    with pytest.raises(error) as raised:
        function(KEY, *args, **kwargs)
    assert str(raised.value) == text


@pytest.mark.parametrize("name", ["uniform", "normal", "gumbel"])
def test_samplers_of_floats_refuse_integers(name):
    text = (
        f"{name} draws floats, got type='s32'.\n"
        "  nx.random.randint draws integers; nx.as_type(x, 's32') cuts fractions off."
    )
    refused(NxTypeError, text, getattr(nx.random, name), type="s32")


def test_samplers_of_integers_refuse_floats():
    hint = 'Write type="s64", or draw floats with nx.random.uniform.'
    refused(NxTypeError, f"randint draws integers, got the type f32.\n  {hint}", nx.random.randint, 0, 5, type="f32")
    refused(NxTypeError, f"bits draws integers, got the type bool.\n  {hint}", nx.random.bits, type="bool")


def test_gumbel_refuses_complex_numbers():
    text = 'gumbel draws real numbers, got the type c64; write type="f32"'
    refused(NxTypeError, text, nx.random.gumbel, type="c64")


def test_randint_refuses_bounds_that_are_no_integers():
    hint = "nx.random.uniform draws floats between two bounds."
    refused(NxTypeError, f"randint: max_val is an integer, got 1.5.\n  {hint}", nx.random.randint, 0, 1.5)
    text = f"randint: min_val holds integers, got f32[2].\n  {hint}"
    refused(NxTypeError, text, nx.random.randint, nx.f32([0, 1]), 5, type="s32")


@pytest.mark.parametrize("bounds", [(5, 5), (5, -5)])
def test_randint_refuses_empty_ranges(bounds):
    text = (
        f"randint: there is no whole number from {bounds[0]} to below {bounds[1]}.\n"
        "  max_val is not drawn itself: randint(key, 0, 1) gives zeros."
    )
    refused(NxValueError, text, nx.random.randint, *bounds)


def test_randint_refuses_bounds_outside_of_the_type():
    hint = 'Ask for a wider type, such as type="s64".'
    text = f"randint: max_val=257 is outside of u8, which goes from 0 to 255.\n  {hint}"
    refused(NxValueError, text, nx.random.randint, 0, 257, type="u8")
    text = f"randint: min_val=-1 is outside of u8, which goes from 0 to 255.\n  {hint}"
    refused(NxValueError, text, nx.random.randint, -1, 7, type="u8")
    text = f"randint: max_val=256 is outside of u8, which goes from 0 to 255.\n  {hint}"
    refused(NxValueError, text, nx.random.randint, nx.u8([1, 2]), 256, type="u8")


def test_parameters_must_spread_over_the_shape():
    text = (
        "normal: mean has the shape [2], which does not spread over the shape [3] to draw.\n"
        "  Without shape=, the parameters give the shape."
    )
    refused(NxValueError, text, nx.random.normal, nx.f32([1, 2]), shape=(3,))
