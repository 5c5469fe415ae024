"""The loop of training: one compilation, histories, early stopping, interrupts, and exact resumption."""

import os
import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn, optim, training
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(7)
X = RNG.normal(size=(70, 4)).astype("f4")
Y = (X @ np.array([1.0, -2.0, 0.5, 3.0], "f4") + 0.25).astype("f4")


def linear(params, x):
    return nx.dot(x, params["w"]) + params["b"]


def noisy(params, x, key=None):
    kept = x if key is None else x * (nx.random.uniform_split(key, shape=x.shape) > 0.1)
    return linear(params, kept)


def square(y, found):
    return nx.mean((found - y) ** 2)


def distance(y, found):
    return nx.mean(nx.abs(found - y))


def start():
    return {"w": nx.broadcast(0.0, (4,)), "b": nx.tensor(0.0)}


def leaves(fitted):
    return [fitted.params["w"].to_list(), float(fitted.params["b"])]


def fit(*, model=linear, epochs=3, optimizer=None, params=None, **options):
    data = options.pop("data", None) or training.batches(X, Y, 16, key=3)
    optimizer = optimizer or optim.adam(0.05)
    return training.fit(
        model, square, optimizer, params or start(), data, epochs=epochs, **{"progress": False, **options}
    )


def test_a_model_is_fitted_with_a_history_of_plain_numbers():
    fitted = fit(epochs=60, metrics=[distance], validation=(X[:20], Y[:20]))
    np.testing.assert_allclose(fitted.params["w"].to_numpy(), [1.0, -2.0, 0.5, 3.0], atol=0.05)
    assert list(fitted.history) == ["epoch", "loss", "distance", "validation_loss", "validation_distance"]
    assert fitted.history["epoch"] == list(range(1, 61))
    assert {type(value) for value in fitted.history["loss"]} == {float}
    assert fitted.history["loss"][-1] < 0.02 < fitted.history["loss"][0]
    assert (fitted.epochs, fitted.steps, fitted.stopped) == (60, 240, "all epochs are done")
    assert repr(fitted).startswith("<fitted in 60 epochs, 240 steps: all epochs are done; loss ")


def test_one_program_is_compiled_for_the_whole_run():
    with nx.assert_compiles(2):
        fit(epochs=4, validation=(X, Y), learning_rate=lambda step: 0.1 / (1 + step))
    with nx.no_compile():
        fit(epochs=4, validation=(X, Y), learning_rate=0.01)


def test_a_cell_that_runs_again_finds_the_programs_and_one_that_was_changed_does_not():
    def run(factor):
        return fit(model=lambda params, x: factor * linear(params, x), epochs=1)

    first = run(1.0)
    with nx.no_compile():
        assert leaves(run(1.0)) == leaves(first)
    assert leaves(run(2.0)) != leaves(first)


def test_the_history_is_the_mean_over_examples():
    data = training.batches(X, Y, 32, shuffle=False)
    fitted = fit(data=data, optimizer=optim.sgd(0.0), epochs=1, validation=data)
    expected = float(square(Y, linear(start(), X)))
    assert abs(fitted.history["loss"][0] - expected) < 1e-4
    assert abs(fitted.history["validation_loss"][0] - expected) < 1e-4
    assert training.evaluate(linear, square, start(), data) == {"loss": fitted.history["validation_loss"][0]}


def test_a_learning_rate_by_step_is_in_the_history():
    fitted = fit(learning_rate=lambda step: 1.0 if step < 4 else 0.5, optimizer=optim.sgd(), epochs=2)
    assert fitted.history["learning_rate"] == [1.0, 0.5]


class Interrupted:
    """Batches of which one is never given: somebody presses the key instead."""

    def __init__(self, epoch, batch):
        self.where, self.data = (epoch, batch), training.batches(X, Y, 16, key=3)

    def __len__(self):
        return len(self.data)

    def epoch(self, number):
        for place, batch in enumerate(self.data.epoch(number)):
            if (number, place) == self.where:
                raise KeyboardInterrupt
            yield batch
        if (number, len(self.data)) == self.where:
            raise KeyboardInterrupt


OPTIONS = {
    "metrics": [distance], "validation": (X[:20], Y[:20]), "key": nx.random.key(5), "model": noisy,
    "optimizer": optim.chain(optim.clip_by_global_norm(5.0), optim.adamw()),
    "learning_rate": lambda step: 0.1 / (2 + step),
}  # fmt: skip


@pytest.mark.parametrize(("epoch", "batch"), [(0, 0), (1, 2), (2, 4), (4, 1)])
def test_an_interrupt_leaves_what_there_is_and_resuming_gives_the_same_numbers(tmp_path, epoch, batch):
    path = tmp_path / "run.safetensors"
    whole = fit(epochs=6, **OPTIONS)
    stopping = training.EarlyStopping(patience=50, restore=False)
    part = fit(epochs=6, data=Interrupted(epoch, batch), checkpoint=path, early_stopping=stopping, **OPTIONS)
    assert part.stopped == f"interrupted in epoch {epoch + 1} after {batch} batch{'' if batch == 1 else 'es'}"
    assert (part.epochs, part.steps) == (epoch, epoch * 4 + batch)
    assert training.evaluate(noisy, square, part.params, (X, Y))["loss"] < 100
    rest = fit(epochs=6, checkpoint=path, resume=True, early_stopping=stopping, **OPTIONS)
    assert leaves(rest) == leaves(whole)
    assert rest.history == whole.history
    assert (rest.epochs, rest.steps) == (whole.epochs, whole.steps)


