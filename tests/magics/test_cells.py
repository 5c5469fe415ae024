import ast
import linecache

import numpy as np
import pytest

from nxkernel.definitions.calls.definition import Definition
from nxkernel_magics.cells import rewrite_first_line

SOFTMAX = """\
%%defn
def softmax(t, *, axis=-1):
    e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
    return e / nx.sum(e, axes=[axis], keep_axes=True)
"""


def test_a_cell_is_quiet_and_its_function_is_a_definition(shell):
    ran = shell.run(SOFTMAX)
    assert (ran.success, ran.value, ran.out, ran.err, ran.outputs) == (True, None, "", "", [])
    softmax = shell.ns["softmax"]
    assert repr(softmax) == "<definition softmax(t, *, axis=-1), Nx's rules: it computes with nx.exp>"
    np.testing.assert_allclose(softmax(np.zeros((2, 4))).to_numpy(), np.full((2, 4), 0.25))


def test_the_rest_of_the_cell_runs_as_usual(shell):
    ran = shell.run(
        "%%defn\nscale = 3.0\ndef f(x):\n    return x * scale\ndel scale\nscale = 4.0\nf(2.0).to_numpy() + 1"
    )
    assert ran.value == 9.0
    assert shell.ns["_"] == 9.0
    assert shell.ns["scale"] == 4.0


def test_only_functions_at_the_top_become_definitions(shell):
    shell.run("%%defn\nclass A:\n    def f(self): pass\ndef g(x):\n    def h(y):\n        return y\n    return h(x)")
    assert type(shell.ns["A"].f).__name__ == "function"
    assert type(shell.ns["g"]).__name__ == "Definition"
    assert shell.ns["g"](3.0).to_numpy() == 3.0


def test_marked_functions_stay_what_they_are(shell):
    shell.run(
        "%%defn\n@nx.deftransform\ndef shape(t):\n    return 2.0\n"
        "@nx.defn(compiler='evaluator')\ndef f(t):\n    return t * shape(t)"
    )
    assert shell.ns["f"].compiler == "evaluator"
    assert shell.ns["f"](3.0).to_numpy() == 6.0


def test_other_decorators_stay_below(shell):
    shell.run(
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(x):\n        return f(f(x))\n    return g"
    )
    shell.run("%%defn\n@twice\ndef f(x):\n    return x + 1")
    assert type(shell.ns["f"]).__name__ == "Definition"
    assert shell.ns["f"](1.0).to_numpy() == 3.0


def test_the_compiler_is_chosen_on_the_line(shell):
    shell.run("%%defn --compiler evaluator\ndef f(x):\n    return x + 1")
    assert shell.ns["f"].compiler == "evaluator"
    shell.run(SOFTMAX)
    assert shell.ns["softmax"].compiler is None


def test_nodes_know_their_cell_and_line_as_the_person_sees_them(shell):
    shell.run("x = 1")
    shell.run(SOFTMAX)
    shell.ns["softmax"](np.zeros((2, 4)))
    (view,) = shell.ns["softmax"].compilations()
    places = {(node.cell, node.line, node.code) for node in view.nodes if node.label == "exp"}
    assert places == {("cell 2", 3, "e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))")}


def test_events_name_the_cell_that_called(shell):
    shell.run(SOFTMAX)
    shell.run("import numpy as np")
    shell.run("softmax(np.zeros((2, 4)))")
    (miss,) = shell.ns["nx"].events("softmax", kind="miss")
    assert (miss.where, miss.reason) == ("cell 3", ("first call",))


def test_running_an_unchanged_cell_again_is_a_hit(shell):
    shell.run(SOFTMAX)
    shell.ns["softmax"](np.zeros((2, 4)))
    shell.run(SOFTMAX)
    with shell.ns["nx"].no_compile():
        shell.ns["softmax"](np.zeros((2, 4)))


def test_a_traceback_shows_the_persons_line(shell):
    ran = shell.run("%%defn\ndef f(x):\n    y = x + 1\n    return y.nothing\nf(1.0)")
    assert not ran.success
    assert "Cell In[1], line 4, in f(x)" in ran.out
    assert "----> 4     return y.nothing" in ran.out
    assert "Cell In[1], line 5" in ran.out
    assert "In[1], line 5" in ran.out


def test_a_syntax_error_is_ipythons_own(shell):
    ran = shell.run("%%defn\ndef f(x):\n    return x +\n")
    assert not ran.success
    assert ran.out == "  Cell In[1], line 3\n    return x +\n              ^\nSyntaxError: invalid syntax\n\n"


