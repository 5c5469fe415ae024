import os
import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import default_options
from nxkernel_magics.subcommands import COMMANDS

SCALE = "%%defn\ndef scale(x, *, k=2.0):\n    return x * k\n"

#: What no option for rules of types is shown as.
BY_TEXT = "promotion = None: the text of each function says whose rules hold\nchecked = False, built in\n"


@pytest.fixture
def scale(shell):
    shell.run(SCALE)
    shell.ns["np"] = np
    return shell


@pytest.fixture
def called(scale):
    scale.run("scale(np.ones(3))")
    return scale


def test_inspect_is_a_text_where_there_is_no_page(called):
    lines = called.run("%nx inspect scale").out.splitlines()
    assert lines[0] == "scale(x: f64[3], k=2.0)"
    assert any(
        re.match(r"    b = multiply .*f64\[3\] → returned   cell 1, line 3: return x \* k", line) for line in lines
    )


def test_inspect_is_a_widget_in_a_kernel(called, monkeypatch):
    monkeypatch.setattr(called.ip, "kernel", object(), raising=False)
    widget = called.run("%nx inspect scale").value
    assert (type(widget).__name__, widget.choices) == ("Inspector", ["scale(x: f64[3], k=2.0)"])
    assert called.run("%nx inspect scale --text").out.startswith("scale(x: f64[3], k=2.0)\n")
    widget.close()


@pytest.mark.parametrize("line", ["scale(x, k=3.0)", "scale( x, k = 3.0 )  --text", "--text scale(x,k=3.0)"])
def test_inspect_of_a_call_is_measured_on_its_arguments(called, line):
    called.run("x = np.ones(4000)")
    lines = called.run(f"%nx inspect {line}").out.splitlines()
    assert lines[0] == "scale(x: f64[4000], k=3.0)"
    (whole,) = [text for text in lines if text.startswith("  One run takes ")]
    assert "on the inputs of your call" in whole
    (kernel,) = [text for text in lines if text.startswith("  kernel 1")]
    assert re.search(r" · \d+ % of the time on your call, \d+ [nµ]s, ", kernel)
    assert called.ns["x"].sum() == 4000
    assert len(called.ns["scale"].compilations()) == 2


def test_inspect_of_a_call_opens_its_compilation(called, monkeypatch):
    monkeypatch.setattr(called.ip, "kernel", object(), raising=False)
    called.run("scale(np.ones(4000)); scale(np.ones(5))")
    widget = called.run("%nx inspect scale(np.ones(4000))").value
    assert widget.graph["signature"] == "scale(x: f64[4000], k=2.0)"
    assert widget.measured["text"].startswith("One run takes ")
    assert "on your call" in widget.graph["kernels"]["0"]["time"]
    assert called.run("%nx inspect scale(np.ones(4000)) --text").out.startswith("scale(x: f64[4000], k=2.0)\n")
    widget.close()


def test_inspect_keeps_nothing_of_a_call(called):
    called.run("import weakref, gc\nx = np.ones(10)\ngone = weakref.ref(x)")
    called.run("%nx inspect scale(x)")
    called.run("del x\ngc.collect()")
    assert called.run("gone() is None").value is True


def test_inspect_of_a_call_that_fails(called):
    assert called.run("%nx inspect len([])").err == (
        "UsageError: %nx inspect takes a call of a definition, and `len([])` calls a builtin_function_or_method.\n"
        "  Decorate the function with nx.defn, or begin its cell with %%defn.\n"
    )
    ran = called.run("%nx inspect scale(object())")
    assert not ran.success
    assert "got an object for 'x'" in ran.out
    assert "nxkernel_magics" not in ran.out


def test_inspect_before_the_first_call(scale):
    error = "UsageError: scale has not been compiled yet: call it once, then look again.\n"
    assert scale.run("%nx inspect scale").err == error


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("command", ["inspect", "timeline", "cache", "events", "source"])
def test_an_unknown_name_is_told_with_the_definitions_there_are(scale, command):
    assert scale.run(f"%nx {command} sacle").err == (
        "UsageError: there is no definition named 'sacle'.\n  Definitions here: scale. Did you mean 'scale'?\n"
    )


