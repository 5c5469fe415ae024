"""The channel between a stream's thread and its callers: two bounded queues, and how the stream ended."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from nxkernel import fork_safety
from nxkernel.errors import ClosedStreamError, StreamTimeoutError, StreamWaitingWarning, message
from nxkernel.messages.grammar import counted

_NOTHING_MORE = object()
#: So many seconds a call waits for room without a word.
_PATIENCE = 1.0
#: From :meth:`Channel.send` to the line of the user's: by way of the stream.
_CALLER = 3
_MAKE_ROOM = "Receive outputs first, with recv() or in another thread, or open the stream with a larger size=."


class Channel:
    """Two bounded queues, to the thread and back; outputs come in the order of the inputs.

    Parameters
    ----------
    name : str
        The stream's name in errors.
    size : int or None
        The most inputs that may be sent before their outputs are received.
    """

    def __init__(self, name: str, size: int | None) -> None:
        self._name, self._size = name, size
        self._changed = threading.Condition(fork_safety.rlock())
        self._inputs: deque[Any] = deque()
        self._outputs: deque[Any] = deque()
        self._sent = self._received = self._called = 0
        self._open, self._ended = True, False
        #: The names of the threads that have received something.
        self._receivers: set[str] = set()
        self._state: Any = None
        self._error: BaseException | None = None
        fork_safety.in_child(self._lose_thread)

    def counts(self) -> tuple[int, int, str]:
        """How many inputs were sent and outputs received, and the state of the stream."""
        with self._changed:
            how = "open" if self._open else "done" if self._ended else "closed"
            return self._sent, self._received, "failed" if self._error is not None else how

    # Those who send and receive --------------------------------------------------------------------------------

    def send(self, value: Any, timeout: float | None) -> None:
        """Add an input; waits for room, and warns of that where it takes long."""

        def may_go_on() -> bool:
            return not self._open or self._ended or self._has_room()

        def status() -> str:
            return f"send() waited for room: {self._on_their_way()}"

        with self._changed:
            if timeout is None and not self._waited(may_go_on, _PATIENCE, status):
                warnings.warn(self._who_waits(), StreamWaitingWarning, stacklevel=_CALLER)
            self._wait(may_go_on, timeout, status, lambda: _MAKE_ROOM)
            if self._error is not None:
                raise ClosedStreamError(
                    message(
                        f"the stream {self._name} takes no more inputs: call {self._called} raised "
                        f"{type(self._error).__name__}.",
                        "recv() and done() raise the error.",
                    )
                )
            if not self._open:
                raise ClosedStreamError(
                    message(f"the stream {self._name} is closed and takes no more inputs.", "Open another one.")
                )
            self._inputs.append(value)
            self._sent += 1
            self._changed.notify_all()

    def receive(self, timeout: float | None) -> Any:
        """Take the next output; waits for one."""
        output = self._next(timeout)
        if output is _NOTHING_MORE:
            raise ClosedStreamError(
                message(
                    f"the stream {self._name} is closed, and its outputs were received: {self._received} of them.",
                    "`for output in stream` ends by itself.",
                )
            )
        return output

    def outputs(self) -> Iterator[Any]:
        """Iterate over the outputs until the stream ends."""
        while (output := self._next(None)) is not _NOTHING_MORE:
            yield output

    def close(self) -> None:
        """Accept no more inputs."""
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def cancel(self) -> None:
        """Accept no more inputs, and drop those that wait."""
        with self._changed:
            self._open = False
            self._inputs.clear()
            self._changed.notify_all()

    def done(self, timeout: float | None) -> Any:
        """Accept no more inputs, wait until those that were sent are processed, and return the last state."""
        self.close()
        with self._changed:
            self._wait(
                lambda: self._ended,
                timeout,
                lambda: f"done() waited for {self._still_to_do()}",
                lambda: "The stream goes on with what was sent: call done() again, with more time.",
            )
            if self._error is not None:
                raise self._error
            return self._state

    def _next(self, timeout: float | None) -> Any:
        with self._changed:
            self._wait(
                lambda: self._outputs or self._ended,
                timeout,
                lambda: f"recv() waited for an output: {self._still_to_do()} on the way",
                lambda: (
                    "The stream goes on: call recv() again, with more time."
                    if self._sent > self._received
                    else "Each output is that of one input: send() one first."
                ),
            )
            if self._outputs:
                self._received += 1
                self._receivers.add(threading.current_thread().name)
                self._changed.notify_all()
                return self._outputs.popleft()
            if self._error is not None:
                raise self._error
            return _NOTHING_MORE

    def _wait(
        self, until: Callable[[], Any], timeout: float | None, status: Callable[[], str], advice: Callable[[], str]
    ) -> None:
        """Wait for a condition; errors say what was waited for."""
        if not self._waited(until, timeout, status):
            raise StreamTimeoutError(message(f"stream {self._name}: {status()}, for {timeout:g} s", advice()))

    def _waited(self, until: Callable[[], Any], timeout: float | None, status: Callable[[], str]) -> bool:
        """Wait for a condition, and say whether it holds; an interrupt says what was waited for."""
        try:
            return bool(self._changed.wait_for(until, timeout))
        except BaseException as error:
            error.add_note(f"Stream {self._name}: {status()}.")
            raise

    def _who_waits(self) -> str:
        """Who waits for whom, for one who sends and gets no room."""
        here, others = threading.current_thread().name, sorted(self._receivers)
        if not others:
            who = "no thread has received any"
        elif others == [here]:
            who = f"{here} alone has received any, and waits here"
        else:
            who = f"they were received by {' and '.join(others)} so far"
        return message(
            f"stream {self._name}: send() in {here} waits for room: {self._on_their_way()}, and {who}.", _MAKE_ROOM
        )

    def _has_room(self) -> bool:
        return self._size is None or self._sent - self._received < self._size

    def _on_their_way(self) -> str:
        return f"{counted(self._sent - self._received, 'output')} to be received, its size is {self._size}"

    def _still_to_do(self) -> str:
        return counted(self._sent - self._received - len(self._outputs), "input")

    # The thread ------------------------------------------------------------------------------------------------

    def inputs(self) -> Iterator[Any]:
        """Iterate over the inputs, in the thread, until the stream is closed."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._inputs or not self._open)
                if not self._inputs:
                    return
                value = self._inputs.popleft()
                self._called += 1
            yield value

    def give(self, output: Any) -> None:
        """Add an output, in the thread."""
        with self._changed:
            self._outputs.append(output)
            self._changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """End the stream with the error of a call."""
        error.add_note(f"Raised by call {self._called} of the stream {self._name}.")
        with self._changed:
            self._error, self._open, self._ended = error, False, True
            self._inputs.clear()
            self._changed.notify_all()

    def _lose_thread(self) -> None:
        """In a forked child: there is no thread, but outputs that are there can be received."""
        if not self._ended:
            text = f"the stream {self._name} has no thread in this process: it was opened before this one was forked."
            with self._changed:
                self._error = ClosedStreamError(message(text, "Open another one here."))
                self._open, self._ended = False, True
                self._inputs.clear()
                self._changed.notify_all()

    def end(self, state: Any) -> None:
        """End the stream with its last state."""
        with self._changed:
            self._state, self._ended = state, True
            self._changed.notify_all()
