"""What the tests of definitions share: an empty cache, and code that stands in another file."""

import linecache

import pytest

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.keys import default_options
from nxkernel.definitions.observe.events import stream


@pytest.fixture(autouse=True)
def _fresh():
    """No programs, no records, the evaluator unless a test asks for another compiler."""
    graph_cache.clear()
    stream.clear()
    nx.global_default_options(compiler="evaluator")
    yield
    default_options.reset()


@pytest.fixture
def run():
    """Run source text as a file of its own, as a notebook runs a cell; gives the namespace."""
    made = []

    def execute(source, space=None, file="cell.py"):
        space = {"nx": nx} if space is None else space
        space.setdefault("__name__", "__main__")
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        made.append(file)
        exec(compile(source, file, "exec"), space)
        return space

    yield execute
    for file in made:
        linecache.cache.pop(file, None)


@pytest.fixture
def misses():
    """The reasons of the calls that were new, each as a tuple of lines."""
    return lambda function=None: [event.reason for event in nx.events(function, "miss")]
