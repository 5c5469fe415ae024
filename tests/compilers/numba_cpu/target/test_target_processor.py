"""The processor that code is made for: by name, refused where it is unknown or not there, and part of keys."""

import json
import os
import platform
import subprocess
import sys
import textwrap

import pytest
from llvmlite import binding as llvm

from nxkernel.compilers.numba_cpu.target import target_processor
from nxkernel.errors import CompilationError, NxValueError

INTEL = platform.machine().lower() in ("x86_64", "amd64")
intel = pytest.mark.skipif(not INTEL, reason="these are names of processors of another kind")


@pytest.fixture
def chosen(monkeypatch):
    """What is chosen for a value of NXKERNEL_CPU, on a processor with these features."""

    def choose(given, here=None):
        target_processor._chosen.cache_clear()
        monkeypatch.setenv("NXKERNEL_CPU", given)
        if here is not None:
            monkeypatch.setattr(target_processor, "_here", lambda: here)
        return target_processor._chosen()

    yield choose
    target_processor._chosen.cache_clear()


@pytest.mark.parametrize("given", ["", "native", " Native "])
def test_it_is_the_one_at_hand(chosen, given):
    name, features, told = chosen(given)
    assert (name, told) == (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    assert features == {feature for feature, there in llvm.get_host_cpu_features().items() if there}


@intel
def test_a_lesser_one_has_less(chosen):
    if "fma" not in chosen("native")[1]:
        pytest.skip("this processor is a lesser one itself")
    assert [target_processor.has(feature) for feature in ("fma", "f16c", "sse4.2")] == [True, True, True]
    assert chosen("x86-64-v2")[0] == "x86-64-v2"
    assert [target_processor.has(feature) for feature in ("fma", "f16c", "sse4.2")] == [False, False, True]
    chosen("haswell")
    assert [target_processor.has(feature) for feature in ("fma", "f16c", "avx512f")] == [True, True, False]


@intel
def test_names_that_nobody_knows(chosen):
    with pytest.raises(NxValueError) as error:
        chosen("x86-64-v9")
    assert str(error.value) == (
        "NXKERNEL_CPU is 'x86-64-v9', which is no processor that nxkernel knows.\n"
        "  For this machine it knows native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4, nehalem, sandybridge, ivybridge, "
        "haswell, skylake, skylake-avx512, icelake-server, sapphirerapids, znver1, znver2, znver3, znver4, znver5.\n"
        "  Leave it out for the processor at hand."
    )


@intel
def test_code_that_would_not_run_here(chosen):
    here = dict.fromkeys(target_processor._V3, True) | {"avx512f": False, "avx512bw": False}
    with pytest.raises(NxValueError) as error:
        chosen("skylake-avx512", here)
    assert str(error.value) == (
        f"NXKERNEL_CPU is 'skylake-avx512', whose code would not run here: {llvm.get_host_cpu_name()} lacks "
        "avx512bw, avx512cd, avx512dq, avx512f, avx512vl.\n"
        "  Leave it out for the processor at hand, or name a lesser one."
    )


@intel
def test_what_is_not_there_is_never_used(chosen):
    """Of two processors of one name the lesser one has no AMX, for example."""
    here = dict.fromkeys(target_processor._V4, True) | {"amx-tile": False, "sha": False}
    assert chosen("sapphirerapids", here)[2] == "-amx-tile,-sha"


@intel
def test_llvm_knows_the_names(capfd):
    for name in target_processor._NEEDS["x86_64"]:
        target_processor.target().create_target_machine(cpu=name)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("machine", "order", "told"),
    [
        ("riscv64", "little", "riscv64, 64 bits, little"),
        ("s390x", "big", "s390x, 64 bits, big"),
        ("", "little", "unknown, 64 bits, little"),
    ],
)
def test_machines_that_there_is_no_code_for(monkeypatch, machine, order, told):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "byteorder", order)
    with pytest.raises(CompilationError) as error:
        target_processor.machine()
    assert str(error.value) == (
        f"there is no machine code for this machine: {told}-endian.\n"
        "  numba_cpu makes code for x86-64 and for AArch64 of 64 bits, little-endian.\n"
        '  Run the definition with compiler="evaluator".'
    )


COMPILES = """
    import json
    import numpy as np
    import nxkernel as nx
    from nxkernel.compilers.cache import disk_cache
    definition = nx.jit(lambda x: nx.sin(x) * 0.25 - nx.exp(x))
    result = np.asarray(definition(np.linspace(0, 1, 50)))
    info = definition.cache_info()
    print(json.dumps([disk_cache.directory().name, info.compiled, info.disk, result.tobytes().hex()]))
"""


@pytest.mark.slow
@intel
def test_one_cache_for_several_machines(tmp_path, chosen):
    """Each processor has its own code in it."""
    if "fma" not in chosen("native")[1]:
        pytest.skip("this processor is a lesser one itself")

    def run(name, warning=""):
        environment = os.environ | {"NXKERNEL_CPU": name, "NXKERNEL_CACHE_DIR": str(tmp_path)}
        text = textwrap.dedent(COMPILES)
        child = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
        assert warning in child.stderr
        assert bool(warning) == bool(child.stderr)
        return json.loads(child.stdout)

    first, second = run("native"), run("x86-64-v2")
    assert first[0] != second[0]
    assert [first[1:3], second[1:3], run("x86-64-v2")[1:3]] == [[1, 0], [1, 0], [0, 1]]
    # Code that was put into the folder of another processor is not loaded there.
    for path in (tmp_path / first[0]).iterdir():
        (tmp_path / second[0] / path.name).write_bytes(path.read_bytes())
    assert run("x86-64-v2", "CacheWarning: a file of the kernel cache was damaged")[1:3] == [1, 0]
