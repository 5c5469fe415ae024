import subprocess
import sys

import pytest

import nxkernel_lab


def test_the_text_views_import_no_widgets():
    script = "import nxkernel_lab, sys; print(nxkernel_lab.to_text.__name__, 'ipywidgets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["to_text", "False"]


def test_unknown_names_are_told_as_python_does():
    with pytest.raises(AttributeError, match="module 'nxkernel_lab' has no attribute 'inspekt'"):
        nxkernel_lab.inspekt  # noqa: B018
