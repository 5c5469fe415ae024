"""A NaN in a result is traced back to the operation, the line and the turn that made it."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NanError, NxTypeError


@pytest.fixture(autouse=True)
def _switched_off_again():
    yield
    nx.debug_nans(False)


def told(function, *arguments):
    with nx.debug_nans(), pytest.raises(NanError) as caught:
        function(*arguments)
    return str(caught.value).replace("test_nan_checks.py, ", "").split("\n  ")


@nx.defn
def entropy(x):
    logs = nx.log(x)
    return -nx.sum(x * logs)


def line_of(function, text):
    code = function.__nx_function__.__code__
    with open(code.co_filename) as file:
        lines = file.read().split("\n")
    first = code.co_firstlineno - 1
    return next(number + 1 for number in range(first, len(lines)) if text in lines[number])


def test_the_operation_that_made_it_is_named_with_its_line_and_ranges():
    assert told(entropy, nx.tensor([0.5, 0.0])) == [
        "entropy gave NaN in its result.",
        "multiply made it.",
        f"line {line_of(entropy, 'x * logs')}:  return -nx.sum(x * logs)",
        "x: f32[2], from 0 to 0.5",
        "the log in it: f32[2], -0.693147, 1 infinity",
    ]


def test_what_made_the_first_one_is_named_and_not_what_passed_it_on():
    assert told(entropy, nx.tensor([0.5, -2.0]))[1:] == [
        "log made it.",
        f"line {line_of(entropy, 'nx.log(x)')}:  logs = nx.log(x)",
        "x: f32[2], from -2 to 0.5",
    ]


def test_an_argument_that_has_one_is_named():
    assert told(entropy, nx.tensor([0.5, np.nan])) == [
        "entropy gave NaN in its result.",
        "It came in with the argument x: f32[2], 0.5, 1 NaN.",
    ]


def test_a_captured_array_that_has_one_is_named():
    weights = np.array([1.0, np.nan], "f4")
    assert told(nx.jit(lambda x: {"a": x, "b": x * weights}), nx.tensor([1.0, 1.0])) == [
        "<lambda> gave NaN in its result['b'].",
        "It came in with the captured weights: f32[2], 1, 1 NaN.",
    ]


@nx.defn
def falling(x):
    total, y = 0.0, x * 2
    for _ in range(10):
        total = total + nx.sqrt(y)
        y = y - 1.0
    return total, y


def test_loops_are_run_turn_by_turn():
    found = told(falling, nx.tensor(3.0))
    assert found[0] == "falling gave NaN in its result[0]."
    assert found[1].startswith("sqrt made it in turn 8 of the loop at line ")
    assert found[2:] == [f"line {line_of(falling, 'nx.sqrt')}:  total = total + nx.sqrt(y)", "y: f32, -1"]


@nx.defn
def passed_on(x):
    a = b = c = x
    for _ in range(5):
        c = c + b
        b = b + a
        a = nx.sqrt(a - 1.0)
    return c


def test_a_nan_that_goes_from_one_part_of_a_state_to_another_is_followed():
    found = told(passed_on, nx.tensor(1.5))
    assert found[1].startswith("sqrt made it in turn 2 of the loop")
    assert found[2] == f"line {line_of(passed_on, 'nx.sqrt')}:  a = nx.sqrt(a - 1.0)"


@nx.defn
def through(x, y):
    for _ in range(3):
        x = x + y
    return x


def test_a_nan_that_a_loop_was_given_is_followed_out_of_it():
    assert told(through, nx.tensor(1.0), nx.tensor(np.nan))[1].startswith("It came in with the argument y")
    assert told(through, nx.tensor(np.nan), nx.tensor(1.0))[1].startswith("It came in with the argument x")


@nx.defn
def chosen(x):
    if x > 0:
        found = nx.log(x)
    else:
        found = nx.log(x) * 2
    return found


def test_choices_are_looked_into():
    found = told(chosen, nx.tensor(-5.0))
    assert found[1].startswith("log made it in the choice at line ")
    assert found[2:] == [
        f"line {line_of(chosen, '* 2')}:  found = nx.log(x) * 2",
        "a value from outside of it: f32, -5",
    ]


def test_a_nan_on_the_side_that_a_select_does_not_take_is_not_blamed():
    def safe(x):
        return nx.select(x > 0, nx.sqrt(x), 0.0) + nx.log(x + 1.0)

    assert told(nx.jit(safe), nx.tensor([-3.0, 1.0]))[1] == "log made it."
    with nx.debug_nans():
        assert nx.jit(safe)(nx.tensor([-0.5, 1.0])).shape == (2,)


def test_gradients_are_looked_at_too():
    slope = nx.jit(nx.grad(lambda x: nx.sum(nx.select(x > 0, nx.sqrt(x), 0.0))))
    assert told(slope, nx.tensor([1.0, 0.0]))[0] == "grad(<lambda>) gave NaN in its result."


def test_narrow_and_complex_numbers_are_looked_at():
    assert told(nx.jit(nx.log), nx.tensor([-1.0], type="bf16"))[1:2] == ["log made it."]
    assert told(nx.jit(lambda z: z * 2), nx.tensor([complex(np.nan, 0)]))[1].startswith(
        "It came in with the argument z"
    )


def test_programs_stay_and_calls_are_quick_again_afterwards():
    double = nx.jit(lambda x: x * 2)
    double(nx.tensor([1.0]))
    with nx.no_compile():
        with nx.debug_nans():
            assert double(nx.tensor([2.0])).to_list() == [4.0]
            with pytest.raises(NanError):
                double(nx.tensor([np.nan]))
        assert np.isnan(double(nx.tensor([np.nan])).to_numpy()).all()


def test_it_is_a_switch_too():
    assert repr(nx.debug_nans()) == "<debug_nans is on; nx.debug_nans(False) ends it>"
    with pytest.raises(NanError):
        entropy(nx.tensor([-1.0]))
    assert repr(nx.debug_nans(False)) == "<debug_nans is off>"
    assert np.isnan(float(entropy(nx.tensor([-1.0]))))
    with pytest.raises(NxTypeError, match="debug_nans takes True or False, got 3"):
        nx.debug_nans(3)


def test_blocks_go_back_to_what_was_before():
    with nx.debug_nans():
        with nx.debug_nans(False):
            assert np.isnan(float(entropy(nx.tensor([-1.0]))))
        with pytest.raises(NanError):
            entropy(nx.tensor([-1.0]))


def test_an_array_that_is_assigned_into_is_told_as_it_was():
    @nx.defn
    def change(x):
        x[0] = nx.log(x[0])
        return nx.sum(x)

    assert told(change, np.array([-2.0, 1.0], "f4"))[1] == "log made it."


def test_the_evaluator_is_looked_at_as_well():
    slow = nx.jit(nx.log, compiler="evaluator")
    with np.errstate(invalid="ignore"):
        assert told(slow, nx.tensor([-1.0]))[1] == "log made it."
