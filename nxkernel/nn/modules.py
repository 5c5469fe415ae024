"""Modules: one function says how a layer applies; what creates its parameters is found by tracing that function."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel.defn import containers, faces
from nxkernel.defn.definition import Definition
from nxkernel.defn.flow.functions import fn
from nxkernel.defn.leaves import is_leaf, spec_of
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import node_with, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.nn import scopes
from nxkernel.nn.scopes import Entry, Frame, Place, Run
from nxkernel.nn.summaries import Summary, shown_call
from nxkernel.operand import Operand, whole_spec
from nxkernel.shapes import describe
from nxkernel.wording import a


class Module:
    """A layer or network: hyperparameters, and a function that says how it applies.

    It is made by a function under :func:`module`. It never changes; parameters are a dict that ``init`` gives and calls
    take. Modules that are made alike in a cell that runs again find the programs of the first time.

    Attributes
    ----------
    name : str
        What its parameters are called in a network, where no variable names it.
    """

    #: As for definitions: within other functions it is a part of their graphs.
    on_conflict, compiler, face = "reuse", None, faces.NX

    def __init__(self, builder: Callable[..., Any], args: tuple, options: Mapping[str, Any], name: str = "") -> None:
        #: What it was made by and of: in a key it counts by this, and not by its identity.
        self.__nx_function__ = functools.partial(builder, *args, **options)
        self.name = name or _name_of(builder)
        self.__doc__ = builder.__doc__
        self._made: tuple[Any, Any, dict] | None = None
        self._inputs: tuple[tuple, dict] | None = None
        self._definition: Definition | None = None
        self._application()

    @property
    def __name__(self) -> str:
        return self.name

    def named(self, name: str) -> Module:
        """The same module with a name of its own for its parameters: ``nn.dense(16).named("hidden")``.

        Parameters
        ----------
        name : str

        Returns
        -------
        Module
            Another one: it shares no parameters with this one.

        Examples
        --------
        >>> from nxkernel import nn
        >>> net = nn.serial(nn.dense(2).named("hidden"), nn.relu, nn.dense(1))
        >>> sorted(net.init(nx.random.key(0), nx.template((1, 3), "f32")))
        ['dense', 'hidden']
        """
        if not isinstance(name, str) or not name.isidentifier():
            raise NxTypeError(f"the name of a module is an identifier such as 'hidden', got {name!r}")
        made = self.__nx_function__
        return Module(made.func, made.args, made.keywords, name)

    def fresh(self) -> Module:
        """A module that is made alike and has parameters of its own.

        Returns
        -------
        Module

        Examples
        --------
        >>> from nxkernel import nn
        >>> layer = nn.dense(3)
        >>> sorted(nn.serial(layer, layer.fresh(), layer).init(nx.random.key(0), nx.template((1, 3), "f32")))
        ['dense', 'dense_1']
        """
        made = self.__nx_function__
        return Module(made.func, made.args, made.keywords, self.name)

    # Parameters ------------------------------------------------------------------------------------------------

    def init(self, key: Any, *inputs: Any, training: bool = False, reuse: Mapping | None = None, **options: Any) -> Any:
        """The first parameters, of shapes that fit the inputs.

        The network is traced and not run: of the inputs types and shapes count, and templates do.

        Parameters
        ----------
        key : tensor
            ``nx.random.key(seed)``; each parameter has a part of it that depends on where the parameter is.
        *inputs : tensor, template or container
        training : bool, optional
            Whether it is traced as in training.
        reuse : dict, optional
            Modules of this network to parameters that they have already: ``{encoder: trained}``.
        **options
            What calls of the network are given by keyword.

        Returns
        -------
        dict
            Nested as modules are; keys are the names of variables or kinds of layers.

        Raises
        ------
        NxTypeError, NxValueError
            For inputs that a layer does not take: the message begins with its path, such as ``serial[2].dense``.

        Examples
        --------
        >>> from nxkernel import nn
        >>> net = nn.serial(nn.dense(16), nn.relu, nn.dense(4))
        >>> params = net.init(nx.random.key(0), nx.template((1, 8), "f32"))
        >>> {name: {part: value.shape for part, value in layer.items()} for name, layer in params.items()}
        {'dense': {'bias': (16,), 'kernel': (8, 16)}, 'dense_1': {'bias': (4,), 'kernel': (16, 4)}}
        """
        _check_key(self.name, key)
        specs = _specs(self.name, inputs, options)
        self._inputs = specs
        params = self._initial("params", key, specs, training)
        for part, values in (reuse or {}).items():
            params = self._reused(params, part, values, specs, training)
        return params

    def init_state(self, *inputs: Any, **options: Any) -> dict:
        """The first state, for layers that have one, such as the running statistics of batch normalization.

        Parameters
        ----------
        *inputs, **options
            As :meth:`init` takes them.

        Returns
        -------
        dict
            Empty for a network without state.

        Examples
        --------
        >>> from nxkernel import nn
        >>> net = nn.serial(nn.dense(2), nn.batch_norm())
        >>> state = net.init_state(nx.template((1, 3), "f32"))
        >>> state["batch_norm"]["mean"].to_list()
        [0.0, 0.0]
        """
        from nxkernel import random

        specs = _specs(self.name, inputs, options)
        return self._initial("state", random.key(0), specs, True)

    def _initial(self, what: str, key: Any, specs: tuple, training: bool) -> dict:
        if tracing.current() is not None:
            return _initial(self, what, specs, training, key)
        function = functools.partial(_function(_initial, f"{self.name}.init"), self, what, specs, training)
        return Definition(function)(key)

    def _reused(self, params: dict, part: Any, values: Any, specs: tuple, training: bool) -> dict:
        run = self._layout(specs, training)
        found = run.known.get(id(part))
        if found is None:
            raise NxTypeError(
                message(
                    f"{self.name}: reuse has {_text(part)}, which is no module of this network.",
                    "Keys are the modules that the network was made of: reuse={encoder: params_of_encoder}.",
                )
            )
        place = found[1]
        expected = params
        for name in place.path:
            expected = expected.get(name, {})
        _check_alike(expected, values, place.shown, "")
        return _replaced(params, place.path, values) if expected else params

    # Calls -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply it: ``net(params, x)``, and ``layer(x)`` in the function that says how another module applies.

        Parameters
        ----------
        params : dict
            Only outside of other modules.
        *inputs : tensor or container
        key : tensor, optional
            For layers that draw random numbers in training.
        state : dict, optional
            Of layers that have one. Then the result is a pair with the next state.
        training : bool, optional
            False when not given.
        **options
            Passed to the function; tensors are data, everything else is static.

        Returns
        -------
        tensor or container, or (result, state)
        """
        __tracebackhide__ = True
        frame = scopes.current()
        if frame is None:
            return self.apply(*args, **options)
        for name in ("key", "state", "training"):
            if name in options:
                raise NxTypeError(
                    message(
                        f"{frame.place.shown}: {self.name} was given {name}=, which goes with the whole network.",
                        f"Pass it where the network is called: net(params, x, {name}=…).",
                    )
                )
        return self._applied(frame.run, frame.place_of(self), args, options, frame.entry.depth + 1)[0]

    def apply(
        self, params: Any, *inputs: Any, key: Any = None, state: Any = None, training: bool = False, **options: Any
    ) -> Any:
        """Apply it with parameters, also within the function that says how another module applies.

        Parameters
        ----------
        params, *inputs, key, state, training, **options
            As calls take them.

        Returns
        -------
        tensor or container, or (result, state)

        Examples
        --------
        >>> from nxkernel import nn
        >>> layer = nn.dense(1)
        >>> layer.apply({"kernel": [[2.0], [3.0]], "bias": [0.5]}, nx.tensor([1.0, 1.0])).to_list()
        [5.5]
        """
        __tracebackhide__ = True
        if not isinstance(params, dict):
            raise NxTypeError(
                message(
                    f"{self.name}: the first argument is the dict of parameters, got {describe(params)}.",
                    "Make them with params = net.init(nx.random.key(0), x), and call net(params, x).",
                )
            )
        if key is not None:
            _check_key(self.name, key)
        given = {"options": {name: value for name, value in options.items() if _is_data(value)}}
        given |= {name: value for name, value in (("key", key), ("state", state)) if value is not None}
        static = {name: value for name, value in options.items() if name not in given["options"]}
        if tracing.current() is not None:
            return _network(self, params, inputs, given, training=training, **static)
        if self._definition is None:
            self._definition = Definition(functools.partial(_function(_network, self.name), self))
        return self._definition(params, inputs, given, training=bool(training), **static)

    def _applied(self, run: Run, place: Place, args: Sequence[Any], options: Mapping, depth: int) -> tuple[Any, Entry]:
        """Call the function that says how it applies."""
        __tracebackhide__ = True
        entry = Entry(place, self, depth)
        run.entries.append(entry)
        function, names = self._application()
        with scopes.entered(Frame(run, place, names, entry)):
            try:
                entry.output = fn(function)(*args, **options)
            except NxError as error:
                _locate(error, place.shown)
                raise
            except TypeError as error:
                # What Python says of arguments that do not fit has no second frame.
                if error.__traceback__.tb_next is not None:
                    raise
                raise NxTypeError(f"{place.shown}: {error}") from None
        return entry.output, entry

    def _application(self) -> tuple[Callable[..., Any], dict[int, tuple[str, str]]]:
        """The function that says how it applies, and what it calls the modules that it knows."""
        made = self.__nx_function__
        # While it is traced, a copy of this object leads to nodes in place of captured arrays.
        if self._made is None or self._made[0] is not made:
            function = made()
            if not callable(function):
                raise NxTypeError(
                    message(
                        f"nn.module: {self.name} gives {describe(function)}, not a function.",
                        "Define `def apply(x): …` in it, and return apply.",
                    )
                )
            self._made = (made, function, _names(made, function))
        return self._made[1:]

    # What people see -------------------------------------------------------------------------------------------

    def summary(self, *inputs: Any, training: bool = False, **options: Any) -> Summary:
        """A table of its layers: path, shape of the output, number of parameters.

        Parameters
        ----------
        *inputs, training, **options
            As :meth:`init` takes them.

        Returns
        -------
        Summary
            It prints as text, and shows as a table in notebooks.

        Examples
        --------
        >>> from nxkernel import nn
        >>> nn.serial(nn.dense(16), nn.relu, nn.dense(4)).summary(nx.template((1, 8), "f32"))
        layer             output     parameters
        serial            f32[1][4]
          serial[0].dense    f32[1][16]        144
          serial[1].relu     f32[1][16]
          serial[2].dense_1  f32[1][4]          68
        212 parameters, 848 bytes
        """
        return self._summary(_specs(self.name, inputs, options), training)

    def _summary(self, specs: tuple, training: bool = False) -> Summary:
        return Summary.of(self._layout(specs, training).entries)

    def _layout(self, specs: tuple, training: bool) -> Run:
        """What a run creates and calls, found by tracing it with nothing behind."""
        from nxkernel import random

        with tracing.BodyTrace() as trace:
            inputs, options = _placeholders(specs, lambda spec: trace.parameter("input", spec))
            run = Run(self, None, None, random.key(0), training)
            self._applied(run, run.known[id(self)][1], inputs, options, 0)
        return run

    def __repr__(self) -> str:
        return shown_call(self.__nx_function__, self.name)

    def __str__(self) -> str:
        return repr(self) if self._inputs is None else str(self._summary(self._inputs))

    def _repr_html_(self) -> str | None:
        return None if self._inputs is None else self._summary(self._inputs)._repr_html_()


