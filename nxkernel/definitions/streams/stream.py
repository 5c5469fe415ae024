"""``stream``: a function with a state that is compiled once and runs in a thread of its own, input by input."""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nxkernel import types
from nxkernel.definitions.calls.compiled import Compiled, compile
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.keys import callables, containers
from nxkernel.definitions.keys.leaves import array_of, spec_of
from nxkernel.definitions.outputs.hook_delivery import Hooks
from nxkernel.definitions.streams.channel import Channel
from nxkernel.definitions.tracing import whose_rules
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.messages.grammar import counted
from nxkernel.operand import VectorizedSpec
from nxkernel.ops.machinery.dispatch import is_number
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import StoredTensor, Template, Tensor


class Stream:
    """What :func:`nxkernel.stream` returns: inputs go in by :meth:`send`, outputs come by :meth:`recv` in their order.

    All methods may be called from several threads; each output is received once. As a context manager it calls
    :meth:`done` at the end of the block; an error in the block drops waiting inputs. Iteration gives the outputs until
    the stream is done.
    """

    def __init__(
        self,
        step: Compiled,
        name: str,
        inputs: tuple[str, Any, tuple[tuple[str, Any], ...]],
        state: Any,
        more: tuple,
        size: int | None,
        numbers: str,
    ) -> None:
        self._step, self._name, self._numbers = step, name, numbers
        self._input, self._structure, self._expected = inputs
        self._channel = Channel(name, size)
        context = contextvars.copy_context()
        arguments = (_run, self._channel, step, state, more)
        threading.Thread(target=context.run, args=arguments, name=f"nx.stream {name}", daemon=True).start()
        weakref.finalize(self, self._channel.cancel)

    def __repr__(self) -> str:
        sent, received, how = self._channel.counts()
        return f"<stream {self._name}: {sent} sent, {received} received, {how}>"

    def send(self, value: Any, timeout: float | None = None) -> None:
        """Hand over an input; waits while as many are on their way as the stream's size allows.

        Parameters
        ----------
        value : tensor or container
            Like the template; arrays are copied.
        timeout : float, optional
            In seconds; without it, there is no limit, and after a second a warning says who waits for whom.

        Raises
        ------
        NxTypeError
            For an input that does not match the template; the stream goes on.
        ClosedStreamError
            When the stream is done, or a call has failed.
        StreamTimeoutError
        """
        self._channel.send(self._checked(value), timeout)

    def recv(self, timeout: float | None = None) -> Any:
        """The next output; waits until there is one.

        Parameters
        ----------
        timeout : float, optional
            In seconds; without it, there is no limit.

        Returns
        -------
        tensor or container

        Raises
        ------
        ClosedStreamError
            When the stream is done and all outputs were received.
        StreamTimeoutError
        Exception
            The exception of the function, after the outputs of earlier calls; its note names the call.
        """
        return self._channel.receive(timeout)

    def close(self) -> None:
        """Say that no more inputs come, without waiting for those on their way."""
        self._channel.close()

    def done(self, timeout: float | None = None) -> Any:
        """Close the stream, and give the state after the last input.

        Outputs that were not received stay for :meth:`recv`. Called again, it returns the same.

        Parameters
        ----------
        timeout : float, optional
            In seconds; without it, there is no limit.

        Returns
        -------
        tensor or container

        Raises
        ------
        StreamTimeoutError
        Exception
            The exception of the function; its note names the call.
        """
        return self._channel.done(timeout)

    def __iter__(self) -> Iterator[Any]:
        """The outputs until the stream is done."""
        return self._channel.outputs()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.done()
        else:
            self._channel.cancel()

    def _checked(self, value: Any) -> Any:
        """A copy of an input, checked against the template's types and shapes."""
        leaves: list[tuple[str, Any]] = []
        structure = containers.flatten(value, self._input, leaves, self._refuse)
        if structure != self._structure:
            raise NxTypeError(
                message(
                    f"the stream {self._name} takes {self._input} built as {containers.describe(self._structure)}, "
                    f"got {containers.describe(structure)}.",
                    "Each dot stands for a tensor; send what is built like the template.",
                )
            )
        with types.promotion(self._numbers):
            pairs = zip(leaves, self._expected, strict=True)
            return containers.rebuild(structure, iter([self._tensor(*leaf, spec) for leaf, (_, spec) in pairs]))

    def _tensor(self, path: str, value: Any, expected: Spec | VectorizedSpec) -> Tensor:
        spec = spec_of(value, path)
        whole = is_number(value) and spec.type.is_integer and expected.type.is_float and not expected.shape
        if isinstance(value, Template) or (spec != expected and not whole):
            got = f"the template {spec}" if isinstance(value, Template) else str(spec)
            raise NxTypeError(
                message(
                    f"the stream {self._name} takes {path}: {expected}, got {got}.",
                    "It was compiled for its template; open another stream for other types and shapes.",
                )
            )
        return _own(value, expected)

    def _refuse(self, path: str, value: Any) -> Exception:
        return NxTypeError(f"the stream {self._name} takes tensors, got {describe(value)} for {path}")


