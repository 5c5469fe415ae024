"""Build the reference from the docstrings: ``python docs/build.py``, which writes pages of HTML to build/reference."""

from __future__ import annotations

import sys
from pathlib import Path

import pages
from sphinx.cmd.build import build_main

DOCS = Path(__file__).resolve().parent


def main(folder: Path) -> int:
    """Write the sources of all pages to `folder`/source and the pages to `folder`/html; gives Sphinx's exit status.

    A warning of Sphinx is a failure.
    """
    source = folder / "source"
    pages.write(source)
    options = ["-q", "-W", "--keep-going", "-E", "-b", "html", "-c", str(DOCS), "-d", str(folder / "doctrees")]
    return build_main([*options, str(source), str(folder / "html")])


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS.parent / "build" / "reference"
    status = main(target)
    if status == 0:
        print(target / "html" / "index.html")
    sys.exit(status)
