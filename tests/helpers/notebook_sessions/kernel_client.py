"""A Jupyter kernel that is spoken to as JupyterLab does: cells with ids, their outputs, interrupts."""

import queue
import time

from jupyter_client import KernelManager

from stress_testing import stressing

#: Stands for the error of a cell of which nothing more is heard.
LOST = "lost"


class Kernel:
    """A kernel in a process of its own.

    Parameters
    ----------
    folder : str or path
        Of its disk cache, or ``"off"``.
    """

    def __init__(self, folder="off"):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=stressing.variables(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def start(self, text, cell=""):
        """Begin a cell, which the notebook knows by an id; what :meth:`end` takes."""
        content = {"code": text, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        message = self.client.session.msg("execute_request", content | {"user_expressions": {}})
        message["metadata"] = {"cellId": cell} if cell else {}
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def wait_until_busy(self, ident):
        """Wait until a cell runs."""
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") == ident and message["msg_type"] == "execute_input":
                return

    def end(self, ident, seconds=120):
        """What a cell printed, and the name of its error; an error where nothing is heard for so many seconds."""
        printed, error = "", ""
        while True:
            message = self.client.get_iopub_msg(timeout=seconds)
            if message["parent_header"].get("msg_id") != ident:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                printed += content["text"]
            elif message["msg_type"] == "error":
                error = content["ename"]
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                self.client.get_shell_msg(timeout=120)
                return printed, error

    def run(self, text, cell=""):
        """Run a cell to its end."""
        return self.end(self.start(text, cell))

    def interrupt(self, ident):
        """Interrupt what runs; what the cell printed, its error, and seconds until all was said.

        An interrupt may be in vain, see :data:`stressing.AGAIN`, or strike in the kernel's own code around the cell, of
        which nothing more is heard then.
        """
        while True:
            sent = time.perf_counter()
            self.manager.interrupt_kernel()
            try:
                return *self.end(ident, stressing.AGAIN), time.perf_counter() - sent
            except queue.Empty:
                if self._answers():
                    return "", LOST, time.perf_counter() - sent

    def _answers(self):
        """Whether the kernel waits for a cell: while one runs, questions wait."""
        try:
            self.client.kernel_info(reply=True, timeout=10)
        except TimeoutError:
            return False
        return True

    def close(self):
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
