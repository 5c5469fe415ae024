from types import SimpleNamespace

import numpy as np
import pytest

from nxkernel.definitions.observe.events import events
from nxkernel_magics.definition_lookup import CompiledCells

HEAT = """\
%%jit
for step in range(steps):
    u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
total = u.sum()
u.max()
"""


@pytest.fixture
def heat(shell):
    shell.ns.update(np=np, u=np.array([0.0, 0.0, 8.0, 0.0, 0.0]), steps=2, rate=0.25)
    return shell


def test_a_cell_is_one_program_with_inputs_and_outputs(heat):
    u = heat.ns["u"]
    ran = heat.run(HEAT)
    assert (ran.success, ran.value, ran.err) == (True, np.float64(3.0), "")
    assert ran.out.startswith("traced ")
    assert "first call · ran " in ran.out
    assert heat.ns["u"] is u
    np.testing.assert_array_equal(u, [0, 2, 3, 2, 0])
    assert heat.ns["total"] == 7.0
    assert type(heat.ns["total"]) is np.float64


def test_running_the_cell_again_is_answered_from_the_cache(heat):
    heat.run(HEAT)
    again = heat.run(HEAT)
    assert again.out.startswith("answered from the cache · ran ")
    assert heat.run(HEAT.replace("%%jit\n", "%%jit\n\n# a comment\n")).out.startswith("answered from the cache")
    assert len(events("%%jit", "miss")) == 1
    assert events("%%jit", "miss")[0].where == "cell 1"


def test_other_types_are_told_as_for_a_call(heat):
    heat.run(HEAT)
    heat.ns["u"] = np.zeros(5, np.float32)
    assert "argument u: f64[5] → f32[5]" in heat.run(HEAT).out


def test_without_a_last_expression_nothing_is_displayed(shell):
    shell.ns["x"] = np.arange(3.0)
    ran = shell.run("%%jit\ny = x * 2\n")
    assert (ran.value, ran.outputs) == (None, [])
    assert shell.run("%%jit\ny = x * 3\ny;").outputs == []
    assert "y" in shell.ns


def test_the_compiler_and_the_rules_are_chosen_on_the_line(shell):
    shell.ns["x"] = np.arange(3, dtype=np.float32)
    ran = shell.run("%%jit --compiler evaluator --promotion numpy\nx / 2 + np.float64(1)".replace("np.", ""))
    assert not ran.success
    shell.ns["np"] = np
    ran = shell.run("%%jit --compiler evaluator --promotion numpy\nx + np.float64(1)")
    assert ran.value.dtype == np.float64
    assert events("%%jit", "kernel") == []
    ran = shell.run("%%jit --promotion nx\nx + 1")
    assert str(ran.value.spec) == "f32[3]"


def test_options_that_there_are_not_are_refused(shell):
    ran = shell.run("%%jit --promotion jax\ny = 1")
    assert "argument --promotion: invalid choice: 'jax' (choose from" in ran.err
    ran = shell.run("%%jit --compiler cuda\ny = nx.exp(1.0)")
    assert "NxValueError: there is no compiler 'cuda'." in ran.out
    assert "y" not in shell.ns


def test_an_empty_cell_says_what_is_missing(shell):
    ran = shell.run("%%jit\n")
    assert "%%jit is a cell magic, but the cell body is empty. Did you mean the line magic %jit" in ran.err


def test_imports_are_refused_where_they_stand(shell):
    ran = shell.run("%%jit\ny = 1\nimport math\n")
    assert ran.out.endswith(
        "a %%jit cell is one compiled program, which has no `import`.\n"
        "  cell 1, line 3, in %%jit:\n"
        "    import math\n"
        "    ^^^^^^\n"
        "  Import in a cell before: imported modules can be used here.\n"
    )


def test_errors_show_the_line_of_the_cell(shell):
    shell.ns["x"] = shell.ns["nx"].tensor([1.0, 2.0, 3.0])
    ran = shell.run("%%jit\ny = x + 1\nz = nx.add(y, nx.iota((5,)))\n")
    assert "cell 1, line 3:  z = nx.add(y, nx.iota((5,)))" in ran.out
    assert "nxkernel/" not in ran.out
    ran = shell.run("%%jit\ny = (x +\n")
    assert "Cell In[2], line 2" in ran.out
    assert "SyntaxError: incomplete input" in ran.out


