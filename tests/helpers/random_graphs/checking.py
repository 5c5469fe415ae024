"""A seed's graph, whether it holds, and the smallest one that fails as it does."""

import dataclasses
import itertools
import traceback

from random_graphs.choices import Choices, smallest
from random_graphs.curves import Curve
from random_graphs.definitions import Definition
from random_graphs.graphs import OfEntries, Plain, Primitive, Slopes, Unsuitable

#: How often there is a graph of each kind; functions take several times as long as others.
KINDS = {Plain: 80, Primitive: 62, Slopes: 26, OfEntries: 26, Definition: 5, Curve: 1}


@dataclasses.dataclass(frozen=True)
class Failure:
    """What fails.

    Parameters
    ----------
    seed : int
    error : str
        What was raised, as Python shows it.
    graph : str
        The smallest one that was found to fail, with its inputs.
    """

    seed: int
    error: str
    graph: str

    def __str__(self):
        return f"seed {self.seed}\n{self.graph}\n{self.error}"


def drawn(choose):
    """The graph that some choices make."""
    place = choose.integer(0, sum(KINDS.values()) - 1)
    for kind, weight in KINDS.items():
        if place < weight:
            return kind(choose)
        place -= weight
    raise AssertionError("the weights of the kinds do not add up")


def failure(seed, shrink=60):
    """Check the graph of a seed.

    Parameters
    ----------
    seed : int
    shrink : float
        Seconds for making a failure small.

    Returns
    -------
    Failure or None
    """
    choose, error = _checked(seed)
    if error is None:
        return None
    kind, found = type(error), [("", error)]

    def fails(answers):
        graph, raised = _attempt(Choices(answers=answers))
        if type(raised) is kind:
            found.append((graph, raised))
        return type(raised) is kind

    fails(choose.made)
    smallest(choose.made, fails, shrink)
    graph, error = found[-1]
    return Failure(seed, "".join(traceback.format_exception(error)), str(graph))


def _checked(seed):
    """The choices that made the graph of a seed, and what it raised."""
    # Choices that make nothing to check are made anew.
    attempts = (Choices(seed + (attempt << 64)) for attempt in itertools.count())
    found = ((choose, _attempt(choose)[1]) for choose in attempts)
    return next((choose, error) for choose, error in found if not isinstance(error, Unsuitable))


def _attempt(choose):
    """The graph of some choices, and what drawing or checking it raised."""
    graph = "nothing was drawn"
    try:
        graph = drawn(choose)
        graph.check()
    except Exception as error:
        return graph, error
    return graph, None
