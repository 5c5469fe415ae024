"""The GPU's benchmarks: what runs where, what is told of failures, and that all spellings of a program agree."""

import math
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability

pytestmark = pytest.mark.usefixtures("little_garbage")

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # after the installed packages, so that nxkernel is the one under test

from benchmarks.gpu import command, programs, timing  # noqa: E402
from benchmarks.gpu import works as gpu_works  # noqa: E402
from benchmarks.gpu.libraries import Library, environment  # noqa: E402
from benchmarks.measuring import table  # noqa: E402
from benchmarks.measuring.work import BETTER, COPY, GPU_PEERS, SUBJECT, Goal, Outcome, Settings, Work  # noqa: E402
from benchmarks.works import reductions  # noqa: E402

QUICK = Settings(seconds=0.0, rounds=2, repeats=1)
SMALL = {
    **programs.bandwidth_bound(6, 20),
    **programs.rows(6, 20),
    **programs.products(8, 8),
    **programs.loops((6,), 5, 2),
}


def plain(name, compiled=lambda function, **options: lambda *given: function(*given, **options)):
    """A contender that computes with NumPy."""
    return Library(name, np.asarray, compiled, lambda result: None, np.asarray)


@pytest.fixture
def numpy_as_jax(monkeypatch):
    """Programs of JAX, whether it is installed or not, over NumPy."""
    monkeypatch.setattr(programs.libraries, "jax", lambda: types.SimpleNamespace(numpy=np))


class TestPrograms:
    @pytest.mark.parametrize("name", SMALL)
    def test_definitions_compute_what_numpy_does(self, name):
        program = SMALL[name]
        arguments = program.arguments()
        definition = nx.defn(program.definition, compiler="evaluator", promotion="nx")
        result = definition(*map(nx.tensor, arguments), **program.options)
        found = plain("x").arrays(result)
        gpu_works.same(found, program.expected(arguments), program.tolerance)

    @pytest.mark.sampled(every=6)
    @pytest.mark.parametrize("name", SMALL)
    def test_programs_of_jax_compute_what_numpy_does(self, name):
        jax = pytest.importorskip("jax", reason="JAX is not installed")
        program = SMALL[name]
        arguments = program.arguments()

        def compiled(function, **options):
            return lambda *given: function(*given, **options)

        library = Library("JAX", jax.numpy.asarray, compiled, jax.block_until_ready, np.asarray)
        result = program.compiled(library)(*map(library.place, arguments))
        gpu_works.same(library.arrays(result), program.expected(arguments), max(program.tolerance, 1e-6))

    def test_moved_bytes_are_those_that_have_to_be(self):
        moved = {name: program.moved for name, program in programs.bandwidth_bound(1024, 1024).items()}
        mebibyte = 2**20
        assert moved == {
            "exp(x) * x + 1, 1 M": 8 * mebibyte,
            "select(x > y, x * y + 1, x − y) / 2, 1 M": 12 * mebibyte,
            "sum, 1 M": 4 * mebibyte,
            "sum of (x − y)², 1 M": 8 * mebibyte,
            "sums of the rows, 1,024 × 1,024": 4 * mebibyte,
            "sums of the columns, 1,024 × 1,024": 4 * mebibyte,
            "argmax of the rows, 1,024 × 1,024": 4 * mebibyte,
            "x + transpose(y), 1,024 × 1,024": 12 * mebibyte,
        }


class TestWorks:
    @pytest.mark.parametrize("small", [False, True])
    def test_names_tell_works_apart(self, small):
        names = [work.name for work in command.chosen(None, small)]
        assert len(set(names)) == len(names) == (23 if not small else 20)

    def test_goals(self):
        goals = {work.name: work.goals for work in command.chosen(None, small=False)}
        assert goals["sum, 256 M"] == (Goal(1.11, COPY),)
        assert goals["softmax of the rows, 65,536 × 4,096"] == (Goal(1.0, BETTER),)
        assert [work.name for work in command.chosen("^call on", small=True)] == [
            "call on 3 elements, the last of many waited for",
            "call on 3 elements, each waited for",
        ]

    def test_a_throughput_is_compared_with_a_copy(self, numpy_as_jax):
        program = programs.Program(
            lambda x: x + 1, lambda xp, x: x + 1, lambda x: x + 1, lambda random: (np.ones(5, np.float32),), moved=40
        )
        ground = gpu_works.Ground((plain("JAX"), plain(SUBJECT)), bandwidth=1e6)
        work = Work(
            "w", (Goal(1.11, COPY),), lambda work, settings: gpu_works._throughput(ground, program, work, settings)
        )
        (row,) = work.measure(work, QUICK)
        assert row.figures[COPY] == 40 / 1e6
        assert row.met() is (row.figures[SUBJECT] <= 1.11 * 4e-5)
        assert row.note.endswith("% of a copy")

    def test_who_fails_is_told_and_the_others_are_measured(self, numpy_as_jax):
        def compiled(function, **options):
            def call(*given):
                raise ValueError("no such thing\nsecond line")

            return call

        ground = gpu_works.Ground((plain("JAX", compiled), plain(SUBJECT)))
        work = next(work for work in gpu_works.works(gpu_works.Ground((), small=True)) if work.name.startswith("sum, "))
        program = programs.bandwidth_bound(2, 3)["sum, 6"]
        program = programs.Program(np.sum, program.with_arrays, np.sum, program.inputs)
        (row,) = gpu_works._throughput(ground, program, work, QUICK)
        assert list(row.figures) == [SUBJECT]
        assert row.note == "JAX failed: ValueError: no such thing"

    def test_a_wrong_result_has_no_time(self):
        def compiled(function, **options):
            return lambda *given: function(*given) + 1

        ground = gpu_works.Ground((plain(SUBJECT, compiled),))
        work = Work("w", (), None)
        program = programs.Program(np.sum, lambda xp, x: xp.sum(x), np.sum, lambda random: (np.ones(3),))
        (row,) = gpu_works._throughput(ground, program, work, QUICK)
        assert row.figures == {}
        assert row.note.startswith("nxkernel failed: AssertionError: ")

    def test_first_calls_of_written_functions(self):
        jax = pytest.importorskip("jax", reason="JAX is not installed")
        library = Library("JAX", jax.numpy.asarray, jax.jit, jax.block_until_ready, np.asarray)
        ground = gpu_works.Ground((library,), small=True)
        for measure in (gpu_works._first_calls, gpu_works._new_shapes):
            (row,) = measure(ground, Work("w", (Goal(1.0, BETTER),), None), QUICK)
            assert row.note == ""
            assert row.figures["JAX"] > 0