def module(builder: Callable[..., Any]) -> Callable[..., Module]:
    """Make a function that takes hyperparameters and modules, and gives a function, one that gives a module.

    The function that it gives says how the module applies: it asks for parameters with :func:`param` and calls modules
    like functions. It is a numerical definition: its `if`, `while` and assignments become part of the program.

    Parameters
    ----------
    builder : callable
        A function, or a class whose objects are called.

    Returns
    -------
    callable
        Of the same parameters; gives a :class:`Module`.

    Examples
    --------
    >>> from nxkernel import nn
    >>> @nn.module
    ... def sandwich(bread, filling):
    ...     def apply(x):
    ...         return bread(filling(bread(x)))
    ...     return apply
    >>> net = sandwich(nn.dense(3), nn.dense(3))
    >>> params = net.init(nx.random.key(0), nx.template((3,), "f32"))
    >>> sorted(params)
    ['bread', 'filling']
    >>> net(params, nx.tensor([1.0, 2.0, 3.0])).shape
    (3,)
    """
    if not callable(builder):
        raise NxTypeError(f"nn.module makes a function a maker of modules, got {a(type(builder).__name__)}")

    def make(*args: Any, **options: Any) -> Module:
        return Module(builder, args, options)

    return functools.update_wrapper(make, builder, updated=())


