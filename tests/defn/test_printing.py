"""Lines of `print` of which some values are known when the program has run."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.defn.printing import Labelled, Line


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2.0"),
        (np.float32(0.1), "0.1"),
        (True, "1"),
        (np.bool_(True), "True"),
        (3, "3"),
        (1 + 2j, "(1+2j)"),
        (np.arange(3), "[0 1 2]"),
        (np.ones((2, 1)), "[[1.]\n [1.]]"),
    ],
)
def test_tensors_are_printed_as_numpys(value, text, capsys):
    Line((None,), " ", "\n", None)((nx.tensor(value),))
    assert capsys.readouterr().out == text + "\n"


def test_lines_and_labels(capsys):
    one, two = nx.tensor(1.5), nx.tensor(np.array([1, 2]))
    Line(("a", None, "b", None), "-", "!\n", None)((one, [one, (two,)]))
    Labelled("t: ")(nx.tensor(1))
    assert capsys.readouterr().out == "a-1.5-b-[1.5, (array([1, 2]),)]!\nt: #Nx.Tensor<\n  s64\n  1\n>\n"
