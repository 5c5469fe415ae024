"""Checks the graphs of a range of seeds, a line of JSON each: ``python -m random_graphs FIRST COUNT``."""

import json
import sys

from random_graphs import failure


def main(first, count):
    for seed in range(first, first + count):
        found = failure(seed)
        print(json.dumps({"seed": seed, "failure": None if found is None else str(found)}), flush=True)


main(int(sys.argv[1]), int(sys.argv[2]))