def test_something_that_is_no_definition(scale):
    assert scale.run("%nx inspect np").err == (
        "UsageError: 'np' is a module, not a numerical definition.\n  Definitions here: scale.\n"
    )


def test_cache_tells_what_was_answered(called):
    called.run("scale(np.ones(3)); scale(np.ones(4))")
    lines = called.run("%nx cache").out.splitlines()
    assert lines[0].split("  ")[0] == "definition"
    assert lines[1].split()[:4] == ["scale", "2", "1", "2"]
    assert called.run("%nx cache scale").out.splitlines() == lines[:2]
    assert lines[2:4] == ["", "programs in memory: 2 of 1 function"]
    held = r"native code in memory: \d+ kernels? and \d+ programs?, [\d.]+ [kM]?B of code, "
    assert re.match(held + "the first loaded .+", lines[4])
    assert re.match(r"on disk: \d+ kernels? [\d.]+ \w?B, .*limit 536.9 MB, the oldest was used .+, in .+", lines[5])


def test_what_has_no_name_of_its_own_is_in_the_cache_too(scale):
    scale.run("nx.jit(lambda t: t + 1)(1.0)")
    lines = scale.run("%nx cache").out.splitlines()
    assert [line.split()[:4] for line in lines[1:3]] == [["scale", "0", "0", "0"], ["<lambda>", "1", "0", "1"]]
    assert scale.run("%nx inspect <lambda>").out.startswith("<lambda>(t: f32)\n")


FIT = """\
from nxkernel import optim, training
training.fit(lambda slope, x: x * slope, lambda y, found: nx.mean((found - y) ** 2), optim.sgd(0.1), nx.tensor(0.0),
             [(nx.tensor([1.0, 2.0]), nx.tensor([2.0, 4.0]))], epochs=2, progress=False);"""


def test_the_step_of_a_training_can_be_looked_at(shell):
    shell.run(FIT)
    lines = shell.run("%nx cache").out.splitlines()
    assert lines[1].split()[:4] == ["step", "1", "1", "1"]
    assert shell.run("%nx inspect step").out.startswith("step(params: f32, ")
    assert "cell 1  step  " in shell.run("%nx timeline step").out
    assert "%nx inspect step" in shell.complete("%nx inspect st")


def test_cache_and_timeline_are_a_widget_in_a_kernel(called, monkeypatch):
    monkeypatch.setattr(called.ip, "kernel", object(), raising=False)
    shown = called.run("%nx cache scale").value
    assert (type(shown).__name__, shown.page, shown.function) == ("Timeline", "caches", "scale")
    shown.close()
    shown = called.run("%nx timeline").value
    assert (shown.page, shown.function) == ("timeline", "")
    shown.close()
    assert called.run("%nx cache --text").out.startswith("definition  programs")
    assert "cell 2  scale  " in called.run("%nx timeline --text").out


def test_timeline_is_a_text_where_there_is_no_page(called):
    called.run("scale(np.ones(3)); scale(np.ones(4))")
    lines = called.run("%nx timeline").out.splitlines()
    assert re.match(r"\d\d:\d\d:\d\d  cell 2  scale  (compiled|loaded from disk|traced)  .+[mµ]s: trace .+", lines[0])
    assert lines[1] == "    first call"
    assert re.match(r"\d\d:\d\d:\d\d  cell 3  scale  .+ · 1 kernel from memory", lines[2])
    assert lines[3] == "    argument x: f64[3] → f64[4]"
    assert lines[4].endswith("  cell 3  scale  1 hit")
    assert re.match(
        r"function  compiled  from disk  traced  again  hits  errors +time +trace +lowering +native", lines[6]
    )
    assert lines[7].split()[0] == "scale"
    assert [line.split()[:2] for line in lines[10:]] in ([["cell", "2"], ["cell", "3"]], [["cell", "3"], ["cell", "2"]])
    assert "first call" not in called.run("%nx timeline -n 1").out
    assert called.run("%nx timeline scale -n 1").out.startswith("2 earlier events left out\n")


