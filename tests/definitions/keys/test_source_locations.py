"""Where code stands, in the words of the person who wrote it."""

import os
import traceback

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import source_locations
from nxkernel.errors import CompilationError, NxTypeError, NxValueError, TracedValueError

HERE = os.path.basename(__file__)


@pytest.fixture
def cells():
    """Files named ``<4>`` are cells."""
    stop = source_locations.add_namer(lambda file: f"cell {file[1:-1]}" if file.startswith("<") else None)
    yield
    stop()


def test_names_of_files(cells):
    assert source_locations.name_of("/home/someone/train.py") == "train.py"
    assert source_locations.name_of("<4>") == "cell 4"
    stop = source_locations.add_namer(lambda file: "mine" if file == "<4>" else None)
    assert (source_locations.name_of("<4>"), source_locations.name_of("<5>")) == ("mine", "cell 5")
    stop()
    assert source_locations.name_of("<4>") == "cell 4"


def test_the_text_of_a_line(run):
    run("a = 1\nif a:\n    b = 2  # here\n", file="lines.py")
    assert source_locations.code_at("lines.py", 3) == "b = 2  # here"
    assert source_locations.code_at("nowhere.py", 3) == ""


def test_the_caller_is_the_innermost_code_outside(run, cells):
    where = run(
        "import nxkernel\ndef f():\n    return places.caller()\nw = f()", {"places": source_locations}, "train.py"
    )["w"]
    assert where == "train.py, line 3"
    assert run("w = places.caller()", {"places": source_locations}, "<7>")["w"] == "cell 7"


SOURCE = """
@nx.defn
def f(a, b):
    c = nx.exp(a)
    return c + b
"""


def error(kind, function, *args):
    with pytest.raises(kind) as raised:
        function(*args)
    return str(raised.value)


def test_an_error_names_the_line_of_the_cell(run, cells):
    f = run(SOURCE, file="<9>")["f"]
    assert error(NxValueError, f, np.ones(3), np.ones(4)) == (
        "cannot broadcast [3] with [4]: axis -1 has sizes 3 and 4.\n"
        "  cell 9, line 5:  return c + b\n"
        "  Axes are aligned from the last one; sizes must be equal, or one of them 1.\n"
        "  nx.new_axis(t, axis) adds an axis of size 1."
    )
    assert nx.events(f, "error")[0].reason[0].startswith("NxValueError: cannot broadcast [3] with [4]")


def test_the_innermost_of_the_users_lines_is_named(run, cells):
    run(SOURCE, space := {"nx": nx}, file="<9>")
    g = run("@nx.defn\ndef g(a, b):\n    return f(a, b) * 2", space, file="<10>")["g"]
    text = error(NxValueError, g, np.ones(3), np.ones(4))
    assert text.split("\n")[1] == "  cell 9, line 5:  return c + b"
    assert text.count("line") == 1


def test_the_line_of_a_traced_value_is_named_by_its_cell(run, cells):
    f = run("@nx.jit\ndef f(a):\n    b = a > 0\n    return a if b else -a", file="<9>")["f"]
    assert error(TracedValueError, f, 1.0) == (
        "A condition (`if`, `while`, `and`, `or`, `not`, bool()) asks for the data of a traced value of type bool "
        "(cell 9, line 3).\n"
        "  cell 9, line 4:  return a if b else -a\n"
        "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
        "  Write nx.select(condition, a, b), or make the condition an option: def f(x, *, flag=True).\n"
        "  `if` and `while` of traced values are part of the program in a function with @nx.defn."
    )


def test_an_assignment_in_a_function_that_is_not_rewritten_names_the_decorator(run, cells):
    f = run("def f(a):\n    out = a * 0\n    out[0] = a[1]\n    return out", file="<9>")["f"]
    assert error(NxTypeError, nx.jit(f), nx.tensor([1.0, 1.0, 1.0])) == (
        "tensors are immutable: t[...] = v is not possible.\n"
        "  cell 9, line 3:  out[0] = a[1]\n"
        "  Use nx.put_slice(t, [start], values), which returns a new tensor.\n"
        "  In a function with @nx.defn, `t[...] = v` is part of the program."
    )


def test_a_line_is_told_once(run, cells):
    f = run("@nx.jit\ndef f(a):\n    return a if a > 0 else -a", file="<9>")["f"]
    assert error(TracedValueError, f, 1.0).split("\n")[:2] == [
        "A condition (`if`, `while`, `and`, `or`, `not`, bool()) asks for the data of a traced value of type bool.",
        "  cell 9, line 3:  return a if a > 0 else -a",
    ]


def test_an_error_without_a_line_of_the_users():
    assert error(TracedValueError, nx.jit(float), 1.0) == (
        "float() asks for the data of a traced value of type f32.\n"
        "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
        '  Keep it a tensor: nx.as_type(t, "f64") converts its type.'
    )


def test_an_error_of_a_compiler_names_the_cell(run, cells):
    source = (
        "@nx.defn(compiler='numba_cpu')\ndef f(a):\n    return nx.ops.machinery.dispatch.apply(nx.primitives.floor, a)"
    )
    text = error(CompilationError, run(source, file="<9>")["f"], np.complex64(1j))
    assert text.endswith('floor of c64 (cell 9, line 3).\n  Run this definition with compiler="evaluator".')


def test_an_error_is_pointed_out_once(run, cells):
    source = "inner = nx.jit(lambda t: nx.jit(lambda u: u, on_conflict='raise')(t), on_conflict='force')"
    inner = run(source, file="<1>")["inner"]
    text = error(CompilationError, nx.jit(lambda t: inner(1.0)), 1.0)
    assert text.count("cell 1, line 1") == 1
    assert HERE not in text


def test_an_error_has_the_frames_of_the_person_and_few_others():
    def helper(t):
        return nx.reshape(t, (7,))

    @nx.defn
    def f(x):
        return helper(x + 1) * 2

    with pytest.raises(NxValueError, match="cannot reshape 3 elements") as error:
        f(np.ones(3))
    names = [frame.name for frame in traceback.extract_tb(error.value.__traceback__)]
    assert names[0] == "test_an_error_has_the_frames_of_the_person_and_few_others"
    assert names[-2:] == ["f", "helper"]
    assert len(names) <= 6
