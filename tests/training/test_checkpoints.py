"""Checkpoints: what was written comes back, and nothing else is taken for it."""

import json
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import training
from nxkernel.errors import NxTypeError, NxValueError


class Moments(NamedTuple):
    mean: object
    square: object


@nx.container(static=["activation"])
class Layer:
    def __init__(self, kernel, bias, activation):
        self.kernel, self.bias, self.activation = kernel, bias, activation


PARTS = {
    "params": {"dense": [nx.tensor([[1.0, 2.0]]), nx.tensor([1.5], type="bf16")]},
    "state": (Moments(nx.tensor(3), ()), nx.iota((2,), names=["x"])),
}
NOTES = {"epoch": 3, "history": {"loss": [0.1, float("nan"), 1e-300]}, "best": None, "rate": 0.1 + 0.2}


def refusal(call, kind=NxValueError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_parts_and_notes_come_back_exactly(tmp_path):
    path = tmp_path / "a.safetensors"
    training.save_checkpoint(path, PARTS, NOTES)
    parts, notes = training.load_checkpoint(path, PARTS)
    assert type(parts["state"][0]) is Moments
    assert parts["state"][0].square == ()
    assert parts["state"][1].names == ("x",)
    assert parts["params"]["dense"][1].type == "bf16"
    assert parts["params"]["dense"][0].to_list() == [[1.0, 2.0]]
    assert json.dumps(notes) == json.dumps(NOTES)
    assert sorted(nx.load_safetensors(path)) == [
        "params['dense'][0]", "params['dense'][1]", "state[0].mean", "state[1]",
    ]  # fmt: skip


def test_parts_can_be_optional(tmp_path):
    path = tmp_path / "a.safetensors"
    training.save_checkpoint(path, {"params": nx.tensor(1.0)})
    like = {"params": nx.tensor(0.0), "best": nx.tensor(0.0)}
    parts, notes = training.load_checkpoint(path, like, optional=["best"])
    assert (float(parts["params"]), parts["best"], notes) == (1.0, None, {})
    assert refusal(lambda: training.load_checkpoint(path, like)).endswith("It has no best, which is f32 here.")


def test_a_file_is_replaced_when_all_is_written(tmp_path, monkeypatch):
    path = tmp_path / "a.safetensors"
    training.save_checkpoint(path, {"x": nx.tensor(1.0)})

    def fails(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="the disk is full"):
        training.save_checkpoint(path, {"x": nx.tensor(2.0)})
    monkeypatch.undo()
    assert float(training.load_checkpoint(path, {"x": nx.tensor(0.0)})[0]["x"]) == 1.0
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    nx.save_safetensors(path, {"x": nx.tensor(1.0)})
    assert refusal(lambda: training.load_checkpoint(path, {"x": nx.tensor(0.0)})) == (
        f"{path} is no checkpoint of nxkernel.training.\n  nx.load_safetensors reads the tensors of any such file."
    )
    for notes, text in (("{", "its notes are damaged"), ("[]", "its notes are damaged")):
        nx.save_safetensors(path, {"x": nx.tensor(1.0)}, metadata={"nxkernel.training": notes})
        assert refusal(lambda: training.load_checkpoint(path, {})) == f"cannot read {path}: {text}"
    later = json.dumps({"version": 2, "notes": {}})
    nx.save_safetensors(path, {"x": nx.tensor(1.0)}, metadata={"nxkernel.training": later})
    assert refusal(lambda: training.load_checkpoint(path, {})) == (
        f"cannot read {path}: its notes are of version 2, this reads 1"
    )
    path.write_bytes(b"nothing of the kind")
    assert refusal(lambda: training.load_checkpoint(path, {})).startswith(f"cannot read {path}: ")


def test_what_is_no_tensor_is_refused(tmp_path):
    assert refusal(lambda: training.save_checkpoint(tmp_path / "a", {"x": {"y": {1}}}), NxTypeError) == (
        "a checkpoint has tensors in it, x['y'] is a set"
    )


def test_what_is_no_data_comes_from_the_one_that_is_read_into(tmp_path):
    path = tmp_path / "a.safetensors"
    layer = Layer(nx.tensor([1.0, 2.0]), None, nx.tanh)
    training.save_checkpoint(path, {"net": {"layer": layer, "kind": "mlp"}})
    like = {"net": {"layer": Layer(nx.tensor([0.0, 0.0]), None, nx.exp), "kind": "cnn"}}
    parts, _ = training.load_checkpoint(path, like)
    found = parts["net"]["layer"]
    assert (type(found), found.kernel.to_list(), found.bias, found.activation) == (Layer, [1.0, 2.0], None, nx.exp)
    assert parts["net"]["kind"] == "cnn"
    assert nx.load_safetensors(path).keys() == {"net['layer'].kernel"}
    like["net"]["layer"].bias = nx.tensor(0.0)
    assert refusal(lambda: training.load_checkpoint(path, like)).endswith(
        "It has no net['layer'].bias, which is f32 here."
    )


def test_numpy_arrays_and_numbers_are_written_too(tmp_path):
    path = tmp_path / "a.safetensors"
    training.save_checkpoint(path, {"x": [np.array([1.0, 2.0]), 3.0]})
    parts, _ = training.load_checkpoint(path, {"x": [nx.tensor([0.0, 0.0], type="f64"), nx.tensor(0.0)]})
    assert [parts["x"][0].to_list(), float(parts["x"][1])] == [[1.0, 2.0], 3.0]
