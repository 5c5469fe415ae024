"""Every primitive on lesser processors: code is made and runs there, and gives what it gives on this one."""

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from native_code.processor_primitives import cases, on, results
from nxkernel.compilers.numba_cpu.target import target_processor
from random_primitives import CASES, compare
from stress_testing.stressing import many

pytestmark = pytest.mark.skipif(
    target_processor.machine() != "x86_64" or not target_processor.has("fma"),
    reason="there is no lesser processor of this kind",
)

#: Whether it fuses products and sums, as processors do that have an instruction for that.
PROCESSORS = {"x86-64": False, "x86-64-v2": False, "sandybridge": False, "ivybridge": False}
PROCESSORS |= {"x86-64-v3": True, "haswell": True, "znver2": True}


def check(processor, path, first, count):
    """Compare a processor's results with this one's; how many primitives and results there were."""
    found, primitives, seen = on(processor, path, first, count), set(), 0
    for name, case in cases(first, count):
        for number, expected in enumerate(results(case)):
            got = np.frombuffer(found.pop(f"{name} {number}"), np.uint8).view(expected.dtype).reshape(expected.shape)
            if got.tobytes() != expected.tobytes():
                # Sums of products are rounded once more without such an instruction; rounding is all that may differ.
                assert not PROCESSORS[processor], name
                compare(got, expected, case)
            seen += 1
        primitives.add(name.split()[0])
    assert not found
    return primitives, seen


@pytest.mark.slow
def test_every_primitive_on_a_lesser_processor(tmp_path):
    """One type of each primitive, another one each hour."""
    first = time.time_ns() // 3_600_000_000_000 % 1000
    primitives, _ = check("x86-64-v2", tmp_path / "results.npz", first, 1)
    assert len(primitives) > 0.95 * len(CASES)


NARROW = """
    import ml_dtypes
    import numpy as np
    import nxkernel as nx
    x = np.linspace(-70000.0, 70000.0, 999)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        with np.errstate(over="ignore"):
            y = x.astype(dtype)
        given = y.astype(np.float32)
        with np.errstate(all="ignore"):
            expected = (given + np.float32(0.5)).astype(dtype), x.astype(dtype), given.astype(np.float64)
        found = nx.jit(lambda y, x: (y + 0.5, nx.as_type(x, y.type), nx.as_type(y, "f64")))(y, x)
        for left, right in zip(found, expected):
            np.testing.assert_array_equal(np.asarray(left), right)
    print("well")
"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("processor", ["x86-64-v2", "haswell"])
def test_floats_of_half_width(processor):
    """Conversions were functions that few systems have, and the process ended."""
    environment = os.environ | {"NXKERNEL_CPU": processor, "NXKERNEL_CACHE_DIR": "off"}
    text = textwrap.dedent(NARROW)
    child = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert (child.stdout, child.stderr) == ("well\n", "")


FOR_AARCH64 = """
    import itertools
    import platform
    from unittest import mock
    from llvmlite import binding as llvm
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    from nxkernel.compilers import registry
    from nxkernel.compilers.numba_cpu.codegen import object_code
    from nxkernel.compilers.numba_cpu.runtime import thread_pool, code_store
    from nxkernel.compilers.numba_cpu.target import target_processor
    from native_code.guarded_primitives import graph_of
    from native_code.processor_primitives import cases
    texts, compile_object = [], object_code.compile_object
    def kept(text, **options):
        texts.append((text, options))
        return compile_object(text, **options)
    with mock.patch.object(object_code, "compile_object", kept):
        for _, case in itertools.islice(cases({first}, 1), {first} % 3, None, 3):
            registry.get("numba_cpu").compile(graph_of(case)[0])
    with mock.patch.object(platform, "machine", lambda: "aarch64"):
        texts.append((thread_pool._text().replace("@SYMBOL", "@nxk_pool"), {{}}))
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    machine = target.create_target_machine(opt=2, reloc="static", codemodel="jitdefault", jit=True)
    with mock.patch.object(object_code, "_machine", lambda: machine):
        made = [compile_object(text, **options) for text, options in texts if "sse2.pause" not in text]
    assert all(code[:4] == b"\\x7fELF" and code[18:20] == bytes([183, 0]) for code in made)
    print(len(made) > 30)
"""


@pytest.mark.slow
def test_code_for_aarch64_is_made(tmp_path):
    """For every third primitive; LLVM would end the process where it has no instructions for something."""
    environment = os.environ | {"NXKERNEL_CACHE_DIR": "off", "PYTHONPATH": os.pathsep.join(sys.path)}
    text = textwrap.dedent(FOR_AARCH64).format(first=time.time_ns() // 3_600_000_000_000 % 1000)
    child = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout, child.stderr) == (0, "True\n", "")


@pytest.mark.stress
@pytest.mark.parametrize("processor", PROCESSORS)
def test_every_type_on_every_processor(processor, tmp_path, say):
    """`NXKERNEL_STRESS_TYPES` cases of each primitive, whose types go by turns."""
    count, first = many("TYPES", 16), many("FIRST", 0)
    primitives, seen = check(processor, tmp_path / "results.npz", first, count)
    assert primitives == {str(primitive) for primitive in CASES}
    say(f"{processor}: {len(primitives)} primitives, {seen} results")
