"""Programs of many steps: the same results as written out, one text for any number of layers."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, planned, spec
from nxkernel.compilers.numba_cpu.program import program_writer, step_interpreter


def layers(count):
    """Products, columns, rows, a single number that the program keeps, and two results."""

    def function(x, w):
        for _ in range(count):
            x = nx.max(nx.dot(x, w) * 0.2, 0.0) + nx.mean(x, axes=[0], keep_axes=True)
            x = nx.transpose(x) / (1.0 + nx.sum(nx.abs(x)))
        return x, nx.sum(x)

    return function


def only_loops(count):
    def function(x):
        for _ in range(count):
            x = nx.transpose(x) - nx.sum(x, axes=[0], keep_axes=True) * 0.1
        return nx.cumulative_sum(x, axis=0)

    return function


X, W = spec("f32", 48, 48), spec("f32", 48, 48)


def values(count):
    random = np.random.default_rng(4)
    return [random.normal(size=(48, 48)).astype("f4") for _ in range(count)]


@pytest.mark.parametrize(("function", "specs"), [(layers(20), [X, W]), (only_loops(30), [X])])
def test_results_are_those_of_steps_that_are_written_out(function, specs, monkeypatch):
    assert step_interpreter.can_be_listed(planned(function, *specs))
    given = values(len(specs))
    found = compiled(function, *specs).run(given)
    monkeypatch.setattr(step_interpreter, "MANY", 1 << 30)
    for one, other in zip(found, compiled(function, *specs).run(given), strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_layers_are_more_scalar_parameters_of_the_same_text():
    fewer, more = (program_writer.write(planned(layers(count), X, W), 2) for count in (20, 31))
    assert fewer.symbol == more.symbol
    assert len(more.params) > len(fewer.params)
    assert "call void @nxk_steps(ptr %pointers" in fewer.text


def test_few_steps_are_written_out():
    plan = planned(layers(2), X, W)
    assert not step_interpreter.can_be_listed(plan)
    assert "nxk_steps" not in program_writer.write(plan, 2).text


def test_steps_that_may_fail_or_call_back_are_written_out():
    def loops(x):
        return only_loops(30)(nx.fori(0, 5, lambda i, x: nx.sort(x, axis=0) * 0.5, x))

    def library(x):
        return abs(nx.fft(only_loops(30)(x)))

    for function in (loops, library):
        plan = planned(function, X)
        assert len(plan.steps) >= step_interpreter.MANY
        assert not step_interpreter.can_be_listed(plan)
