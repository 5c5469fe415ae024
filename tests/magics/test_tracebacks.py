"""Errors of nxkernel in a shell: the person's lines, and none of nxkernel's."""

import sys

import pytest

import nxkernel
from nxkernel.definitions.calls.missed_calls import MissedCall
from nxkernel.messages import line_wrapping
from nxkernel_magics import tracebacks

MODEL = """%%defn
def half(x):
    return nx.mean(x, flavour=x)

def model(x):
    return half(x) * 2"""


def test_an_error_of_a_call_is_the_cell_and_the_text(shell):
    ran = shell.run("import math\nt = nx.eye(2)\nnx.sum(t, axes=[5])")
    assert not ran.success
    assert ran.out.splitlines() == [
        "---------------------------------------------------------------------------",
        "NxAxisError                               Traceback (most recent call last)",
        "Cell In[1], line 3",
        "      1 import math",
        "      2 t = nx.eye(2)",
        "----> 3 nx.sum(t, axes=[5])",
        "",
        "NxAxisError: axis 5 is out of range for the shape [2][2].",
        "  It has 2 axes, so an axis is from -2 to 1.",
    ]


def test_frames_of_the_persons_definitions_stay(shell):
    shell.run(MODEL)
    out = shell.run("model(1.0)").out
    assert [line.split(", ")[0] for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[2]", "Cell In[1]", "Cell In[1]",
    ]  # fmt: skip
    assert "----> 3     return nx.mean(x, flavour=x)" in out
    assert "nxkernel/" not in out
    assert len(out.splitlines()) < 30
    assert out.splitlines()[-3:] == [
        "NxTypeError: mean takes no flavour=.",
        "  cell 1, line 3:  return nx.mean(x, flavour=x)",
        "  It is called as nx.mean(tensor, *, axes=None, keep_axes=False).",
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("nx.zeros_like(2)", "nxkernel has no 'zeros_like'.\n  Write nx.fill(t, 0)."),
        ("nx.eye(2).H", "a tensor has no 'H'.\n  Write nx.linalg.adjoint(t)."),
    ],
)
def test_names_that_are_not_there_are_one_line_of_the_cell(shell, code, text):
    assert shell.run(code).out.splitlines()[2:] == [
        "Cell In[1], line 1", f"----> 1 {code}", "", *f"NxAttributeError: {text}".splitlines(),
    ]  # fmt: skip


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("command", ["%jit", "%nx inspect", "%nx why"])
@pytest.mark.parametrize(
    ("call", "cells", "error"),
    [
        ("f(nx.iota((2, 2)))", ["Cell In[2]", "Cell In[1]"], "NxTypeError: mean takes no flavour=."),
        ("f(1 / 0)", ["Cell In[2]"], "ZeroDivisionError: division by zero"),
        ("f(nobody)", ["Cell In[2]"], "NameError: name 'nobody' is not defined"),
    ],
)
def test_a_call_that_a_command_makes_shows_the_cell_once(shell, command, call, cells, error):
    shell.run("%%defn\ndef f(x):\n    return nx.mean(x, flavour=x)")
    out = shell.run(f"{command} {call}").out
    assert [line.split(", ")[0] for line in out.splitlines() if line.startswith("Cell ")] == cells
    assert "skipping" not in out
    assert error in out.splitlines()


def test_what_was_caught_inside_is_not_told(shell):
    out = shell.run("nx.load_numpy_archive(b'no archive')").out
    assert "During handling" not in out
    assert "direct cause" not in out
    assert (
        out.splitlines()[-1]
        == "NxValueError: cannot read the 10 bytes given: it is no .npz archive: File is not a zip file"
    )


def test_the_error_itself_stays_whole(shell):
    shell.run("nx.load_numpy_archive(b'no archive')")
    assert sys.last_value.__cause__ is not None
    out = shell.run("%tb").out
    assert "npz.py" in out
    assert "direct cause" in out


def test_verbose_mode_shows_every_frame(shell):
    try:
        shell.run("%xmode Verbose")
        assert "shapes.py" in shell.run("nx.sum(nx.eye(2), axes=[5])").out
    finally:
        shell.run("%xmode Context")


