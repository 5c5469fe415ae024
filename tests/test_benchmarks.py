"""The benchmark suite: its records, its table, its programs, its command; not how fast anything is."""

import ast
import json
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("little_garbage")

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # after the installed packages, so that nxkernel is the one under test

from benchmarks.__main__ import quoted, report  # noqa: E402
from benchmarks.measuring import children, picture, process_memory, suite, table, timing  # noqa: E402
from benchmarks.measuring.work import BETTER, Goal, Outcome, Settings, Work  # noqa: E402
from benchmarks.peers import loops_in_jax, loops_in_numba, loops_in_numpy  # noqa: E402
from benchmarks.works import loops, programs  # noqa: E402

QUICK = Settings(seconds=0.0, rounds=2, repeats=1)


def outcome(figures, *goals, unit="s", note=""):
    return Outcome("a work", figures, goals, unit, note)


class TestOutcome:
    def test_ratio_is_the_subject_over_the_peer(self):
        assert outcome({"nxkernel": 1.0, "JAX": 4.0}).ratio("JAX") == 0.25

    def test_ratio_without_a_figure_is_none(self):
        assert outcome({"nxkernel": 1.0}).ratio("JAX") is None
        assert outcome({"JAX": 1.0}).ratio("JAX") is None

    @pytest.mark.parametrize(
        ("figures", "goals", "met"),
        [
            ({"nxkernel": 1.0, "JAX": 1.0}, [Goal(1.0)], True),
            ({"nxkernel": 1.1, "JAX": 1.0}, [Goal(1.0)], False),
            ({"nxkernel": 1.0}, [Goal(1.0)], None),
            ({}, [Goal(1.0)], None),
            ({"nxkernel": 1.0, "JAX": 20.0, "NumPy": 0.5}, [Goal(0.1), Goal(1.2, "NumPy")], False),
            ({"nxkernel": 1.0, "JAX": 5.0}, [Goal(0.1), Goal(1.2, "NumPy")], False),
            ({"nxkernel": 1.9}, [Goal(2.0, "")], True),
            ({"nxkernel": 0.0}, [Goal(0.0, "")], True),
            ({"nxkernel": 1.0}, [Goal(0.0, "")], False),
            ({"nxkernel": 1.0, "cold": 10.0}, [Goal(0.2, "cold")], True),
        ],
    )
    def test_met_needs_every_goal(self, figures, goals, met):
        assert outcome(figures, *goals).met() is met


class TestTable:
    ROWS = (
        outcome({"nxkernel": 0.0005, "JAX": 0.001, "NumPy": 0.002}, Goal(0.75)),
        outcome({"nxkernel": 1.5, "JAX": 1.0}, Goal(1.0), Goal(1.2, "NumPy")),
        outcome({"nxkernel": 812.0}, Goal(1000.0, ""), unit="MB", note="a|b"),
        outcome({"nxkernel": 0}, Goal(0.0, ""), unit=""),
    )

    def test_text(self):
        assert table.as_text(self.ROWS).splitlines() == [
            "work    nxkernel   JAX  Numba  NumPy  ÷ JAX  ÷ Numba  ÷ NumPy  goal                  met  note",
            "──────────────────────────────────────────────────────────────────────────────────────────────",
            "a work    500 µs  1 ms      –   2 ms   0.50        –     0.25  ≤ 0.75 JAX            yes",
            "a work     1.5 s   1 s      –      –   1.50        –        –  ≤ 1 JAX, ≤ 1.2 NumPy  no",
            "a work    812 MB     –      –      –      –        –        –  ≤ 1000 MB             yes  a|b",
            "a work         0     –      –      –      –        –        –  ≤ 0                   yes",
        ]

    def test_markdown(self):
        assert table.as_markdown(self.ROWS[2:3]).splitlines() == [
            "| work | nxkernel | JAX | Numba | NumPy | ÷ JAX | ÷ Numba | ÷ NumPy | goal | met | note |",
            "| --- | --: | --: | --: | --: | --: | --: | --: | --- | --- | --- |",
            "| a work | 812 MB | – | – | – | – | – | – | ≤ 1000 MB | yes | a\\|b |",
        ]

    def test_summary(self):
        assert table.summary(self.ROWS) == "3 of 4 goals met"
        assert table.summary([*self.ROWS, outcome({}, Goal(1.0))]) == "3 of 5 goals met, 1 not measured"

    @pytest.mark.parametrize(
        ("value", "unit", "text"),
        [
            (None, "s", "–"),
            (2.0, "s", "2 s"),
            (0.01234, "s", "12.3 ms"),
            (1.5e-6, "s", "1.5 µs"),
            (2.5e-8, "s", "25 ns"),
            (0.4, "MB", "0 MB"),
        ],
    )
    def test_quantity(self, value, unit, text):
        assert table.quantity(value, unit) == text

    def test_report_names_the_machine(self):
        page = report([self.ROWS[0]], {"processor": "P", "Python": "3.11"})
        assert page.startswith("# Benchmarks\n\n* processor: P\n* Python: 3.11\n\n| work |")
        assert page.endswith("| yes |  |\n\n1 of 1 goals met\n")


