"""What every test and every doctest has at hand, wherever the nxkernel that it belongs to is installed."""

import numpy as np
import pytest

pytest_plugins = ["lanes.sampling", "lanes.workers"]

#: What imports the build's own packages, which tests have not.
collect_ignore = ["extension/hatch_build.py"]


@pytest.fixture(autouse=True)
def _doctest_names(request: pytest.FixtureRequest) -> None:
    """Give doctests the names ``nx`` and ``np``."""
    if isinstance(request.node, pytest.DoctestItem):
        import nxkernel as nx

        request.getfixturevalue("doctest_namespace").update(nx=nx, np=np)
