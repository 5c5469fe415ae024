"""Stress tests tell how far they are, since they take minutes."""

import pytest


@pytest.fixture
def say(capsys):
    """Print a line at once, whatever pytest captures."""

    def tell(text):
        with capsys.disabled():
            print(text, flush=True)

    return tell
