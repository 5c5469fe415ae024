"""NumPy programs draw random numbers when they run: these, and the state afterwards, are those of plain Python."""

import copy
import random

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators import random_draws
from nxkernel.errors import NxTypeError, NxValueError

X = np.linspace(0.0, 1.0, 5)


def of_a_shape(x):
    return x * 2 + np.random.normal(size=5)


def a_number(x):
    return x * np.random.rand()


def for_nothing(x):
    np.random.rand(3)
    return x * 2


def after_a_seed(x):
    np.random.seed(3)
    return x + np.random.randn(5)


def in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * np.random.normal()
    return total


def in_a_long_loop(x):
    total = np.zeros(5)
    for _ in range(300):
        total += np.random.normal(0, 1, 5) * x
    return total


def in_both_sides(x):
    if x.sum() > 2:
        y = np.random.rand(5)
    else:
        y = np.random.randn(5)
    return x + y + np.random.rand()


def in_a_side_that_is_not_taken(x):
    y = np.zeros(5)
    if x.sum() > 20:
        y = np.random.rand(5)
    return x + y + np.random.rand()


def until_one_is_large(x):
    count = 0
    while np.random.rand() < 0.9:
        count += 1
    return x + count


def whole_numbers(x):
    return x[np.random.randint(0, 5)] + np.random.randint(0, 10, size=5)


def choices(x):
    return np.random.choice(x, size=3) * 2.0


def choices_by_shares(x):
    return np.random.choice(5, size=3, p=x / x.sum())


def orders(x):
    return x[np.random.permutation(len(x))] + np.random.permutation(x)


def shuffled(x):
    y = x.copy()
    np.random.shuffle(y)
    return y * 2


def shuffled_argument(x):
    np.random.shuffle(x)
    return x * 2


def shuffled_list(x):
    places = list(range(5))
    random.shuffle(places)
    return x[places]


def of_an_old_generator(x):
    state = np.random.RandomState(7)
    return x + state.rand(5) + state.normal()


def of_a_generator(x):
    rng = np.random.default_rng(7)
    return x + rng.random(5) + rng.normal()


def of_a_source_of_bits(x):
    rng = np.random.Generator(np.random.PCG64(7))
    return x + rng.random(5) + rng.normal()


def of_a_generator_each_turn(x):
    total = np.zeros(5)
    for i in range(4):
        rng = np.random.default_rng(i)
        total += rng.random(5) * x
    return total


def of_one_generator_in_a_loop(x):
    rng = np.random.default_rng(3)
    total = np.zeros(5)
    for _ in range(40):
        total += rng.random(5) * x
    return total


def of_computed_parameters(x):
    return np.random.normal(x, np.abs(x) + 1)


def by_python(x):
    return x * random.random() + random.gauss(0, 1) + random.randint(1, 6) + random.choice([1.0, 2.0, 3.0])


def of_single_precision(x):
    return x.astype(np.float32) * np.random.rand()


def where_drawn(x):
    y = np.random.rand(5)
    return x[y > 0.5].sum()


def as_many_as_drawn(x):
    return x[np.random.rand(5) > 0.5]


def with_a_default(x, rng=None):
    if rng is None:
        rng = np.random.default_rng(0)
    return x + rng.random(5)


def each(x):
    return sum([value * np.random.rand() for value in x])


def _noise(x):
    return np.random.rand(*x.shape)


def by_a_helper(x):
    return x + _noise(x) - _noise(x)


def of_several_axes(x):
    return np.random.multivariate_normal(x, np.eye(5)), np.random.uniform(-1, 1, (2, 2)), np.random.poisson(3.0) + x


def into_an_array(x):
    rng, y = np.random.default_rng(1), np.empty(5)
    rng.random(out=y)
    return x + y


def after_a_check(x):
    first = np.random.rand()
    if first > 2:
        raise ValueError("large")
    return x + np.random.rand()


def before_a_check(x):
    if x[0] < 1:
        raise ValueError("small")
    return x + np.random.rand()


PROGRAMS = [
    of_a_shape, a_number, for_nothing, after_a_seed, in_a_loop, in_a_long_loop, in_both_sides,
    in_a_side_that_is_not_taken, until_one_is_large, whole_numbers, choices, choices_by_shares, orders, shuffled,
    shuffled_argument, shuffled_list, of_an_old_generator, of_a_generator, of_a_source_of_bits,
    of_a_generator_each_turn, of_one_generator_in_a_loop, of_computed_parameters, by_python, of_single_precision,
    where_drawn, as_many_as_drawn, with_a_default, each, by_a_helper, of_several_axes, into_an_array, after_a_check,
    before_a_check,
]  # fmt: skip


def three_calls(function):
    """What three calls give, or raise, and what is drawn afterwards."""
    np.random.seed(5)
    random.seed(5)
    given, found = X.copy(), []
    for _ in range(3):
        try:
            found.append(copy.deepcopy(function(given)))
        except ValueError as error:
            found.append(str(error))
    return [*found, given, np.random.rand(), random.random()]