def test_other_errors_are_shown_as_ever(shell):
    out = shell.run("def f():\n    return 1 / 0\n\nf()").out
    assert "ZeroDivisionError: division by zero" in out
    assert "Custom TB" not in out


def test_an_error_that_a_definition_raises_shows_the_persons_lines(shell):
    out = shell.run(
        "%%defn\n"
        "def wave(x, *, mode):\n"
        "    if mode == 'sin':\n"
        "        y = nx.sin(x)\n"
        "    else:\n"
        "        raise ValueError(f'no mode {mode}')\n"
        "    return y\n"
        "wave(1.0, mode='saw')"
    ).out
    assert "nxkernel/" not in out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[1], line 8", "Cell In[1], line 6, in wave(x, mode)",
    ]  # fmt: skip
    assert out.splitlines()[-1] == "ValueError: no mode saw"


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("call", ["wrong(1.0)", "wrong.why(1.0)", "%jit wrong(1.0)", "nx.grad(wrong)(1.0)"])
def test_an_error_of_a_library_that_a_definition_calls_shows_no_frames_of_ours(shell, call):
    out = shell.run(f"import numpy as np\n@nx.defn\ndef wrong(x):\n    return np.cumsumm(x)\n{call}").out
    assert "nxkernel/" not in out
    assert "hidden" not in out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[1], line 5", "Cell In[1], line 4, in wrong(x)",
    ]  # fmt: skip
    assert out.splitlines()[-1] == "AttributeError: module 'numpy' has no attribute 'cumsumm'"


def test_a_mistake_of_ours_shows_every_frame(shell, monkeypatch):
    monkeypatch.setattr(MissedCall, "trace", None)
    out = shell.run("nx.jit(lambda x: x)(1.0)").out
    assert "missed_calls.py" in out
    assert out.splitlines()[-1] == "TypeError: 'NoneType' object is not callable"


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("eval('1 +')", "SyntaxError: invalid syntax"),
        ("%nx inspect nobody", "UsageError: "),
        ("raise ExceptionGroup('two', [ValueError(1), ValueError(2)])", "+------------------------------------"),
    ],
)
def test_what_ipython_shows_in_its_own_way_stays_so(shell, code, last):
    ran = shell.run(code)
    lines = (ran.out + ran.err).strip().splitlines()
    assert any(line.strip().startswith(last) for line in lines)
    assert not any("Custom TB" in line for line in lines)


def test_unload_takes_it_out_again(shell):
    assert shell.ip.custom_exceptions == (Exception, KeyboardInterrupt)
    nxkernel.unload_ipython_extension(shell.ip)
    assert shell.ip.custom_exceptions == ()


def test_the_handler_of_somebody_else_stays(bare):
    def handler(shell, kind, error, traceback, tb_offset=None):
        return []

    bare.ip.set_custom_exc((KeyError,), handler)
    try:
        nxkernel.load_ipython_extension(bare.ip)
        assert bare.ip.custom_exceptions == (KeyError,)
        nxkernel.unload_ipython_extension(bare.ip)
        assert bare.ip.custom_exceptions == (KeyError,)
    finally:
        bare.ip.set_custom_exc((), None)


@pytest.mark.parametrize("part", ["[0, 0]", ".shape", "[0].T"])
def test_a_part_of_a_call_under_jit_names_the_call(shell, part):
    shell.run("def blur(img):\n    return img")
    assert shell.run(f"%jit blur(img){part}").err == (
        f"UsageError: %jit takes a call, such as `%jit f(x, axis=0)`, got `blur(img){part}`.\n"
        "  Give the call alone: `%jit blur(img)`.\n"
    )


@pytest.mark.parametrize("kernel", [False, True])
def test_blocks_of_a_function_are_lines_of_it(shell, kernel, monkeypatch):
    if kernel:
        # A kernel's cells have names of files that do not exist, for which IPython asks frames for their lines.
        monkeypatch.setattr(shell.ip.compile, "get_code_name", lambda raw, code, number: f"/nowhere/{number}.py")
    out = shell.run(
        "%%defn\n"
        "def f(x):\n"
        "    for i in range(3):\n"
        "        if x[i] > 0:\n"
        "            x = nx.reshape(x, (5,))\n"
        "    return x\n"
        "f(nx.iota((3,)))"
    ).out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[1], line 7",
        "Cell In[1], line 5, in f(x)",
    ]
    (arrow,) = [line for line in out.splitlines() if line.startswith("----> 5")]
    assert arrow.endswith(" x = nx.reshape(x, (5,))")


