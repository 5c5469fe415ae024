"""What functions say is said by each call of the definition, as Python and NumPy say it."""

import contextlib
import io
import logging
import sys
import types
import warnings

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.outputs import running_output
from nxkernel.errors import NxError, OmittedOutputWarning, TracedValueError

LOG = logging.getLogger("test_saying")


def test_printing(capsys):
    @nx.defn
    def f(x):
        print("tracing", x.shape)
        print("x is", x, "and twice", x * 2)
        print((x, 3))
        return x

    f(1.0)
    assert capsys.readouterr().out.splitlines() == [
        "tracing ()",
        "x is 1.0 and twice 2.0",
        "(1.0, 3)",
    ]
    f(1.0)
    assert "tracing" not in capsys.readouterr().out


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_printing_in_a_loop_writes_it_out(promotion, capsys):
    @nx.defn(promotion=promotion)
    def f(x):
        for i in range(3):
            print("turn", i, x + i)
        return x

    f(1.0)
    out = capsys.readouterr().out
    assert out.splitlines() == ["turn 0 1.0", "turn 1 2.0", "turn 2 3.0"]


def test_a_tensor_is_printed_as_outside_of_a_definition(capsys):
    def f(x):
        print(x, f"{x} {nx.sum(x):.2f}", "%s %d" % (x, x[1]), [x[0], x.shape], repr(x), sep="|")
        return x

    x = nx.tensor([1.0, 2.5], names=["row"])
    f(x)
    shown = capsys.readouterr().out
    nx.defn(f)(x)
    assert capsys.readouterr().out == shown
    assert shown == (
        "f32[row: 2] [1.  2.5]|f32[row: 2] [1.  2.5] 3.50|f32[row: 2] [1.  2.5] 2|[Tensor(1.0, f32), (2,)]|"
        "Tensor([1. , 2.5], f32[row: 2])\n"
    )


def test_printing_in_a_loop_of_unknown_length(run, capsys):
    f = run("@nx.defn\ndef f(x):\n    while x < 5:\n        print(x)\n        x = x * 2\n    return x\n")["f"]
    assert [float(f(x)) for x in (1.5, 5.0, 4.0)] == [6.0, 5.0, 8.0]
    assert capsys.readouterr().out == "1.5\n3.0\n4.0\n"


