"""The class Module of layers and networks: `init`, `apply`, `summary`; parameters are found by tracing its function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel import random
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.flow.operators.call_dispatch import fn
from nxkernel.definitions.tracing import dialects
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.messages import other_libraries, spellings
from nxkernel.messages.call_errors import explained, exported
from nxkernel.messages.grammar import a
from nxkernel.nn import scopes
from nxkernel.nn.application import (
    check_alike,
    check_key,
    initial,
    is_data,
    network,
    placeholders,
    renamed,
    replaced,
    specs_of,
)
from nxkernel.nn.module_names import name_of, names_of
from nxkernel.nn.scopes import ModuleCall, ModuleFrame, ModulePath, NetworkRun
from nxkernel.nn.summaries import Summary, shown_call
from nxkernel.operand import Operand
from nxkernel.shapes import describe

#: What modules of other libraries can do, in variables that people have.
_METHODS: dict[str, other_libraries.Entry] = {
    "fit": "training.fit(net, loss, optimizer, params, data)", "compile": "training.make_step(net, loss, optimizer)",
    "evaluate": "training.evaluate(net, loss, params, data)",
    **dict.fromkeys(("apply", "forward", "predict"), "net(params, x)"),
    **dict.fromkeys(("parameters", "params", "state_dict", "weights"), "params = net.init(nx.random.key(0), x)"),
}  # fmt: skip


class Module:
    """A layer or network: its hyperparameters, and a function that computes its outputs from its inputs.

    It is made by a function under :func:`module`. It never changes; parameters are a dict that ``init`` gives and calls
    take. Modules that are made alike in a cell that runs again find the programs of the first time.

    Attributes
    ----------
    name : str
        What its parameters are called in a network, where no variable names it.
    """

    #: As for definitions: within other functions it is a part of their graphs.
    on_conflict, compiler, dialect = "reuse", None, dialects.NX

    def __init__(self, builder: Callable[..., Any], args: tuple, options: Mapping[str, Any], name: str = "") -> None:
        #: What it was made by and of: in a key it counts by this, and not by its identity.
        self.name = name or name_of(builder)
        named = (_built, name, builder) if name and name != name_of(builder) else (builder,)
        self.__nx_function__ = functools.partial(*named, *args, **options)
        self.__doc__ = builder.__doc__
        self._made: tuple[Any, Any, dict] | None = None
        self._inputs: tuple[tuple, dict] | None = None
        self._definition: Definition | None = None
        self._application()

    @property
    def __name__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Any:
        # Copies are asked for attributes before they have any, and pages for ways to show them.
        if name.startswith("_"):
            raise AttributeError(f"a module has no {name!r}")
        raise other_libraries.missing("a module", name, _METHODS, dir(type(self)), self)

    def __reduce__(self) -> tuple:
        builder, args, options = _call_of(self)
        return _remade, (exported(builder), args, dict(options), self.name)

    def named(self, name: str) -> Module:
        """A copy of the module with a name for its parameters, as in ``nn.dense(16).named("hidden")``.

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
        return Module(*_call_of(self.fresh()), name)

    def fresh(self) -> Module:
        """A copy of the module whose parameters, and those of its submodules, are not shared with it.

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
        return _fresh(self, {})

    # Parameters ------------------------------------------------------------------------------------------------

    def init(self, key: Any, *inputs: Any, training: bool = False, reuse: Mapping | None = None, **options: Any) -> Any:
        """Initialize the parameters, for inputs of these types and shapes.

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
        {'dense': {'kernel': (8, 16), 'bias': (16,)}, 'dense_1': {'kernel': (16, 4), 'bias': (4,)}}
        """
        check_key(self.name, key)
        specs = specs_of(self.name, inputs, options)
        self._inputs = specs
        params = self._initial("params", key, specs, training)
        for part, values in (reuse or {}).items():
            params = self._reused(params, part, values, specs, training)
        return params

    def init_state(self, *inputs: Any, **options: Any) -> dict:
        """Initialize the state of layers that have one, such as the running statistics of batch normalization.

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
        specs = specs_of(self.name, inputs, options)
        return self._initial("state", random.key(0), specs, True)

    def _initial(self, what: str, key: Any, specs: tuple, training: bool) -> dict:
        if tracing.current() is not None:
            return initial(self, what, specs, training, key)
        function = functools.partial(renamed(initial, f"{self.name}.init"), self, what, specs, training)
        return Definition(function)(key)

    def _reused(self, params: dict, part: Any, values: Any, specs: tuple, training: bool) -> dict:
        run = self._layout(specs, training)
        known = run.known.get(id(part))
        if known is None:
            raise NxTypeError(
                message(
                    f"{self.name}: reuse has {_text(part)}, which is no module of this network.",
                    "Keys are the modules that the network was made of: reuse={encoder: params_of_encoder}.",
                )
            )
        path = known[1]
        expected = params
        for name in path.path:
            expected = expected.get(name, {})
        check_alike(expected, values, path.shown, "")
        return replaced(params, path.path, values) if expected else params

    # Calls -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the module: ``net(params, x)``, or ``layer(x)`` inside of another module.

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
        """Apply the module to inputs with the parameters given, also inside of other modules.

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
        >>> params = {"kernel": nx.tensor([[2.0], [3.0]]), "bias": nx.tensor([0.5])}
        >>> layer.apply(params, nx.tensor([1.0, 1.0])).to_list()
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
            check_key(self.name, key)
        options_ = {"options": {name: value for name, value in options.items() if is_data(value)}}
        options_ |= {name: value for name, value in (("key", key), ("state", state)) if value is not None}
        static = {name: value for name, value in options.items() if name not in options_["options"]}
        if tracing.current() is not None:
            return network(self, params, inputs, options_, training=training, **static)
        if self._definition is None:
            self._definition = Definition(functools.partial(renamed(network, self.name), self))
        return self._definition(params, inputs, options_, training=bool(training), **static)

    def _applied(
        self, run: NetworkRun, path: ModulePath, args: Sequence[Any], options: Mapping, depth: int
    ) -> tuple[Any, ModuleCall]:
        """Call the module's function on inputs."""
        __tracebackhide__ = True
        entry = ModuleCall(path, self, depth, tuple(args))
        run.entries.append(entry)
        function, names = self._application()
        with scopes.ModuleScope(ModuleFrame(run, path, names, entry)):
            try:
                entry.output = fn(function)(*args, **options)
            except NxError as error:
                _locate(error, path.shown)
                raise
            except TypeError as error:
                # What Python says of arguments that do not fit has no second frame.
                if error.__traceback__.tb_next is not None:
                    raise
                name = getattr(function, "__qualname__", "")
                raise NxTypeError(f"{path.shown}: {str(error).replace(name, name.rpartition('.')[2])}") from None
        return entry.output, entry

    def _application(self) -> tuple[Callable[..., Any], dict[int, tuple[str, str]]]:
        """The module's function, and the names that it has for its submodules."""
        builder = self.__nx_function__
        # While it is traced, a copy of this object leads to nodes in place of captured arrays.
        if self._made is None or self._made[0] is not builder:
            function = builder()
            if not callable(function):
                raise NxTypeError(
                    message(
                        f"nn.module: {self.name} gives {describe(function)}, not a function.",
                        "Define `def apply(x): …` in it, and return apply.",
                    )
                )
            self._made = (builder, function, names_of(_call_of(self)[0], function, Module))
        return self._made[1:]

    # What people see -------------------------------------------------------------------------------------------

    def summary(self, *inputs: Any, training: bool = False, **options: Any) -> Summary:
        """A table of its layers: path, shape of the output, number of parameters.

        Parameters
        ----------
        *inputs, training, **options
            As :meth:`init` takes them; without any, those of the last ``init``.

        Returns
        -------
        Summary
            It prints as text, and shows as a table in notebooks.

        Examples
        --------
        >>> from nxkernel import nn
        >>> nn.serial(nn.dense(16), nn.relu, nn.dense(4)).summary(nx.template((1, 8), "f32"))
        layer                output      parameters
        serial               f32[1][4]
          serial[0].dense    f32[1][16]         144
          serial[1].relu     f32[1][16]
          serial[2].dense_1  f32[1][4]           68
        212 parameters, 848 bytes
        """
        known = self._inputs if not inputs and not options else None
        return self._summary(known or specs_of(self.name, inputs, options), training)

    def _summary(self, specs: tuple, training: bool = False) -> Summary:
        return Summary.of(self._layout(specs, training).entries)

    def _layout(self, specs: tuple, training: bool) -> NetworkRun:
        """Trace the module without data: the parameters that it creates and the layers that it calls."""
        with tracing.BodyTrace() as trace:
            inputs, options = placeholders(specs, lambda spec: trace.parameter("input", spec))
            run = NetworkRun(self, None, None, random.key(0), training)
            self._applied(run, run.known[id(self)][1], inputs, options, 0)
        return run

    def __repr__(self) -> str:
        call = _call_of(self)
        return self.name if call[0] is _itself else shown_call(self.name, *call)

    def __str__(self) -> str:
        return repr(self) if self._inputs is None else str(self._summary(self._inputs))

    def _repr_html_(self) -> str | None:
        return None if self._inputs is None else self._summary(self._inputs)._repr_html_()


