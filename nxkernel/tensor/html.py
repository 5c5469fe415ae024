"""Tensors as HTML for notebooks: a headline, a picture, and the numbers, folded below the picture of many."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from nxkernel.tensor import pictures, printing

#: Matrices of at least so many rows and columns are shown as a picture.
PICTURED = 8
#: A picture has at most so many cells a side; larger matrices are averaged in blocks.
CELLS = 112
#: A picture is at most so many pixels wide and high on the page.
PIXELS = 280
#: A colour image is made smaller, step by step, until it takes at most so many bytes.
IMAGE_SIDES, IMAGE_BYTES = (280, 200, 140, 96), 36_000
#: A stack of matrices is shown as at most so many pictures, of at most so many cells and pixels a side.
STACKED, STACK_CELLS, STACK_PIXELS = 8, 56, 96

_STYLE = "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px)"
_BORDER = "1px solid rgba(128,128,128,.35)"
#: Lines are wrapped between numbers where the page is narrower than they are; nothing stands out of its frame.
_NUMBERS = "background:none;margin:4px 0;white-space:pre-wrap;overflow-x:auto"


def page(tensor: Any) -> str:
    """The HTML of a tensor, the same from run to run.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    str
    """
    shown = picture(tensor)
    numbers = f'<pre style="{_NUMBERS}">{escape(printing.digits(tensor, separator=", "))}</pre>'
    if shown and tensor.data.size > printing.SHORTENED:
        numbers = f'<details><summary style="opacity:.7;cursor:pointer">numbers</summary>{numbers}</details>'
    return framed(tensor, shown + numbers)


def framed(tensor: Any, body: str) -> str:
    """HTML with the headline of a tensor."""
    return f'<div style="{_STYLE}"><div style="margin-bottom:4px">{escape(headline(tensor))}</div>{body}</div>'


def escape(text: str) -> str:
    """As :func:`html.escape`, whose table of entities is not read when nxkernel is imported."""
    import html

    return html.escape(text)


def headline(tensor: Any) -> str:
    """Type and shape of a tensor in words.

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
    where = "" if tensor.device == "cpu" else f", on {tensor.device}"
    return f"{tensor.type} {kind}{size}" + (f" ({', '.join(named)})" if named else "") + over + where


def picture(tensor: Any, *, least: int = PICTURED, colours: bool = True) -> str:
    """The picture of a matrix, a stack of matrices or a colour image as HTML; empty for other tensors.

    Parameters
    ----------
    tensor : Tensor
    least : int, optional
        Sides below this are too short for a picture.
    colours : bool, optional
        Whether what looks like a colour image is shown as one.

    Returns
    -------
    str
    """
    data = tensor.data
    if tensor.type.is_complex or not data.size:
        return ""
    if colours and _is_image(data) and min(data.shape[:2]) >= least:
        return _image(data, headline(tensor))
    if data.ndim == 2 and min(data.shape) >= least:
        return _matrix(data, headline(tensor))
    if data.ndim == 3 and min(data.shape[1:]) >= least:
        return _stack(data, headline(tensor))
    return ""


def _is_image(data: np.ndarray) -> bool:
    """Whether an array is a colour image: bytes, or floats from 0 to 1, with a last axis of 3 or 4 channels."""
    if data.ndim != 3 or data.shape[2] != 3:
        return False
    # bf16 has no letter of its own in NumPy.
    return data.dtype == np.uint8 or (data.dtype.kind in "fV" and bool(((data >= 0) & (data <= 1)).all()))


def _matrix(data: np.ndarray, title: str) -> str:
    small = pictures.blocks(data, CELLS)
    bounds = pictures.extremes(small)
    rows, columns = data.shape
    notes = [_legend(bounds)]
    if max(rows, columns) > CELLS:
        notes.append(f"each cell is the mean of about {-(-rows // CELLS)} × {-(-columns // CELLS)} elements")
    return _img(pictures.shades(small, *(bounds or (0.0, 0.0))), data.shape, PIXELS, title) + _note(notes)


def _stack(data: np.ndarray, title: str) -> str:
    """The first matrices of a stack side by side, in one colour scale."""
    small = np.stack([pictures.blocks(matrix, STACK_CELLS) for matrix in data[:STACKED]])
    bounds = pictures.extremes(small)
    images = [
        _img(pictures.shades(matrix, *(bounds or (0.0, 0.0))), data.shape[1:], STACK_PIXELS, f"{title}, [{index}]")
        for index, matrix in enumerate(small)
    ]
    notes = [_legend(bounds)]
    if len(data) > STACKED:
        notes.append(f"the first {STACKED} of {len(data)} matrices")
    row = "".join(images)
    return f'<div style="display:flex;flex-wrap:wrap;gap:6px">{row}</div>{_note(notes)}'


def _image(data: np.ndarray, title: str) -> str:
    for side in IMAGE_SIDES:
        small = pictures.blocks(data, side)
        pixels = np.rint(small if data.dtype == np.uint8 else small * 255).astype(np.uint8)
        if len(pictures.png(pixels)) <= IMAGE_BYTES:
            break
    rows, columns = data.shape[:2]
    is_smaller = max(rows, columns) > side
    return _img(pixels, data.shape[:2], PIXELS, title) + _note(
        ["red, green and blue in the last axis", *([f"made smaller, to {side} pixels a side"] if is_smaller else [])]
    )


def _img(pixels: np.ndarray, shape: tuple[int, ...], largest: int, title: str) -> str:
    rows, columns = shape
    scale = largest / max(rows, columns)
    width, height = max(round(columns * scale), 8), max(round(rows * scale), 8)
    url = base64.b64encode(pictures.png(pixels)).decode()
    # JupyterLab's own style sets heights to "auto", which is that of the cells and not that of the matrix.
    style = f"height:{height}px;image-rendering:pixelated;border:{_BORDER}"
    return (
        f'<img alt="{escape(title)}" width="{width}" height="{height}" style="{style}" '
        f'src="data:image/png;base64,{url}">'
    )


def _legend(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "no finite element"
    low, high = map(_shown, bounds)
    return f"dark {low}, light {high}" if bounds[0] < bounds[1] else f"all elements {low}"


def _shown(bound: float) -> str:
    """A bound with four digits; whole numbers of some more with all of theirs."""
    return f"{bound:.0f}" if bound.is_integer() and abs(bound) < 1e8 else f"{bound:.4g}"


def _note(parts: list[str]) -> str:
    return f'<div style="opacity:.7">{escape("; ".join(parts))}</div>'