def test_timeline_of_nothing(shell):
    assert shell.run("%nx timeline").out == "Nothing has been compiled yet: call a definition once.\n"
    assert shell.run("%nx timeline -n 0").err == "UsageError: -n takes a positive number of events, got 0.\n"


def test_cache_can_be_cleared(called):
    assert called.run("%nx cache scale --clear").out == "Forgot the programs of scale.\n"
    assert called.ns["scale"].compilations() == []


def test_cache_without_definitions(shell):
    assert shell.run("%nx cache").out == (
        "There are no definitions yet: begin a cell with %%defn, or decorate a function with nx.defn.\n"
    )
    assert shell.run("%nx cache --clear").out == "There is nothing to forget.\n"


def test_events_come_latest_last(called):
    called.run("scale(np.ones(4))")
    text = called.run("%nx events scale -n 1").out
    assert re.match(
        r"\d\d:\d\d:\d\d  scale (traced|compiled again) \(cell 3\): .*\n  1 kernel .*\n"
        r"  argument x: f64\[3\] → f64\[4\]\n",
        text,
    )
    assert called.run("%nx events").out.count("scale") == 2
    assert called.run("%nx events --kernels").out.count(": kernel ") == 2


def test_events_of_nothing(shell):
    assert shell.run("%nx events").out == "Nothing has been compiled yet: call a definition once.\n"
    assert shell.run("%nx events -n 0").err == "UsageError: -n takes a positive number of events, got 0.\n"