def heard(function, *args):
    """What a call writes, warns of and logs."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    LOG.addHandler(handler)
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        function(*args)
    LOG.removeHandler(handler)
    return out.getvalue(), [(str(one.message), one.category, one.lineno) for one in warned]


def warned_of(x):
    if np.any(x > 100):
        warnings.warn("large", stacklevel=1)
        return x * 2
    return x


def categories(x):
    if x[0] > 100:
        warnings.warn(f"{x[0]:.2f} is large", RuntimeWarning, stacklevel=1)
        warnings.warn(DeprecationWarning("old"), stacklevel=1)
    return x


def branches(x):
    s = 0.0
    if x[0] > 100:
        print("in the branch", x)
        LOG.warning("%f and %s", np.max(x), "b")
        s = 1.0
    else:
        LOG.error("small")
        sys.stdout.write("not taken\n")
    return x + s


def lines(x, n):
    print(f"x0 = {np.sum(x)}")
    print(f"{np.sum(x):.2f} {x[0]!r:>20} {n} {n:5d} {x} {{}} {x[0]:{n}.{2}f}")
    print("%d turns %5.2f %s %%" % (n, x[0], x), "%s" % x[0], "%.3e" % x[1])
    print("{:.3f} {} {a[0]} {{}} {:>{width}}".format(x[1], n, x[0], a=[x[0]], width=9))
    print("static", x.shape, n)
    print(str(x[0]) + " m", repr(x[0]), [x[0], n], {"k": x}, (np.float32(1.5) * x[0],))
    print(", ".join(f"{v:.1f}" for v in x), format(x[0], ".3f"))
    print(float(x[0]), [float(x[0])], f"{float(x[0])!r}")
    print("half is", x[0] / 2, "of", x, n, sep="|", end=".\n", file=sys.stderr)
    return x


def turns(x, verbose):
    for i in range(3):
        if verbose:
            print("turn", i, x[0] * i)
        LOG.debug("nobody listens")
        x = x * 2
    return x


def counted(x, limit):
    k = 0
    while x[0] < limit:
        x = x * 1.5
        k += 1
    print("%d turns" % k, f"{k} of {limit}")
    if k > 3:
        print("many")
    return x


def logged(x):
    LOG.warning("x %s", x)
    LOG.log(logging.ERROR, f"{x[0]}")
    return x


def nothing(x):
    title = "sum " + str(np.sum(x))
    title += "!"
    print(title)
    print(title + "?", len(x), x.dtype, type(x))


def unused(x, n):
    for i in range(n):
        if x[0] > 1e9:
            told = "%d turns" % i  # noqa: F841
        x = x * 1.01
    return x


SMALL, LARGE = np.array([1.5, 2.0]), np.array([1500.0, 2.0])


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (warned_of, [(SMALL,), (LARGE,)]),
        (categories, [(SMALL,), (LARGE,)]),
        (branches, [(SMALL,), (LARGE,)]),
        (lines, [(SMALL, 3), (LARGE, 7)]),
        (turns, [(SMALL, True), (SMALL, False)]),
        (counted, [(SMALL, 100.0), (SMALL, 2.0)]),
        (logged, [(SMALL,)]),
        (nothing, [(SMALL,)]),
        (unused, [(SMALL, 200)]),
    ],
)
def test_numpy_programs_say_what_python_says(function, calls):
    compiled = nx.defn(promotion="numpy")(function)
    for _ in range(2):
        for args in calls:
            assert heard(compiled, *args) == heard(function, *args)


def test_what_is_known_is_said_in_a_branch_that_is_taken_by_the_rules_of_nx(capsys):
    @nx.defn
    def f(t):
        if t > 0:
            print("positive", f"{t:.1f}")
        return nx.sin(t)

    for value in (1.0, -1.0, 2.0):
        f(value)
    assert capsys.readouterr().out == "positive 1.0\npositive 2.0\n"


TALKATIVE = """
import warnings, logging, sys
LOG = logging.getLogger("test_saying")
def f(x):
    print("begin", x[0])
    n = 0
    while x[0] < 5:
        x = x + 1
        if x[1] > 3:
            print(f"{x[0]:.2f}", n, n / 2)
        for k in range(2):
            if n == 1:
                warnings.warn(f"n is {n}, k is {k}")
                LOG.error("at %d", k)
        n += 1
    sys.stdout.write("end\\n")
    return x