def stream(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    options: Mapping[str, Any] | None = None,
    *,
    size: int | None = 64,
    compiler: str | None = None,
    hooks: Hooks = None,
) -> Stream:
    """Open a stream: inputs are sent, a thread runs ``output, state = function(input, state)``, outputs are received.

    The function is compiled once, now. Inputs are processed in the order in which they are sent, and each call gets the
    state that the previous one returned.

    Parameters
    ----------
    function : callable or definition
        Takes an input, the state and the further arguments; returns ``(output, state)``, with a state of the same spec.
    arguments : sequence
        A template of the inputs (or a tensor), the initial state, and further arguments, which are the same in each
        call.
    options : mapping, optional
        The function's options.
    size : int or None
        The most inputs that may be sent before their outputs are received; then :meth:`Stream.send` waits, so that
        another thread must receive. None means no limit.
    compiler : str, optional
    hooks : dict, optional
        Functions by name, for what :func:`nxkernel.hook` marks; they are called in the stream's thread.

    Returns
    -------
    Stream

    Raises
    ------
    NxTypeError
        For a function that does not return an output and a state of the same spec.

    Examples
    --------
    >>> @nx.defn
    ... def running_mean(x, state):
    ...     total, count = state
    ...     total, count = total + x, count + 1
    ...     return total / count, (total, count)
    >>> means = nx.stream(running_mean, [nx.template((), "f32"), (0.0, 0)])
    >>> for x in [3.0, 5.0, 10.0]:
    ...     means.send(x)
    >>> float(means.recv()), float(means.recv())
    (3.0, 4.0)
    >>> total, count = means.done()
    >>> float(total), int(count)
    (18.0, 3)
    >>> [float(mean) for mean in means]
    [6.0]
    """
    name = callables.name(function)
    if tracing.current() is not None:
        raise NxTypeError(
            message(
                f"a stream of {name} is opened while a definition is traced.",
                "Open it outside. In definitions, nx.scan(fun, state, xs) goes over the entries of a tensor.",
            )
        )
    if not callable(function):
        raise NxTypeError(f"nx.stream takes a function, got {describe(function)}")
    if not isinstance(arguments, list | tuple) or len(arguments) < 2:
        got = describe(arguments) if not isinstance(arguments, list | tuple) else counted(len(arguments), "argument")
        raise NxTypeError(
            message(
                f"nx.stream takes a template of the inputs and the state to begin with, got {got}.",
                "Write nx.stream(fun, [template, state]).",
            )
        )
    if size is not None and (type(size) is not int or size < 1):
        raise NxValueError(
            message(f"the size of a stream is a positive int or None, got {describe(size)}.", "None sets no limit.")
        )
    text = function.dialect if isinstance(function, Definition) else whose_rules.of(function)
    numbers = text or whose_rules.of_values(arguments) or whose_rules.of_numbers(function)
    with types.promotion(numbers):
        template = _each(arguments[0], "the template", _template)
        state, *more = [
            _each(value, "the state" if number == 0 else f"argument {number + 2}", _value)
            for number, value in enumerate(arguments[1:])
        ]
    step = compile(function, [template, state, *more], options, compiler=compiler, hooks=hooks)
    names = step._names(2)
    inputs: list[tuple[str, Any]] = []
    structure = containers.flatten(template, names[0], inputs, containers.no_tensor("nx.stream"))
    _check_result(step, names, template, state)
    signature = f"{name}({', '.join([*names, *(['…'] if more else [])])})"
    expected = tuple([(path, leaf.spec) for path, leaf in inputs])
    return Stream(step, signature, (names[0], structure, expected), state, tuple(more), size, numbers)