def test_what_nxkernel_calls_is_not_shown(shell):
    out = shell.run("%%defn\ndef f(x):\n    for i in range(3):\n        yield x").out
    assert "ast.py" not in out
    assert [line for line in out.splitlines() if line.startswith(("Cell ", "File "))] == ["Cell In[1], line 2"]


def test_interrupts_show_the_persons_lines(shell):
    out = shell.run(
        "def stopped():\n    raise KeyboardInterrupt\nwrapped = nx.deftransform(stopped)\n"
        "@nx.defn\ndef f(x):\n    wrapped()\n    return x\nf(1.0)"
    ).out
    assert "nxkernel/" not in out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[1], line 8", "Cell In[1], line 6, in f(x)", "Cell In[1], line 2, in stopped()",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "line"), [("nx", "import nxkernel as nx"), ("np", "import numpy as np")])
def test_a_name_that_notebooks_usually_have_is_told(shell, name, line):
    shell.ns.pop(name, None)
    for cell in (f"{name}.sin(1.0)", f"%%defn\ndef f(x):\n    return {name}.sin(x)\n\nf(1.0)"):
        out = shell.run(cell).out
        assert out.splitlines()[-2:] == [f"NameError: name '{name}' is not defined", f"Write {line} in a cell above."]
    assert "Write" not in shell.run("nz.sin(1.0)").out


def test_the_first_line_of_a_cell_is_what_was_written(shell):
    shown = shell.run("%%jit\ny = 2.0\nz = 1 / 0").out
    assert "      1 %%jit\n" in shown
    assert "get_ipython" not in shown
    shown = shell.run("%%defn --compiler evaluator\nf = 1 / 0\n\ndef g(x):\n    return x").out
    assert "get_ipython" not in shown


def test_coloured_lines_are_written_so_too():
    call = ["get_ipython", "(", ")", ".", "run_cell_magic", "(", "'", "jit", "'", ",", "''", ",", "''", ")"]
    spaced = [part + " " * (part == ",") for part in call]
    line = "\x1b[32m----> 1\x1b[39m " + "".join(f"\x1b[30m{part}\x1b[39m" for part in spaced)
    written = "\x1b[32m----> 1\x1b[39m \x1b[30m%%jit\x1b[0m\n      2 y = 1"
    assert tracebacks.as_written(line + "\n      2 y = 1") == written
    other = "get_ipython().run_line_magic('time', '')"
    assert tracebacks.as_written(other) == other


def test_an_assertion_in_a_definition_shows_the_lines_of_the_cells(shell):
    shell.run("%%defn\ndef three(x):\n    assert x.shape[0] == 3, 'need three'\n    return x")
    out = shell.run("three(nx.iota(4))").out
    assert [line for line in out.splitlines() if line.startswith(("Cell ", "File "))] == [
        "Cell In[2], line 1", "Cell In[1], line 3, in three(x)",
    ]  # fmt: skip
    assert out.splitlines()[-1] == "AssertionError: need three"


def test_a_check_of_data_shows_the_lines_of_the_cells(shell):
    shell.run("%%defn\ndef root(x):\n    if nx.sum(x) < 0:\n        raise ValueError('negative')\n    return x")
    for number in (2, 3):
        out = shell.run("root(-nx.iota(4))").out
        assert [line for line in out.splitlines() if line.startswith(("Cell ", "File "))] == [
            f"Cell In[{number}], line 1", "Cell In[1], line 4, in root()",
        ]  # fmt: skip
        assert out.splitlines()[-1] == "ValueError: negative"


@pytest.mark.parametrize("kernel", [False, True])
def test_a_check_of_data_shows_the_line_of_its_function(shell, kernel, monkeypatch):
    if kernel:
        monkeypatch.setattr(shell.ip.compile, "get_code_name", lambda raw, code, number: f"/nowhere/{number}.py")
    out = shell.run(
        "import numpy as np\n\n"
        "def checked(x):\n"
        "    if x.sum() > 1:\n"
        "        raise ValueError('big')\n"
        "    return x\n\n"
        "def f(x):\n"
        "    return checked(x) + 1\n\n"
        "nx.jit(f)(np.ones(2))"
    ).out
    assert [line.split() for line in out.splitlines() if line.startswith("-") and "> " in line] == [
        ["--->", "11", "nx.jit(f)(np.ones(2))"],
        ["---->", "9", "return", "checked(x)", "+", "1"],
        ["---->", "5", "raise", "ValueError('big')"],
    ]


