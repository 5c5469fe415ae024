"""The progress bar of a training, by tqdm: as a widget in notebooks, as text in terminals."""

from __future__ import annotations

import importlib.util
from typing import Any

from nxkernel.errors import NxValueError, message


class ProgressBar:
    """A progress bar over the batches of a training; it does nothing if none is wanted.

    Parameters
    ----------
    wanted : bool or None
        None for a bar where tqdm is installed.
    total : int or None
        How many batches there will be, where that is known.
    done : int
        How many there were.
    """

    def __init__(self, wanted: bool | None, total: int | None, done: int) -> None:
        self._bar: Any = None
        self._moved = False
        if wanted is False:
            return
        if importlib.util.find_spec("tqdm") is None:
            if wanted:
                raise NxValueError(
                    message(
                        "the progress bar is tqdm's, which is not installed.",
                        "Install it (nxkernel[progress]), or leave progress= out.",
                    )
                )
            return
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total, initial=done, unit="batch", dynamic_ncols=True)

    def describe(self, text: str) -> None:
        """Show the name of the current part, such as the epoch."""
        if self._bar is not None:
            self._bar.set_description_str(text)

    def step(self, figures: dict[str, float] | None = None) -> None:
        """Advance the bar by one batch."""
        if self._bar is not None:
            if figures:
                self._bar.set_postfix(figures, refresh=False)
            self._bar.update()
            self._moved = True

    def end(self, figures: dict[str, float]) -> None:
        """End the bar where it is, also if training ended early; the speed shown is the mean over all batches."""
        if self._bar is not None:
            bar = self._bar
            began, count = bar.start_t, bar.n
            bar.set_postfix(figures, refresh=False)
            bar.reset(total=count)
            bar.start_t, bar.n = began, count
            bar.refresh()
            self._moved = True

    def close(self) -> None:
        """Close the bar as it is after an error; a bar that never advanced is removed."""
        if self._bar is not None:
            if not self._moved:
                # Where the total is known, a bar of a notebook stays, and red.
                self._bar.leave, self._bar.total = False, None
            self._bar.close()
