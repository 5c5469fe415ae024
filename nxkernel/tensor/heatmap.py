"""Heat maps: the elements of a tensor as shades of grey, digits or a picture."""

from __future__ import annotations

import os
import sys

import numpy as np

from nxkernel.tensor import html, pictures
from nxkernel.tensor.tensor import Tensor

#: A map has at most so many rows and columns; each cell of a larger one is the mean of a block.
CELLS = 64
#: At most so many matrices of a tensor of more axes are shown.
MATRICES = 8
#: The greys of terminals of 256 colours, from black to white.
_GREYS = range(232, 256)
_RESET = "\x1b[0m"


class Heatmap:
    """The result of :func:`nxkernel.to_heatmap`: a tensor displayed as a heat map.

    Parameters
    ----------
    tensor : Tensor
        Of at least one axis and a real type.
    is_coloured : bool or None
        Shades of grey by a terminal's codes, or digits from 0 to 9; None is what standard output can show.
    cell : str
        What is printed in each shade.
    """

    def __init__(self, tensor: Tensor, is_coloured: bool | None, cell: str) -> None:
        self.tensor, self._is_coloured, self._cell = tensor, is_coloured, cell

    def __repr__(self) -> str:
        data = self.tensor.data
        matrices = data.reshape(-1, *data.shape[-2:]) if data.ndim > 1 else data.reshape(1, 1, -1)
        small = [pictures.blocks(matrix, CELLS) for matrix in matrices[:MATRICES]]
        low, high = pictures.extremes(np.stack(small)) or (0.0, 0.0)
        lines = [str(self.tensor.spec)]
        for index, matrix in zip(np.ndindex(data.shape[:-2]), small, strict=False):
            if data.ndim > 2:
                lines.append(f"[{', '.join(map(str, index))}]")
            lines += self._lines(matrix, low, high)
        if len(matrices) > MATRICES:
            lines.append(f"… {len(matrices) - MATRICES} more")
        if max(matrices.shape[1:]) > CELLS:
            rows, columns = (-(-size // CELLS) for size in matrices.shape[1:])
            lines.append(f"each cell is the mean of about {rows} × {columns} elements")
        return "#Nx.Heatmap<\n" + "".join(f"  {line}\n" for line in lines) + ">"

    def _lines(self, matrix: np.ndarray, low: float, high: float) -> list[str]:
        missing, share = np.isnan(matrix), pictures.shares(matrix, low, high)
        if not self._shows_colours():
            digits = np.where(missing, "·", np.rint(share * 9).astype(int).astype(str))
            return [" ".join(row) for row in digits]
        greys = _GREYS[0] + np.rint(share * (len(_GREYS) - 1)).astype(int)
        return [
            "".join(self._shaded(*pair) for pair in zip(*row, strict=True)) + _RESET
            for row in zip(greys, missing, strict=True)
        ]

    def _shaded(self, grey: int, is_missing: bool) -> str:
        return f"{_RESET}{self._cell}" if is_missing else f"\x1b[48;5;{grey}m{self._cell}"

    def _shows_colours(self) -> bool:
        if self._is_coloured is not None:
            return self._is_coloured
        return "NO_COLOR" not in os.environ and sys.stdout is not None and sys.stdout.isatty()

    def _repr_html_(self) -> str:
        tensor = self.tensor
        shown = tensor if tensor.data.ndim > 1 else Tensor.from_numpy(tensor.data.reshape(1, -1))
        shown = html.picture(shown, least=1, colours=False)
        if not shown:
            shown = f"<pre>{html.escape(repr(Heatmap(tensor, False, self._cell)))}</pre>"
        return html.framed(tensor, shown)