def module(builder: Callable[..., Any]) -> Callable[..., Module]:
    """Decorate a function that takes hyperparameters and returns a function of inputs, so that it returns a Module.

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

    ours = getattr(builder, "__module__", "").startswith(__package__)
    signature, explained_builder = (inspect.signature(builder), explained(builder, "nn")) if ours else (None, None)

    def make(*args: Any, **options: Any) -> Module:
        if signature is not None and explained_builder is not None:
            try:
                signature.bind(*args, **options)
            except TypeError:
                args, options = spellings.documented(builder, args, options) or explained_builder(*args, **options)
        return Module(builder, args, options)

    return functools.update_wrapper(make, builder, updated=())


def as_module(layer: Any, path: str) -> Module:
    """A layer as a :class:`Module`; a plain function becomes one without parameters."""
    if isinstance(layer, Module):
        return layer
    if not callable(layer) or isinstance(layer, Operand):
        raise NxTypeError(
            message(f"{path} is a module or a function of a tensor, got {describe(layer)}.", "Such as nn.dense(16).")
        )
    if getattr(layer, "__wrapped__", None) is not None and _is_maker(layer):
        raise NxTypeError(
            message(f"{path} is {layer.__name__} itself, not a module.", f"Call it: nn.{layer.__name__}(…).")
        )
    return Module(_itself, (layer,), {}, name_of(layer))


def _built(name: str, builder: Callable[..., Any], /, *args: Any, **options: Any) -> Callable[..., Any]:
    """The hyperparameters and function of a module, with its name, since parameters are stored under it."""
    return builder(*args, **options)


def _remade(maker: Callable[..., Any], args: tuple, options: dict[str, Any], name: str) -> Module:
    """Rebuild a module that was pickled or copied."""
    return Module(inspect.unwrap(maker), args, options, name)


def _call_of(module: Module) -> tuple[Callable[..., Any], tuple, dict[str, Any]]:
    """The function that makes a module, and the arguments of that call."""
    builder = module.__nx_function__
    if builder.func is _built:
        return builder.args[1], builder.args[2:], builder.keywords
    return builder.func, builder.args, builder.keywords


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _is_maker(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_name == "make" and code.co_filename == __file__


def _fresh(value: Any, copies: dict[int, Module]) -> Any:
    """A copy of a module or container with new modules; modules that were shared in it share their copy."""
    if isinstance(value, Module):
        if id(value) not in copies:
            builder, args, options = _call_of(value)
            copies[id(value)] = Module(builder, _fresh(args, copies), _fresh(options, copies), value.name)
        return copies[id(value)]
    if type(value) in (tuple, list):
        return type(value)(_fresh(one, copies) for one in value)
    if type(value) is dict:
        return {name: _fresh(one, copies) for name, one in value.items()}
    return value


def _locate(error: NxError, shown: str) -> None:
    """Prefix an error's text with the path of the innermost module that raised it."""
    if getattr(error, "module", None) is None:
        error.module = shown
        text = str(error)
        if not text.startswith(f"{shown}:"):
            error.args = (f"{shown}: {text}", *error.args[1:])


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, Module) else describe(value)