def as_module(layer: Any, place: str) -> Module:
    """A layer as a module; a plain function is one without parameters."""
    if isinstance(layer, Module):
        return layer
    if not callable(layer) or isinstance(layer, Operand):
        raise NxTypeError(
            message(f"{place} is a module or a function of a tensor, got {describe(layer)}.", "Such as nn.dense(16).")
        )
    if getattr(layer, "__wrapped__", None) is not None and _is_maker(layer):
        raise NxTypeError(
            message(f"{place} is {layer.__name__} itself, not a module.", f"Call it: nn.{layer.__name__}(…).")
        )
    return Module(_itself, (layer,), {}, _name_of(layer))


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _is_maker(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_name == "make" and code.co_filename == __file__


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() else "function"


# Runs --------------------------------------------------------------------------------------------------------------


def _network(
    module: Module, params: Any, inputs: tuple, given: dict, /, *, training: bool = False, **static: Any
) -> Any:
    """Apply a network from its root on."""
    __tracebackhide__ = True
    run = Run(module, params, given.get("state"), given.get("key"), training)
    options = {**static, **given.get("options", {})}
    root = run.known[id(module)][1]
    with scopes.entered(None):
        result, _ = module._applied(run, root, inputs, options, 0)
    if not static:
        _check_used(module, run, params, inputs, options)
    return (result, run.state) if run.given_state is not None else result


def _initial(module: Module, what: str, specs: tuple, training: bool, key: Any) -> dict:
    """The first parameters or state of a network, in the trace that is active."""
    __tracebackhide__ = True
    made: list[Any] = []

    def placeholder(spec: Any) -> Any:
        made.append(parameter(-1, "input", whole_spec(spec)))
        return made[-1]

    inputs, options = _placeholders(specs, placeholder)
    run = Run(module, None, None, key, training)
    with scopes.entered(None):
        module._applied(run, run.known[id(module)][1], inputs, options, 0)
    found: list[tuple[str, Any]] = []
    result = run.params if what == "params" else run.state
    containers.flatten(result, what, found, containers.no_tensor(module.name))
    for path, value in found:
        node = getattr(value, "node", value)
        if isinstance(node, Operand) and hasattr(node, "operands"):
            used = set(map(id, post_order([node])))
            if any(id(one) in used for one in made):
                raise NxTypeError(
                    message(
                        f"{module.name}: the first value of {path} depends on the values of the inputs.",
                        "init sees types and shapes alone. Compute with the inputs in the function that applies.",
                    )
                )
    return result


def _placeholders(specs: tuple, make: Callable[[Any], Any]) -> tuple[tuple, dict]:
    """Inputs and options with traced values in place of what they had."""
    structure, leaves, static = specs
    supply = iter([node_with(make(spec), spec) for spec in leaves])
    inputs, options = containers.rebuild(structure, supply)
    return inputs, {**dict(static), **options}


def _specs(name: str, inputs: tuple, options: Mapping[str, Any]) -> tuple:
    """What a network is traced with: structure and specs of the data, and the static options."""
    data = {key: value for key, value in options.items() if _is_data(value)}
    leaves: list[tuple[str, Any]] = []

    def refuse(path: str, value: Any) -> Exception:
        return NxTypeError(
            message(
                f"{name}: inputs are tensors, templates and containers of them, got {describe(value)}.",
                "Everything else goes by keyword, as an option.",
            )
        )

    structure = containers.flatten((inputs, data), "inputs", leaves, refuse)
    static = tuple(sorted((key, value) for key, value in options.items() if key not in data))
    return structure, tuple(spec_of(value, path) for path, value in leaves), static


def _is_data(value: Any) -> bool:
    """Whether an option is a tensor or a container of tensors; numbers are static."""
    if isinstance(value, dict):
        return bool(value) and all(map(_is_data, value.values()))
    if isinstance(value, tuple | list):
        return bool(value) and all(map(_is_data, value))
    return is_leaf(value) and not isinstance(value, bool | int | float | complex)


def _check_key(name: str, key: Any) -> None:
    if is_leaf(key) and not isinstance(key, bool | int | float | complex):
        spec = spec_of(key)
        if str(spec.type) == "u32" and spec.shape == (2,):
            return
        found = str(spec)
    else:
        found = describe(key)
    raise NxTypeError(
        message(
            f"{name}: the key is u32[2], got {found}.",
            "nx.random.key(0) makes one: params = net.init(nx.random.key(0), x).",
        )
    )


def _check_used(module: Module, run: Run, params: dict, inputs: tuple, options: dict) -> None:
    """Refuse parameters that no layer asks for, unless one does in training, or only then does not."""
    extra = [path for path in _paths(params) if path not in run.used]
    if not extra:
        return
    specs = _specs(module.name, inputs, options)
    other = module._layout(specs, not run.training)
    extra = [path for path in extra if path not in set(_paths(other.params))]
    if extra:
        where = "".join(f"[{part!r}]" for part in extra[0])
        raise NxTypeError(
            message(
                f"{module.name}: params{where} is for no layer of this network.",
                "They are those of another network: net.init(key, x) makes them for this one.",
            )
        )


def _paths(tree: Any, before: tuple = ()) -> list[tuple]:
    if not isinstance(tree, dict):
        return [before]
    return [path for name, value in tree.items() for path in _paths(value, (*before, name))]


def _replaced(tree: dict, path: Sequence[str], values: Any) -> Any:
    """A tree with something else at a path."""
    return {**tree, path[0]: _replaced(tree[path[0]], path[1:], values)} if path else values


def _check_alike(expected: Any, values: Any, shown: str, where: str) -> None:
    if isinstance(expected, dict):
        keys, given = sorted(expected), sorted(values) if isinstance(values, dict) else describe(values)
        if keys != given:
            raise NxTypeError(f"{shown}: reuse expected the keys {keys}{where}, got {given}")
        for key in keys:
            _check_alike(expected[key], values[key], shown, f" at [{key!r}]")
    elif not is_leaf(values) or spec_of(values).shape != expected.shape:
        got = spec_of(values) if is_leaf(values) else describe(values)
        raise NxTypeError(f"{shown}: reuse expected {expected.spec}{where}, got {got}")


def _locate(error: NxError, shown: str) -> None:
    """Begin an error's text with the path of the innermost module that it came from."""
    if getattr(error, "module", None) is None:
        error.module = shown
        text = str(error)
        if not text.startswith(f"{shown}:"):
            error.args = (f"{shown}: {text}", *error.args[1:])


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, Module) else describe(value)


