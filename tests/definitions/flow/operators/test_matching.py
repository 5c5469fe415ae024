"""A ``match`` that only the running program could decide is refused, and says what to write."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import CompilationError

HINTS = (
    "  Write if … elif … else for values of the program, also inside of a case.\n"
    "  Options, static arguments, and how containers are built are known, and can be matched."
)


def refusal(f, *args):
    with pytest.raises(CompilationError) as error:
        f(*args)
    return str(error.value)


def test_a_value_of_the_program(run):
    f = run("@nx.defn\ndef f(x):\n    match x + 1:\n        case 0:\n            return x\n    return -x")["f"]
    assert refusal(f, 1.0) == (
        "a `match` compares a value that only the running program knows: its cases are chosen while the function is "
        "traced\n  cell.py, line 3, in f:\n    match x + 1:\n          ^^^^^\n" + HINTS
    )


@pytest.mark.parametrize(
    ("case", "does"),
    [
        ("(0, _)", "compares a value"),
        ("_ if x > 0", "compares a value"),
        ("(int(), _)", "asks for the class of a value"),
        ("(np.ndarray(), _)", "asks for the class of a value"),
        ("(True, _)", "asks for the class of a value"),
    ],
)
def test_what_would_be_decided_by_data(run, case, does):
    source = f"def f(x):\n    match (x, 1):\n        case {case}:\n            return x\n    return -x"
    f = run(source, {"np": np})["f"]
    assert refusal(nx.defn(f), nx.tensor(1.0)).startswith(f"a `match` {does} that only the running program knows: ")
    # By NumPy's rules Python's numbers become static where their values are needed.
    by_numpy = nx.defn(f, promotion="numpy")
    assert [float(by_numpy(x)) for x in (1.0, 0.0, True)] == [f(1.0), f(0.0), f(True)]


def test_known_numbers_have_classes():
    @nx.defn
    def f(x, *, n):
        match n:
            case bool():
                return x
            case int():
                return x * 2
            case float(value):
                return x * value
        return -x

    assert [float(f(1.0, n=n)) for n in (True, 3, 0.5, "a")] == [1.0, 2.0, 0.5, -1.0]
