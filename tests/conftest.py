"""What several tests need."""

import gc
import os
import signal

import pytest
from _pytest.doctest import DoctestModule

import quick_modules
from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.graph.expr import node_with, parameter
from nxkernel.graph.tracing import Trace
from nxkernel.operand import whole_spec

quick_modules.leave_out()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is in what a shell runs in the background; tests of interrupts would wait for theirs without end.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Examples stand in docstrings of what is public; to look for them in every test takes seconds."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.fixture(autouse=True, scope="session")
def _interpreted():
    """With `NXKERNEL_INTERPRET` set, programs of numba_cpu are interpreted, and what they touch is watched."""
    if not os.environ.get("NXKERNEL_INTERPRET"):
        yield
        return
    from interpreting import interpreter

    with interpreter("numba_cpu"):
        yield


@pytest.fixture(scope="module")
def little_garbage():
    """Who asks for garbage goes through what this file has made, and not through all that tests before have left."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def record():
    """Trace a function on parameters that templates describe; gives what the function returned."""

    def run(function, *templates):
        captured = []

        def capture(tensor):
            place, spec = len(captured), whole_spec(tensor.spec)
            captured.append(parameter(len(templates) + place, f"t{place}", spec, captured=True))
            return captured[-1]

        with Trace(capture):
            specs = [template.spec for template in templates]
            return function(*[node_with(parameter(i, f"x{i}", whole_spec(s)), s) for i, s in enumerate(specs)])

    return run


@pytest.fixture
def ahead_of_calls(monkeypatch):
    """Traces know types and shapes alone, as those of templates do, and may ask for no number of a call."""
    monkeypatch.setattr(CallArguments, "may_be_asked", False)


@pytest.fixture
def say(capsys):
    """Print a line at once, whatever pytest captures: stress tests tell how far they are, since they take minutes."""

    def tell(text):
        with capsys.disabled():
            print(text, flush=True)

    return tell