def test_a_wrong_option_is_a_usage_error_and_defines_nothing(shell):
    ran = shell.run("%%defn --show everything\ndef f(x):\n    return x")
    assert not ran.success
    assert "UsageError: argument --show: invalid choice: 'everything'" in ran.err
    assert "f" not in shell.ns


def test_an_unknown_compiler_names_those_that_there_are(shell):
    ran = shell.run("%%defn --compiler gcc\ndef f(x):\n    return x")
    assert "there is no compiler 'gcc'." in ran.out
    assert "The compilers are 'auto', 'evaluator', 'numba', 'numba_cpu', 'numba_cuda', and" in ran.out


def test_the_source_of_a_definition_can_be_read(shell):
    shell.run(SOFTMAX)
    function = shell.ns["softmax"].__nx_function__
    file = function.__code__.co_filename
    assert linecache.getline(file, 2) == "def softmax(t, *, axis=-1):\n"
    assert function.__code__.co_firstlineno == 2


def test_history_has_the_cell_as_it_was_typed(shell):
    shell.run(SOFTMAX)
    assert shell.ns["In"][-1].startswith("get_ipython().run_line_magic('defn', '')\ndef softmax")
    assert shell.ip.history_manager.input_hist_raw[-1] == SOFTMAX.rstrip("\n")


def test_it_works_below_other_cell_magics(shell):
    shell.run("%%capture out\n%%defn\ndef f(x):\n    return x + 1\n")
    assert type(shell.ns["f"]).__name__ == "Definition"


def test_code_may_run_it_as_a_cell_magic(shell):
    shell.ip.run_cell_magic("defn", "--compiler evaluator", "def f(x):\n    return x + 1\n")
    assert shell.ns["f"].compiler == "evaluator"
    with pytest.raises(ZeroDivisionError):
        shell.ip.run_cell_magic("defn", "", "1 / 0\n")


def test_future_imports_may_still_come_first(shell):
    ran = shell.run("%%defn\nfrom __future__ import annotations\ndef f(x: Unknown):\n    return x\nf.__name__")
    assert ran.value == "f"


def test_other_cells_are_left_alone():
    for lines in ([], ["x = 1\n"], ["%%defnx\n"], ["%%defn?\n"], ["x = 1\n", "%%defn\n"]):
        assert rewrite_first_line(lines) is lines


def test_the_number_of_lines_stays():
    lines = ["%%defn --compiler 'a b'\n", "def f(x):\n", "    return x"]
    rewritten = rewrite_first_line(lines)
    assert rewritten[1:] == lines[1:]
    (first,) = ast.parse(rewritten[0]).body
    assert ast.literal_eval(first.value.args[1]) == "--compiler 'a b'"


def test_a_terminal_waits_for_the_empty_line_that_ends_the_cell(shell):
    check = shell.ip.check_complete
    assert check("%%defn")[0] == "incomplete"
    assert check("%%defn\ndef f(x):\n    return x")[0] == "incomplete"
    assert check("%%defn\ndef f(x):\n    return x\n\n")[0] == "complete"


def test_the_rules_are_chosen_on_the_line(shell):
    shell.run("%%defn --promotion numpy\ndef f(x):\n    return x / 2")
    assert shell.ns["f"].dialect == "numpy"
    assert shell.ns["f"](np.arange(2)).dtype == np.float64
    shell.run("%%defn --promotion nx\ndef f(x):\n    return x / 2")
    assert shell.ns["f"].dialect == "nx"
    ran = shell.run("%%defn --promotion jax\ndef f(x):\n    return x / 2")
    assert "argument --promotion: invalid choice: 'jax' (choose from" in ran.err


def test_a_lambda_with_a_name_is_a_definition(shell):
    shell.run("%%defn\nhalf = lambda x: x / 2\npair = (1, 2)")
    assert isinstance(shell.ns["half"], Definition)
    assert float(shell.ns["half"](3.0)) == 1.5
    assert shell.ns["pair"] == (1, 2)


def test_async_functions_are_refused(shell):
    ran = shell.run("%%defn\nasync def f(x):\n    return x")
    assert not ran.success
    assert (
        "%%defn, line 2: async def f runs beside other code and cannot be a definition. Write def f, and call it in "
        "async functions of other cells."
    ) in ran.out + ran.err


def test_a_class_is_told_to_be_none(shell):
    ran = shell.run("%%defn\nclass Model:\n    def f(self, x):\n        return x")
    assert ran.success
    assert ran.err == (
        "%%defn, line 2: class Model is no function and stays plain Python. Write @nx.defn above each method that is "
        "to be a definition.\n"
    )
