"""Many random programs: ``python -m random_numpy_source --kind plain --seconds 600 --seed 1``."""

from __future__ import annotations

import argparse
import time

from native_code.spread_loops import every_loop_is_spread
from random_numpy_source import Tally, gradient, mapped, plain, shrunk, smooth_program, written
from random_numpy_source.checking import run_with

KINDS = {"plain": (plain, written), "gradient": (gradient, smooth_program), "mapped": (mapped, written)}


def campaign(kind: str, first: int, seconds: float, programs: int | None = None, quiet: bool = False) -> Tally:
    """Run programs one seed after the other, until the time or their number is over.

    Parameters
    ----------
    kind : {"plain", "gradient", "mapped"}
    first : int
        The first seed.
    seconds : float
    programs : int, optional
    quiet : bool
        Whether nothing is printed.
    """
    check, write = KINDS[kind]
    tally, start, said = Tally(), time.monotonic(), time.monotonic()
    with every_loop_is_spread():
        while time.monotonic() - start < seconds and (programs is None or tally.programs < programs):
            if not quiet and time.monotonic() - said > 60:
                said = time.monotonic()
                print(tally, flush=True)
            program = write(first + tally.programs)
            before = len(tally.failed)
            run_with(tally, check, program)
            if len(tally.failed) > before:
                # Reduced, its first lines are the seed and what differs.
                least = shrunk(program, check)
                seed, text = tally.failed[-1]
                tally.failed[-1] = seed, f"{text}\n{least.arguments}\n{least.source}"
                if not quiet:
                    print(f"--- {kind} seed {seed}: {tally.failed[-1][1]}", flush=True)
    if not quiet:
        spent = time.monotonic() - start
        for text, count in tally.refused.most_common(40):
            print(f"{count:6} {text}")
        for seed, text in tally.rough:
            print(f"--- {kind} seed {seed} is rough: {text}")
        print(f"{tally}; {tally.programs / spent:.1f} programs a second, {tally.calls / spent:.1f} calls")
    return tally


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="random_numpy_source")
    parser.add_argument("--kind", choices=list(KINDS), default="plain")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--programs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    campaign(given.kind, given.seed, given.seconds, given.programs)


if __name__ == "__main__":
    main()