def check(found, expected):
    """Raise AssertionError where values or types differ by more than a rounding of sums."""
    assert type(found) is type(expected)
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    elif isinstance(expected, str):
        assert found == expected
    else:
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_numbers_are_those_of_plain_python(program):
    check(three_calls(nx.jit(program)), three_calls(program))


def test_a_program_that_draws_is_made_once():
    for program in (of_a_shape, in_a_loop, of_a_generator, by_python, shuffled):
        compiled = nx.jit(program)
        three_calls(compiled)
        assert (compiled.cache_info().hits, compiled.cache_info().misses) == (2, 1)


def test_definitions_draw_by_numpys_rules_alone():
    check(three_calls(nx.defn(of_a_shape)), three_calls(of_a_shape))

    @nx.defn
    def by_nx(x):
        return nx.sin(x) + np.random.normal(size=5)

    with pytest.raises(NxTypeError, match=r"^np.random.normal\(\) in a definition would draw its numbers once"):
        by_nx(nx.tensor(X))


def test_generators_that_are_given_or_captured():
    outer = np.random.default_rng(4)

    class Sensor:
        def __init__(self):
            self.rng = np.random.RandomState(1)

        def read(self, x):
            return x + self.rng.normal(size=5)

    def both(x, rng):
        return x + rng.normal(size=5) + outer.random()

    def run(both, read):
        np.random.seed(0)
        given, outer.bit_generator.state = np.random.RandomState(2), np.random.default_rng(4).bit_generator.state
        return [both(X, given), both(X, given), read(X), read(X), given.rand(), outer.random()]

    check(run(nx.jit(both), nx.jit(Sensor().read)), run(both, Sensor().read))


def test_a_generator_without_a_seed_draws_others_at_each_call():
    @nx.jit
    def noise(x):
        return x + np.random.default_rng().random(5)

    assert not np.array_equal(noise(X), noise(X))
    assert noise.cache_info().hits == 1


def test_a_generator_of_a_computed_seed():
    def noise(x, seed):
        return x + np.random.RandomState(seed + 1).rand(5)

    compiled = nx.jit(noise)
    for seed in (3, 4, 3):
        check(compiled(X, seed), noise(X, seed))


def test_a_number_of_draws_that_is_asked_for():
    def noise(x, n):
        return x.sum() + np.random.normal(size=n)

    compiled = nx.jit(noise)
    for n in (3, 7, 3):
        np.random.seed(n)
        found = compiled(X, n)
        np.random.seed(n)
        check(found, noise(X, n))


def test_a_state_that_is_read_is_never_stale():
    rng = np.random.default_rng(0)

    @nx.jit
    def place(x):
        return x + rng.bit_generator.state["state"]["state"] % 1000

    first = place(X)
    rng.random()
    assert place(X)[0] == rng.bit_generator.state["state"]["state"] % 1000 != first[0]


def test_a_vmap_does_not_draw():
    with pytest.raises(NxTypeError) as caught:
        nx.vmap(of_a_shape)(np.ones((3, 5)))
    assert str(caught.value).startswith("np.random.normal() in a function of nx.vmap would draw for each entry, in no")


def of_bits_without_a_seed(x):
    return x + np.random.Generator(np.random.PCG64()).random()


def of_a_copy(x):
    return x + copy.deepcopy(np.random.default_rng(1)).random()


def shuffled_tuple(x):
    np.random.shuffle((x, x))
    return x


def of_a_text(x):
    return x + len(random.choice(["one", "three"]))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (of_bits_without_a_seed, "np.random.PCG64 takes a seed that is known before the program runs, got none."),
        (of_a_copy, "copy.deepcopy() of a generator of random numbers would copy it once, when it is traced."),
        (shuffled_tuple, "np.random.shuffle() puts the elements of an array or list in another order, got a tuple."),
        (of_a_text, "how many numbers random.choice() gives, or of which type, depends on values that are computed."),
    ],
)
def test_what_is_refused(function, text):
    with pytest.raises(NxTypeError) as caught:
        nx.jit(function)(X)
    first, line, *hints = str(caught.value).split("\n")
    assert first == text
    assert line.startswith("  test_random_draws.py, line ")
    assert hints


def test_a_text_that_cannot_be_rewritten_makes_no_generator():
    """As it is, it would make one when it is traced, for all calls."""
    namespace = {"np": np}
    exec("def noise(x):\n    return x + np.random.default_rng().random()", namespace)
    with pytest.raises(NxTypeError, match=r"^noise, whose source cannot be found, would make a generator"):
        nx.jit(namespace["noise"])(X)


def test_a_size_that_is_computed():
    @nx.jit
    def drawn(x):
        return x[0] + np.random.choice([1, 2], size=int(x[1] > 0) + 1).astype(float)

    assert drawn(X).shape == (2,)
    assert drawn(np.zeros(5)).shape == (1,)


def test_generators_are_let_go_and_told(monkeypatch):
    live = random_draws._Live()
    monkeypatch.setattr(live, "most", 2)
    numbers = [live.add(seed) for seed in "abc"]
    assert [live.taken(number) for number in numbers[1:]] == ["b", "c"]
    with pytest.raises(NxValueError, match=r"it made more than 2 generators ago.\n  Make fewer of them"):
        live.taken(numbers[0])