def test_tracebacks_show_the_cell_and_nothing_else(shell):
    ran = shell.run("%%jit\ny = 1\nz = undefined_name + y")
    assert ran.out.count("Cell In[1], line") == 2
    assert "Cell In[1], line 3" in ran.out
    assert "----> 3 z = undefined_name + y" in ran.out
    assert "nxkernel/" not in ran.out
    assert "NameError: name 'undefined_name' is not defined" in ran.out


def test_magics_are_refused(shell):
    ran = shell.run("%%jit\ny = 1\n%time y\n")
    assert "a %%jit cell is one compiled program, which runs no magics.\n  cell 1, line 3, in %%jit:" in ran.out


def test_code_can_run_a_cell(shell):
    shell.ns["x"] = np.arange(3.0)
    assert float(shell.ip.run_cell_magic("jit", "--promotion nx", "y = x + 1\nnx.sum(y)")) == 6.0
    assert shell.ns["y"].to_list() == [1.0, 2.0, 3.0]


def test_help_has_an_example(shell):
    text = shell.ip.find_magic("jit", "cell").__doc__
    assert "%%jit [--compiler NAME] [--promotion nx|numpy]" in text
    assert "for step in range(steps):" in text


def test_lines_with_the_command_are_as_before(shell):
    assert shell.run("get_ipython().run_line_magic('jit', 'nx.exp(0.0)')").value.to_numpy() == 1.0


def test_how_it_was_traced_is_told_where_that_may_surprise(shell):
    shell.ns.update(np=np, x=np.arange(4.0), n=2)
    ran = shell.run("%%jit\nlow = np.zeros(n) + x[0]\nif x[0] > 1:\n    high = x")
    assert ran.out.splitlines()[1:] == [
        "  high is assigned only where some condition holds, so it keeps the value from before the",
        "  cell",
        "  argument n: its value is needed while tracing, so each new one is traced",
    ]
    shown = shell.run("%nx events").out
    assert "argument n: its value is needed while tracing, so each new one is traced" in shown
    shell.ns["n"] = 3
    again = shell.run("%%jit\nlow = np.zeros(n) + x[0]\nif x[0] > 1:\n    high = x").out.splitlines()
    assert "argument n: 2 → 3" in again[0]
    assert again[1].startswith("  The value of n is needed while tracing, as for a shape or an axis: each new value")


def test_loops_that_are_written_out_are_told_in_the_line(shell):
    shell.run("def f(x):\n    s = []\n    for i in range(3):\n        s.append(x[i] + len(s))\n    return s[0] + s[2]")
    shell.ns["x"] = np.arange(4.0)
    line = shell.run("%jit f(x)").out
    assert "cell 1, line 3: this loop is written out 3 times: " in line
    assert "cell 1, line 3: this loop is written out 3 times: " in shell.run("%nx events").out


def test_cells_show_up_where_definitions_do(heat):
    heat.run("%%defn\ndef double(x):\n    return x * 2")
    heat.run(HEAT)
    heat.run("%%jit\ny = np.sin(u)\n")
    rows = heat.run("%nx cache").out.partition("\n\n")[0].splitlines()
    assert [row.split()[:4] for row in rows[1:]] == [
        ["double", "0", "0", "0"],
        ["%%jit[2]", "1", "0", "1"],
        ["%%jit[3]", "1", "0", "1"],
    ]
    heat.run(HEAT)
    rows = heat.run("%nx cache").out.partition("\n\n")[0].splitlines()
    assert [row.split()[:3] for row in rows[2:]] == [
        ["%%jit[3]", "1", "0"],
        ["%%jit[5]", "1", "1"],
    ]
    assert "sin" in heat.run("%nx inspect %%jit[3]").out
    assert "sin" not in heat.run("%nx inspect %%jit").out
    assert heat.run("%nx source %%jit[3]").success
    assert heat.run("%nx inspect %%jit[2]").err + heat.run("%nx inspect %%jit[2]").out != ""
    heat.run("%nx cache %%jit[3] --clear")
    assert heat.run("%nx cache %%jit[3]").out.splitlines()[1].split()[:2] == ["%%jit[3]", "0"]
    assert "%nx inspect %%jit[5]" in heat.complete("%nx inspect %%j")


def test_only_so_many_cells_are_kept():
    cells = CompiledCells()
    for number in range(70):
        cells.remember(f"cell {number}", SimpleNamespace(fingerprint=str(number), dialect="nx"))
    assert (len(cells), next(iter(cells))) == (64, "%%jit[6]")
    assert cells["%%jit"].fingerprint == "69"
    with pytest.raises(KeyError):
        CompiledCells()["%%jit"]