@pytest.fixture
def settings(shell, monkeypatch):
    """A shell without environment variables of nxkernel's, and what sets some."""
    for name in [name for name in os.environ if name.startswith("NXKERNEL_") or name == "NUMBA_NUM_THREADS"]:
        monkeypatch.delenv(name)
    default_options.reset()

    def set_(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        default_options.reset()

    yield shell, set_
    default_options.reset()


def test_options_are_shown_and_set(settings):
    shell, _ = settings
    rest = f"{BY_TEXT}threads = {nx.get_threads()}, built in\n"
    assert shell.run("%nx options").out == f"compiler = 'numba_cpu', built in\n{rest}"
    for line in ("%nx options compiler=evaluator", "%nx options"):
        assert shell.run(line).out == f"compiler = 'evaluator', this process\n{rest}"
    with nx.default_options(promotion="numpy"):
        assert "promotion = 'numpy', this context\n" in shell.run("%nx options").out


def test_options_tell_which_variable_they_come_from(settings):
    shell, set_ = settings
    set_(NXKERNEL_COMPILER="evaluator", NXKERNEL_PROMOTION="nx", NXKERNEL_THREADS="3", NXKERNEL_CPU="x86-64-v3")
    set_(NXKERNEL_CHECKED="1")
    assert shell.run("%nx options").out == (
        "compiler = 'evaluator', NXKERNEL_COMPILER\n"
        "promotion = 'nx', NXKERNEL_PROMOTION\n"
        "checked = True, NXKERNEL_CHECKED\n"
        f"threads = {nx.get_threads()}, NXKERNEL_THREADS\n"
        "NXKERNEL_CPU = 'x86-64-v3'\n"
    )
    assert shell.run("%nx options compiler=numba_cpu").out.startswith("compiler = 'numba_cpu', this process\n")
    set_(NXKERNEL_COMPILER="gcc")
    assert "the environment variable NXKERNEL_COMPILER is 'gcc': there is no compiler 'gcc'" in (
        shell.run("%nx options").err
    )


def test_threads_are_an_option_of_the_session(settings):
    shell, _ = settings
    before = nx.get_threads()
    assert f"threads = {before}, built in" in shell.run(f"%nx options threads={before}").out
    assert "the number of threads is from 1 to" in shell.run("%nx options threads=0").err
    try:
        where = "this process" if before > 1 else "built in"
        assert f"threads = 1, {where}" in shell.run("%nx options threads=1").out
    finally:
        nx.set_threads(before)


def test_wrong_options(shell):
    assert shell.run("%nx options compilr=evaluator").err == (
        "UsageError: there is no default option 'compilr'.\n  There are compiler, promotion, checked.\n"
    )
    assert "there is no compiler 'gcc'" in shell.run("%nx options compiler=gcc").err
    assert shell.run("%nx options compiler").err == (
        "UsageError: %nx options takes KEY=VALUE, such as compiler=evaluator; got 'compiler'.\n"
    )


@pytest.mark.parametrize(("form", "part"), [("numba", "def "), ("llvm", "define "), ("assembly", "ret")])
def test_source_in_three_forms(called, form, part):
    text = called.run(f"%nx source scale --form {form}").out
    assert text.startswith("# scale(x: f64[3], k=2.0): kernel 1 · ")
    assert part in text


def test_the_whole_program_as_a_module(called):
    text = called.run("%nx source scale --form module").out
    assert text.startswith("import numba\nimport numpy as np\n\n\n@numba.njit")
    assert "\ndef scale(x):\n" in text


def test_a_program_that_is_no_module(shell):
    shell.run("import numpy as np, nxkernel as nx")
    shell.run("%%defn\ndef f(x):\n    return nx.as_type(x, 'bf16')\nf(np.ones(4))")
    told = shell.run("%nx source f --form module").err
    assert told.startswith("UsageError: as_type of bf16[4]")
    assert told.endswith('The compiler "numba_cpu" runs it.\n')


def test_source_without_a_form_is_the_first_one_of_each_kernel(shell):
    shell.run("import numpy as np, nxkernel as nx")
    shell.run("%%defn\ndef f(x):\n    return nx.sort(x * 2)\nf(np.ones(4))")
    heads = [line for line in shell.run("%nx source f").out.splitlines() if line.startswith("# f(x: f64[4]): kernel ")]
    assert [head.rpartition(", ")[2] for head in heads] == ["Numba source", "NumPy"]


def test_a_form_that_there_is_not(called):
    assert called.run("%nx source scale --form ptx").err == (
        "UsageError: scale(x: f64[3], k=2.0): no kernel has the form 'ptx'.\n"
        "  There are numba, llvm, assembly, module.\n"
    )


def test_source_of_a_kernel_that_there_is_not(called):
    assert called.run("%nx source scale --kernel 5").err == (
        "UsageError: scale(x: f64[3], k=2.0) has 1 kernel, no kernel 5.\n"
    )


def test_source_where_there_are_no_kernels(scale):
    scale.run("%%defn --compiler evaluator\ndef f(x):\n    return x + 1\nf(1.0)")
    assert scale.run("%nx source f").err == (
        "UsageError: f(x: f32) was compiled by evaluator, which computes without kernels.\n"
    )


def test_why(called):
    assert called.run("%nx why scale(np.ones(3))").out.startswith("scale: answered from the cache\n  compiled ")
    text = called.run('%nx why scale(np.ones(3, "f4"))').out
    assert "argument x: f64[3] → f32[3]" in text
    assert len(called.ns["scale"].compilations()) == 1


def test_why_of_something_else(called):
    assert called.run("%nx why len([])").err == (
        "UsageError: %nx why takes a call of a definition, and `len([])` calls a builtin_function_or_method.\n"
        "  Decorate the function with nx.defn, or begin its cell with %%defn.\n"
    )
    assert called.run("%nx why").err == "UsageError: %nx why takes a call, such as `%nx why f(x, axis=0)`.\n"


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(shell, command):
    for line in (f"%nx help {command}", f"%nx {command} --help"):
        text = shell.run(line).out
        assert f"Example: `%nx {command}" in text
        assert not text.startswith("::")
