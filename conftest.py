"""What every doctest has at hand, wherever the nxkernel that it belongs to is installed."""

import os
import shutil
import tempfile

import numpy as np
import pytest

#: What imports the build's own packages, which tests have not.
collect_ignore = ["extension/hatch_build.py"]


@pytest.fixture(autouse=True)
def _doctest_names(request: pytest.FixtureRequest) -> None:
    """Give doctests the names ``nx`` and ``np``."""
    if isinstance(request.node, pytest.DoctestItem):
        import nxkernel as nx

        request.getfixturevalue("doctest_namespace").update(nx=nx, np=np)


_CACHE = "NXKERNEL_CACHE_DIR"
_folder = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Let programs be kept in a folder of the run alone: the user's own is neither read nor filled."""
    if _CACHE not in os.environ:
        os.environ[_CACHE] = config.stash[_folder] = tempfile.mkdtemp(prefix="nxkernel-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove that folder."""
    if _folder in config.stash:
        del os.environ[_CACHE]
        shutil.rmtree(config.stash[_folder], ignore_errors=True)