"""


def test_in_a_loop_of_the_program(run):
    f = run(TALKATIVE)["f"]
    one, other = SMALL.copy(), SMALL.copy()
    expected = heard(f, one)
    assert heard(nx.defn(f, promotion="numpy"), other) == expected
    assert heard(nx.jit(f), other) == expected
    assert expected[0].splitlines()[:4] == ["begin 1.5", "3.50 1 0.5", "at 0", "at 1"]
    assert [each[0] for each in expected[1]] == ["n is 1, k is 0", "n is 1, k is 1"]


def test_what_a_loop_said_before_an_error_is_no_part_of_the_next_run(run, capsys):
    f = run(
        "@nx.defn(promotion='numpy')\n"
        "def f(x, bad):\n"
        "    for i in range(3):\n"
        "        print('turn', i)\n"
        "        x = nx.host_call(bad, x, x)\n"
        "    return x\n"
    )["f"]
    calls = []

    def bad(x):
        calls.append(len(calls))
        if len(calls) == 2:
            raise RuntimeError("no")
        return x

    with pytest.raises(RuntimeError, match="no"):
        f(np.ones(2), bad)
    capsys.readouterr()
    f(np.ones(2), bad)
    assert capsys.readouterr().out == "turn 0\nturn 1\nturn 2\n"


def test_in_a_branch_that_changes_an_object(run, capsys):
    f = run(
        "class Counter:\n"
        "    n = 0\n"
        "    def __init__(self): self.n = 0\n"
        "    def up(self, v):\n"
        "        if v > 2:\n"
        "            self.n += 1\n"
        "        return v > 2\n"
        "def f(x):\n"
        "    counter = Counter()\n"
        "    for k in range(len(x)):\n"
        "        if x[k] < 0:\n"
        "            x[k] = 0\n"
        "        elif counter.up(x[k]):\n"
        "            print('up', k, x[k], counter.n)\n"
        "    return counter.n\n"
    )["f"]
    values = np.array([1.0, 3, -1, 4])
    assert f(values.copy()) == nx.jit(f)(values) == 2
    assert capsys.readouterr().out == "up 1 3.0 1\nup 3 4.0 2\n" * 2


def test_a_loop_that_prints_has_a_gradient(run, capsys):
    f = run("@nx.defn\ndef f(x):\n    for i in range(2):\n        print(i, x)\n        x = x * x\n    return x\n")["f"]
    assert float(nx.grad(f)(1.5)) == 4 * 1.5**3
    assert capsys.readouterr().out == "0 1.5\n1 2.25\n"


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_in_a_loop_for_many_entries(run, capsys, promotion):
    f = run(
        f"@nx.defn(promotion={promotion!r})\n"
        "def f(x):\n"
        "    print('begin', x)\n"
        "    while x < 5:\n"
        "        print(f'{x:.2f}')\n"
        "        x = x + 1\n"
        "    return x\n"
    )["f"]
    nx.vmap(f)(np.array([3.5, 5.5, 4.25]))
    assert capsys.readouterr().out == "begin 3.5\nbegin 5.5\nbegin 4.25\n3.50\n4.25\n4.50\n"


def test_it_is_said_while_the_program_runs(run, monkeypatch):
    """Each line is written between two calls of a function that the program makes."""
    told = []
    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(write=told.append, flush=lambda: None))
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    print('begin', x, end='')\n"
        "    for i in range(2):\n"
        "        x = nx.host_call(here, x, x)\n"
        "        print(x, end='')\n"
        "    if x > 0:\n"
        "        print('positive', end='')\n"
        "    for i in range(2):\n"
        "        x = nx.host_call(here, x, x)\n"
        "        print(f'{x:.1f}', end='')\n"
        "    print(x, end='')\n"
        "    return x\n",
        {"nx": nx, "here": lambda x: told.append("call") or x + 1},
    )["f"]
    for compiler in ("evaluator", "numba_cpu"):
        told.clear()
        nx.jit(f, compiler=compiler)(1.0)
        assert [one for one in told if one.strip()] == [
            "begin", "1.0", "call", "2.0", "call", "3.0", "positive", "call", "4.0", "call", "5.0", "5.0",
        ]  # fmt: skip


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_what_is_said_before_an_error_is_said_and_nothing_after_it(run, promotion, capsys):
    f = run(
        f"@nx.defn(promotion={promotion!r})\n"
        "def f(x):\n"
        "    print('begin', x)\n"
        "    if x > 10:\n"
        "        raise KeyError('early')\n"
        "    for i in range(5):\n"
        "        print(i, x)\n"
        "        if x > 3:\n"
        "            raise ValueError(f'{x} in turn {i}')\n"
        "        x = x + 1\n"
        "    print('after', x)\n"
        "    return x\n"
    )["f"]
    with pytest.raises(ValueError, match=r"4\.0 in turn 2"):
        f(2.0)
    assert capsys.readouterr().out.splitlines() == ["begin 2.0", "0 2.0", "1 3.0", "2 4.0"]
    with pytest.raises(KeyError, match="early"):
        f(20.0)
    assert capsys.readouterr().out == "begin 20.0\n"


def test_an_interrupt_leaves_what_was_said(run, capsys):
    def stop(x):
        if x > 2:
            raise KeyboardInterrupt
        return x

    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    while x < 9:\n"
        "        x = nx.host_call(stop, x, x) + 1\n"
        "        print(x)\n"
        "    return x\n",
        {"nx": nx, "stop": stop},
    )["f"]
    with pytest.raises(KeyboardInterrupt):
        nx.jit(f, compiler="numba_cpu")(1.0)
    assert capsys.readouterr().out == "2.0\n3.0\n"


def test_what_waits_for_the_end_has_a_bound_that_says_what_was_left_out(run, monkeypatch, capsys):
    """Whose numbers the program was traced for it knows at its end."""
    f = run(
        "import numpy as np\n"
        "@nx.defn\n"
        "def f(x, n):\n"
        "    picked = x[x > 0]\n"
        "    y = np.sort(np.concatenate([picked, picked]))\n"
        "    for i in range(n):\n"
        "        if y[0] + i > 0:\n"
        "            print(i, y.size)\n"
        "    return y\n"
    )["f"]
    x = np.array([1.0, -2.0, 3.0])
    f(x, 3)
    assert capsys.readouterr().out == "0 4\n1 4\n2 4\n"
    monkeypatch.setattr(running_output, "MOST", 2)
    with pytest.warns(OmittedOutputWarning) as warned:
        f(x, 5)
    assert capsys.readouterr().out == "3 4\n4 4\n"
    assert str(warned[0].message) == (
        "f(x: f64[3], n: s64): a loop said 5 things, and the first 3 are left out.\n"
        "  What it says is kept until it has ended, as its program was traced for numbers of the call."
    )


@pytest.mark.parametrize(
    "code",
    ["{f'{x[0]}': 1}", "1 if f'{x[0]}' == '1.5' else 2", "x + len(f'{x[0]}')", "f'{x[0]}'.upper()", "f'{x[0]}'[0]"],
)
def test_text_that_is_looked_into(run, code):
    f = run(f"@nx.defn(promotion='numpy')\ndef f(x):\n    y = {code}\n    return x\n")["f"]
    with pytest.raises(TracedValueError) as raised:
        f(SMALL)
    assert str(raised.value) == (
        "text is asked for what is in it, and it has values in it that only the running program knows.\n"
        f"  cell.py, line 3:  y = {code}\n"
        "  Printed, logged or warned of it is made when the program has run. For anything else return the values, and "
        "make the text of them there."
    )


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ("raise ValueError(f'got {x}, {x.ndim}')", ValueError, "got [1. 1.], 1"),
        ("raise ValueError(f'got {x.sum():.2f}')", ValueError, "got 2.00"),
        ("raise KeyError('got %s' % x)", KeyError, "'got [1. 1.]'"),
        ("raise ValueError('got %d' % x[0])", ValueError, "got 1"),
        ("said = 'got {}'.format(x)\n    raise ValueError(said)", ValueError, "got [1. 1.]"),
        ("raise Own(f'got {x}', code=f'{x}')", RuntimeError, "got [1. 1.] [1. 1.]"),
        ("assert x.ndim == 2, f'got {x}'", AssertionError, "got [1. 1.]"),
    ],
)
def test_the_text_of_an_error_has_the_values_of_the_run(run, statement, kind, text):
    f = run(
        "class Own(RuntimeError):\n    def __init__(self, text, code):\n        super().__init__(text + ' ' + code)\n"
        f"@nx.defn(promotion='numpy')\ndef f(x):\n    {statement}\n    return x\n"
    )["f"]
    with pytest.raises(kind) as raised:
        f(np.ones(2))
    assert str(raised.value) == text


def _labelled(v):
    return f"<{v}>"


def _percents(v):
    return "%.2f of %s" % (v, 3)


def test_functions_that_only_make_text_make_it_of_what_the_program_computes(capsys):
    def function(x):
        print(_labelled(x.sum()), _labelled(x), _percents(x[0]))
        return x

    for make in (nx.jit, nx.defn):
        make(function)(np.array([1.0, 2.5]))
        assert capsys.readouterr().out == "<3.5> <[1.  2.5]> 1.00 of 3\n"


def picked_in_a_loop(x):
    out = 0.0
    while True:
        y = x[x > out]
        try:
            if len(y) == 0:
                raise ValueError("empty")
            out = y.min()
            print(out, y, len(y))
        except ValueError as error:
            print("end", error)
            break
    return out


def parts_of_a_known_length(x):
    for i in range(len(x)):
        y = x[:i]
        z = y[y > 1]
        try:
            print(i, y, z, [z], len(z))
        except ZeroDivisionError:
            break
    return x


@pytest.mark.parametrize("entered", [nx.defn, nx.jit], ids=["defn", "jit"])
@pytest.mark.parametrize("program", [picked_in_a_loop, parts_of_a_known_length], ids=lambda program: program.__name__)
def test_arrays_of_any_length_are_printed_as_numpy_prints_them(program, entered, capsys):
    compiled = entered(program)
    for values in ([1.0, 2.0, 3.0], [3.0, -1.0, 0.5], [-2.0, 0.0, 0.0]):
        found = [(function(np.array(values)), capsys.readouterr().out) for function in (program, compiled)]
        np.testing.assert_equal(*found)


def test_what_is_refused_where_text_is_made_is_not_traced_as_it_is(capsys):
    def function(x):
        for i in range(3):
            y = x[x > i]
            try:
                print(i, y, len(y))
                if y.sum() > 5:
                    break
            except Exception as error:
                print(type(error))
        return i, y

    for compiled in (nx.jit(function), nx.defn(function)):
        with pytest.raises(NxError, match="has a length that only the running program knows"):
            compiled(np.array([1.0, 2.0, 3.0]))
    assert not capsys.readouterr().out


def logged(x):
    LOG.info("of %d", len(x))
    LOG.log(logging.WARNING, "%.1f", x.sum())
    return x


def logged_in_detail(x):
    return np.log(x) if LOG.isEnabledFor(logging.DEBUG) else logged(x)


class Talker:
    def __init__(self):
        self.log = LOG

    def __call__(self, x):
        self.log.log(logging.ERROR, "called")
        return x + 1


class Printer:
    def told(self, x):
        print("told")
        return x - 1


TALKER, HELD = Talker(), types.SimpleNamespace(printer=Printer())


def held(x):
    return HELD.printer.told(TALKER(x))


@pytest.mark.parametrize("function", [logged, held, Printer().told, TALKER])
def test_loggers_and_objects_speak_at_each_call_of_a_function_that_is_traced_once(function, capsys, caplog):
    caplog.set_level(logging.INFO, LOG.name)
    compiled, x = nx.jit(function), np.arange(1.0, 4.0)
    expected = function(x)
    said = capsys.readouterr().out, [record.message for record in caplog.records]
    traced = []
    for _ in range(3):
        caplog.clear()
        np.testing.assert_array_equal(compiled(x), expected)
        assert (capsys.readouterr().out, [record.message for record in caplog.records]) == said
        traced.append(len(nx.events()))
    assert traced[1:] == traced[:1] * 2


def test_the_level_of_a_logger_is_read(caplog):
    compiled, x = nx.jit(logged_in_detail), np.arange(1.0, 4.0)
    for level in (logging.INFO, logging.DEBUG, logging.INFO):
        caplog.set_level(level, LOG.name)
        np.testing.assert_allclose(compiled(x), logged_in_detail(x))


def asserted(x, total):
    np.testing.assert_allclose(x.sum(), total, err_msg="the total", rtol=1e-3)
    x += 1
    for value in x:
        np.testing.assert_array_less(value, 100)
    return x * 2


def test_assertions_of_numpys_are_made_when_the_program_has_run():
    compiled = nx.jit(asserted)
    np.testing.assert_array_equal(compiled(np.ones(3), 3.0), [4.0, 4.0, 4.0])
    for x, total in ((np.ones(3), 4.0), (np.full(3, 99.5), 298.5)):
        texts = []
        for function in (asserted, compiled):
            given = x.copy()
            with pytest.raises(AssertionError) as caught:
                function(given, total)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]
    np.testing.assert_array_equal(given, x)
