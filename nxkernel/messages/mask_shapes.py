"""Whether a mask has the shape of the axes that it picks from, and the error where it has not."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel.errors import NxIndexError, message
from nxkernel.shapes import text


def fits(mask: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a mask of a shape picks from axes of another one, by NumPy's rules.

    An axis without elements fits every size, since nothing is picked.

    Examples
    --------
    >>> fits((3, 4), (3, 4)), fits((3, 0), (3, 4)), fits((3, 1), (3, 4)), fits((3,), ())
    (True, True, False, False)
    """
    return len(mask) == len(shape) and all(one in (size, 0) for one, size in zip(mask, shape, strict=True))


def unfit(mask: Sequence[int], subject: str, shape: Sequence[int], axis: int = 0) -> NxIndexError:
    """The error for a mask of a shape, where it was to pick from an array.

    Parameters
    ----------
    mask : sequence of int
        Its shape.
    subject : str
        What it was to pick from.
    shape : sequence of int
        The shape of that.
    axis : int, optional
        The first axis that it was to pick from.

    Examples
    --------
    >>> print(unfit((3,), "an array of shape [4][3]", (4, 3)))
    a mask of shape [3] does not fit an array of shape [4][3].
      It has the shape of the axes that it picks from, here [4], as x[:, 0] > 0 has.
      x[:, mask] picks along axis 1.
    """
    mask, shape = tuple(mask), tuple(shape)
    wanted = shape[axis : axis + len(mask)]
    hints = ["It has the shape of the axes that it picks from."]
    if len(wanted) == len(mask):
        whole = "x" if mask and len(mask) == len(shape) else f"x[{', '.join(_of_one(shape, axis, len(mask)))}]"
        hints = [f"It has the shape of the axes that it picks from, here {text(wanted)}, as {whole} > 0 has."]
    places = [at for at in range(len(shape) - len(mask) + 1) if at != axis and shape[at : at + len(mask)] == mask]
    if mask and places:
        hints.append(f"x[{', '.join([':'] * places[0] + ['mask'])}] picks along axis {places[0]}.")
    return NxIndexError(message(f"a mask of shape {text(mask)} does not fit {subject}.", *hints))


def _of_one(shape: Sequence[int], axis: int, count: int) -> list[str]:
    """An index that keeps so many axes from one on, and takes the first element of the others."""
    return [":" if axis <= at < axis + count else "0" for at in range(len(shape))]
