"""Records of programs: found by graph, run as the program itself, and given up where something of them is gone."""

import subprocess
import sys

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers import registry
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.program import graph_compilation, saved_programs
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.transforms.simplify import simplify

X, W = spec("f32", 64, 64), spec("f32", 64, 64)


def deep(x, w):
    for _ in range(12):
        x = nx.max(nx.dot(x, w) + 0.731, 0.0) / nx.sum(x, axes=[1], keep_axes=True)
    return x, nx.sum(x)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(saved_programs, "WORTH_A_FILE", 32)
    disk_cache.reset()
    yield tmp_path / "cache"
    disk_cache.reset()


def graph(function=deep, *specs):
    return simplify(graph_of(function, *(specs or (X, W))))


def compile_(made):
    return registry.get("numba_cpu").compile(made)


def values():
    random = np.random.default_rng(3)
    return [np.abs(random.normal(size=(64, 64))).astype("f4") for _ in range(2)]


def forbid(monkeypatch):
    def refuse(graph):
        raise AssertionError("a plan was made")

    monkeypatch.setattr(graph_compilation, "plan_of", refuse)


def test_a_record_runs_as_the_program_does(folder, monkeypatch):
    first = compile_(graph())
    assert len(list(folder.glob("*/nxg_*"))) == 1
    expected = first.run(values())
    with monkeypatch.context() as patch:
        forbid(patch)
        again = compile_(graph())
        for one, other in zip(again.run(values()), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert [kernel.symbol for kernel in again.kernels] == [kernel.symbol for kernel in first.kernels]
    assert {kernel.origin for kernel in again.kernels} <= {"memory", "library"}


def test_its_kernels_tell_what_the_plan_knows(folder):
    first, again = compile_(graph()), compile_(graph())
    for one, other in zip(first.kernels, again.kernels, strict=True):
        assert (one.kind, one.title, one.moved, one.operations) == (
            other.kind, other.title, other.moved, other.operations,
        )  # fmt: skip
        assert [node.primitive for node in one.nodes] == [node.primitive for node in other.nodes]
        assert list(one.texts) == list(other.texts)
    assert again.plan.workspace == first.plan.workspace


def test_code_that_is_gone_is_compiled(folder):
    compile_(graph())
    for path in folder.glob("*/nx[kp]_*"):
        path.unlink()
    code_store.forget()
    again = compile_(graph())
    assert "compiled" in {kernel.origin for kernel in again.kernels}
    assert again.run(values())[0].shape == (64, 64)


def test_small_graphs_and_programs_that_call_back_have_none(folder):
    compile_(graph(lambda x: nx.exp(x) + 1, X))
    assert not list(folder.glob("*/nxg_*"))

    def back(x, w):
        return abs(nx.fft(deep(x, w)[0]))

    name = saved_programs.name_of(graph(back))
    assert name is not None
    compile_(graph(back))
    assert not disk_cache.has(name)


def test_no_cache_no_names(folder, monkeypatch):
    assert saved_programs.name_of(graph()) is not None
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    assert saved_programs.name_of(graph()) is None


SCRIPT = """
import numpy as np, nxkernel as nx

@nx.jit
def deep(x, w):
    for _ in range(12):
        x = nx.max(nx.dot(x, w) + 0.731, 0.0) / nx.sum(x, axes=[1], keep_axes=True)
    return nx.sum(x)

w = np.linspace(0, 1, 4096, dtype="f4").reshape(64, 64)
print(float(deep(w, w)), deep.cache_info().compiled)
"""


def test_another_process_finds_it(folder):
    found = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert found[0][0] == found[1][0]
    assert (found[0][1] != "0", found[1][1]) == (True, "0")
