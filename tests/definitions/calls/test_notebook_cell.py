import ast
import linecache

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.calls.notebook_cell import CompiledCell
from nxkernel.definitions.observe.events import stream
from nxkernel.definitions.syntax.unsupported_syntax import RefusedSyntaxError


@pytest.fixture(autouse=True)
def fresh():
    stream.clear()
    graph_cache.clear()


def run(text, variables, **options):
    """Run a cell as %%jit does; the variables change."""
    file = f"<cell {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    cell = CompiledCell(ast.parse(text, file).body, file, variables, **options)
    return cell.finish(cell.definition(*cell.args, **cell.options))


def misses():
    return stream.records("%%jit", "miss")


def test_numpy_code_gives_what_numpy_gives():
    variables = {"np": np, "x": np.arange(4.0), "n": 3}
    value = run("s = 0\nfor i in range(n):\n    s += x[i]\ny = np.sqrt(x) > 1\nz = y\ns", variables)
    assert value == 3.0
    assert type(value) is np.float64
    assert type(variables["y"]) is np.ndarray
    assert variables["y"].tolist() == [False, False, True, True]
    assert variables["z"] is variables["y"]
    variables["y"][0] = True


def test_what_is_no_tensor_stays_as_it_is():
    variables = {"np": np, "x": np.zeros(2)}
    run("k = 3\nnames = ['a', 'b']\ny = x + k\nboth = (y, k)", variables)
    assert variables["k"] == 3
    assert type(variables["k"]) is int
    assert variables["names"] == ["a", "b"]
    assert variables["both"][1] == 3
    variables["names"].append("c")
    run("k = 3\nnames = ['a', 'b']\ny = x + k\nboth = (y, k)", variables)
    assert variables["names"] == ["a", "b"]
    assert len(misses()) == 1


def test_arrays_that_are_assigned_into_change_for_everybody():
    x = np.zeros(3)
    variables = {"np": np, "x": x, "same": x}
    del variables["same"]
    run("x[1] = np.exp(0.0)\nx += 1", variables)
    assert variables["x"] is x
    assert x.tolist() == [1.0, 2.0, 1.0]
    run("x[0] = nx.exp(0.0) * 5", {**variables, "nx": nx}, promotion="nx")
    assert x.tolist() == [5.0, 2.0, 1.0]


def test_tensors_do_not_change_but_names_do():
    t = nx.tensor([1.0, 2.0])
    variables = {"nx": nx, "np": np, "t": t}
    run("t[0] = 5\nu = t * 2", variables)
    assert t.to_list() == [1.0, 2.0]
    assert variables["t"].to_list() == [5.0, 2.0]
    assert variables["u"].to_list() == [10.0, 4.0]


def test_names_of_tensors_are_rebound_by_numpy_code_too():
    t = nx.tensor([1.0, 2.0])
    variables = {"np": np, "t": t, "u": t}
    run("t[0] = np.exp(0.0) * 3\nu += np.exp(0.0)", variables)
    assert t.to_list() == [1.0, 2.0]
    assert variables["t"].to_list() == [3.0, 2.0]
    assert variables["u"].to_list() == [2.0, 3.0]
    assert str(variables["t"].spec) == "f32[2]"


def test_containers_of_arrays_are_inputs_and_change_in_place():
    params = {"w": np.ones(2), "b": [np.zeros(2)]}
    w = params["w"]
    variables = {"np": np, "params": params}
    run("params['b'][0] = params['w'] + 1\nparams['w'][0] = 7", variables)
    assert variables["params"] is params
    assert params["w"] is w
    assert w.tolist() == [7.0, 1.0]
    assert params["b"][0].tolist() == [2.0, 2.0]


def test_functions_and_options_are_captured():
    variables = {"np": np, "x": np.arange(3.0), "mode": "double", "double": lambda v: v * 2}
    assert run("double(x) if mode == 'double' else x", variables).tolist() == [0.0, 2.0, 4.0]
    variables["mode"] = "single"
    assert run("double(x) if mode == 'double' else x", variables).tolist() == [0.0, 1.0, 2.0]
    assert misses()[1].reason == ("captured mode: 'double' → 'single'",)


def test_names_that_are_read_and_assigned_are_inputs():
    variables = {"nx": nx, "x": nx.tensor(1.0), "label": "a"}
    run("x = x * 2\nlabel = label + 'b'", variables)
    assert (float(variables["x"]), variables["label"]) == (2.0, "ab")
    run("x = x * 2\nlabel = label + 'b'", variables)
    assert (float(variables["x"]), variables["label"]) == (4.0, "abb")


def test_names_that_are_assigned_first_are_no_inputs():
    variables = {"np": np, "x": np.arange(3.0)}
    for _ in range(2):
        run("y = x + 1\ny = y * 2\nfor i in range(2):\n    t = y + i\n", variables)
    assert len(misses()) == 1
    assert variables["t"].tolist() == [3.0, 5.0, 7.0]
    assert variables["i"] == 1


def test_a_choice_keeps_what_was_there_before():
    variables = {"np": np, "x": np.arange(3.0), "y": np.full(3, 9.0)}
    run("if x[0] > 5:\n    y = x", variables)
    assert variables["y"].tolist() == [9.0, 9.0, 9.0]


