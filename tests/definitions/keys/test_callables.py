"""What a definition is made of, in words: here, the arguments that a partial was given."""

import functools

import nxkernel as nx
from nxkernel.definitions.keys.callables import bound_names


def test_arguments_of_a_partial_go_by_the_names_of_parameters():
    def function(a, b=2, *, c=3):
        return a, b, c

    assert bound_names(functools.partial(function, 1)) == ["a"]
    assert bound_names(functools.partial(function, 1, 2)) == ["a", "b"]
    assert bound_names(functools.partial(function, 1, 2, 3)) == ["a", "b", "args[0]"]
    assert bound_names(functools.partial(max, 1, 2)) == ["args[0]", "args[1]"]


def test_a_value_that_a_partial_was_given_and_that_changed_is_told_by_its_name():
    def scaled(factor, x):
        return factor * x

    for factor in (2.0, 3.0):
        scale = functools.partial(scaled, factor)

        @nx.jit
        def apply(x):
            return scale(x)  # noqa: B023

        assert float(apply(1.0)) == factor
    assert nx.events("apply", "miss")[-1].reason == ("captured scale.factor: 2.0 → 3.0",)


def test_a_value_that_a_partial_has_by_keyword_is_never_stale():
    scale = functools.partial(lambda x, *, factor: factor * x, factor=2.0)
    apply = nx.jit(lambda x: scale(x))
    assert float(apply(1.0)) == 2.0
    scale.keywords["factor"] = 5.0
    assert float(apply(1.0)) == 5.0


def test_what_is_made_of_a_partial_is_called_by_its_function():
    def loss(x, *, factor):
        return factor * x * x

    assert nx.grad(functools.partial(loss, factor=3.0)).__name__ == "grad(loss)"
    assert nx.vmap(functools.partial(loss, factor=3.0)).__name__ == "vmap of loss"
