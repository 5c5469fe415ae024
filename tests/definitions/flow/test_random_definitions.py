"""Random functions of nested choices, loops and jumps give as definitions what they give in Python."""

import linecache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from source_rewriting.random_functions import Writer


class OneStructure(Writer):
    """Writes functions that return the same kinds of values everywhere."""

    def text(self):
        self.lines = ["def f(a, b, x, *, c=2):", "    t = 0"]
        self.block(1, 0, False)
        self.lines.append("    return a, b, x, t")
        return "\n".join(self.lines).replace("return b\n", "return a, b, x, t\n") + "\n"

    def block(self, depth, inside, last=True):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, inside)
        if last and self.random.random() < 0.35:
            self.add(depth, self.random.choice(["return a, b, x, t"] + (["break", "continue"] * 3 if inside else [])))


def compare(seed):
    text = OneStructure(seed).text()
    file = f"definition-{seed}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {}
    try:
        exec(compile(text, file, "exec"), space)
        definition = nx.defn(space["f"], compiler="evaluator")
        for a, b in [(0, 1), (3, 2), (-1, 5)]:
            array = np.array([1, 2, 3])
            expected = space["f"](a, b, array)
            given = np.array([1, 2, 3])
            for values in (definition(a, b, given), definition(a, b, nx.tensor([1, 2, 3]))):
                assert [v.tolist() for v in values] == [np.asarray(v).tolist() for v in expected], text
            assert given.tolist() == array.tolist(), text
    finally:
        del linecache.cache[file]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9))
def test_random_definitions(seed):
    compare(seed)


@pytest.mark.fuzz
def test_many_random_definitions():
    for seed in range(20_000):
        compare(seed)
