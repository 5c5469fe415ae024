"""A worker process that compiles kernels: a line of JSON in, a line of JSON out.

It says that it is ready when Numba is imported and has compiled something, so that nobody waits for that.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
from typing import Any

from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain.nvvm import ptx_here
from nxkernel.compilers.numba_cuda.toolchain.object_code import compile_one

#: Seconds without work after which the process ends: it takes 200 MB.
IDLE = 120.0
_FIRST = KernelSource("first", "def first(a):\n    a[cuda.threadIdx.x] = f32(1)\n", ("f32*",))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request: code and compile time, or PTX, or an error.

    Parameters
    ----------
    request : dict
        ``name``, ``text`` and ``parameters`` of a source, ``arch``, and ``form``, which is ``"cubin"`` or ``"ptx"``.

    Returns
    -------
    dict
    """
    source = KernelSource(request["name"], request["text"], tuple(request["parameters"]))
    try:
        if request["form"] == "ptx":
            return {"ptx": ptx_here(source, request["arch"])}
        code, ms = compile_one(source, request["arch"])
        return {"code": base64.b64encode(code).decode(), "ms": ms}
    except Exception as error:
        return {"error": f"{error}"}


def main() -> None:
    """Answer requests until the input ends, or none has come for a while."""
    # An interrupt in a notebook reaches the processes of its kernel, too; the kernel deals with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever a package prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    compile_one(_FIRST, sys.argv[1])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    while True:
        # Nothing else ends a read from a pipe on every system.
        patience = threading.Timer(IDLE, os._exit, [0])
        patience.daemon = True
        patience.start()
        line = sys.stdin.readline()
        patience.cancel()
        if not line:
            return
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
