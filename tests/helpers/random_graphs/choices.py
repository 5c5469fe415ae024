"""Choices that a seed makes, and the same choices made smaller until nothing smaller fails."""

import random
import time

import numpy as np


class Choices:
    """What a generator asks for, by a seed or as another one was answered.

    Parameters
    ----------
    seed : int, optional
        Answers by chance.
    answers : sequence of int, optional
        Answers one after the other, each above its lowest possibility; after the last one the lowest.

    Attributes
    ----------
    made : list of int
        The answers until now, above their lowest possibilities.
    """

    def __init__(self, seed=None, answers=()):
        self._random = None if seed is None else random.Random(seed)
        self._answers = iter(answers)
        self.made = []

    def integer(self, low, high):
        if self._random is not None:
            answer = self._random.randint(0, high - low)
        else:
            answer = min(next(self._answers, 0), high - low)
        self.made.append(answer)
        return low + answer

    def pick(self, options):
        options = list(options)
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent):
        return self.integer(0, 99) >= 100 - percent

    def some(self, options):
        """Some of them, in their order."""
        return tuple(option for option in options if self.chance(50))

    def order(self, count):
        """A permutation of the first numbers."""
        rest = list(range(count))
        return tuple(rest.pop(self.integer(0, len(rest) - 1)) for _ in range(count))

    def rng(self):
        return np.random.default_rng(self.integer(0, 2**20))


def smallest(answers, fails, seconds=60):
    """The smallest answers that were found with which something still fails.

    Parameters
    ----------
    answers : list of int
        Some with which it fails.
    fails : callable
        Tells it of a list of answers.
    seconds : float
        After which the smallest until then is good enough.

    Returns
    -------
    list of int
    """
    end = time.monotonic() + seconds
    before = None
    while before != answers:
        before = answers
        for attempt in _smaller(answers):
            if time.monotonic() > end:
                return answers
            if attempt(answers) != answers and fails(attempt(answers)):
                answers = attempt(answers)
    return answers


def _smaller(answers):
    """Ways to make a list smaller: parts left out, numbers lowest, halved, or less by one."""
    for size in (64, 16, 4, 2, 1):
        for start in reversed(range(0, len(answers), max(size // 2, 1))):
            yield lambda now, start=start, size=size: now[:start] + now[start + size :]
    for change in (lambda n: 0, lambda n: n // 2, lambda n: n - 1):
        for place in range(len(answers)):

            def changed(now, place=place, change=change):
                return [change(n) if k == place and n else n for k, n in enumerate(now)]

            yield changed
