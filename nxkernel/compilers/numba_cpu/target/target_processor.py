"""The target processor of machine code: the one at hand, or the lesser one that ``NXKERNEL_CPU`` names.

Code for a lesser one is what other machines get, and runs here, too: to look at it, to test it, or to fill a cache that
several machines share.
"""

from __future__ import annotations

import functools
import os
import platform
import struct
import sys

from llvmlite import binding as llvm

from nxkernel.errors import CompilationError, NxValueError, message

#: Names of the machine as systems give them, and what LLVM calls it.
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

_V2 = frozenset(["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"])
_AVX = _V2 | {"avx"}
_V3 = _AVX | {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
#: What code for a processor may use: what a machine has to have. The names are LLVM's.
_NEEDS = {
    "x86_64": {
        "x86-64": frozenset(),
        "x86-64-v2": _V2,
        "x86-64-v3": _V3,
        "x86-64-v4": _V4,
        "nehalem": _V2,
        "sandybridge": _AVX,
        "ivybridge": _AVX | {"f16c"},
        "haswell": _V3,
        "skylake": _V3,
        "skylake-avx512": _V4,
        "icelake-server": _V4,
        "sapphirerapids": _V4,
        "znver1": _V3,
        "znver2": _V3,
        "znver3": _V3,
        "znver4": _V4,
        "znver5": _V4,
    },
    "aarch64": {"generic": frozenset(), "neoverse-n1": frozenset(["dotprod", "lse"])},
}
#: What those always have that code is written for.
_ALWAYS = {"x86_64": frozenset(), "aarch64": frozenset(["fma", "f16c"])}


def machine() -> str:
    """LLVM's name of the architecture.

    Raises
    ------
    CompilationError
        For one that there is no code for.
    """
    name = platform.machine().lower()
    if name not in _MACHINES or struct.calcsize("P") != 8 or sys.byteorder != "little":
        raise CompilationError(
            message(
                f"there is no machine code for this machine: {platform.machine() or 'unknown'}, "
                f"{8 * struct.calcsize('P')} bits, {sys.byteorder}-endian.",
                "numba_cpu makes code for x86-64 and for AArch64 of 64 bits, little-endian.",
                'Run the definition with compiler="evaluator".',
            )
        )
    return _MACHINES[name]


@functools.cache
def target() -> llvm.Target:
    """LLVM's target of this process."""
    machine()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


@functools.cache
def _here() -> dict[str, bool]:
    """The features of the processor at hand."""
    target()
    return dict(llvm.get_host_cpu_features())


@functools.cache
def _chosen() -> tuple[str, frozenset[str], str]:
    """The target's name, the set of its features that may be used, and LLVM's feature string."""
    wanted = os.environ.get("NXKERNEL_CPU", "").strip()
    here = frozenset(name for name, there in _here().items() if there)
    if wanted.lower() in ("", "native"):
        return llvm.get_host_cpu_name(), here, llvm.get_host_cpu_features().flatten()
    features = _NEEDS[machine()]
    if wanted not in features:
        raise NxValueError(
            message(
                f"NXKERNEL_CPU is {wanted!r}, which is no processor that nxkernel knows.",
                f"For this machine it knows native, {', '.join(features)}.",
                "Leave it out for the processor at hand.",
            )
        )
    lacking = sorted(features[wanted] - here)
    if lacking:
        raise NxValueError(
            message(
                f"NXKERNEL_CPU is {wanted!r}, whose code would not run here: "
                f"{llvm.get_host_cpu_name()} lacks {', '.join(lacking)}.",
                "Leave it out for the processor at hand, or name a lesser one.",
            )
        )
    # Processors of one name differ: what this one has not stays out in any case.
    return wanted, features[wanted], ",".join(f"-{name}" for name, there in _here().items() if not there)


def has(feature: str) -> bool:
    """Whether machine code may use a feature, by LLVM's name.

    Examples
    --------
    >>> has("no such thing")
    False
    """
    return feature in _chosen()[1] or feature in _ALWAYS[machine()]


def target_machine() -> llvm.TargetMachine:
    """An LLVM target machine for that processor, for code to be loaded into this process."""
    name, _, features = _chosen()
    return target().create_target_machine(
        cpu=name, features=features, opt=2, reloc="static", codemodel="jitdefault", jit=True
    )


def name() -> str:
    """The processor's LLVM name."""
    return _chosen()[0]


@functools.cache
def processor() -> str:
    """A text of the processor and its features that identifies which machine code it can run."""
    name, _, features = _chosen()
    return f"{llvm.get_process_triple()} {name} {features}"