def _run(channel: Channel, step: Callable[..., Any], state: Any, more: tuple) -> None:
    """The thread: calls the function until there are no more inputs."""
    for value in channel.inputs():
        try:
            output, state = step(value, state, *more)
        except BaseException as error:
            channel.fail(error)
            return
        channel.give(output)
    channel.end(state)


def _each(value: Any, path: str, container: Callable[[str, Any], Any]) -> Any:
    leaves: list[tuple[str, Any]] = []
    structure = containers.flatten(value, path, leaves, containers.no_tensor("nx.stream"))
    return containers.rebuild(structure, iter([container(*leaf) for leaf in leaves]))


def _template(path: str, value: Any) -> Template:
    if isinstance(value, Template):
        return value
    spec = spec_of(value, path)
    return Template(spec.type, spec.shape, spec.names, getattr(value, "vectorized_axes", ()))


def _value(path: str, value: Any) -> Tensor:
    if isinstance(value, Template):
        raise NxTypeError(message(f"{path} of a stream is a value, got {value}.", "Inputs alone have a template."))
    return _own(value, spec_of(value, path))


def _own(value: Any, spec: Spec | VectorizedSpec) -> Tensor:
    """A leaf as a tensor with memory of its own."""
    return value if isinstance(value, StoredTensor) else Tensor.wrap(array_of(value, spec).copy(), spec)


def _check_result(step: Compiled, names: Sequence[str], template: Any, state: Any) -> None:
    """Refuse a function that does not return an output and a state like the one that it takes."""
    structure = step.program.convention.structure
    if type(structure) is not tuple or structure[0] != "tuple" or len(structure[2]) != 2:
        raise NxTypeError(
            message(
                f"{step.__name__} gives {containers.describe(structure)}; the function of a stream gives two things.",
                "Return (output, state).",
            )
        )
    leaves: list[tuple[str, Any]] = []
    held: list[tuple[str, Any]] = []
    containers.flatten(template, names[0], [], containers.no_tensor("nx.stream"), held=held)
    name = names[1]
    before = containers.flatten(state, name, leaves, containers.no_tensor("nx.stream"), held=held)
    output, after = structure[2]
    if after != before:
        raise NxTypeError(
            message(
                f"{step.__name__} takes {name} as {containers.describe(before)} and gives it as "
                f"{containers.describe(after)}.",
                "The state of a stream is built the same in each call.",
            )
        )
    first = containers.count(output)
    specs = step.program.convention.specs[first : first + len(leaves)]
    changed = [
        f"{path}: {leaf.spec} → {spec}" for (path, leaf), spec in zip(leaves, specs, strict=True) if leaf.spec != spec
    ]
    if changed:
        raise NxTypeError(
            message(
                f"{step.__name__} gives the state of the stream in another form than it takes it.",
                *changed,
                'Begin with what it gives, as in nx.tensor(0, type="f32").',
            )
        )