def test_what_is_assigned_only_sometimes_is_left_out():
    variables = {"np": np, "x": np.arange(3.0)}
    run("s = x * 2\nif x[0] > 5:\n    y = x", variables)
    assert "y" not in variables
    assert misses()[0].notes == (
        "y is assigned only where some condition holds, so it keeps the value from before the cell",
    )


def test_a_loop_stays_a_loop_whatever_it_assigns():
    variables = {"np": np, "x": np.arange(5.0)}
    text = "s = np.zeros(())\nfor k in range(5):\n    part = x[:k]\n    s = s + part.sum()\n"
    run(text, variables)
    run(text, variables)
    assert variables["s"] == 10.0
    assert len(misses()) == 1
    assert not any("written out" in note for note in misses()[0].notes)
    assert "part" not in variables
    assert any(note.startswith("part ") for note in misses()[0].notes)


def test_whole_numbers_become_static_where_they_must():
    variables = {"nx": nx, "n": 3, "x": nx.tensor([1.0, 2.0, 3.0])}
    for _ in range(2):
        run("y = x + nx.iota((n,))", variables)
    assert variables["y"].to_list() == [1.0, 3.0, 5.0]
    assert len(misses()) == 1


def test_whose_rules_hold_is_told_by_what_says_so():
    run("y = x / 3", {"x": nx.tensor([1.0])})
    run("y = x / 3", {"x": np.ones(1)}, promotion="nx")
    run("y = np.exp(x)", {"x": np.ones(1), "np": np})
    assert [miss.rules for miss in misses()] == [
        "Nx's rules: it computes with neither np nor nx, and gets a tensor, or numbers alone",
        "Nx's rules, as promotion='nx' says",
        "NumPy's rules: it computes with np.exp",
    ]


def test_a_weak_number_is_not_taken_for_a_scalar_of_numpys():
    variables = {"np": np, "x": np.ones(2, np.float32), "k": 3}
    run("y = x * k", variables, promotion="numpy")
    assert variables["y"].dtype == np.float32
    variables["k"] = np.int64(3)
    run("y = x * k", variables, promotion="numpy")
    assert variables["y"].dtype == np.float64


def test_an_edited_cell_is_another_one():
    variables = {"np": np, "x": np.ones(2)}
    run("x + 1", variables)
    run("x + 2", variables)
    assert [event.reason for event in misses()] == [("first call",), ("first call",)]


@pytest.mark.parametrize(
    ("text", "word", "line", "code", "caret", "hint"),
    [
        ("y = 1\nimport os", "import", 2, "import os", "^^^^^^", "Import in a cell before"),
        ("from os import path", "import", 1, "from os import path", "^^^^^^", "Import in a cell before"),
        ("if x:\n    def f(): pass", "def", 2, "def f(): pass", "^^^", "Define functions in a cell before"),
        ("class A: pass", "class", 1, "class A: pass", "^^^^^", "Write the class in a cell before."),
        ("del x", "del", 1, "del x", "^^^", "Delete names in a cell of its own."),
        ("return x", "return", 1, "return x", "^^^^^^", "Assign the value to a name"),
    ],
)
def test_what_belongs_into_other_cells_is_refused(text, word, line, code, caret, hint):
    with pytest.raises(RefusedSyntaxError) as caught:
        run(text, {"x": np.ones(2)})
    first, where, shown, under, last = str(caught.value).splitlines()
    assert first == f"a %%jit cell is one compiled program, which has no `{word}`."
    assert where.endswith(f", line {line}, in %%jit:")
    assert (shown.strip(), under.strip()) == (code, caret)
    assert last.strip().startswith(hint)


def test_what_definitions_refuse_is_refused():
    with pytest.raises(RefusedSyntaxError, match=r"one compiled program, which has no `class`") as caught:
        run("y = x\nclass A:\n    pass", {"x": np.ones(2)})
    assert ", line 2, in %%jit:" in str(caught.value)


def test_other_containers_are_not_assigned_into():
    with pytest.raises(RefusedSyntaxError) as caught:
        run("log['a'] = x", {"x": np.ones(2), "log": {"title": "run"}})
    assert str(caught.value).splitlines()[0] == (
        "a %%jit cell assigns into arrays and containers of arrays, and log is a dict that does not hold numbers alone."
    )
    assert "log['a'] = x" in str(caught.value)


def test_whose_rules_hold_is_seen_from_names_and_inputs():
    text = "total = 0.0\nfor i in range(len(x)):\n    total += x[i]"
    variables = {"np": np, "nx": nx, "x": np.ones(3)}
    run(text, variables)
    assert (type(variables["total"]), variables["total"]) == (np.float64, 3.0)
    variables["x"] = nx.tensor([1.0, 1.0, 1.0])
    run(text, variables)
    assert str(variables["total"].spec) == "f32"
    variables["x"] = np.ones(3)
    run("y = nx.exp(x) * 0", variables)
    assert type(variables["y"]) is nx.Tensor


def test_parts_whose_length_depends_on_data_are_left_out():
    variables = {"np": np, "x": np.arange(5.0)}
    run("large = x[x > 2]\ntotal = large.sum()", variables)
    assert variables["total"] == 7.0
    assert "large" not in variables
    assert misses()[0].notes == (
        "large has a shape that only the running program knows, so it keeps the value from before the cell",
    )
