"""What the samplers of distributions have in common: types, shapes, programs, entries, gradients, and errors."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

KEY = nx.random.key(7)
#: By sampler, parameters that it takes.
PARAMETERS = {
    "exponential": (), "laplace": (), "logistic": (), "cauchy": (), "maxwell": (), "pareto": (3.0,), "rayleigh": (2.0,),
    "weibull_min": (2.0, 3.0), "lognormal": (0.5,), "triangular": (0.0, 1.0, 5.0), "truncated_normal": (-1.0, 2.0),
    "double_sided_maxwell": (1.0, 2.0), "wald": (2.0,), "gamma": (0.5,), "loggamma": (0.5,), "beta": (0.5, 2.0),
    "chisquare": (3.0,), "t": (3.0,), "f": (2.0, 5.0), "generalized_normal": (1.5,),
}  # fmt: skip
COUNTS = {"geometric": (0.3,), "poisson": (4.0,), "binomial": (20, 0.3)}
#: Those of them that have no parameters, but a type.
STANDARD = [name for name, parameters in PARAMETERS.items() if not parameters]


@pytest.mark.parametrize("name", PARAMETERS)
def test_types_and_shapes(name):
    sampler, given = getattr(nx.random, name), PARAMETERS[name]
    drawn, following = sampler(KEY, *given, shape=(2, 3), type="f16", names=["a", None])
    assert (drawn.type, drawn.shape, drawn.names) == ("f16", (2, 3), ("a", None))
    assert following.to_list() == nx.random.split(KEY)[0].to_list()
    assert sampler(KEY, *given)[0].shape == ()
    assert sampler(KEY, *given, shape=(0, 2))[0].shape == (0, 2)
    if given:
        wide = [nx.tensor([[value], [value]], type="f64") for value in given]
        assert sampler(KEY, *wide)[0].spec == nx.template((2, 1), "f64").spec
        assert sampler(KEY, *wide, shape=(2, 3))[0].shape == (2, 3)
        whole = [int(value) + 1 for value in given] if name != "triangular" else [0, 1, 5]
        assert sampler(KEY, *[nx.tensor([value]) for value in whole])[0].type == "f32"
    with pytest.raises(NxTypeError, match=rf"^{name} draws floats, got type='s32'\."):
        sampler(KEY, *given, type="s32")
    with pytest.raises(NxTypeError, match=rf'^{name} draws real numbers, got the type c64; write type="f32"$'):
        sampler(KEY, *given, type="c64")


@pytest.mark.parametrize("name", COUNTS)
def test_types_of_counts(name):
    sampler, given = getattr(nx.random, name), COUNTS[name]
    assert sampler(KEY, *given, shape=(4,))[0].type == "s64"
    assert sampler(KEY, *given, shape=(4,), type="u8")[0].to_list() == sampler(KEY, *given, shape=(4,))[0].to_list()
    assert sampler(KEY, *given, type="f64")[0].type == "f64"
    with pytest.raises(NxTypeError, match=rf'^{name} draws whole numbers, got the type c64; write type="s64"$'):
        sampler(KEY, *given, type="c64")


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", [*PARAMETERS, *COUNTS])
def test_compiled_and_for_many_keys(name):
    given = (PARAMETERS | COUNTS)[name]
    sampler = getattr(nx.random, name)
    expected, following = sampler(KEY, *given, shape=(50,))
    found, new = nx.jit(lambda key: sampler(key, *given, shape=(50,)))(KEY)
    assert new.to_list() == following.to_list()
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=2e-5)
    keys = nx.random.split(KEY, parts=3)
    many = nx.vmap(lambda key: sampler(key, *given, shape=(4,))[0])(keys)
    one_by_one = np.stack([sampler(key, *given, shape=(4,))[0].to_numpy() for key in (keys[0], keys[1], keys[2])])
    np.testing.assert_allclose(many.to_numpy(), one_by_one, rtol=2e-5)


@pytest.mark.parametrize(
    ("name", "at"), [("gamma", 0.4), ("gamma", 5.0), ("loggamma", 0.01), ("gamma", 2e4), ("pareto", 3.0), ("t", 4.0)]
)
def test_gradients(name, at):
    """By a parameter, for gamma numbers with SciPy's quantile of each one's probability as the reference."""
    from scipy import special

    sampler = getattr(nx.random, name)
    slope = nx.grad(lambda a: nx.sum(sampler(KEY, a, shape=(5,))[0]))(nx.f64(at))
    if name not in ("gamma", "loggamma"):
        assert np.isfinite(float(slope))
        return
    drawn = sampler(KEY, nx.f64(at), shape=(5,))[0].to_numpy()
    step = at * 1e-5
    p = special.gammainc(at, np.exp(drawn) if name == "loggamma" else drawn)
    above, below = (special.gammaincinv(at + side, p) for side in (step, -step))
    both = (np.log(above), np.log(below)) if name == "loggamma" else (above, below)
    np.testing.assert_allclose(float(slope), ((both[0] - both[1]) / (2 * step)).sum(), rtol=1e-5)


def test_what_no_number_can_be_drawn_for():
    assert np.isnan(nx.random.gamma(KEY, [-2.0, np.nan])[0].to_numpy()).all()
    assert nx.random.poisson(KEY, [-1.0, np.nan, np.inf, 0.0])[0].to_list() == [-1, -1, -1, 0]
    given = [10, -1, 10, np.inf, 10, 10], [1.5, 0.5, np.nan, 0.5, 0.0, 1.0]
    assert nx.random.binomial(KEY, *given)[0].to_list() == [-1, -1, -1, -1, 0, 10]
    assert nx.random.multinomial(KEY, [5, -1], [[1.0, 0.0]])[0].to_list() == [[5, 0], [-1, -1]]
    low, high = nx.random.truncated_normal(KEY, [-np.inf, 0.0], [0.0, 1e-30], shape=(500, 2))[0].to_numpy().T
    assert low.max() < 0
    assert (high > 0).all()


def test_categories():
    logits = np.log([[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]])
    assert nx.random.categorical(KEY, logits)[0].shape == (3,)
    assert nx.random.categorical(KEY, logits, axis=0, shape=(4, 2))[0].shape == (4, 2)
    drawn, _ = nx.random.categorical(KEY, logits, axis=0, shape=(3, 2), replace=False)
    assert np.sort(drawn.to_numpy(), 0).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert nx.random.categorical(KEY, [-np.inf, 0.0, -np.inf], shape=(20,))[0].to_list() == [1] * 20
    with pytest.raises(
        NxValueError, match=r"^categorical: the shape to draw is \[2\], and logits f64\[3\]\[2\] are \[3\] "
    ):
        nx.random.categorical(KEY, logits, shape=(2,))
    with pytest.raises(NxValueError, match=r"^categorical cannot draw 3 of 2 categories without replacement"):
        nx.random.categorical(KEY, logits, shape=(3, 3), replace=False)


def test_permutations_and_choices():
    assert sorted(nx.random.permutation(KEY, 10)[0].to_list()) == list(range(10))
    table = nx.iota((3, 4))
    assert nx.random.permutation(KEY, table)[0].to_list() == nx.random.shuffle(KEY, table)[0].to_list()
    assert nx.random.choice(KEY, 10, shape=(2, 3))[0].shape == (2, 3)
    assert nx.random.choice(KEY, table, shape=(2, 5), axis=1)[0].shape == (3, 2, 5)
    assert nx.random.choice(KEY, table, shape=(0,))[0].shape == (0,)
    same = nx.random.choice(KEY, table, samples=6)[0].to_list()
    assert nx.random.choice(KEY, table, shape=(6,))[0].to_list() == same
    with pytest.raises(NxValueError, match=r"^choice: -3 is no number of things to choose from$"):
        nx.random.choice(KEY, -3)


def test_bits_for_rare_truths():
    drawn, _ = nx.random.bernoulli(KEY, 1e-9, shape=(1000,), mode="high")
    assert (drawn.type, int(drawn.sum())) == ("bool", 0)
    assert 150 < int(nx.random.bernoulli(KEY, 0.2, shape=(1000,), mode="high")[0].sum()) < 250
    with pytest.raises(NxValueError, match=r'^bernoulli: mode is "low" or "high", got \'top\'$'):
        nx.random.bernoulli(KEY, mode="top")


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (
            lambda: nx.random.dirichlet(KEY, 2.0),
            "dirichlet: alpha is a vector with a number for each category, got f32.",
        ),
        (lambda: nx.random.multinomial(KEY, 3, 0.5), "multinomial: p is a vector with a probability for each category"),
        (lambda: nx.random.ball(KEY, 0), "ball: a point has at least one coordinate, got d=0"),
        (
            lambda: nx.random.orthogonal(KEY, 0),
            "orthogonal: a matrix has at least one row and one column, got n=0, m=0",
        ),
        (lambda: nx.random.gamma(KEY, (2, 3)), "gamma: a is the tuple (2, 3)."),
        (
            lambda: nx.random.gamma(KEY, [1.0, 2.0], shape=(3,)),
            "gamma: a has the shape [2], which does not spread over",
        ),
        (lambda: nx.random.rademacher(KEY, type="u8"), 'rademacher draws 1 and -1, got the type u8; write type="s64"'),
    ],
)
def test_what_is_refused(draw, text):
    with pytest.raises((NxValueError, NxTypeError)) as raised:
        draw()
    assert str(raised.value).startswith(text)
