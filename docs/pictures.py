"""Take the README's pictures anew, of a real JupyterLab in Chromium: ``python docs/pictures.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent


def main() -> int:
    """Run the tests that take pictures, with docs/ as the place for them; gives pytest's exit status."""
    tests = DOCS.parent / "tests" / "browser" / "test_pictures.py"
    # The times on them are those of users, whose passes are not verified.
    environment = {**os.environ, "NXKERNEL_PICTURES": str(DOCS), "NXKERNEL_VERIFY": "0"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "browser", tests], env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
