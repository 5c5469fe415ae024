"""Every primitive, each with many shapes, run in guarded memory: ``python -m native_code.guarded_primitives SHAPES``.

A process tells each case before it runs it, since a fault ends the process; :func:`faults` starts another one behind
the case that did.
"""

import itertools
import json
import os
import subprocess
import sys
from collections import defaultdict

import numpy as np

from graph_comparison.compiled_graphs import inputs
from nxkernel import primitives as p
from nxkernel.compilers import registry
from nxkernel.graph.expr import Graph
from nxkernel.primitives import Type
from random_graphs.choices import Choices
from random_primitives import CASES
from random_primitives.surroundings import make

DONE = "done"
#: Cases in a row that have the same type, so that kernels serve many shapes.
ALIKE = 100


class Edges(Choices):
    """Choices by a seed, of which one axis in eight is empty, and one type serves for many cases."""

    def __init__(self, number):
        super().__init__(number)
        self._type = number // ALIKE

    def pick(self, options):
        options = list(options)
        if len(options) > 1 and isinstance(options[0], Type):
            return options[self._type % len(options)]
        return super().pick(options)

    def chance(self, percent):
        # What is rare elsewhere is an axis without elements.
        return super().chance(12 if percent == 3 else percent)


def graph_of(case):
    """The graph of a primitive alone, and its inputs."""
    arrays = [np.ascontiguousarray(x).reshape(x.shape) for x in case.arrays]
    parameters = inputs(*arrays)
    node = make(case.primitive, *parameters, **case.params)
    several = type(node.spec) is tuple
    outputs = [make(p.elem, node, index=k) for k in range(len(node.spec))] if several else [node]
    return Graph("case", parameters, outputs, list), arrays


def cases(primitive, shapes):
    """Graphs of a primitive, and their inputs, until so many different shapes are among them."""
    seen, number = set(), 0
    while len(seen) < shapes and number < 4 * shapes:
        try:
            case = CASES[primitive](Edges(number))
        except ValueError:
            # The choices have no case: an empty axis where there must be an element.
            number += 1
            continue
        number += 1
        graph, arrays = graph_of(case)
        shape = tuple(node.shape for node in (*graph.parameters, *graph.outputs))
        if shape not in seen or len(seen) < shapes // 4:
            seen.add(shape)
            yield shape, graph, arrays


def check(guards, graph, arrays):
    """Run a graph between pages at its end, and at its beginning: the same bits come out."""
    compiled = registry.get("numba_cpu").compile(graph)
    found = []
    for guards.at_end in (True, False):
        found.append([result.tobytes() for result in compiled.run(arrays)])
    return found[0] == found[1]


def main(shapes, first_primitive=0, first_case=0):
    """Tell every case as a line of JSON, then run it."""
    from native_code.guarded_memory import guards

    with guards() as guarding:
        for number, primitive in itertools.islice(enumerate(CASES), first_primitive, None):
            for k, (shape, graph, arrays) in enumerate(cases(primitive, shapes)):
                if (number, k) < (first_primitive, first_case):
                    continue
                print(json.dumps([number, k, repr(shape), "runs"]), flush=True)
                if not check(guarding, graph, arrays):
                    print(json.dumps([number, k, repr(shape), "differs"]), flush=True)
    print(DONE, flush=True)


def faults(shapes):
    """The cases that ended their process or gave other bits at another place; how many shapes each primitive had."""
    found, counts, start, done = [], defaultdict(set), (0, 0), False
    primitives = list(CASES)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NXKERNEL_CACHE_DIR": "off"}
    while not done:
        command = [sys.executable, "-m", "native_code.guarded_primitives", str(shapes), *map(str, start)]
        child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
        last = None
        for line in child.stdout.splitlines():
            if line == DONE:
                done = True
                break
            number, k, shape, what = json.loads(line)
            if what == "differs":
                found.append(f"{primitives[number]} of {shape} gives other bits at another place")
            else:
                last = number, k
                counts[primitives[number]].add(shape)
        if not done:
            if last is None or child.returncode >= 0:
                raise AssertionError(child.stderr[-3000:])
            number, k = last
            _, graph, _ = next(itertools.islice(cases(primitives[number], shapes), k, None))
            found.append(f"{primitives[number]} ended its process ({child.returncode}):\n{graph!r}")
            start = number, k + 1
    return found, {primitive: len(shapes) for primitive, shapes in counts.items()}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