@functools.lru_cache(maxsize=1024)
def _function(function: types.FunctionType, name: str) -> types.FunctionType:
    """A function under another name: what events and errors call a network."""
    made = types.FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
    made.__kwdefaults__, made.__qualname__, made.__module__ = function.__kwdefaults__, f"<{name}>", function.__module__
    return made


def _names(made: functools.partial, function: Any) -> dict[int, tuple[str, str]]:
    """What modules are called, by identity: a key, and what goes before it for people, such as ``[2]``."""
    found: dict[int, tuple[str, str]] = {}
    while isinstance(function, functools.partial):
        function = function.func
    subject = getattr(function, "__self__", None if isinstance(function, types.FunctionType) else function)
    spaces = [getattr(subject, "__dict__", {}) if not isinstance(subject, Module) else {}]
    plain = getattr(function, "__func__", function)
    if isinstance(plain, types.FunctionType) and plain.__closure__:
        spaces.append(inspect.getclosurevars(plain).nonlocals)
    listed = _variadic(made.func)
    for space in spaces:
        for name, value in space.items():
            if name == listed and isinstance(value, tuple | list):
                for place, layer in enumerate(value):
                    found.setdefault(id(layer), ("", f"[{place}]"))
            for key, layer in _modules(name, value):
                found.setdefault(id(layer), (key, ""))
    return found


def _variadic(builder: Callable[..., Any]) -> str | None:
    """The name of a maker's ``*layers``: those are called by what they are, and where."""
    try:
        parameters = inspect.signature(builder).parameters.values()
    except (TypeError, ValueError):
        return None
    return next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), None)


def _modules(name: str, value: Any) -> list[tuple[str, Module]]:
    if isinstance(value, Module):
        return [(name, value)]
    if isinstance(value, tuple | list):
        return [(f"{name}_{place}", one) for place, one in enumerate(value) if isinstance(one, Module)]
    if isinstance(value, dict):
        return [(f"{name}_{key}", one) for key, one in value.items() if isinstance(one, Module)]
    return []
