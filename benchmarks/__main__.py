"""The command: ``python -m benchmarks [--gpu] [--only REGEX] [--quick] [--threads N] [--json FILE] [--save NAME]``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring.work import PEERS

RESULTS = Path(__file__).resolve().parent / "results"


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure nxkernel, JAX, NumPy and, for loops, Numba side by side and print one table. Without JAX "
        "(the `bench` extra) its column stays empty.",
    )
    options.add_argument("--gpu", action="store_true", help="the GPU's table: numba_cuda beside JAX and torch.compile")
    options.add_argument(
        "--small", action="store_true", help="with --gpu: sizes for Numba's simulator, to try the works without a GPU"
    )
    options.add_argument(
        "--minutes", type=float, default=7.0, metavar="N", help="with --gpu: begin no work later than this"
    )
    options.add_argument("--only", metavar="REGEX", help="only the works whose names this finds, such as 'softmax|sum'")
    options.add_argument("--quick", action="store_true", help="fewer repetitions: a first impression, not a result")
    options.add_argument("--threads", type=int, metavar="N", help="let all libraries use N cores (Linux)")
    options.add_argument("--with-xla-chain", action="store_true", help="give JAX the chain of 800 too: minutes, 20 GB")
    options.add_argument("--json", metavar="FILE", type=Path, help="write the figures to FILE")
    options.add_argument(
        "--save", metavar="NAME", help="write the table and its picture to benchmarks/results/ and to the README"
    )
    return options


def pin(threads: int) -> None:
    """Let this process and its children use some of the cores only; must run before a library starts its threads."""
    available = sorted(os.sched_getaffinity(0))
    if not 1 <= threads <= len(available):
        raise SystemExit(f"--threads takes 1 to {len(available)} on this machine, got {threads}.")
    os.sched_setaffinity(0, available[:threads])
    for variable in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status, 0 also where a goal is not met."""
    chosen = parser().parse_args(arguments)
    if chosen.threads is not None:
        pin(chosen.threads)
    os.environ["NXKERNEL_CACHE_DIR"] = "off"
    if chosen.gpu:
        return on_gpu(chosen)

    from benchmarks.measuring import machine, suite
    from benchmarks.measuring.work import Settings

    settings = Settings(with_xla_chain=chosen.with_xla_chain)
    if chosen.quick:
        settings = dataclasses.replace(settings, seconds=0.2, rounds=2, repeats=2)
    works = suite.chosen(chosen.only)
    if not works:
        raise SystemExit(f"no work matches {chosen.only!r}; there are:\n  " + "\n  ".join(w.name for w in suite.WORKS))
    outcomes = suite.run(works, settings, lambda name: print(f"measuring {name} …", file=sys.stderr, flush=True))
    show(chosen, outcomes, machine.description(), PEERS)
    return 0


def on_gpu(chosen: argparse.Namespace) -> int:
    """Run the command for the GPU; 1 where there is none."""
    from benchmarks.gpu import command
    from benchmarks.measuring.work import GPU_PEERS, Settings

    missing = command.unavailable()
    if missing and not chosen.small:
        print(f"No GPU to measure on: {missing}", file=sys.stderr)
        return 1
    works = command.chosen(chosen.only, chosen.small)
    if not works:
        raise SystemExit(f"no work on a GPU matches {chosen.only!r}.")
    settings = Settings(seconds=0.5, rounds=5, repeats=3)
    if chosen.quick:
        settings = Settings(seconds=0.1, rounds=2, repeats=1)
    found = command.run(
        works,
        settings,
        lambda line: print(line, file=sys.stderr, flush=True),
        gpu=not missing,
        small=chosen.small,
        seconds=60 * chosen.minutes,
    )
    described = found.machine | ({"not there": "; ".join(found.missing)} if found.missing else {})
    show(chosen, found.outcomes, described, GPU_PEERS)
    return 0


def show(chosen: argparse.Namespace, outcomes: list, described: dict[str, str], peers: Sequence[str]) -> None:
    """Print the table, and write what was asked for."""
    from benchmarks.measuring import picture, table

    if chosen.gpu:
        print("\n".join(f"{name}: {value}" for name, value in described.items()), end="\n\n")
    print(table.as_text(outcomes, peers))
    print(table.summary(outcomes))
    if chosen.json:
        rows = [dataclasses.asdict(row) | {"met": row.met()} for row in outcomes]
        chosen.json.write_text(json.dumps({"machine": described, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    if chosen.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{chosen.save}.md").write_text(report(outcomes, described, peers))
        picture.draw(outcomes, RESULTS / f"{chosen.save}.svg", peers)
        readme = RESULTS.parent.parent / "README.md"
        readme.write_text(quoted(readme.read_text(), chosen.save, outcomes, peers))


def report(outcomes: list, described: dict[str, str], peers: Sequence[str] = PEERS) -> str:
    """The page that is kept: the machine, the table, the count of goals."""
    from benchmarks.measuring import table

    lines = [f"* {name}: {value}" for name, value in described.items()]
    rows = table.as_markdown(outcomes, peers)
    return "\n".join(["# Benchmarks", "", *lines, "", rows, "", table.summary(outcomes), ""])


def quoted(page: str, name: str, outcomes: list, peers: Sequence[str] = PEERS) -> str:
    """A page with a result put between the comments that ask for it: of the works that are there, and all that miss."""
    from benchmarks.measuring import table

    begin = rf"(<!-- table: benchmarks/results/{re.escape(name)}\.md -->\n)"
    place = re.compile(begin + r"(.*?)(<!-- end of table -->)", re.DOTALL)

    def chosen(found: re.Match[str]) -> str:
        works = {line.removeprefix("| ").split(" | ")[0] for line in found[2].splitlines()}
        kept = [outcome for outcome in outcomes if outcome.work in works or outcome.met() is False]
        return f"{found[1]}{table.summary(outcomes)}.\n\n{table.as_markdown(kept, peers)}\n{found[3]}"

    return place.sub(chosen, page)


if __name__ == "__main__":
    sys.exit(main())
