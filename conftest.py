"""What every test and every doctest has at hand, wherever the nxkernel that it belongs to is installed."""

import os
from collections.abc import Iterator

import numpy as np
import pytest

#: What each pass of a compiler leaves is verified: in tests, in doctests, in processes and in notebooks.
VERIFY = "NXKERNEL_VERIFY"
# It is read when nxkernel is imported, which is later.
os.environ.setdefault(VERIFY, "1")

pytest_plugins = ["lanes.sampling", "lanes.workers"]

#: What imports the build's own packages, which tests have not.
collect_ignore = ["extension/hatch_build.py"]


@pytest.fixture(autouse=True)
def _doctest_names(request: pytest.FixtureRequest) -> None:
    """Give doctests the names ``nx`` and ``np``."""
    if isinstance(request.node, pytest.DoctestItem):
        import nxkernel as nx

        request.getfixturevalue("doctest_namespace").update(nx=nx, np=np)


@pytest.fixture(autouse=True)
def _verified(request: pytest.FixtureRequest) -> Iterator[None]:
    """In this process passes are verified; processes of a test that measures times do without."""
    from nxkernel import passes

    with passes.verifying(), pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("alone"):
            patch.delenv(VERIFY, raising=False)
        yield
