"""``%%defn``, ``%jit``, ``%%jit`` and ``%nx`` as IPython knows them."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
    output_can_be_silenced,
)

import nxkernel
from nxkernel_magics import cells, subcommands
from nxkernel_magics.arguments import parse
from nxkernel_magics.call_parsing import read_call, witnessed
from nxkernel_magics.definition_lookup import is_definition


@magics_class
class NxMagics(Magics):
    """The commands of nxkernel."""

    @no_var_expand
    @line_cell_magic
    def defn(self, line: str, cell: str | None = None) -> None:
        """Make each ``def`` at the top of the cell a numerical definition; the rest of the cell runs as usual.

        ::

          %%defn [--compiler NAME] [--promotion nx|numpy] [--show graph|kernels|none] [--quiet]

        --compiler NAME     what makes the definitions run, numba_cpu, numba_cuda, auto or evaluator
        --promotion RULES   whose rules of types hold, Nx's or NumPy's; by default the code says it
        --show WHAT         what to display when one has been compiled for the first time
        --quiet             no message about repeated compilation

        Example::

          %%defn --show graph
          def softmax(t, *, axis=-1):
              e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
              return e / nx.sum(e, axes=[axis], keep_axes=True)
        """
        if cell is None:
            parse(cells.parser(), line)
            return
        # Reached only by code that calls run_cell_magic: a cell's own first line has been rewritten by then.
        self.shell.run_cell(f"%%defn {line}\n{cell}").raise_error()

    @no_var_expand
    @output_can_be_silenced
    @line_cell_magic
    def jit(self, line: str, cell: str | None = None) -> Any:
        """Compile a call, or a whole cell, run it, and say in one line what happened.

        ::

          %jit EXPRESSION
          %%jit [--compiler NAME] [--promotion nx|numpy]

        ``%jit``: any function becomes a definition, as with ``nx.defn``, for this call. The value of the
        expression is the value of the line, and can be assigned.

        ``%%jit``: the cell is one compiled program, with loops, `if` and assignments as in a definition. The
        arrays, tensors and numbers that it reads are its inputs; the names that it assigns get their values when
        it has run; arrays that it assigns into change. Code that names NumPy follows NumPy's rules. The value of
        the last expression is displayed.

        --compiler NAME     what makes the cell run, numba_cpu, numba_cuda, auto or evaluator
        --promotion RULES   whose rules of types hold, Nx's or NumPy's; by default the code says it

        Examples::

          %jit softmax(x, axis=0)
          y = %jit numpy_like_function(x)

          %%jit
          for step in range(steps):
              u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
          u.max()
        """
        __tracebackhide__ = True
        if cell is not None:
            return self._jit_cell(line, cell)
        if not line.strip():
            raise UsageError("%jit takes a call, such as `%jit f(x, axis=0)`.")
        call = read_call(self.shell, "%jit", line)
        function = call.function if is_definition(call.function) else nxkernel.defn(call.function)
        with witnessed() as witness:
            value = call.make(function)
        print(witness.line())
        return value

    def _jit_cell(self, line: str, cell: str) -> Any:
        __tracebackhide__ = True
        # Reached only by code that calls run_cell_magic: a cell's own first line has been rewritten by then.
        result = self.shell.run_cell(f"%%jit {line}\n{cell}")
        result.raise_error()
        return result.result

    @no_var_expand
    @line_magic
    def nx(self, line: str) -> Any:
        """Look into definitions: what they were compiled to, what happened to them, and why.

        ::

          %nx inspect NAME                     the graph, the kernels, their code, and events, live
          %nx inspect CALL                     the same, with what each kernel takes on these arguments
          %nx timeline [NAME]                  what happened cell by cell, why, and what it cost, live
          %nx cache [NAME] [--clear]           what is in the caches, and what they answered
          %nx events [NAME] [-n N]             what happened, latest last
          %nx options [KEY=VALUE ...]          the default options, or set some
          %nx source NAME [--form F] [--kernel N]   Numba source, LLVM, assembly, a module; of a GPU's kernels cuda, ptx
          %nx why EXPRESSION                   would a call hit the cache, and if not, what differs
          %nx help [COMMAND]

        Example::

          %nx inspect softmax
        """
        __tracebackhide__ = True
        name, _, rest = line.strip().partition(" ")
        if name in ("", "-h", "--help"):
            name, rest = "help", ""
        command = subcommands.find(name)
        if {"-h", "--help"}.intersection(rest.split()):
            command, rest = subcommands.find("help"), name
        return command(self.shell, rest.strip())
