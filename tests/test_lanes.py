"""The lanes of tests: every marker is declared, every test has its lane, and each lane is run and told of."""

import re
import tomllib
from pathlib import Path

import pytest

from lanes import sampling

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
MARKERS = [re.match(r"\w+", line)[0] for line in SETTINGS["markers"]]
LANES = ["slow", "browser", "notebooks", "simulator", "packaging", "fuzz", "stress"]
OF_PYTEST = {"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}
CI = (ROOT / ".ci" / "run").read_text()


def test_every_marker_is_declared_and_used():
    texts = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    used = {name for text in texts for name in re.findall(r"\bpytest\.mark\.(\w+)", text)} - OF_PYTEST
    assert used == set(MARKERS)


def test_the_lanes_come_first_and_the_default_leaves_them_out():
    assert MARKERS[: len(LANES)] == LANES
    assert SETTINGS["addopts"][-2:] == ["-m", " and ".join(f"not {lane}" for lane in LANES)]


def test_ci_runs_every_lane_but_those_that_take_hours():
    (names,) = re.findall(r"^lanes=\((.*)\)$", CI, re.MULTILINE)
    assert names.split() == [lane for lane in LANES if lane not in ("fuzz", "stress")]


@pytest.mark.parametrize("marker", MARKERS)
def test_each_is_told_of(marker):
    assert f"| `{marker}` |" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("every", [1, 2, 3, 4, 8, 20])
def test_a_sample_holds_one_case_in_so_many_and_the_first(every):
    kept = [place for place in range(1000) if sampling.in_sample(place, every)]
    assert kept[0] == 0
    assert abs(len(kept) - 1000 / every) <= 2
    # In step with no parameter: of whatever number of values, each is seen.
    assert all({place % period for place in kept} == set(range(period)) for period in range(1, 11))


@pytest.mark.parametrize("few", [2, 4, 48])
def test_a_large_sample_holds_the_small_ones(few):
    assert all(sampling.in_sample(place, few - 1) for place in range(1000) if sampling.in_sample(place, few))


class Case:
    """A case of a family, as pytest collects it."""

    def __init__(self, family, **samples):
        self.parent, self.originalname, self.lanes = "file", family, []
        self.marks = [pytest.mark.sampled(every=every, lane=lane).mark for lane, every in samples.items()]

    def iter_markers(self, name):
        return iter(self.marks)

    def add_marker(self, mark):
        self.lanes.append(mark.name)


def test_what_no_sample_holds_is_slow():
    cases = [Case("long", slow=4) for _ in range(8)] + [Case("other", slow=4), Case("plain")]
    sampling.pytest_collection_modifyitems(cases)
    slow = [place for place, case in enumerate(cases) if case.lanes == ["slow"]]
    assert slow == [place for place in range(8) if not sampling.in_sample(place, 4)]
    assert 0 < len(slow) < 8


def test_what_no_sample_of_the_slow_lane_holds_is_in_one_that_takes_hours():
    cases = [Case("long", slow=8, fuzz=2) for _ in range(40)]
    sampling.pytest_collection_modifyitems(cases)
    for place, case in enumerate(cases):
        kept = [] if sampling.in_sample(place, 8) else ["slow"]
        assert case.lanes == (kept if sampling.in_sample(place, 2) else ["fuzz"])
