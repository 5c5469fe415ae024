"""Programs of seeds, run by nxkernel and by something else, and compared."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import nxkernel as nx
from nxkernel.errors import NxTypeError
from random_derivatives import ours, plain
from random_derivatives.writing import Program, written

#: How far results may be apart, relative to the greatest number that they are made of.
CLOSE = 1e-8
LANES = 2


class Different(AssertionError):
    """A program that gives something else."""


def function_of(program: Program, library: Any) -> Callable[..., Any]:
    """A program by the functions of a library."""
    return eval(f"lambda x, y: {program.text}", {"L": library})


def arguments(seed: int, program: Program, lanes: bool) -> list[np.ndarray]:
    """Its arguments, with one more axis in front where there are lanes."""
    random = np.random.default_rng(seed)
    front = (LANES,) if lanes else ()
    return [random.uniform(-1.5, 1.5, (*front, *shape)) for shape in (program.x, program.y)]


def found(program: Program, values: list[np.ndarray], lanes: bool, compiler: str) -> np.ndarray:
    """What nxkernel gives; lanes are those of a vectorized axis."""
    function = function_of(program, ours)

    def entire(x, y):
        if not lanes:
            return function(x, y)
        x, y = nx.vectorize(x, "lane"), nx.vectorize(y, "lane")
        return nx.devectorize(nx.broadcast_vectors([function(x, y), x])[0], keep_names=False)

    return nx.jit(entire, compiler=compiler)(*values).to_numpy()


def is_refused(error: NxTypeError) -> bool:
    """Whether it is that loops and choices of the program take no vectorized axes."""
    return "vectorized axes" in str(error)


def _same(got: np.ndarray, wanted: np.ndarray) -> bool:
    close = CLOSE * (1 + np.abs(wanted).max(initial=0))
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=CLOSE, atol=close)


def check(seeds: Iterable[int], library: Any, compilers: Callable[[int], str]) -> collections.Counter[str]:
    """Compare the programs of seeds; gives how many there were, and of what.

    Every second program has lanes. What no number comes out of, and what is too large to compare, counts apart, and so
    does what a library gives alone, where dual numbers give what nxkernel gives.

    Raises
    ------
    Different
        With seed and text of the first program that gives something else, or nothing.
    """
    counts: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        lanes = seed % 2 == 1
        program = written(seed, control=not lanes or seed % 4 == 3)
        values = arguments(seed, program, lanes)
        wanted = np.asarray(library.run(function_of(program, library), values, lanes), float)
        if not np.isfinite(wanted).all() or np.abs(wanted).max(initial=0) > 1e8:
            counts["not compared"] += 1
            continue
        try:
            got = found(program, values, lanes, compilers(seed))
        except NxTypeError as error:
            if not (lanes and is_refused(error)):
                raise Different(f"seed {seed} raises {error}\n{program.text}") from error
            counts["refused"] += 1
            continue
        except Exception as error:
            raise Different(f"seed {seed} raises {type(error).__name__}: {error}\n{program.text}") from error
        if not _same(got, wanted):
            # At an edge, such as |x| at 0, libraries choose; JAX's forward and backward mode may, too.
            if library is plain or not _same(got, plain.run(function_of(program, plain), values, lanes)):
                raise Different(f"seed {seed} gives {got.tolist()}, not {wanted.tolist()}\n{program.text}")
            counts["as dual numbers say"] += 1
        counts.update(["programs", *set(program.used)])
        counts["lanes"] += lanes
    return counts
