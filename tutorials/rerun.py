"""Run tutorials and keep their new outputs: ``python tutorials/rerun.py``, or ``… 01 05``, or ``… gallery/k-means``."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent


def clean(notebook: nbformat.NotebookNode) -> None:
    """Take out what differs from machine to machine, and bars that move only while there is a kernel.

    Raises
    ------
    RuntimeError
        For a cell that failed without the tag ``raises-exception``.
    """
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = [output for output in joined(cell.outputs) if not is_progress_bar(output)]
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                if "raises-exception" not in cell.metadata.get("tags", []):
                    raise RuntimeError(f"{output.ename}: {output.evalue}\nin the cell\n{cell.source}")
                output.traceback = [part for part in output.traceback if "nxkernel/" not in part]


def is_progress_bar(output: nbformat.NotebookNode) -> bool:
    """Whether an output is a bar that says how far it was when it began, for it moves in the kernel alone."""
    text = output.get("data", {}).get("text/plain", "")
    return (
        "application/vnd.jupyter.widget-view+json" in output.get("data", {})
        and re.match(r"\s*\d+%\|", text) is not None
    )


def joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs in which pieces of one stream that follow each other are one, as notebooks show them."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and kept and kept[-1].get("name") == output.name:
            kept[-1].text += output.text
        else:
            kept.append(output)
    return kept


def rerun(path: Path) -> None:
    """Run a notebook from top to bottom and write it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
    client.allow_errors = True
    client.execute()
    clean(notebook)
    nbformat.write(notebook, path)


def chosen(names: list[str]) -> list[Path]:
    """The notebooks that are meant: lessons and then those of the gallery.

    Parameters
    ----------
    names : list of str
        Notebooks by the beginnings of their names or paths, such as ``01``, ``01-transforms.ipynb``, ``k-means``,
        ``gallery/k-means`` or ``tutorials/01``, and ``gallery`` for all that are there; none means all.

    Raises
    ------
    SystemExit
        If a name fits no notebook.
    """
    paths = sorted(FOLDER.glob("*.ipynb")) + sorted(FOLDER.glob("gallery/*.ipynb"))
    begins = [name.removeprefix(f"{FOLDER.name}/") for name in names]
    places = {path: (path.name, path.relative_to(FOLDER).as_posix()) for path in paths}
    unknown = [name for name in begins if not any(place.startswith(name) for both in places.values() for place in both)]
    if unknown:
        raise SystemExit(f"no tutorial begins with {' or '.join(unknown)}")
    return [path for path in paths if not names or any(place.startswith(tuple(begins)) for place in places[path])]


def main(names: list[str]) -> None:
    """Run these tutorials, or all, with an empty disk cache, as a person does who opens them for the first time."""
    with tempfile.TemporaryDirectory() as folder:
        for path in chosen(names):
            os.environ["NXKERNEL_CACHE_DIR"] = str(Path(folder) / path.stem)
            rerun(path)
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
