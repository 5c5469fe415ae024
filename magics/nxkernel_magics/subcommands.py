"""The subcommands of ``%nx``: each takes the shell and the rest of the line."""

from __future__ import annotations

import ast
import difflib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import argument, magic_arguments

import nxkernel
import nxkernel_lab
from nxkernel.compilers import registry
from nxkernel.definitions.keys.default_options import current, variable
from nxkernel.definitions.keys.default_options import source as source_of
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView
from nxkernel.definitions.observe.events import stream
from nxkernel.errors import NxError
from nxkernel.messages.grammar import a, counted
from nxkernel.messages.line_wrapping import wrapped
from nxkernel_lab.records.cache_contents import contents
from nxkernel_lab.records.view_data import of_function, snapshot
from nxkernel_lab.rendering.text import to_text
from nxkernel_lab.timeline.text import caches_text, columns, timeline_text
from nxkernel_magics.arguments import parse
from nxkernel_magics.call_parsing import ParsedCall, read_call
from nxkernel_magics.definition_lookup import compiled, is_definition, namespace
from nxkernel_magics.definition_lookup import find as find_definition

Command = Callable[[InteractiveShell, str], Any]

#: What may stand around a call: a flag before or behind it.
_TEXT = re.compile(r"(--text\s+)?(.*?)(\s+--text)?", re.DOTALL)


@magic_arguments("nx inspect")
@argument("name", help="a definition, a call, or %%%%jit for the cell that ran last, %%%%jit[7] for cell 7")
@argument("--text", action="store_true", help="as text, also where a widget can be shown")
def inspect(shell: InteractiveShell, line: str) -> Any:
    """Show a definition's graph, kernels, code and events, live.

    Of a call, it also shows what each kernel takes: the call is run a few times, on these
    arguments, which do not change and are not kept.

    Example: `%nx inspect softmax`, `%nx inspect softmax(x, axis=0)`
    """
    __tracebackhide__ = True
    before, text, behind = _TEXT.fullmatch(line).groups()
    view = None
    if "(" in text:
        call = read_definition_call(shell, "%nx inspect", text)
        definition, view = call.function, call.make(call.function.measure)
    else:
        name = parse(inspect.parser, line).name
        definition = find_definition(namespace(shell), name)
    if _has_page(shell) and not (before or behind):
        return nxkernel_lab.Inspector(definition, view)
    print(to_text(view or _latest(definition, name)))
    return None


@magic_arguments("nx timeline")
@argument("name", nargs="?", help="a definition; by default all of them")
@argument("-n", dest="number", metavar="N", type=int, default=100, help="how many events as text, at most (100)")
@argument("--text", action="store_true", help="as text, also where a widget can be shown")
def timeline(shell: InteractiveShell, line: str) -> Any:
    """Show what happened, cell by cell, why, and what it cost, live.

    Example: `%nx timeline softmax`
    """
    options = parse(timeline.parser, line)
    _check_number(options.number)
    name = find_definition(namespace(shell), options.name).__name__ if options.name else ""
    if _has_page(shell) and not options.text:
        return nxkernel_lab.Timeline(function=name)
    print(timeline_text(of_function(name, options.number) if name else snapshot(limit=options.number)))
    return None


@magic_arguments("nx cache")
@argument("name", nargs="?", help="a definition; by default all of them")
@argument("--clear", action="store_true", help="forget the programs of these definitions")
@argument("--text", action="store_true", help="as text, also where a widget can be shown")
def cache(shell: InteractiveShell, line: str) -> Any:
    """Show what is in the caches and what they answered, or clear them.

    Example: `%nx cache softmax --clear`
    """
    options = parse(cache.parser, line)
    known = compiled(namespace(shell))
    if options.name:
        known = {options.name: find_definition(namespace(shell), options.name)}
    if options.clear:
        for definition in known.values():
            definition.clear_cache()
        print(f"Forgot the programs of {', '.join(known)}." if known else "There is nothing to forget.")
        return None
    if _has_page(shell) and not options.text:
        return nxkernel_lab.Timeline("caches", known[options.name].__name__ if options.name else "")
    if not known:
        print("There are no definitions yet: begin a cell with %%defn, or decorate a function with nx.defn.")
        return None
    rows = [("definition", "programs", "hits", "traced", "kernels compiled", "from memory", "from disk")]
    for name, definition in known.items():
        info = definition.cache_info()
        counts = (info.entries, info.hits, info.misses, info.compiled, info.memory, info.disk)
        rows.append((name, *map(str, counts)))
    print("\n".join(columns(rows)))
    if not options.name:
        print(f"\n{caches_text(contents(), time.time())}")
    return None


