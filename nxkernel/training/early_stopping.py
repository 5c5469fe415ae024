"""Early stopping: ending training when a metric no longer improves."""

from __future__ import annotations

import dataclasses

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.shapes import describe

#: How the names of figures end that are better when they are higher, or lower.
_RISING = (
    "accuracy", "precision", "recall", "f1", "r2", "specificity", "true_positives", "true_negatives",
)  # fmt: skip
_FALLING = ("loss", "error", "mae", "mse", "entropy", "divergence", "false_positives", "false_negatives")


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """Early stopping: end a training when a metric has not improved for `patience` epochs.

    Parameters
    ----------
    monitor : str, optional
        Which figure of the history: ``"validation_loss"``, ``"loss"``, or a metric.
    patience : int, optional
        For how many epochs in a row it may get no better.
    least : float, optional
        What counts as better: a change by more than this.
    highest : bool, optional
        Whether higher is better, as of an accuracy. Of losses, errors and the metrics of :mod:`nxkernel.nn` that is
        known by their names.
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
    highest: bool | None = None
    restore: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.monitor, str):
            raise NxTypeError(f"EarlyStopping: monitor is the name of a figure, got {describe(self.monitor)}")
        if self.highest is not None:
            number_checks.flag("EarlyStopping", "highest", self.highest)
        number_checks.flag("EarlyStopping", "restore", self.restore)
        number_checks.count("EarlyStopping", "patience", self.patience)
        number_checks.at_least("EarlyStopping", "least", self.least, 0)

    def is_better(self, figure: float, than: float | None) -> bool:
        """Whether a value of the metric is better than the best before; NaN never is.

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
        return figure > than + self.least if self._rises() else figure < than - self.least

    def _rises(self) -> bool | None:
        """Whether higher is better; None if `mode` does not say so and the metric's name does not imply it."""
        if self.highest is not None:
            return self.highest
        name = self.monitor.removeprefix("validation_")
        if name.endswith(_RISING):
            return True
        return False if name.endswith(_FALLING) else None

    def check(self, names: list[str]) -> None:
        """Raise an error if the metric is not in the history, or if it is unknown whether higher or lower is better."""
        if self.monitor not in names:
            raise NxValueError(
                message(
                    f"EarlyStopping watches {self.monitor!r}, and the history has {', '.join(map(repr, names))}.",
                    "validation_… are there when fit is given validation=.",
                )
            )
        if self._rises() is None:
            raise NxValueError(
                message(
                    f"EarlyStopping watches {self.monitor!r}, whose name does not tell whether higher is better.",
                    "Write highest=True or highest=False.",
                )
            )