def test_a_process_that_is_killed_in_an_epoch_goes_on_from_the_last_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"
    whole = fit(epochs=4, **OPTIONS)

    class Killed(Exception):
        pass

    def until(number):
        for place, batch in enumerate(training.batches(X, Y, 16, key=3).epoch(number)):
            if (number, place) == (2, 3):
                raise Killed
            yield batch

    with pytest.raises(Killed):
        fit(epochs=4, data=until, checkpoint=path, checkpoint_every=3, **OPTIONS)
    notes = nx.load_safetensors_metadata(path)["nxkernel.training"]
    assert '"epoch":2,"batch":1,"step":9' in notes
    rest = fit(epochs=4, checkpoint=path, resume=True, **OPTIONS)
    assert leaves(rest) == leaves(whole)
    assert rest.history == whole.history


def test_resuming_after_some_epochs_gives_the_same_numbers_as_not_stopping(tmp_path):
    path = tmp_path / "run.safetensors"
    whole = fit(epochs=5, **OPTIONS)
    fit(epochs=2, checkpoint=path, resume=True, **OPTIONS)
    rest = fit(epochs=5, checkpoint=path, resume=True, **OPTIONS)
    assert leaves(rest) == leaves(whole)
    assert rest.history == whole.history
    assert [file.name for file in tmp_path.iterdir()] == ["run.safetensors"]
    done = fit(epochs=5, checkpoint=path, resume=True, **OPTIONS)
    assert (done.steps, leaves(done)) == (whole.steps, leaves(whole))


def test_resuming_with_larger_batches_in_the_middle_of_an_epoch_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(data=Interrupted(1, 3), checkpoint=path)
    with pytest.raises(NxValueError) as caught:
        fit(data=training.batches(X, Y, 35, key=3), checkpoint=path, resume=True)
    assert str(caught.value) == (
        "fit: the checkpoint was written after 3 batches of epoch 2, and the data has 2 there.\n"
        "  Resume with batches of the same data and size."
    )


