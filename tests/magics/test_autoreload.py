"""Modules with definitions under ``%autoreload``."""

import sys

import pytest

import nxkernel

TEXT = "import nxkernel as nx\n\n@nx.defn\ndef scaled(t):\n    return t * {}\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Where a module of definitions lies."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "own_definitions.py"
    path.write_text(TEXT.format(2.0))
    yield path
    sys.modules.pop("own_definitions", None)


def test_a_definition_that_was_imported_by_name_is_the_new_one(shell, module):
    from IPython.extensions import autoreload

    shell.run("from own_definitions import scaled\nfirst = float(scaled(1.0))")
    module.write_text(TEXT.format(5.0))
    autoreload.superreload(sys.modules["own_definitions"])
    shell.run("second = float(scaled(1.0))")
    assert (shell.ns["first"], shell.ns["second"]) == (2.0, 5.0)


def test_it_is_taken_back(shell):
    from IPython.extensions import autoreload

    def ours():
        return [rule for rule in autoreload.UPDATE_RULES if rule[0].__module__ == "nxkernel_magics.autoreload"]

    shell.run("1")
    shell.run("2")
    assert len(ours()) == 1
    nxkernel.unload_ipython_extension(shell.ip)
    assert ours() == []
