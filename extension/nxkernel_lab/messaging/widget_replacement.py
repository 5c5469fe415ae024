"""Closes widgets that a cell showed in an earlier run, once no page shows them.

ipywidgets keep every widget for the life of the process, also those whose output was cleared long ago.
"""

from __future__ import annotations

import weakref
from typing import Any

from ipywidgets import DOMWidget

from nxkernel.definitions.observe.events import NO_CELL, NotebookCell, stream
from nxkernel_lab.messaging.comm import hear

#: By the id of a cell, the widgets that it made and that were not closed yet.
_made: dict[str, list[weakref.ref[ReplaceableWidget]]] = {}


class ReplaceableWidget(DOMWidget):
    """A widget that is closed when its cell is run again and makes another; displaying it again revives it."""

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Ignore state from pages: the kernel decides what is shown, pages send requests."""

    def settle(self) -> None:
        """Replace the widget of the cell's earlier run; called when this one is complete."""
        self._succeeded, self._made_in = False, stream.cell
        if self._made_in.id:
            before = [widget for each in _made.get(self._made_in.id, ()) if (widget := each()) is not None]
            _made[self._made_in.id] = [weakref.ref(widget) for widget in [*before, self]]
            for widget in before:
                if widget._made_in is not self._made_in:
                    widget._succeeded = True
                    widget.leave()

    def leave(self) -> None:
        """Close if no page shows it and it has been replaced."""
        if self._succeeded and not self.is_shown():
            self.close()
            self.layout.close()
            # Closed widgets have no picture; this one can come back.
            vars(self).pop("_repr_mimebundle_", None)
            # IPython keeps what a cell displayed in Out.
            self.empty_out()

    def is_shown(self) -> bool:
        """Whether a page shows it, as far as pages report it."""
        raise NotImplementedError

    def empty_out(self) -> None:
        """Release memory when it is closed."""
        raise NotImplementedError

    def fill(self) -> None:
        """Reread the data that it shows."""
        raise NotImplementedError

    def close(self) -> None:
        """Remove the widget."""
        cell: NotebookCell = getattr(self, "_made_in", NO_CELL)
        left = [each for each in _made.pop(cell.id, ()) if each() not in (None, self)]
        if left:
            _made[cell.id] = left
        super().close()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self.comm is None:
            # Somebody kept it.
            self._succeeded = False
            self.fill()
            self.layout.open()
            self.open()
            hear(self.comm, self._handle_msg)
        return super()._repr_mimebundle_(**kwargs)