def test_a_checkpoint_of_another_model_is_refused_with_the_first_difference(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(epochs=1, checkpoint=path)

    def refusal(**options):
        with pytest.raises(NxValueError) as caught:
            fit(epochs=2, checkpoint=path, resume=True, **options)
        first, second = str(caught.value).split("\n  ")
        assert first == f"{path} is a checkpoint of another model or optimizer."
        return second

    wide = {"w": nx.broadcast(0.0, (5,)), "b": nx.tensor(0.0)}
    assert refusal(params=wide) == "params['w'] is f32[4] in it, and f32[5] here."
    assert refusal(params={**start(), "c": nx.tensor(0.0)}) == "It has no params['c'], which is f32 here."
    assert refusal(optimizer=optim.sgd(0.1)) == "It has state[0].count (s64), which is not here."
    assert refusal(optimizer=optim.adam(optim.constant_schedule(0.1))) == "It has no state[1].count, which is s64 here."
    assert refusal(key=nx.random.key(0)) == "It has no key, which is u32[2] here."


def test_early_stopping_gives_the_parameters_of_the_best_epoch(tmp_path):
    rate = {"learning_rate": lambda step: 0.05 if step < 8 else 3.0, "optimizer": optim.sgd()}
    stopping = training.EarlyStopping(patience=3)
    path = tmp_path / "run.safetensors"
    fitted = fit(epochs=50, validation=(X, Y), early_stopping=stopping, checkpoint=path, **rate)
    best = int(np.nanargmin(fitted.history["validation_loss"]))
    assert fitted.epochs == best + 4 < 50
    assert fitted.stopped == "validation_loss got no better for 3 epochs"
    assert training.evaluate(linear, square, fitted.params, (X, Y))["loss"] == fitted.history["validation_loss"][best]
    again = fit(epochs=50, validation=(X, Y), early_stopping=stopping, checkpoint=path, resume=True, **rate)
    assert leaves(again) == leaves(fitted)
    assert again.stopped == fitted.stopped


def test_data_can_be_a_list_or_a_function_of_the_epoch():
    pairs = [(X[:35], Y[:35]), (X[35:], Y[35:])]
    seen = []

    def epoch(number):
        seen.append(number)
        return iter(pairs)

    assert leaves(fit(data=pairs)) == leaves(fit(data=epoch))
    assert seen == [0, 1, 2]
    assert fit(data=iter(pairs), epochs=1).steps == 2


def test_a_loss_that_became_nan_says_how_to_find_out():
    fitted = fit(optimizer=optim.sgd(1e30), epochs=3)
    assert np.isnan(fitted.history["loss"][-1])
    assert repr(fitted) == (
        "<fitted in 3 epochs, 12 steps: all epochs are done; loss nan; "
        "with nx.debug_nans() it stops at the line that made the first NaN>"
    )


def test_the_bar_shows_the_epoch_and_the_loss(capsys):
    fit(epochs=2, progress=True)
    shown = capsys.readouterr().err
    assert "epoch 2/2: 100%" in shown
    assert "8/8" in shown
    assert re.search(r"loss=\d", shown)


def test_the_bar_ends_with_the_figures_of_the_epoch_and_where_an_early_stop_is_the_end(capsys):
    stopping = training.EarlyStopping(patience=1, monitor="loss", least=1e9)
    fitted = fit(epochs=9, progress=True, early_stopping=stopping)
    last = capsys.readouterr().err.rsplit("\r", 1)[1]
    assert fitted.epochs == 2
    assert "epoch 2/9: 100%" in last
    assert "8/8" in last
    assert f"loss={fitted.history['loss'][-1]:.3g}" in last


@pytest.mark.parametrize(("given", "told"), [("adam", "'adam'"), (optim.adam, "a function")])
def test_an_optimizer_that_is_none_is_refused(given, told):
    with pytest.raises(NxTypeError) as caught:
        training.fit(linear, square, given, start(), [(X, Y)])
    assert str(caught.value) == f"fit takes an optimizer of nxkernel.optim, got {told}.\n  Write optim.adam(1e-3)."


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        (
            {"data": iter([(X, Y)])}, NxTypeError,
            r"^fit goes through the data 3 times, and .* can be gone through once.\n  Give a list, training.batches",
        ),
        ({"epochs": 0}, NxValueError, "^fit: epochs is at least 1, got 0$"),
        ({"data": lambda epoch: []}, NxValueError, "^fit: the data of epoch 1 has no batch$"),
        ({"resume": True}, NxTypeError, "^fit: resume=True goes on from a checkpoint; say where it is with checkpoint"),
        (
            {"early_stopping": training.EarlyStopping()}, NxValueError,
            r"^EarlyStopping watches 'validation_loss', and the history has 'loss'.\n  validation_… are there",
        ),
        ({"data": lambda epoch: [], "model": nn.dense(1)}, NxValueError, "^fit: the data of epoch 1 has no batch$"),
        (
            {"data": (X, Y)}, NxTypeError,
            r"^fit takes batches for data, got a tuple.\n  Write training.batches\(x, y, size\), or a list of ",
        ),
        ({"validation": 3}, NxTypeError, r"^fit takes batches for validation, got 3.\n  Write training.batches"),
        ({"validation": [X]}, NxTypeError, r"^a batch is a pair \(x, y\), got "),
        ({"validation": iter([(X, Y)])}, NxTypeError, "^fit goes through the validation 3 times, and a list_iterator"),
        ({"optimizer": "adam"}, NxTypeError, "^fit takes an optimizer of nxkernel.optim, got 'adam'"),
        ({"learning_rate": "0.1"}, NxTypeError, "^fit: learning_rate is a number, got '0.1'$"),
        ({"learning_rate": -0.1}, NxValueError, "^fit: learning_rate is at least 0, got -0.1$"),
        ({"learning_rate": lambda step: None}, NxTypeError, r"^fit: learning_rate\(0\) is one number, got None$"),
        ({"progress": "bar"}, NxTypeError, "^fit: progress is True or False, got 'bar'$"),
        ({"checkpoint": 3}, NxTypeError, "^fit: checkpoint is the path of a file, got 3$"),
        (
            {"checkpoint": "nowhere/run.safetensors"}, NxValueError,
            r"^fit: there is no folder 'nowhere' for the checkpoint.\n  Make it: os.makedirs\('nowhere'\).$",
        ),
        ({"checkpoint": os.sep}, NxValueError, "^fit: checkpoint is the path of a file, and .* is a folder$"),
        ({"checkpoint_every": 3}, NxTypeError, "^fit: checkpoint_every= is for a checkpoint; say where it goes with"),
        (
            {"checkpoint": "run.safetensors", "checkpoint_every": 0}, NxValueError,
            "^fit: checkpoint_every is at least 1, got 0$",
        ),
        ({"early_stopping": 3}, NxTypeError, r"^fit: early_stopping is a training.EarlyStopping, got 3."),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(options, kind, text):
    with pytest.raises(kind, match=text):
        fit(**options)


def test_a_model_is_evaluated_with_batches_or_one_pair():
    assert training.evaluate(linear, square, start(), (X, Y)) == {"loss": pytest.approx(float(np.mean(Y**2)), rel=1e-5)}
    with pytest.raises(NxTypeError, match=r"^evaluate takes batches for data, got 3.\n  Write training.batches"):
        training.evaluate(linear, square, start(), 3)


def test_debug_nans_stops_a_training_at_the_line():
    def broken(y, found):
        return nx.mean(nx.log(found - y))

    with nx.debug_nans(), pytest.raises(ArithmeticError, match=r"log made it\.\n  test_fitting.py, line \d+:  return"):
        training.fit(linear, broken, optim.sgd(0.1), start(), training.batches(X, Y, 16), progress=False)