class TestSame:
    def test_accepts_what_is_close(self):
        gpu_works.same([np.float32([1, 2.0000001])], [np.float32([1, 2])], 1e-6)

    def test_refuses_another_value(self):
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            gpu_works.same([np.float32([1, 2.1])], [np.float32([1, 2])], 1e-6)

    def test_refuses_another_count_or_shape(self):
        with pytest.raises(AssertionError, match="2 results, expected 1"):
            gpu_works.same([np.ones(2)] * 2, [np.ones(2)], 1.0)
        with pytest.raises(AssertionError, match=r"a result of shape \(3,\), expected \(2,\)"):
            gpu_works.same([np.ones(3)], [np.ones(2)], 1.0)

    def test_few_whole_numbers_may_differ(self):
        ours, theirs = np.zeros(2000, np.int64), np.zeros(2000, np.int64)
        ours[0] = 1
        gpu_works.same([ours], [theirs], 0.0)
        ours[:10] = 1
        with pytest.raises(AssertionError, match=r"0\.50% of the whole numbers differ"):
            gpu_works.same([ours], [theirs], 0.0)


class TestTiming:
    def test_many_calls_are_waited_for_once(self):
        told = []
        seconds = timing.seconds_a_call(lambda: told.append("call"), lambda result: told.append("wait"), 3)
        assert told == ["call", "call", "call", "wait"]
        assert 0 <= seconds < 1

    def test_waiting_counts(self):
        assert timing.seconds_a_call(lambda: None, lambda result: time.sleep(0.02), 2) >= 0.01

    def test_a_contender_that_fails_later_is_left_out(self):
        calls = []

        def worse():
            calls.append(1)
            if len(calls) > 3:
                raise RuntimeError("out of memory")
            time.sleep(0.04)

        best, failed = timing.interleaved(
            {"a": (worse, lambda result: None), "b": (lambda: None, lambda result: None)}, QUICK
        )
        assert set(best) == {"b"}
        assert failed == ["a failed: RuntimeError: out of memory"]


class TestProcesses:
    def rows(self, *lines):
        works = command.chosen("^call on", small=True)
        found, told, left = command.Found(), [], list(works)
        command._follow(iter(lines), left, found, told.append)
        return works, found, told, left

    def test_rows_are_taken(self):
        works = command.chosen("^call on", small=True)
        row = {"work": works[0].name, "figures": {"JAX": 1.0}, "goals": [{"limit": 2.0, "against": "JAX"}]}
        row |= {"unit": "s", "note": "x"}
        _, found, told, left = self.rows(
            {"machine": {"GPU": "G"}, "missing": ["no JAX"]}, {"begin": works[0].name}, {"rows": [row]}, {"end": ""}
        )
        assert (found.machine, found.missing) == ({"GPU": "G"}, ["no JAX"])
        assert found.outcomes == [Outcome(works[0].name, {"JAX": 1.0}, (Goal(2.0, "JAX"),), "s", "x")]
        assert told == [f"measuring {works[0].name} …", "  JAX 1 s; x"]
        assert [work.name for work in left] == [works[1].name]

    def test_a_work_that_ends_its_process_is_a_row(self):
        works, found, _, left = self.rows({"begin": "call on 3 elements, each waited for"}, {"end": "status -11"})
        assert [(row.work, row.note) for row in found.outcomes] == [(works[1].name, "status -11")]
        assert [work.name for work in left] == [works[0].name]

    def test_a_process_that_does_not_come_up_is_told(self):
        _, found, told, left = self.rows({"end": "its process ended with status 1: no memory"})
        assert (found.outcomes, told, len(left)) == ([], ["its process ended with status 1: no memory"], 2)

    def test_no_work_begins_after_the_end(self):
        works = command.chosen("^call on", small=True)
        found = command.run(works, QUICK, print, gpu=False, small=True, seconds=0.0)
        assert [row.note for row in found.outcomes] == ["left out: 0 minutes are over"] * 2

    def test_who_keeps_processes_from_coming_up_is_left_out(self, monkeypatch):
        tasks = []

        def lines(task, end):
            tasks.append((task["peers"], task["first"]))
            yield {"end": "its process ended with status -6: it said nothing"}

        monkeypatch.setattr(command, "_lines", lines)
        works = command.chosen("^call on", small=True)
        found = command.run(works, QUICK, lambda line: None, gpu=False, small=True, seconds=10.0)
        assert tasks == [(("JAX", "torch.compile"), True), (("JAX",), True), ((), True)]
        assert [row.note for row in found.outcomes] == ["no process comes up to measure it"] * 2

    def test_nothing_compiled_is_kept(self):
        assert environment()["NXKERNEL_CACHE_DIR"] == "off"


