"""When a training that gets no better ends."""

from __future__ import annotations

import dataclasses

from nxkernel import checks
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.shapes import describe


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """End a training when a figure has not got better for some epochs.

    Parameters
    ----------
    monitor : str, optional
        Which figure of the history: ``"validation_loss"``, ``"loss"``, or a metric.
    patience : int, optional
        For how many epochs in a row it may get no better.
    least : float, optional
        What counts as better: a change by more than this.
    highest : bool, optional
        Whether higher is better, as of an accuracy.
    restore : bool, optional
        Whether the parameters of the best epoch are those of the result.

    Examples
    --------
    >>> from nxkernel import training
    >>> training.EarlyStopping(patience=3).is_better(0.5, than=0.6)
    True
    """

    monitor: str = "validation_loss"
    patience: int = 5
    least: float = 0.0
    highest: bool = False
    restore: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.monitor, str):
            raise NxTypeError(f"EarlyStopping: monitor is the name of a figure, got {describe(self.monitor)}")
        checks.flag("EarlyStopping", "highest", self.highest)
        checks.flag("EarlyStopping", "restore", self.restore)
        checks.count("EarlyStopping", "patience", self.patience)
        checks.at_least("EarlyStopping", "least", self.least, 0)

    def is_better(self, figure: float, than: float | None) -> bool:
        """Whether a figure is better than the best before; NaN never is.

        Parameters
        ----------
        figure : float
        than : float or None
            None before there is one.

        Returns
        -------
        bool
        """
        if than is None:
            return figure == figure
        return figure > than + self.least if self.highest else figure < than - self.least

    def check(self, names: list[str]) -> None:
        """Refuse a figure that the history has not."""
        if self.monitor not in names:
            raise NxValueError(
                message(
                    f"EarlyStopping watches {self.monitor!r}, and the history has {', '.join(map(repr, names))}.",
                    "validation_… are there when fit is given validation=.",
                )
            )
