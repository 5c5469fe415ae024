"""Random programs under nests of transformations give what dual numbers give, and what JAX gives.

The programs and the libraries are in `tests/helpers/random_derivatives`; of other seeds, for as long as
`NXKERNEL_FUZZ_SECONDS` says, with ``pytest -m fuzz -s``, which tells how many there were.
"""

import os
import time

import pytest

from lanes.fuzzing import SECONDS
from random_derivatives import plain
from random_derivatives.checking import check, function_of
from random_derivatives.writing import DERIVATIVES, Program, written


def evaluated(seed):
    """Every tenth program is compiled."""
    return "numba_cpu" if seed % 10 == 0 else "evaluator"


@pytest.fixture
def theirs():
    jax = pytest.importorskip("jax", reason="JAX comes with the extra `bench`")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    from random_derivatives import theirs

    yield theirs
    jax.config.update("jax_enable_x64", before)


def test_programs_by_dual_numbers():
    counts = check(range(12), plain, evaluated)
    assert counts["programs"] > 7
    assert counts["lanes"] > 1


def test_programs_by_jax(theirs):
    counts = check(range(1001, 1007), theirs, evaluated)
    assert counts["programs"] > 3


def test_all_transformations_are_drawn():
    used = {name for seed in range(200) for name in written(seed).used}
    assert used >= {*DERIVATIVES, "vmap", "vmap_axes", "checkpoint", "custom_grad", "cond", "while", "fori", "scan"}
    assert max(len(written(seed).used) for seed in range(200)) >= 5


def test_dual_numbers_by_hand():
    """Of a derivative that closes over another one's variable: d/dt (t · d/du (u² t)) is 4 u t."""
    text = "L.grad(lambda t: t * L.grad(lambda u: L.square(u) * t)(x))(x)"
    assert function_of(Program(text, (), (), (), ()), plain)(3.0, 0.0) == 4 * 3.0 * 3.0


def _lane(library, name):
    end = time.monotonic() + float(os.environ.get(SECONDS, "60"))
    first = seed = time.time_ns() % 10**9
    counts, begun = check([], library, evaluated), time.monotonic()
    told = begun
    while time.monotonic() < end:
        counts += check([seed], library, evaluated)
        seed += 1
        if time.monotonic() > told + 60:
            told = time.monotonic()
            print(f"{counts['programs']} programs beside {name} from seed {first}", flush=True)
    rate = (seed - first) / (time.monotonic() - begun)
    print(f"\n{seed - first} programs beside {name} from seed {first}, {rate:.1f} a second: {dict(counts)}")
    assert counts["programs"]


@pytest.mark.fuzz
def test_many_programs_by_dual_numbers():
    _lane(plain, "dual numbers")


@pytest.mark.fuzz
def test_many_programs_by_jax(theirs):
    _lane(theirs, "JAX")
