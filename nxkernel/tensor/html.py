"""Tensors as HTML for notebooks: a line that tells what it is, a table or a picture, and the text folded below."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from typing import Any

import numpy as np

from nxkernel.backends.numpy import widened
from nxkernel.tensor import printing

#: Tables have at most so many rows and columns; longer sides are cut with an ellipsis.
ROWS, COLUMNS = 10, 12
#: Matrices of at least so many rows and columns are shown as a picture.
PICTURED = 8
#: The picture has at most so many cells a side; larger matrices are averaged in blocks.
CELLS = 112
#: The picture is at most so many pixels wide and high on the page.
PIXELS = 280

_STYLE = "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px)"
_BORDER = "1px solid rgba(128,128,128,.35)"
_CELL = f"text-align:right;padding:1px 8px;border:{_BORDER};background:none"


def page(tensor: Any) -> str:
    """A tensor as a piece of HTML, the same from run to run.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    str
    """
    shown = ""
    if _is_pictured(tensor):
        shown = _picture(tensor)
    elif tensor.data.ndim <= 2 and tensor.data.size:
        shown = _table(tensor)
    text = escape(printing.text(tensor))
    folded = f'<details{"" if shown else " open"}><summary style="opacity:.7;cursor:pointer">text</summary>'
    return (
        f'<div style="{_STYLE}"><div style="margin-bottom:4px">{escape(headline(tensor))}</div>{shown}'
        f'{folded}<pre style="background:none;margin:4px 0">{text}</pre></details></div>'
    )


def headline(tensor: Any) -> str:
    """Type and shape in words.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    str

    Examples
    --------
    >>> headline(nx.iota((2, 3), names=["row", None]))
    's64 matrix of 2 × 3 (row: 2)'
    >>> headline(nx.vectorize(nx.iota((2, 3)), "x"))
    's64 vector of 3, vectorized over x: 2'
    """
    kind = {0: "scalar", 1: "vector", 2: "matrix"}.get(tensor.rank, "tensor")
    named = [f"{name}: {size}" for name, size in zip(tensor.names, tensor.shape, strict=True) if name is not None]
    size = f" of {' × '.join(map(str, tensor.shape))}" if tensor.shape else ""
    axes = ", ".join(f"{name}: {size}" for name, size in tensor.vectorized_axes)
    over = f", vectorized over {axes}" if axes else ""
    return f"{tensor.type} {kind}{size}" + (f" ({', '.join(named)})" if named else "") + over


def _is_pictured(tensor: Any) -> bool:
    return tensor.data.ndim == 2 and min(tensor.data.shape) >= PICTURED and not tensor.type.is_complex


def _table(tensor: Any) -> str:
    data = tensor.data.reshape(-1, tensor.data.shape[-1]) if tensor.data.ndim else tensor.data.reshape(1, 1)
    rows = [_table_row(row, tensor.type) for row in data[:ROWS]]
    if len(data) > ROWS:
        span = min(data.shape[1], COLUMNS + 1)
        rows.append(f'<tr><td style="{_CELL}" colspan="{span}">… {len(data) - ROWS} more</td></tr>')
    return f'<table style="border-collapse:collapse;margin:0 0 4px">{"".join(rows)}</table>'


def _table_row(row: np.ndarray, type_: Any) -> str:
    cells = [escape(printing.number(value, type_)) for value in row[:COLUMNS]]
    if len(row) > COLUMNS:
        cells.append(f"… {len(row) - COLUMNS} more")
    return "<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>"


def _picture(tensor: Any) -> str:
    with np.errstate(all="ignore"):
        data = _blocks(widened(tensor.data))
        finite = data[np.isfinite(data)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    url = base64.b64encode(png(_shades(data, low, high))).decode()
    rows, columns = tensor.data.shape
    scale = PIXELS / max(rows, columns)
    width, height = max(round(columns * scale), 8), max(round(rows * scale), 8)
    legend = f"dark {low:.4g}, light {high:.4g}" if finite.size else "no finite element"
    if max(rows, columns) > CELLS:
        legend += f"; each cell is the mean of about {-(-rows // CELLS)} × {-(-columns // CELLS)} elements"
    return (
        f'<img alt="{escape(headline(tensor))}" width="{width}" height="{height}" '
        f'style="image-rendering:pixelated;border:{_BORDER}" src="data:image/png;base64,{url}">'
        f'<div style="opacity:.7">{escape(legend)}</div>'
    )


def _blocks(data: np.ndarray) -> np.ndarray:
    """The matrix as f64 with at most CELLS rows and columns, each the mean of a block."""
    for axis in (0, 1):
        size = data.shape[axis]
        if size > CELLS:
            edges = np.arange(CELLS) * size // CELLS
            counts = np.diff(np.append(edges, size))
            sums = np.add.reduceat(data, edges, axis=axis, dtype=np.float64)
            data = sums / counts.reshape((-1, 1) if axis == 0 else (1, -1))
    return data.astype(np.float64)


def _shades(data: np.ndarray, low: float, high: float) -> np.ndarray:
    """Palette places: 1 to 255 from low to high, 0 for NaN."""
    with np.errstate(all="ignore"):
        share = (data - low) / (high - low) if high > low else np.where(np.isfinite(data), 0.5, data)
        places = 1 + np.rint(254 * np.clip(share, 0, 1))
    return np.where(np.isnan(data), 0, places).astype(np.uint8)


def _palette() -> bytes:
    """From dark blue over green to yellow, of even steps in lightness; the first colour is for what is missing."""
    stops = np.array([[48, 18, 86], [56, 82, 139], [33, 144, 140], [94, 201, 98], [253, 231, 120]])
    places = np.linspace(0, len(stops) - 1, 255)
    colours = np.stack([np.interp(places, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    return bytes([128, 128, 128]) + np.rint(colours).astype(np.uint8).tobytes()


def png(shades: np.ndarray) -> bytes:
    """A picture in the PNG format (ISO/IEC 15948) of one byte a pixel, with the palette of this module.

    Parameters
    ----------
    shades : numpy.ndarray
        Palette places, uint8, rows × columns; place 0 is transparent.

    Returns
    -------
    bytes
    """
    rows, columns = shades.shape
    header = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), shades], axis=1)
    parts = [
        (b"IHDR", header),
        (b"PLTE", _palette()),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
