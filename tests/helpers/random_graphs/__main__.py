"""Checks the graphs of a range of seeds, a line of JSON each: ``python -m random_graphs FIRST COUNT [guarded]``."""

import contextlib
import json
import sys

from native_code.guarded_memory import guards
from random_graphs import failure


def main(first, count, guarded=None):
    for seed in range(first, first + count):
        # Values lie at the ends of pages and at their beginnings by turns.
        with guards(at_end=bool(seed % 2)) if guarded else contextlib.nullcontext() as told:
            found = failure(seed)
        steps = told.steps if told else 0
        print(json.dumps({"seed": seed, "steps": steps, "failure": None if found is None else str(found)}), flush=True)


main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
