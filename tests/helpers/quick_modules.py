"""Runs modules as programs without what takes them long to load and no test asks for.

jsonschema loads `rfc3987_syntax` where it is installed, which compiles the grammars of internationalized addresses in
1.5 s: each time that a notebook is read, or a server starts. Without it such addresses are not checked.
"""

import sys

UNASKED = "rfc3987_syntax"
_RUN = f"""
import runpy, sys
sys.modules["{UNASKED}"] = None
module = sys.argv.pop(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def leave_out():
    """Let this process do without it."""
    sys.modules.setdefault(UNASKED, None)


def command(module, *arguments):
    """What runs a module in a process of its own."""
    return [sys.executable, "-c", _RUN, module, *map(str, arguments)]