def test_a_page_quotes_the_works_that_it_has_and_those_that_miss():
    rows = [
        Outcome(name, {"nxkernel": time, "JAX": 1.0}, (Goal(1.0),))
        for name, time in zip("abc", (0.5, 0.25, 2.0), strict=True)
    ]
    page = "a\n<!-- table: benchmarks/results/x.md -->\n{}<!-- end of table -->\nb\n"
    found = quoted(page.format("| work |\n| - |\n| b | 1 |\n"), "x", rows)
    assert found == page.format(f"2 of 3 goals met.\n\n{table.as_markdown(rows[1:])}\n")
    assert quoted(found, "x", rows) == found
    assert quoted(found, "y", rows) == found


class TestPicture:
    ROWS = (
        Outcome("a fast one", {"nxkernel": 1.0, "JAX": 4.0, "NumPy": 20.0}, (Goal(1.0),)),
        Outcome("a slow one", {"nxkernel": 2.0, "JAX": 1.0}, (Goal(1.0),)),
        Outcome("one of its own", {"nxkernel": 2.0}, (Goal(3.0, ""),)),
    )

    def test_works_without_a_peer_are_left_out(self):
        assert picture.comparable(self.ROWS) == list(self.ROWS[:2])

    def test_the_same_figures_give_the_same_file(self, tmp_path):
        pytest.importorskip("matplotlib")
        for name in "ab":
            picture.draw(self.ROWS, tmp_path / name)
        drawn = (tmp_path / "a").read_text()
        assert drawn == (tmp_path / "b").read_text()
        assert [f"<!-- {row.work} -->" in drawn for row in self.ROWS] == [True, True, False]
        assert drawn.count("#b3261e") > 0

    def test_nothing_is_red_where_all_goals_are_met(self, tmp_path):
        pytest.importorskip("matplotlib")
        picture.draw(self.ROWS[:1], tmp_path / "a")
        assert "#b3261e" not in (tmp_path / "a").read_text()


class TestTiming:
    def test_calls_take_turns(self):
        order = []
        best = timing.interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, QUICK)
        assert order == [*"aaa", *"bbb", *"aaa", *"bbb"]
        assert set(best) == {"a", "b"}
        assert all(0 <= seconds < 1 for seconds in best.values())

    def test_a_prepared_call_has_arguments_of_its_own(self):
        kept = np.zeros(2)

        def count(a):
            a += 1

        call = timing.Prepared(lambda: [kept.copy()], count, lambda returned, arguments: (arguments[0],))
        assert timing.once(call) < 1
        timing.check("count", call.outcome(), (np.ones(2),), 0.0)
        np.testing.assert_array_equal(kept, 0)

    def test_check_accepts_what_is_close(self):
        timing.check("x", np.float32([1.0, 2.0000001]), np.float32([1.0, 2.0]), 1e-6)
        timing.check("x", (np.arange(3), np.ones(2)), (np.arange(3), np.ones(2)), 1e-6)

    def test_check_refuses_a_wrong_value(self):
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            timing.check("x", np.float32([1.0, 2.1]), np.float32([1.0, 2.0]), 1e-6)

    def test_check_compares_integers_exactly(self):
        with pytest.raises(AssertionError, match="Arrays are not equal"):
            timing.check("x", np.array([1, 3]), np.array([1, 2]), 1.0)

    def test_check_counts_the_values(self):
        with pytest.raises(AssertionError, match="x returned 2 values, expected 1"):
            timing.check("x", (1.0, 2.0), 1.0, 1e-6)


def operations_in(text: str) -> int:
    return sum(isinstance(node, ast.BinOp | ast.Compare | ast.Call) for node in ast.walk(ast.parse(text)))


class TestPrograms:
    @pytest.mark.parametrize("operations", [5, 50, 200])
    @pytest.mark.parametrize("options", ["", "*, scale=1.0"])
    def test_has_the_number_of_operations(self, operations, options):
        texts = [programs.source("f", operations, seed, options) for seed in range(5)]
        assert [operations_in(text) for text in texts] == [operations] * 5
        assert len(set(texts)) == 5

    def test_is_the_same_text_for_the_same_seed(self):
        assert programs.source("f", 50, 3) == programs.source("f", 50, 3)

    def test_chain_uses_the_two_values_before_and_an_exp_every_fifth_step(self):
        assert programs.chain(6).splitlines() == [
            "def chain(x, y, z):",
            *["    x, y = y, y - x * z"] * 4,
            "    x, y = y, m.exp(y * 0.25 - x)",
            "    x, y = y, y - x * z",
            "    return y",
        ]

    def test_build_gives_a_function_whose_source_is_known(self):
        import inspect

        text = "def double(x):\n    return m.add(x, x)\n"
        double = programs.build(text, np, np.where, "test double")
        assert double(np.float32(2)) == 4
        assert inspect.getsource(double) == text


