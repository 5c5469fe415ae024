"""Losses: how far predictions are from the truth, entry by entry, and reduced.

Each takes ``(y_true, y_pred)``, in this order, and ``reduction=``: the mean of all entries, their sum, or none.
"""

from nxkernel.nn.losses import classes, distances, margins, sequences
from nxkernel.nn.losses.classes import *  # noqa: F403
from nxkernel.nn.losses.distances import *  # noqa: F403
from nxkernel.nn.losses.margins import *  # noqa: F403
from nxkernel.nn.losses.sequences import *  # noqa: F403

__all__ = [*classes.__all__, *distances.__all__, *margins.__all__, *sequences.__all__]
