"""Default options: of a context, of the process, and which of the two counts."""

import contextvars
import threading

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import default_options
from nxkernel.errors import NxTypeError, NxValueError


@pytest.fixture
def f():
    return nx.jit(lambda t: t + 1)


def test_what_is_built_in():
    default_options.reset()
    assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}
    assert (nx.default_options(), nx.global_default_options()) == ({}, {})


def test_a_context_goes_before_the_process():
    assert nx.global_default_options() == {"compiler": "evaluator"}
    assert nx.default_options(compiler="numba_cpu") == {}
    assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}
    assert nx.default_options(compiler=None) == {"compiler": "numba_cpu"}
    assert default_options.current() == {"compiler": "evaluator", "promotion": None, "checked": False}
    assert nx.global_default_options(compiler=None) == {"compiler": "evaluator"}
    assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}


def test_each_context_has_its_own():
    context = contextvars.copy_context()
    context.run(nx.default_options, compiler="numba_cpu")
    assert nx.default_options() == {}
    assert context.run(nx.default_options) == {"compiler": "numba_cpu"}


def test_threads_begin_without(f):
    nx.default_options(compiler="numba_cpu")
    found = {}

    def work():
        found["before"] = default_options.current()["compiler"]
        f(1.0)
        nx.default_options(compiler="numba_cpu")
        found["after"] = default_options.current()["compiler"]
        f(1.0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == {"before": "evaluator", "after": "numba_cpu"}
    assert [view.compiler for view in f.compilations()] == ["evaluator", "numba_cpu"]


def test_another_compiler_is_another_program_even_on_the_quick_path(f):
    for _ in range(2):
        f(1.0)
    nx.default_options(compiler="numba_cpu")
    f(1.0)
    assert nx.events(f, "miss")[-1].reason == ("compiler: evaluator → numba_cpu",)
    with nx.no_compile():
        f(1.0)
        nx.default_options(compiler=None)
        f(1.0)
    nx.global_default_options(compiler="numba_cpu")
    with nx.no_compile():
        f(1.0)
    assert f.cache_info().hits == 4


def test_a_definition_may_have_its_own():
    f = nx.defn(compiler="numba_cpu")(lambda t: t + 1)
    f(1.0)
    assert f.compilations()[0].compiler == "numba_cpu"


def test_the_end_of_a_with_goes_back(f):
    for _ in range(2):
        f(1.0)
    with nx.default_options(compiler="numba_cpu") as before:
        assert before == {}
        assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}
        f(1.0)
        with nx.default_options(compiler="evaluator"), nx.no_compile():
            f(1.0)
        assert nx.default_options() == {"compiler": "numba_cpu"}
    with nx.no_compile():
        f(1.0)
    assert nx.default_options() == {}
    with nx.global_default_options(compiler="numba_cpu"):
        assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}
    assert nx.global_default_options() == {"compiler": "evaluator"}


def test_errors():
    with pytest.raises(NxTypeError) as raised:
        nx.default_options(compilr="evaluator")
    assert str(raised.value) == "there is no default option 'compilr'.\n  There are compiler, promotion, checked."
    with pytest.raises(NxValueError) as raised:
        nx.global_default_options(compiler="fast")
    assert str(raised.value) == (
        "there is no compiler 'fast'.\n"
        "  The compilers are 'auto', 'evaluator', 'numba', 'numba_cpu', 'numba_cuda', and 'numba_cuda:1' for a "
        "second GPU."
    )
    assert default_options.current() == {"compiler": "evaluator", "promotion": None, "checked": False}


@pytest.fixture
def environment(monkeypatch):
    """Sets environment variables, as a new process finds them."""

    def set_(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        default_options.reset()

    yield set_
    monkeypatch.undo()
    default_options.reset()


def test_options_of_a_machine_or_project(environment):
    environment(NXKERNEL_COMPILER="evaluator", NXKERNEL_PROMOTION=" numpy ")
    assert default_options.current() == {"compiler": "evaluator", "promotion": "numpy", "checked": False}
    assert [default_options.source(name) for name in ("compiler", "promotion")] == [
        "NXKERNEL_COMPILER",
        "NXKERNEL_PROMOTION",
    ]
    assert (nx.default_options(), nx.global_default_options()) == ({}, {})
    halved = nx.jit(lambda t: t / 2)
    assert type(halved(3)) is np.float64
    assert halved.compilations()[-1].compiler == "evaluator"
    with nx.default_options(compiler="numba_cpu"):
        halved(3)
        assert (halved.compilations()[-1].compiler, default_options.source("compiler")) == ("numba_cpu", "this context")
    with nx.global_default_options(promotion="nx"):
        assert (halved(3).type, default_options.source("promotion")) == ("f32", "this process")
    for text, value in (("1", True), ("True", True), ("0", False)):
        environment(NXKERNEL_CHECKED=text)
        assert (default_options.checked(), default_options.source("checked")) == (value, "NXKERNEL_CHECKED")
    with nx.checked(), pytest.raises(nx.errors.NxError):
        nx.jit(lambda x, k: x[k])(nx.tensor([1.0, 2.0]), 5)
    environment(NXKERNEL_COMPILER="", NXKERNEL_PROMOTION="", NXKERNEL_CHECKED="")
    assert default_options.current() == {"compiler": "numba_cpu", "promotion": None, "checked": False}
    assert default_options.source("compiler") == "built in"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("NXKERNEL_COMPILER", "gcc", "there is no compiler 'gcc'."),
        ("NXKERNEL_PROMOTION", "np", "promotion is 'nx' or 'numpy', got 'np'."),
        ("NXKERNEL_CHECKED", "maybe", "checked is True or False, got 'maybe'."),
    ],
)
def test_a_wrong_value_names_its_variable(environment, name, value, text):
    environment(**{name: value})
    for _ in range(2):
        with pytest.raises(NxValueError) as error:
            nx.jit(lambda t: t + 1)(1.0)
        lines = str(error.value).split("\n")
        assert lines[0] == f"the environment variable {name} is {value!r}: {text}"
        assert lines[-1] == f"  Set it otherwise, or unset it: unset {name}."
