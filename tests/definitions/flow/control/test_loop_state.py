"""Variables of loops: what stays the same array, dict or list for everybody who holds it."""

import numpy as np

import nxkernel as nx


def _same(function, *makers):
    ours, theirs = [make() for make in makers], [make() for make in makers]
    expected = function(*theirs)
    found = nx.defn(function)(*ours)
    np.testing.assert_equal(found if expected is None else np.asarray(found), expected)
    np.testing.assert_equal(ours, theirs)


def test_arrays_in_a_dict_are_changed_where_they_are():
    def descend(parameters, steps):
        weights = parameters["w"]
        for _ in range(steps):
            slopes = {"w": 2 * weights, "b": np.ones(2)}
            for name in parameters:
                parameters[name] -= 0.1 * slopes[name]
        return weights

    _same(descend, lambda: {"w": np.arange(3.0), "b": np.ones(2)}, lambda: 4)


def test_arrays_in_a_list_are_changed_where_they_are():
    def shrink(layers):
        for _ in range(3):
            for place in range(len(layers)):
                layers[place] *= 0.5
                layers[place][0] += np.float64(1)

    _same(shrink, lambda: [np.arange(3.0), np.ones(2)])


def test_a_dict_in_a_dict_that_is_given_other_arrays():
    def grow(x, steps):
        layers = {"first": {"w": x, "b": x}}
        for _ in range(steps):
            layers["first"]["w"] = layers["first"]["w"] * 2
        return layers["first"]["w"] + np.ones(3)

    _same(grow, lambda: np.arange(3.0), lambda: 5)
