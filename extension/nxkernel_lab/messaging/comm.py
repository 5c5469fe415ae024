"""The kernel's side of the JupyterLab panel: pages open a comm to receive events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from comm.base_comm import BaseComm

from nxkernel_lab.messaging.page_updates import EventsRequest, PageHub, read_request

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

#: What the comm is for, here and in lab/src/sessions.ts.
TARGET = "nxkernel"


class Comm(Protocol):
    """The methods of a comm that are used here."""

    def send(self, data: dict[str, Any]) -> None:
        """Send a message to the page."""

    def on_msg(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Set the handler of messages from the page."""

    def on_close(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Set the handler of the page's closing."""


def hear(comm: Comm, callback: Callable[[dict[str, Any]], None]) -> None:
    """Set the handler of a comm's messages, so that no message is taken for a cell's execution.

    Around each message a comm triggers what a shell does around a cell. JupyterLab has messages handled in a thread of
    their own, while a cell runs, and there matplotlib would show the figures that the cell is about to draw.

    Parameters
    ----------
    comm : Comm
    callback : callable
    """
    comm.on_msg(callback)
    if isinstance(comm, BaseComm):
        comm.handle_msg = callback


def opened(hub: PageHub, comm: Comm) -> None:
    """Handle a comm opened by a page: send it events, and answer its requests.

    Parameters
    ----------
    hub : PageHub
    comm : Comm
    """
    page = hub.open(comm.send)

    def receive(message: dict[str, Any]) -> None:
        request = read_request(message.get("content", {}).get("data"))
        if isinstance(request, EventsRequest):
            hub.more(page, request.since)
        elif request is not None:
            hub.clear(request, comm.send)

    hear(comm, receive)
    comm.on_close(lambda message: hub.close(page))


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register the comm target with a shell's kernel; returns a function that unregisters.

    Nothing is sent to pages that do not ask, so that nothing is missed where there is no panel.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells' ends are waited for. One that is no kernel's has no pages.

    Returns
    -------
    callable
    """
    if getattr(shell, "kernel", None) is None:
        return lambda: None
    from comm import create_comm, get_comm_manager

    manager, hub = get_comm_manager(), PageHub(shell)

    def target(comm: Comm, _message: dict[str, Any]) -> None:
        opened(hub, comm)

    manager.register_target(TARGET, target)
    # Pages look for a comm of this target; this one was never opened by a message, and nobody is at its other end.
    sign = create_comm(target_name=TARGET, primary=False)
    manager.register_comm(sign)

    def remove() -> None:
        hub.close_all()
        manager.unregister_target(TARGET, target)
        manager.unregister_comm(sign)
        # Pages that are told so show that nxkernel is not there any more.
        for comm in [each for each in manager.comms.values() if each.target_name == TARGET]:
            comm.close()

    return remove
