"""Every primitive with operands of many types, on the processor that NXKERNEL_CPU names.

``python -m native_code.processor_primitives`` takes a file for the results, the number of the first case of each
primitive, and how many there are.
"""

import itertools
import os
import subprocess
import sys

import numpy as np

from native_code.guarded_primitives import graph_of
from nxkernel.compilers import registry
from nxkernel.primitives import Type
from random_graphs.choices import Choices
from random_primitives import CASES


class Types(Choices):
    """Choices by a seed; types go by turns."""

    def __init__(self, number):
        super().__init__(number)
        self._type = number

    def pick(self, options):
        options = list(options)
        if len(options) > 1 and isinstance(options[0], Type):
            return options[self._type % len(options)]
        return super().pick(options)


def cases(first, count):
    """Names of cases, and the cases."""
    for place, primitive in enumerate(CASES):
        for number in range(first, first + count):
            try:
                # Types go by turns from another one on for each primitive.
                yield f"{primitive} {number}", CASES[primitive](Types(number + place))
            except ValueError:
                # The choices have no case.
                continue


def results(case):
    """What a program of one primitive gives."""
    graph, arrays = graph_of(case)
    return registry.get("numba_cpu").compile(graph).run(arrays)


def main(path, first, count):
    made = {}
    for name, case in cases(int(first), int(count)):
        print(name, flush=True)
        for number, array in enumerate(results(case)):
            # Files have no names for some types: bytes are compared.
            made[f"{name} {number}"] = np.frombuffer(array.tobytes(), np.uint8)
    np.savez(path, **made)


def on(processor, path, first, count):
    """The bytes of all results on a processor, by case and number of the result."""
    environment = os.environ | {"NXKERNEL_CPU": processor, "NXKERNEL_CACHE_DIR": "off"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", "native_code.processor_primitives", str(path), str(first), str(count)]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    last = "".join(itertools.islice(reversed(child.stdout.splitlines()), 1))
    assert child.returncode == 0, f"{processor} ended at {last} ({child.returncode}): {child.stderr[-2000:]}"
    with np.load(path) as found:
        return {name: found[name].tobytes() for name in found.files}


if __name__ == "__main__":
    main(*sys.argv[1:])
