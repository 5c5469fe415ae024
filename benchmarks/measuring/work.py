"""What a work of the suite is, what measuring it gives, and what its goal asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

#: The one that is measured, and those that it is measured against.
SUBJECT = "nxkernel"
PEERS = ("JAX", "Numba", "NumPy")
#: Those on a GPU.
GPU_PEERS = ("JAX", "torch.compile")
#: What a goal says that is against the fastest of the peers.
BETTER = "the better"
#: Moving as many bytes as the work has to, at the speed of a copy: what a goal says, and a figure's name.
COPY = "a copy"


@dataclass(frozen=True)
class Settings:
    """How long to measure.

    Parameters
    ----------
    seconds : float
        For each contender of a throughput row.
    rounds : int
        The fewest turns of a contender of a throughput row.
    repeats : int
        How many new functions are compiled, processes started, and so on, for one figure.
    with_xla_chain : bool
        Whether JAX, too, is given the chain of 800 operations, which takes minutes and gigabytes.
    """

    seconds: float = 2.0
    rounds: int = 4
    repeats: int = 5
    with_xla_chain: bool = False


@dataclass(frozen=True)
class Goal:
    """The most that the subject's figure may be.

    Parameters
    ----------
    limit : float
        A ratio to `against`, or the figure itself where `against` is empty.
    against : str
        A peer, ``BETTER``, or the name of another figure of the outcome.
    """

    limit: float
    against: str = "JAX"


@dataclass(frozen=True)
class Outcome:
    """One row of the table.

    Parameters
    ----------
    work : str
        What was done.
    figures : dict
        Name of a contender to what it took, in `unit`.
    goals : tuple of Goal
        All must be met.
    unit : str
        ``"s"``, ``"MB"`` or ``""`` for a count.
    note : str
        What the reader of the row should know.
    """

    work: str
    figures: dict[str, float]
    goals: tuple[Goal, ...]
    unit: str = "s"
    note: str = ""

    def ratio(self, against: str) -> float | None:
        """The subject's figure over that of `against`, None where one is missing."""
        mine, other = self.figures.get(SUBJECT), self.figures.get(against)
        if against == BETTER:
            other = min((self.figures[peer] for peer in (*PEERS, *GPU_PEERS) if peer in self.figures), default=None)
        if mine is None or not other:
            return None
        return mine / other

    def met(self) -> bool | None:
        """Whether every goal is met; None where a figure that one needs is missing."""
        answers = []
        for goal in self.goals:
            measured = self.ratio(goal.against) if goal.against else self.figures.get(SUBJECT)
            answers.append(None if measured is None else measured <= goal.limit)
        if False in answers:
            return False
        return None if None in answers else True


@dataclass(frozen=True)
class Work:
    """One thing to measure.

    Parameters
    ----------
    name : str
        As the table says it.
    goals : tuple of Goal
        What it should reach.
    measure : callable
        Takes the work and the settings and gives the rows.
    why : str, optional
        What keeps it from its goals; the row says so where they are not met.
    """

    name: str
    goals: tuple[Goal, ...]
    measure: Callable[[Work, Settings], list[Outcome]] = field(repr=False)
    why: str = ""

    def outcome(self, figures: dict[str, float], unit: str = "s", note: str = "") -> Outcome:
        """A row of this work."""
        made = Outcome(self.name, figures, self.goals, unit, note)
        if self.why and made.met() is False:
            made = replace(made, note="; ".join(filter(None, (note, self.why))))
        return made