def test_table_of_a_gpu():
    row = Outcome("w", {SUBJECT: 1e-3, "JAX": 2e-3, COPY: 9e-4}, (Goal(1.11, COPY),), "s", "2.1 TB/s")
    assert table.as_markdown([row], GPU_PEERS).splitlines() == [
        "| work | nxkernel | JAX | torch.compile | ÷ JAX | ÷ torch.compile | goal | met | note |",
        "| --- | --: | --: | --: | --: | --: | --- | --- | --- |",
        "| w | 1 ms | 2 ms | – | 0.50 | – | ≤ 1.11 a copy | no | 2.1 TB/s |",
    ]
    assert math.isclose(row.ratio(COPY), 10 / 9)


def run_command(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "--gpu", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "error", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


class TestCommand:
    def test_without_a_gpu_it_says_so_in_a_line(self):
        done = run_command(CUDA_VISIBLE_DEVICES="")
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith("No GPU to measure on: ")
        assert "Missing: " in line

    def test_a_simulator_is_no_gpu(self):
        done = run_command(NUMBA_ENABLE_CUDASIM="1")
        assert (done.returncode, done.stderr) == (
            1,
            "No GPU to measure on: NUMBA_ENABLE_CUDASIM=1 in the environment asks for the simulator.\n",
        )

    @pytest.mark.slow
    def test_works_can_be_tried_in_the_simulator(self):
        done = run_command("--small", "--quick", "--only", "^(sum|softmax)", CUDA_VISIBLE_DEVICES="")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "GPU: none: Numba's simulator, whose times say nothing"
        rows = [line for line in lines if line.startswith(("sum", "softmax"))]
        assert [row.split("  ")[0] for row in rows] == [
            "sum, 480",
            "sum of (x − y)², 480",
            "sums of the rows, 12 × 40",
            "sums of the columns, 12 × 40",
            "softmax of the rows, 12 × 40",
        ]
        assert "failed" not in done.stdout

    @pytest.mark.slow
    def test_unknown_work(self):
        done = run_command("--small", "--only", "no such work")
        assert (done.returncode, done.stderr) == (1, "no work on a GPU matches 'no such work'.\n")


LARGE = {
    **programs.bandwidth_bound(515, 1001),
    **programs.rows(515, 1001),
    **programs.products(130, 260),
    **programs.loops((100, 300), 200, 5),
}


@pytest.mark.cuda
@pytest.mark.skipif(not availability.is_available(), reason="no NVIDIA GPU here")
class TestOnAGpu:
    @pytest.mark.parametrize("name", LARGE)
    def test_programs_compute_what_numpy_does_again_and_again(self, name):
        program = LARGE[name]
        arguments = program.arguments()
        definition = nx.defn(program.definition, compiler="numba_cuda", promotion="nx")
        placed = [nx.backend_copy(array, "cuda:0") for array in arguments]
        results = [definition(*placed, **program.options) for _ in range(4)]
        for result in results:
            gpu_works.same(plain("x").arrays(result), program.expected(arguments), program.tolerance)
        # Reductions have an order, and graphs of launches compute what launches do.
        first, *others = [[array.tobytes() for array in plain("x").arrays(result)] for result in results]
        assert others == [first] * 3

    def test_kernels_are_measured(self):
        x = nx.backend_copy(np.ones((4096, 4096), np.float32), "cuda:0")
        softmax = nx.defn(reductions.softmax.__nx_function__, compiler="numba_cuda")
        view = softmax.measure(x)
        found = view.measurement
        assert found.bandwidth > 1e11
        assert found.arithmetic > 1e12
        assert all(0 < time.seconds < 0.1 for time in found.kernels.values())
        assert all(", occupancy " in kernel.launch for kernel in view.kernels)
        assert found.how.endswith("which caches may hold, a kernel's time with that of its launch")
