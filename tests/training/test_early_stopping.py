"""When early stopping calls a figure better, and what it refuses; the loop around it is in test_fitting.py."""

import pytest

from nxkernel import training
from nxkernel.errors import NxTypeError, NxValueError


def test_higher_can_be_better():
    stopping = training.EarlyStopping("accuracy", patience=1, highest=True, least=0.1)
    assert stopping.is_better(0.5, None)
    assert not stopping.is_better(0.55, 0.5)
    assert stopping.is_better(0.65, 0.5)
    assert not stopping.is_better(float("nan"), None)


@pytest.mark.parametrize(
    ("monitor", "rises"),
    [("loss", False), ("validation_loss", False), ("mean_squared_error", False), ("validation_mae", False),
     ("accuracy", True), ("validation_top_k_accuracy", True), ("false_positives", False), ("true_positives", True)],
)  # fmt: skip
def test_names_tell_what_is_better(monitor, rises):
    stopping = training.EarlyStopping(monitor)
    stopping.check([monitor])
    assert stopping.is_better(0.75, 0.5) is rises
    assert stopping.is_better(0.25, 0.5) is not rises
    assert training.EarlyStopping(monitor, highest=not rises).is_better(0.75, 0.5) is not rises


def test_a_name_that_tells_nothing_is_asked_about():
    with pytest.raises(NxValueError) as caught:
        training.EarlyStopping("mine").check(["loss", "mine"])
    assert str(caught.value) == (
        "EarlyStopping watches 'mine', whose name does not tell whether higher is better.\n"
        "  Write highest=True or highest=False."
    )
    training.EarlyStopping("mine", highest=False).check(["loss", "mine"])


def test_numbers_out_of_range_are_refused():
    with pytest.raises(NxValueError, match="EarlyStopping: patience is at least 1, got 0"):
        training.EarlyStopping(patience=0)
    with pytest.raises(NxTypeError, match=r"EarlyStopping: patience is a whole number, got 2\.5"):
        training.EarlyStopping(patience=2.5)
    with pytest.raises(NxValueError, match="EarlyStopping: least is at least 0, got -1"):
        training.EarlyStopping(least=-1)
    with pytest.raises(NxTypeError, match="EarlyStopping: monitor is the name of a figure, got 3"):
        training.EarlyStopping(3)
    with pytest.raises(NxTypeError, match="EarlyStopping: highest is True or False, got 'max'"):
        training.EarlyStopping(highest="max")
    with pytest.raises(NxTypeError, match="EarlyStopping: restore is True or False, got None"):
        training.EarlyStopping(restore=None)