@pytest.mark.parametrize("kernel", [False, True])
def test_a_check_of_data_in_a_compiled_cell_shows_its_line(shell, kernel, monkeypatch):
    if kernel:
        monkeypatch.setattr(shell.ip.compile, "get_code_name", lambda raw, code, number: f"/nowhere/{number}.py")
    shell.run("import numpy as np")
    out = shell.run("%%jit\nw = np.zeros(3)\nif w.sum() < 1:\n    raise ValueError('small')").out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[2], line 1",
        "Cell In[2], line 4",
    ]
    assert [line.split() for line in out.splitlines() if line.startswith("----> ")] == [
        ["---->", "1", "%%jit"],
        ["---->", "4", "raise", "ValueError('small')"],
    ]


def test_a_function_of_numpys_that_raises_shows_no_frame_of_ours(shell):
    shell.run("import numpy as np\n@nx.defn\ndef read(x):\n    return np.loadtxt('no such file') + x")
    out = shell.run("read(np.ones(2))").out
    assert "nxkernel/" not in out
    assert [line for line in out.splitlines() if line.startswith("Cell ")] == [
        "Cell In[2], line 1", "Cell In[1], line 4, in read(x)",
    ]  # fmt: skip
    assert out.splitlines()[-1] == "FileNotFoundError: no such file not found."


def test_a_matrix_that_a_function_of_numpys_refuses_shows_the_lines_of_the_cells(shell):
    shell.run(
        "import numpy as np\n@nx.defn\ndef half(a):\n    return np.linalg.inv(a) / 2\nsingle = nx.jit(np.linalg.inv)"
    )
    assert shell.run("half(np.eye(2)), single(np.eye(2))").success
    for code, lines in [
        ("half(np.zeros((2, 2)))", ["Cell In[3], line 1", "Cell In[1], line 4, in half()"]),
        ("single(np.zeros((2, 2)))", ["Cell In[4], line 1"]),
    ]:
        out = shell.run(code).out
        assert [line for line in out.splitlines() if line.startswith(("Cell ", "File "))] == lines
        assert out.splitlines()[-1] == "LinAlgError: Singular matrix"


def test_a_list_that_an_operator_does_not_take_is_told(shell):
    shell.run("import numpy as np\n@nx.defn\ndef square(x, y):\n    return np.exp(y - x**2)")
    assert shell.run("square([1, 2], 1.0)").out.splitlines()[-2:] == [
        "TypeError: unsupported operand type(s) for ** or pow(): 'list' and 'int'",
        "  x is a list of numbers, as Python has it: pass np.array(x).",
    ]


def test_a_refusal_shows_no_frame_of_a_library_that_nxkernel_calls(shell):
    shell.run("%%defn\ndef root(x):\n    while nx.sum(x) < 0:\n        x = nx.to_number(x)\n    return x")
    out = shell.run("root(nx.iota(4))").out
    assert [line for line in out.splitlines() if line.startswith(("Cell ", "File "))] == [
        "Cell In[2], line 1", "Cell In[1], line 4, in root(x)",
    ]  # fmt: skip


def test_long_lines_of_an_error_break_between_words_on_a_page(shell, monkeypatch):
    monkeypatch.setattr(tracebacks, "wrapped", lambda text: line_wrapping.wrapped(text, 40))
    code = "nx.reshape(nx.iota(6), (4, 2))"
    assert shell.run(code).out.splitlines()[-2:] == [
        "NxValueError: cannot reshape 6 elements to [4][2], which has 8.",
        '  One size may be left open as "auto".',
    ]
    monkeypatch.setattr(shell.ip, "kernel", object(), raising=False)
    assert shell.run(code).out.splitlines()[-3:] == [
        "NxValueError: cannot reshape 6 elements",
        "  to [4][2], which has 8.",
        '  One size may be left open as "auto".',
    ]
