"""Arguments that do not fit: the error says what to write, and a call that fits is as it was."""

import inspect
import pickle

import pytest

import nxkernel as nx
from nxkernel import nn, optim
from nxkernel.messages import call_errors

KEY = nx.random.key(1)
T = nx.f32([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("call", "first", "second"),
    [
        (lambda: nx.exp(T, dtype="f4"), "exp takes no dtype=.", 'Convert what it gives: nx.as_type(result, "f32").'),
        (lambda: nx.add(T, T, out=T), "add takes no out=.", "Tensors are immutable: a call returns a new one."),
        (lambda: nx.exp(T, flavour=1), "exp takes no flavour=.", "It is called as nx.exp(tensor)."),
        (
            lambda: nx.linalg.cholesky(T, axis=0),
            "cholesky takes no axis=.",
            "It works on whole tensors or on their last axes: nx.transpose puts others there.",
        ),
        (lambda: nx.less(T, axis=0), "less takes no axis=.", "It is element-wise, so no axis is special."),
        (lambda: nx.iota(5, "f32"), "iota takes 1 argument by position, got 2.", 'Write nx.iota(5, type="f32").'),
        (
            lambda: nx.iota(0, 10),
            "iota takes 1 argument by position, got 2.",
            "It counts from 0 and takes a shape: nx.iota((10,)), or start + nx.iota((stop - start,)).",
        ),
        (
            lambda: nx.pad(T, 1),
            "pad misses 'padding_config'.",
            "Write nx.pad(t, 0, [(1, 1, 0)]): a value, and (low, high, interior) for each axis.",
        ),
        (
            lambda: nx.concatenate(T, T),
            "concatenate takes 1 argument by position, got 2.",
            "The tensors are one list: nx.concatenate([a, b], axis=0).",
        ),
        (lambda: nx.linspace(0, 1), "linspace misses 'n'.", None),
    ],
)  # fmt: skip
def test_the_error_says_what_to_write(call, first, second):
    with pytest.raises(TypeError) as error:
        call()
    lines = str(error.value).split("\n  ")
    assert lines[0] == first
    assert lines[-1].startswith("It is called as nx.")
    if second is not None:
        assert lines[1] == second


def test_the_form_of_the_call_ends_the_error():
    with pytest.raises(TypeError) as error:
        nx.mean(T, out=T)
    assert str(error.value).splitlines()[-1] == "  It is called as nx.mean(tensor, *, axes=None, keep_axes=False)."
    assert isinstance(error.value, nx.errors.NxTypeError)


def test_definitions_say_it_too():
    with pytest.raises(TypeError, match=r"^mean takes no out=\."):
        nx.jit(lambda t: nx.mean(t, out=t))(T)


def test_errors_inside_of_a_function_stay_as_they_are():
    with pytest.raises(TypeError, match=r"^unsupported operand"):
        nx.map(T, lambda element: 1 + {})


def test_a_vectorized_axis_is_named():
    t = nx.vectorize(T, "rows")
    with pytest.raises(ValueError) as error:
        nx.sum(t, axes=["rows"])
    assert str(error.value) == (
        "no axis is named 'rows' in [2].\n"
        "  'rows' is a vectorized axis, which no function sees: nx.devectorize(t) makes it an axis first."
    )
    with pytest.raises(ValueError, match=r"^no axis is named 'columns' in \[2\]\.\n  Its names are \[None\]\.$"):
        nx.sum(t, axes=["columns"])


@pytest.mark.parametrize("function", [nx.mean, nx.exp, nx.random.normal, nx.linalg.svd, nx.save, nx.Tensor.mean])
def test_functions_keep_what_tells_of_them(function):
    assert function.__doc__ == inspect.unwrap(function).__doc__
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))


@pytest.mark.parametrize("function", [nx.mean, nx.exp, nx.random.normal, nx.linalg.svd, nx.save])
def test_functions_are_pickled_by_name(function):
    assert pickle.loads(pickle.dumps(function)) is function


def test_every_synonym_means_a_parameter_that_some_function_has():
    functions = [
        getattr(module, name) for module in (nx, nx.linalg, nx.random, nn, optim) for name in module.__all__
    ]  # fmt: skip
    known = {
        key for function in functions if inspect.isfunction(function) for key in inspect.signature(function).parameters
    }
    assert {meant for several in call_errors.SYNONYMS.values() for meant in several} <= known


def test_what_is_no_python_function_is_left_alone():
    assert call_errors.explained(len, "nx") is len


def test_arguments_of_jit():
    with pytest.raises(TypeError, match=r'^jit takes compiler="auto", not device=.cpu.\.'):
        nx.jit(abs, device="cpu")
    with pytest.raises(TypeError, match=r"^jit takes no static_argnum=\.\n  Did you mean static_argnums=\?"):
        nx.jit(abs, static_argnum=0)