@magic_arguments("nx events")
@argument("name", nargs="?", help="a definition; by default all of them")
@argument("--kernels", action="store_true", help="also each kernel, and where its native code came from")
@argument("-n", dest="number", metavar="N", type=int, default=20, help="how many, at most (20)")
def events(shell: InteractiveShell, line: str) -> None:
    """Show what happened, latest last.

    Example: `%nx events softmax -n 5`
    """
    options = parse(events.parser, line)
    _check_number(options.number)
    definition = find_definition(namespace(shell), options.name) if options.name else None
    left_out = {"hit", "hits"} if options.kernels else {"hit", "hits", "kernel"}
    records = [event for event in stream.records(definition) if event.kind not in left_out]
    if not records:
        print("Nothing has been compiled yet: call a definition once.")
    for event in records[-options.number :]:
        clock = time.strftime("%H:%M:%S", time.localtime(event.time))
        print(_shown(shell, f"{clock}  {event}"))


@magic_arguments("nx options")
@argument("settings", nargs="*", metavar="KEY=VALUE", help="an option and its new value")
def options(shell: InteractiveShell, line: str) -> None:
    """Show the default options and where each comes from, or set some.

    Example: `%nx options compiler=evaluator`

    Besides, it shows how many threads kernels run on, and the environment variables of nxkernel that are set.
    """
    settings = {}
    for setting in parse(options.parser, line).settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"%nx options takes KEY=VALUE, such as compiler=evaluator; got {setting!r}.")
        settings[key] = _value(value)
    threads = settings.pop("threads", None)
    try:
        nxkernel.global_default_options(**settings)
        if threads is not None:
            nxkernel.set_threads(threads)
        lines = [f"{key} = {value!r}{_MEANT.get((key, value)) or f', {source_of(key)}'}"
                 for key, value in current().items()]  # fmt: skip
        lines.append(f"threads = {nxkernel.get_threads()}, {registry.get(registry.BUILT_IN).threads_by()}")
    except NxError as error:
        raise UsageError(str(error)) from None
    told = set(map(variable, (*current(), "threads")))
    others = [name for name in os.environ if name.startswith("NXKERNEL_") and name not in told]
    print("\n".join([*lines, *(f"{name} = {os.environ[name]!r}" for name in sorted(others))]))


@magic_arguments("nx source")
@argument("name", help="a definition, or %%%%jit for the cell of that kind that ran last, %%%%jit[7] for cell 7")
@argument(
    "--form",
    help="which form of the code: numba, llvm, assembly, cuda, ptx, or another one that a compiler gives; "
    "module for the whole program as a file for Numba",
)
@argument("--kernel", type=int, metavar="N", help="only kernel N, counted from 1")
def source(shell: InteractiveShell, line: str) -> None:
    """Show the code of a definition's kernels.

    Without --form, it is the first form that each of them has; with ``--form module`` the whole program, as one file
    that needs Numba and NumPy alone.

    Example: `%nx source softmax --form llvm --kernel 1`
    """
    asked = parse(source.parser, line)
    view = _latest(find_definition(namespace(shell), asked.name), asked.name)
    if asked.form == "module":
        _print_module(view)
        return
    kernels = [kernel for kernel in view.kernels if asked.kernel in (None, kernel.index + 1)]
    if not view.kernels:
        raise UsageError(f"{view.signature} was compiled by {view.compiler}, which computes without kernels.")
    if not kernels:
        raise UsageError(f"{view.signature} has {counted(len(view.kernels), 'kernel')}, no kernel {asked.kernel}.")
    words = forms(kernels)
    if asked.form is not None and asked.form not in words:
        whose = f"{view.signature}: no kernel" if asked.kernel is None else f"{view.signature}: kernel {asked.kernel}"
        raise UsageError(f"{whose} has the form {asked.form!r}.\n  There are {', '.join([*words, 'module'])}.")
    for kernel in kernels:
        label = words[asked.form] if asked.form else next(iter(kernel.texts), "no text")
        print(f"# {view.signature}: kernel {kernel.index + 1} · {kernel.title}, {label}")
        print(
            kernel.texts[label]().rstrip() if label in kernel.texts else f"# this kernel has no {label}: {kernel.kind}"
        )


