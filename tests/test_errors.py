"""Errors are also the Python errors that a caller would expect."""

import inspect

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.public_functions import FUNCTIONS, arguments
from nxkernel import errors


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.NxTypeError, TypeError),
        (errors.NxValueError, ValueError),
        (errors.NxIndexError, IndexError),
        (errors.TracedValueError, TypeError),
        (errors.CompilationError, RuntimeError),
    ],
)
def test_each_error_is_a_python_error_too(error, base):
    assert issubclass(error, base)
    assert issubclass(error, errors.NxError)


def test_hints_stand_on_lines_of_their_own():
    assert errors.message("wrong.", "Do this.", "Or that.") == "wrong.\n  Do this.\n  Or that."
    assert errors.message("wrong.") == "wrong."


#: What one argument after the other is replaced with.
WRONG = {
    "None": None, "text": "x", "dict": {"a": 1}, "nothing": [], "ragged": [[1], [2, 3]], "object": object(),
    "tensor": nx.tensor([[1.0, 2.0], [3.0, 4.0]]), "scalar": nx.tensor(2),
    "empty": nx.tensor(np.zeros((0, 3))), "negative": -1,
    "long": 2**70, "fraction": 1.5, "nan": float("nan"), "True": True, "mixed": [1, "a"], "Nones": [None],
    "pairs": [(-9, 0), (0, 0)], "function": lambda *values: values, "bytes": b"x", "complex": 1j,
    "array of text": np.array(["a"]), "slice": slice(None),
}  # fmt: skip
SWEPT = {
    **FUNCTIONS,
    "print_value": nx.print_value,
    "debug_expr_apply": nx.debug_expr_apply,
    "keyword": nx.keyword,
    "check": nx.check,
}
GIVEN = {
    "print_value": ([1.0], {}), "debug_expr_apply": ([abs, [1.0]], {}), "keyword": ([{}], {}),
    "host_call": ([abs, [1.0], [1.0]], {}), "check": ([True, "text"], {}),
}  # fmt: skip


@pytest.mark.sampled(every=16)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SWEPT)
def test_whatever_is_given_no_other_errors_are_raised(name, capsys):
    function = SWEPT[name]
    parameters = [*inspect.signature(function).parameters.values()]
    places = range(len(GIVEN[name][0] if name in GIVEN else arguments(name)[0]))
    optional = [p.name for p in parameters[len(places) :] if p.kind is p.KEYWORD_ONLY or p.default is not p.empty]
    for wrong, value in WRONG.items():
        for place in [*places, *optional]:
            given, options = GIVEN[name] if name in GIVEN else arguments(name)
            given, options = list(given), dict(options)
            (options if isinstance(place, str) else given)[place] = value
            try:
                function(*given, **options)
            except errors.NxError:
                continue
            except TypeError as error:
                # What the function itself makes of a static argument, such as None for a tensor.
                if "a static argument" in "".join(getattr(error, "__notes__", ())):
                    continue
                pytest.fail(f"{name} with {wrong} for {place!r}: TypeError: {error}")
            except Exception as error:
                pytest.fail(f"{name} with {wrong} for {place!r}: {type(error).__name__}: {error}")
