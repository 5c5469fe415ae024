"""Arrays as small PNG pictures: matrices in the colours of a palette, colour images as they are."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from nxkernel.backends.numpy_primitives import widened


def extremes(data: np.ndarray) -> tuple[float, float] | None:
    """The smallest and largest finite element; None if there is none."""
    with np.errstate(all="ignore"):
        finite = data[np.isfinite(data)]
    return (float(finite.min()), float(finite.max())) if finite.size else None


def blocks(data: np.ndarray, cells: int) -> np.ndarray:
    """A matrix, or one for each channel in the last axis, averaged to at most `cells` rows and columns, as f64.

    Each cell of what is larger is the mean of a block.

    Examples
    --------
    >>> blocks(np.arange(8.0).reshape(2, 4), 2).tolist()
    [[0.5, 2.5], [4.5, 6.5]]
    """
    with np.errstate(all="ignore"):
        data = widened(data).astype(np.float64)
        for axis in (0, 1):
            size = data.shape[axis]
            if size > cells:
                edges = np.arange(cells) * size // cells
                counts = np.diff(np.append(edges, size))
                sums = np.add.reduceat(data, edges, axis=axis)
                data = sums / counts.reshape([-1 if position == axis else 1 for position in range(data.ndim)])
    return data


def shades(data: np.ndarray, low: float, high: float) -> np.ndarray:
    """Palette indices of a matrix: 1 to 255 from `low` to `high`, 0 for NaN."""
    return np.where(np.isnan(data), 0, 1 + np.rint(254 * shares(data, low, high))).astype(np.uint8)


def shares(data: np.ndarray, low: float, high: float) -> np.ndarray:
    """Each element's position between `low` and `high`, from 0 to 1; 0.5 if these are equal."""
    with np.errstate(all="ignore"):
        share = (data - low) / (high - low) if high > low else np.where(np.isfinite(data), 0.5, data)
        return np.nan_to_num(np.clip(share, 0, 1))


def _palette() -> bytes:
    """The palette from dark blue over green to yellow; the first colour is for NaN."""
    stops = np.array([[48, 18, 86], [56, 82, 139], [33, 144, 140], [94, 201, 98], [253, 231, 120]])
    stops_at = np.linspace(0, len(stops) - 1, 255)
    colours = np.stack([np.interp(stops_at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    return bytes([128, 128, 128]) + np.rint(colours).astype(np.uint8).tobytes()


def png(pixels: np.ndarray) -> bytes:
    """A picture in the PNG format (ISO/IEC 15948).

    Parameters
    ----------
    pixels : numpy.ndarray
        uint8: rows × columns with places in the palette of this module, of which 0 is transparent, or rows × columns
        × 3 with red, green and blue.

    Returns
    -------
    bytes
    """
    rows, columns = pixels.shape[:2]
    is_colour = pixels.ndim == 3
    lines = np.zeros((rows, 1 + pixels[0].size), np.uint8)
    if is_colour:
        # What differs from the line above is smaller and packs better; the first byte of a line says so.
        lines[:, 0] = 2
        lines[:, 1:] = np.diff(pixels.reshape(rows, -1), axis=0, prepend=np.zeros((1, columns * 3), np.uint8))
    else:
        lines[:, 1:] = pixels
    parts = [(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2 if is_colour else 3, 0, 0, 0))]
    if not is_colour:
        parts += [(b"PLTE", _palette()), (b"tRNS", b"\0")]
    parts += [(b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