def _print_module(view: CompilationView) -> None:
    """Print a program as a module for Numba."""
    try:
        print(view.module().rstrip())
    except NxError as error:
        raise UsageError(str(error)) from None


def forms(kernels: Iterable[KernelView]) -> dict[str, str]:
    """The available forms of kernel code, by the word for each on the command line.

    Parameters
    ----------
    kernels : iterable of KernelView

    Returns
    -------
    dict
        Words to labels, such as ``{"numba": "Numba source", "llvm": "LLVM"}``; a compiler from elsewhere has its own.
    """
    labels = dict.fromkeys(label for kernel in kernels for label in kernel.texts)
    return {label.lower().removesuffix(" source").split()[-1]: label for label in labels}


def why(shell: InteractiveShell, line: str) -> None:
    """Say whether the cache would answer a call, and if not, what differs.

    The function is not run.

    Example: `%nx why softmax(x.astype("f4"))`
    """
    __tracebackhide__ = True
    if not line:
        raise UsageError("%nx why takes a call, such as `%nx why f(x, axis=0)`.")
    call = read_definition_call(shell, "%nx why", line)
    print(_shown(shell, str(call.make(call.function.why))))


def read_definition_call(shell: InteractiveShell, magic: str, text: str) -> ParsedCall:
    """Parse a call of a definition.

    Parameters
    ----------
    shell : InteractiveShell
    magic : str
        The command, for errors.
    text : str

    Returns
    -------
    ParsedCall

    Raises
    ------
    UsageError
        Where the text is no call, or one of something else.
    """
    __tracebackhide__ = True
    call = read_call(shell, magic, text)
    if not (is_definition(call.function) and callable(call.function)):
        raise UsageError(
            f"{magic} takes a call of a definition, and `{text}` calls {a(type(call.function).__name__)}.\n"
            "  Decorate the function with nx.defn, or begin its cell with %%defn."
        )
    return call


def help_(shell: InteractiveShell, line: str) -> None:
    """Show the commands, or the options of one.

    Example: `%nx help source`
    """
    if line:
        # In a docstring "::" stands above what is code; a terminal shows it as it is.
        print((find(line).__doc__ or "").strip().removeprefix("::").strip())
        return
    print("Commands of %nx; `%nx help COMMAND` tells more:")
    for name, command in COMMANDS.items():
        print(f"  {name:9}{_first_line(command)}")


#: What an option means that has not been set.
_MEANT = {("promotion", None): ": the text of each function says whose rules hold"}


def find(name: str) -> Command:
    """The subcommand of a name.

    Parameters
    ----------
    name : str
        What follows ``%nx``.

    Returns
    -------
    callable

    Raises
    ------
    UsageError
        Where there is none, naming those that there are.
    """
    if name in COMMANDS:
        return COMMANDS[name]
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f" Did you mean `%nx {close[0]}`?" if close else ""
    raise UsageError(f"%nx has no command {name!r}; it has {', '.join(COMMANDS)}.{hint}")


def _has_page(shell: InteractiveShell) -> bool:
    """Whether widgets can be shown: in a kernel, not in a terminal."""
    return getattr(shell, "kernel", None) is not None


def _shown(shell: InteractiveShell, text: str) -> str:
    """Text as it is printed: a page would break long lines within words, a terminal's width is its own."""
    return wrapped(text) if _has_page(shell) else text


def _check_number(number: int) -> None:
    if number < 1:
        raise UsageError(f"-n takes a positive number of events, got {number}.")


def _first_line(command: Command) -> str:
    lines = [line.strip() for line in (command.__doc__ or "").splitlines()]
    return next(line for line in lines if line and not line.startswith(("::", "%")))


def _latest(definition: Any, name: str) -> CompilationView:
    views = definition.compilations()
    if not views:
        raise UsageError(f"{name} has not been compiled yet: call it once, then look again.")
    return views[-1]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


COMMANDS: Mapping[str, Command] = {
    "inspect": inspect,
    "timeline": timeline,
    "cache": cache,
    "events": events,
    "options": options,
    "source": source,
    "why": why,
    "help": help_,
}
