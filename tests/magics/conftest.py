"""A shell in this process, with nxkernel loaded, that runs cells as a notebook does."""

import gc
import re
from dataclasses import dataclass

import pytest
from IPython.core.completer import provisionalcompleter, rectify_completions
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import nxkernel
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.keys import default_options
from nxkernel.definitions.observe.events import stream


@dataclass
class Ran:
    """What a cell showed."""

    value: object
    out: str
    err: str
    outputs: list
    success: bool


class Shell:
    """A fresh namespace of IPython's shell."""

    def __init__(self, ip):
        self.ip = ip
        self.ns = ip.user_ns

    def run(self, cell):
        with capture_output() as captured:
            result = self.ip.run_cell(cell, store_history=True)
        plain = re.compile(r"\x1b\[[0-9;]*m")
        out, err = plain.sub("", captured.stdout), plain.sub("", captured.stderr)
        return Ran(result.result, out, err, captured.outputs, result.success)

    def complete(self, line):
        """What Tab offers at the end of a line, as the whole lines that it would make."""
        with provisionalcompleter():
            found = list(rectify_completions(line, self.ip.Completer.completions(line, len(line))))
        return [line[: each.start] + each.text for each in found]


@pytest.fixture(scope="session")
def ip(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        # The history of these cells belongs into nobody's file.
        config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
        shell = InteractiveShell.instance(config=config)
        yield shell
        InteractiveShell.clear_instance()


@pytest.fixture
def bare(ip):
    with pytest.MonkeyPatch.context() as patch:
        # It looks for garbage in all that tests before have left and that stays, which takes longer than most tests.
        patch.setattr(gc, "collect", lambda: 0)
        ip.reset(new_session=False)
    ip.execution_count = 1
    stream.clear()
    graph_cache.clear()
    yield Shell(ip)
    nxkernel.unload_ipython_extension(ip)
    default_options.reset()
    stream.clear()


@pytest.fixture
def shell(bare):
    nxkernel.load_ipython_extension(bare.ip)
    bare.ns["nx"] = nxkernel
    return bare