class TestSuite:
    def test_covers_the_goals(self):
        goals = {work.name: work.goals for work in suite.WORKS}
        assert len(goals) == len(suite.WORKS) == 66
        assert goals["exp(x) * x + 1, 4 M float32"] == (Goal(0.75, "JAX"),)
        assert goals["argmax over rows of 4096 × 1000 float32"] == (Goal(0.1, "JAX"), Goal(1.2, "NumPy"))
        assert goals["sort of 1 M float32"] == (Goal(1.0, BETTER),)
        assert goals["gradients: a scan of 1000 steps, 64 units"] == (Goal(1.0),)
        assert goals["loops: Cholesky of 400 × 400 float64"] == (Goal(1.0, BETTER),)
        assert goals["first call in a new process, warm disk cache"] == (Goal(0.2, "cold"),)

    def test_the_better_of_the_peers(self):
        work = next(work for work in suite.WORKS if work.name == "sort of 1 M float32")
        assert work.outcome({"nxkernel": 3.0, "JAX": 4.0, "NumPy": 2.0}).ratio(BETTER) == 1.5
        assert work.outcome({"nxkernel": 3.0, "JAX": 4.0}).met()
        assert work.outcome({"nxkernel": 3.0}).met() is None

    def test_chosen_by_pattern(self):
        assert [work.name for work in suite.chosen("^(softmax|dot)")] == [
            "softmax of 4096 × 1000 float32, rows",
            "dot of 1024 × 1024 float32",
        ]
        assert suite.chosen(None) == suite.WORKS

    def test_a_work_that_raises_becomes_a_row(self):
        def broken(work, settings):
            raise ValueError("no such thing\nsecond line")

        told = []
        rows = suite.run([Work("w", (Goal(1.0),), broken)], QUICK, told.append)
        assert told == ["w"]
        assert rows == [Outcome("w", {}, (Goal(1.0),), "s", "failed: ValueError: no such thing")]


class TestLoops:
    @pytest.mark.parametrize("work", loops.WORKS, ids=lambda work: work.name)
    def test_every_program_is_there_for_all(self, work):
        (program,) = work.measure.args
        for module in (loops_in_numpy, loops_in_numba, loops_in_jax):
            assert callable(getattr(module, program.name))

    def test_loops_by_hand_agree_with_numpy(self):
        program = loops.Loops("cholesky", lambda random: (np.diag(random.random(5) + 1),), (0,))
        calls = program.calls()
        program.check("Numba", calls["Numba"].outcome(), calls["NumPy"].outcome())

    def test_few_strays_are_let_pass(self):
        program = loops.Loops("mandelbrot", lambda random: (4, 4, 4), strays=0.5)
        program.check("x", (np.array([1, 2, 3]),), (np.array([1, 2, 4]),))
        with pytest.raises(AssertionError, match=r"x: 66\.67% of the numbers differ"):
            program.check("x", (np.array([1, 3, 3]),), (np.array([1, 2, 4]),))

    def test_on_one_thread(self):
        assert loops_in_numba.on_one_thread(loops_in_numba.darts) is None
        alone = loops_in_numba.on_one_thread(loops_in_numba.jacobi).targetoptions
        assert (alone.get("parallel"), alone["fastmath"]) == (None, True)


class TestChildren:
    def test_call_gives_the_answer(self):
        assert children.call("math", "gcd", 12, 18) == 6

    def test_environment_is_passed(self):
        text = "import os, json; print(json.dumps(os.environ['NXKERNEL_TEST']))"
        assert children.script(text, environment={"NXKERNEL_TEST": "x"}) == "x"

    def test_failure_tells_the_last_line(self):
        with pytest.raises(children.ChildError, match="status 1: ZeroDivisionError: division by zero"):
            children.script("1 / 0")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
def test_peak_memory_sees_what_was_held_for_a_moment():
    process_memory.forget_peak()
    before = process_memory.resident()
    # Pages of their own: an array may lie in memory that the process already holds, and add nothing.
    with mmap.mmap(-1, 50_000_000) as held:
        held[:: mmap.PAGESIZE] = bytes(len(range(0, len(held), mmap.PAGESIZE)))
    assert 45 < process_memory.peak() - before < 80


def run_command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )


class TestCommand:
    @pytest.mark.slow
    def test_prints_the_table_and_writes_the_figures(self, tmp_path):
        file = tmp_path / "figures.json"
        done = run_command("--quick", "--only", "^sum of all|on 3 elements", "--json", str(file))
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].split()[:8] == ["work", "nxkernel", "JAX", "Numba", "NumPy", "÷", "JAX", "÷"]
        assert lines[2].startswith("sum of all of 4096 × 1000 float32 ")
        written = json.loads(file.read_text())
        assert [row["note"] for row in written["rows"]] == ["", ""]
        assert all(row["figures"]["nxkernel"] > 0 for row in written["rows"])
        assert written["machine"]["Python"] == ".".join(map(str, sys.version_info[:3]))

    @pytest.mark.slow
    def test_unknown_work(self):
        done = run_command("--only", "no such work")
        assert done.returncode == 1
        assert done.stderr.startswith("no work matches 'no such work'; there are:\n  exp(x) * x + 1, 4 M float32\n")

    def test_too_many_threads(self):
        done = run_command("--threads", "100000")
        assert done.returncode == 1
        assert done.stderr.startswith("--threads takes 1 to ")
