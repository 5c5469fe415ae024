"""Lanes: which tests `pytest` runs by default, and what of a long parametrized family is among them."""

import math
from collections import Counter

import pytest

#: Multiples of it, without their whole parts, lie evenly between 0 and 1 and in step with no parameter's values.
SPREAD = (math.sqrt(5) - 1) / 2


def in_sample(place: int, every: int) -> bool:
    """Whether the case at a place of its family is in the sample that holds about one case in `every`.

    The first case always is: what is asked for by its own name runs.
    """
    return place * SPREAD % 1 < 1 / every


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what `@pytest.mark.sampled(every=…)` leaves out into the lane `slow`, or into the one that `lane=` names.

    Of several such marks, the one of the largest sample says where a case goes that none holds; each sample holds the
    smaller ones.
    """
    places = Counter()
    for item in items:
        if marks := sorted(item.iter_markers("sampled"), key=lambda mark: mark.kwargs["every"]):
            family = (item.parent, getattr(item, "originalname", None))
            for mark in marks:
                if not in_sample(places[family], mark.kwargs["every"]):
                    item.add_marker(getattr(pytest.mark, mark.kwargs.get("lane", "slow")))
                    break
            places[family] += 1
