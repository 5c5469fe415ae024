"""The registry of compilers."""

import pytest

from nxkernel.compilers import registry
from nxkernel.errors import NxValueError


def test_names():
    assert registry.names() == ["evaluator", "numba_cpu", "numba_cuda"]
    assert [registry.get(name).name for name in registry.names()] == registry.names()


def test_a_compiler_is_made_once_and_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    monkeypatch.setattr(registry, "_made", {})
    made = []

    class Mine:
        name = "mine"

        def __init__(self):
            made.append(self)

    registry.register("mine", Mine)
    assert made == []
    assert registry.get("mine") is registry.get("mine") is made[0]
    assert len(made) == 1


def test_a_compiler_that_there_is_not():
    with pytest.raises(NxValueError) as error:
        registry.get("numba_gpu")
    known = "'auto', 'evaluator', 'numba_cpu', 'numba_cuda', and 'numba_cuda:1' for a second GPU"
    assert str(error.value) == (
        f"there is no compiler 'numba_gpu'.\n  Did you mean 'numba_cuda'?\n  The compilers are {known}."
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("cuda", "numba_cuda"), ("GPU", "numba_cuda"), ("cuda:1", "numba_cuda:1"), ("cpu", "numba_cpu"),
        ("numba", "numba_cpu"), ("numba_cqu", "numba_cpu"), ("numpy", "evaluator"), ("autp", "auto"),
    ],
)  # fmt: skip
def test_what_a_compiler_is_called_elsewhere(given, meant):
    with pytest.raises(NxValueError, match=f"no compiler '{given}'.\n  Did you mean '{meant}'\\?"):
        registry.get(given)


@pytest.mark.parametrize("given", ["gcc", 3, "x"])
def test_names_that_are_near_none(given):
    with pytest.raises(NxValueError) as error:
        registry.get(given)
    assert "Did you mean" not in str(error.value)


def test_a_compiler_for_another_device():
    assert registry.get("numba_cuda:1") is registry.get("numba_cuda:1")
    assert (registry.get("numba_cuda:1").name, registry.get("numba_cuda:1").which) == ("numba_cuda:1", 1)
    assert registry.get("numba_cuda").which == 0
