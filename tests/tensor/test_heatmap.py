"""Heat maps."""

import numpy as np
import pytest

import nxkernel as nx


def test_digits():
    assert repr(nx.to_heatmap(nx.iota((2, 5), names=["row", None]), ansi_enabled=False)) == (
        "#Nx.Heatmap<\n  s64[row: 2][5]\n  0 1 2 3 4\n  5 6 7 8 9\n>"
    )
    assert repr(nx.to_heatmap([1.0, np.nan, np.inf, -np.inf, 2.0], ansi_enabled=False)) == (
        "#Nx.Heatmap<\n  f32[5]\n  0 · 9 0 9\n>"
    )
    assert "\n  · ·\n" in repr(nx.to_heatmap([np.nan, np.nan], ansi_enabled=False))


def test_shades_of_grey():
    shown = repr(nx.to_heatmap(nx.tensor([0.0, np.nan, 1.0]), ansi_enabled=True, ansi_whitespace="  "))
    assert shown == "#Nx.Heatmap<\n  f32[3]\n  \x1b[48;5;232m  \x1b[0m  \x1b[48;5;255m  \x1b[0m\n>"
    assert "\u3000" in repr(nx.to_heatmap(nx.eye(2), ansi_enabled=True))


def test_colours_depend_on_the_terminal(monkeypatch):
    heatmap = nx.eye(2).to_heatmap()
    assert "\x1b" not in repr(heatmap)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" in repr(heatmap)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in repr(heatmap)


def test_more_axes():
    assert repr(nx.to_heatmap(nx.iota((2, 1, 2)), ansi_enabled=False)) == (
        "#Nx.Heatmap<\n  s64[2][1][2]\n  [0]\n  0 3\n  [1]\n  6 9\n>"
    )
    shown = repr(nx.to_heatmap(nx.iota((2, 5, 1, 2)), ansi_enabled=False))
    assert "  [1, 2]\n" in shown
    assert shown.endswith("  … 2 more\n>")
    assert "  [1]\n" in repr(nx.to_heatmap(nx.vectorize(nx.iota((2, 1, 2)), "x"), ansi_enabled=False))


def test_large_maps_are_averaged():
    lines = repr(nx.to_heatmap(nx.iota((200, 300)), ansi_enabled=False)).splitlines()
    assert len(lines) == 64 + 4
    assert len(lines[2].split()) == 64
    assert lines[-2] == "  each cell is the mean of about 4 × 5 elements"


@pytest.mark.parametrize("shape", [(5,), (2, 3), (4, 2, 3), (2, 2, 3, 3)])
def test_notebooks_show_a_picture(shape):
    heatmap = nx.to_heatmap(nx.iota(shape, type="u8"))
    page = heatmap._repr_html_()
    if len(shape) < 4:
        assert page.count("<img") == (4 if len(shape) == 3 else 1)
        assert "dark 0, light" in page
    else:
        assert "<pre" in page
        assert "\x1b" not in page
