"""Processes that run tests: one a core, with a folder of programs for each, and modules that are compiled once."""

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:  # Windows; there, tests run in one process.
    fcntl = None

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = "NXKERNEL_CACHE_DIR"
#: How often garbage is looked for, as :func:`gc.set_threshold` takes it. By default it takes a twentieth of the time.
SELDOM = 50_000, 20, 50
#: More processes than this spend their time on collecting the same tests.
MOST = 8
_folder = pytest.StashKey[Path]()


def is_worker(config: pytest.Config) -> bool:
    """Whether this process runs a part of the tests for another that collects the results."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run a whole lane in one process a core; tests that are asked for by their paths run in this one.

    So `pytest` takes half the time on two cores, and `pytest tests/nn/test_layers.py` starts at once and can be
    debugged. Who names a number of processes (`-n 0`) gets it.
    """
    option = config.option
    asked = config.args_source is not pytest.Config.ArgsSource.TESTPATHS or option.collectonly or is_worker(config)
    if not asked and fcntl and getattr(option, "numprocesses", 0) is None and not option.usepdb:
        # Not "auto", which counts two threads of one core as one where psutil is installed.
        option.numprocesses, option.dist = "logical", "worksteal"
        option.maxprocesses = option.maxprocesses or MOST


def pytest_configure(config: pytest.Config) -> None:
    """Give each process a folder for programs on disk, and what tests start the modules that are compiled already."""
    if is_worker(config):
        config.stash[_folder] = Path(config.workerinput["folder"])
        worker = config.workerinput["workerid"]
        os.environ[PROGRAMS] = str(Path(os.environ[PROGRAMS]) / worker)
        Path(os.environ[PROGRAMS]).mkdir(mode=0o700, parents=True, exist_ok=True)
    else:
        config.stash[_folder] = folder = Path(tempfile.mkdtemp(prefix="nxkernel-tests-"))
        if PROGRAMS not in os.environ:
            # The user's own folder is neither read nor filled.
            os.environ[PROGRAMS] = str(folder / "programs")
            config.add_cleanup(lambda: os.environ.pop(PROGRAMS))
        if sys.dont_write_bytecode and not config.option.collectonly:
            compile_modules(folder / "bytecode")
    if sys.dont_write_bytecode and not distributes(config):
        # Not for this process: its folder of bytecode holds modules of other packages only once a test has needed them.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.stash[_folder] / "bytecode")


def distributes(config: pytest.Config) -> bool:
    """Whether other processes run the tests for this one."""
    return bool(getattr(config.option, "numprocesses", None)) and not is_worker(config)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from going through all tests, which stay, and from looking so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)


def compile_modules(folder: Path) -> None:
    """Compile this project's modules to a folder.

    Where Python is told to write no bytecode, each of the hundreds of processes that tests start would compile them.
    """
    import nxkernel

    ours = [Path(nxkernel.__file__).parent, ROOT / "magics", ROOT / "extension", ROOT / "tests" / "helpers"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-X", f"pycache_prefix={folder}", "-m", "compileall", "-q", "-j0", *map(str, ours)]
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Tell a process that runs tests where the folder is that all share."""
    node.workerinput["folder"] = str(node.config.stash[_folder])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove that folder."""
    if not is_worker(config) and _folder in config.stash:
        shutil.rmtree(config.stash[_folder], ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path, how: int):
    """Hold a file that processes agree on, alone or with others."""
    with path.open("a") as file:
        fcntl.flock(file, how)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Run no other test meanwhile where a test is marked `alone`, since it measures times or counts threads."""
    if not is_worker(item.config):
        return (yield)
    folder = item.config.stash[_folder]
    with contextlib.ExitStack() as held:
        # Who waits to be alone holds the door, so that nobody else goes on.
        with locked(folder / "door", fcntl.LOCK_EX):
            alone = item.get_closest_marker("alone") is not None
            held.enter_context(locked(folder / "room", fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        return (yield)
