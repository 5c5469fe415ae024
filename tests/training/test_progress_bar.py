"""The progress bar, and the lack of it."""

import functools

import pytest

from nxkernel.errors import NxValueError
from nxkernel.training.progress_bar import ProgressBar


def test_a_bar_counts_batches_and_shows_figures(capsys):
    bar = ProgressBar(True, 4, 2)
    bar.describe("epoch 2/2")
    bar.step({"loss": 0.25})
    bar.step({"loss": 0.125})
    bar.close()
    shown = capsys.readouterr().err
    assert "epoch 2/2: 100%" in shown
    assert "4/4" in shown
    assert "loss=0.125" in shown


def test_a_bar_that_never_went_on_is_gone(capsys):
    bar = ProgressBar(True, 4, 0)
    bar.describe("epoch 1/2")
    bar.close()
    assert capsys.readouterr().err.rpartition("\r")[0].rpartition("\r")[2].strip() == ""


@pytest.mark.parametrize("steps", [0, 1])
def test_so_it_is_in_a_notebook(steps, monkeypatch):
    notebook = pytest.importorskip("tqdm.notebook")
    monkeypatch.setattr("tqdm.auto.tqdm", functools.partial(notebook.tqdm, display=False))
    bar = ProgressBar(True, 4, 0)
    container = bar._bar.container
    for _ in range(steps):
        bar.step()
    bar.close()
    assert container.layout.visibility == (None if steps else "hidden")


def test_no_bar_shows_nothing(capsys):
    bar = ProgressBar(False, 4, 0)
    bar.describe("epoch")
    bar.step({"loss": 0.25})
    bar.close()
    assert capsys.readouterr().err == ""


def test_without_tqdm_there_is_no_bar_and_one_that_was_asked_for_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ProgressBar(None, 4, 0).step()
    assert capsys.readouterr().err == ""
    with pytest.raises(NxValueError) as caught:
        ProgressBar(True, 4, 0)
    assert str(caught.value) == (
        "the progress bar is tqdm's, which is not installed.\n"
        "  Install it (nxkernel[progress]), or leave progress= out."
    )
