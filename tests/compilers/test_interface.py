"""The registry of compilers."""

import pytest

from nxkernel.compilers import interface
from nxkernel.errors import NxValueError


def test_names():
    assert interface.names() == ["evaluator", "numba_cpu", "numba_cuda"]
    assert [interface.get(name).name for name in interface.names()] == interface.names()


def test_a_compiler_is_made_once_and_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(interface, "_REGISTRY", dict(interface._REGISTRY))
    monkeypatch.setattr(interface, "_MADE", {})
    made = []

    class Mine:
        name = "mine"

        def __init__(self):
            made.append(self)

    interface.register("mine", Mine)
    assert made == []
    assert interface.get("mine") is interface.get("mine") is made[0]
    assert len(made) == 1


def test_a_compiler_that_there_is_not():
    with pytest.raises(NxValueError) as error:
        interface.get("numba_gpu")
    known = "'evaluator', 'numba_cpu', 'numba_cuda'"
    assert str(error.value) == f"there is no compiler 'numba_gpu'.\n  The compilers are {known}."


def test_a_compiler_for_another_device():
    assert interface.get("numba_cuda:1") is interface.get("numba_cuda:1")
    assert (interface.get("numba_cuda:1").name, interface.get("numba_cuda:1").which) == ("numba_cuda:1", 1)
    assert interface.get("numba_cuda").which == 0
