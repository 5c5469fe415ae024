"""Compilers are tested by what they do, not by what a run of these tests before has left on disk."""

import pytest

from nxkernel.compilers.numba_cpu.program import saved_programs


@pytest.fixture(autouse=True)
def no_records(monkeypatch):
    """Have no graph be large enough for a record."""
    monkeypatch.setattr(saved_programs, "WORTH_A_FILE", 1 << 30)
