"""Checks of the numbers that layers and optimizers are made with."""

import pytest

import nxkernel as nx
from nxkernel.messages import number_checks


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (lambda: number_checks.share("adam", "b1", 1.0), "adam: b1 is at least 0 and less than 1, got 1.0"),
        (lambda: number_checks.at_least("adam", "eps", -1, 0), "adam: eps is at least 0, got -1"),
        (lambda: number_checks.above("clip", "limit", 0.0, 0), "clip: limit is greater than 0, got 0.0"),
        (
            lambda: number_checks.between("nn.batch_norm", "momentum", 2, 0, 1),
            "nn.batch_norm: momentum is from 0 to 1, got 2",
        ),
        (lambda: number_checks.between("f", "x", "a", 0, 1), "f: x is a number, got 'a'"),
        (lambda: number_checks.number("f", "x", True), "f: x is a number, got True"),
        (lambda: number_checks.flag("nn.dense", "bias", "no"), "nn.dense: bias is True or False, got 'no'"),
        (lambda: number_checks.flag("nn.dense", "bias", 1), "nn.dense: bias is True or False, got 1"),
        (
            lambda: number_checks.axis("nn.rms_norm", "axis", [1]),
            "nn.rms_norm: axis is the number of an axis, got a list",
        ),
        (lambda: number_checks.axes("f", "axes", "x"), "f: axes is the number of an axis or a list of such, got 'x'"),
        (
            lambda: number_checks.axes("f", "axes", [0, True]),
            "f: axes is the number of an axis or a list of such, got a list",
        ),
        (lambda: number_checks.count("fit", "epochs", 1.0), "fit: epochs is a whole number, got 1.0"),
        (lambda: number_checks.count("fit", "epochs", 0), "fit: epochs is at least 1, got 0"),
    ],
)
def test_refused(check, text):
    with pytest.raises((TypeError, ValueError)) as caught:
        check()
    assert str(caught.value) == text


def test_taken():
    assert number_checks.number("f", "x", 2)
    assert not number_checks.number("f", "x", nx.tensor(2.0))
    assert (number_checks.axes("f", "axes", -1), number_checks.axes("f", "axes", [0, 1])) == ((-1,), (0, 1))
    number_checks.share("f", "x", 0)
    number_checks.between("f", "x", 1, 0, 1)
    number_checks.at_least("f", "x", nx.tensor(-1.0), 0)
    number_checks.above("f", "x", 0.1, 0)
    number_checks.flag("f", "x", False)
    number_checks.axis("f", "x", -1)
    number_checks.count("f", "x", 1)
