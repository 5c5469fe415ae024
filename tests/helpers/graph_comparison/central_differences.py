"""Gradients compared with central differences, by the evaluator and by numba_cpu."""

import numpy as np

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.ops.machinery.dispatch import apply, convert
from nxkernel.transforms.gradient import gradients
from nxkernel.transforms.simplify import simplify

__all__ = ["check", "check_program", "close_to_wide", "gradient_of", "numbers", "slopes"]


def numbers(*shape, seed=0, complex_=False, low=None):
    """Numbers around 0, or from `low` to `low` + 1, for a test of gradients."""
    generator = np.random.default_rng(seed + 7 * len(shape))
    draw = generator.normal if low is None else lambda size: generator.random(size) + low
    return draw(size=shape) + 1j * draw(size=shape) if complex_ else draw(size=shape)


def check(function, *arrays, order=1, rtol=1e-6, step=1e-5):
    """Compare the gradients of a function of arrays with differences, in three directions and with two compilers.

    Parameters
    ----------
    function : callable
        Of traced values; gives one or several.
    arrays : sequence of arrays
        Of f64 or c128, which gradients are taken of, or whole numbers.
    order : int
        2 to check the gradient of the gradient as well.
    rtol, step : float

    Returns
    -------
    list of arrays
        The gradients.
    """
    arrays = [np.asarray(array) for array in arrays]
    weights = _weights(function, arrays)
    found = slopes(function, arrays, weights)
    for got, expected in zip(slopes(function, arrays, weights, "evaluator"), found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9 * (1 + _size(expected)))
    active = _active(arrays)
    generator = np.random.default_rng(1)
    run = _evaluator(graph_of(function, *arrays))
    for _ in range(3):
        ways = [_like(generator, arrays[place]) for place in active]

        def loss(distance, ways=ways):
            moved = list(arrays)
            for place, way in zip(active, ways, strict=True):
                moved[place] = arrays[place] + distance * way
            return sum(np.sum((w * o).real) for w, o in zip(weights, run(moved), strict=True) if w is not None)

        expected = (loss(step) - loss(-step)) / (2 * step)
        got = sum(np.sum((slope * way).real) for slope, way in zip(found, ways, strict=True))
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * (1 + max(map(_size, found), default=0)))
    if order == 2:
        kept = [weight for weight in weights if weight is not None]
        check(gradient_of(function, len(arrays)), *arrays, *kept, rtol=30 * rtol, step=step)
    return found


def check_program(function, *arguments, order=1, rtol=1e-6, step=1e-5):
    """The same for a function of tensors that gives one, such as a definition with loops."""
    active = _active([np.asarray(argument) for argument in arguments])
    generator, run = np.random.default_rng(1), nx.jit(function)
    ways = [generator.normal(size=np.shape(arguments[place])) for place in active]

    def loss(distance):
        moved = list(arguments)
        for place, way in zip(active, ways, strict=True):
            moved[place] = arguments[place] + distance * way
        return float(np.sum(run(*moved).to_numpy()))

    expected = (loss(step) - loss(-step)) / (2 * step)
    slope = nx.grad(function, argnums=tuple(active))
    for compiler in ("evaluator", "numba_cpu"):
        found = [part.to_numpy() for part in nx.jit(slope, compiler=compiler)(*arguments)]
        got = sum(np.sum(part * way) for part, way in zip(found, ways, strict=True))
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    if order == 2:
        weights = [generator.normal(size=np.shape(arguments[place])) for place in active]

        def weighed(*arguments):
            return sum(nx.sum(part * weight) for part, weight in zip(slope(*arguments), weights, strict=True))

        check_program(weighed, *arguments, rtol=10 * rtol, step=step)


def gradient_of(function, count):
    """The function of arguments and weights that gives the gradients of the weighed results."""

    def slopes_of(*nodes):
        own = [apply(p.reshape, node, shape=node.shape, names=node.names) for node in nodes[:count]]
        results, weights = _several(function(*own)), iter(nodes[count:])
        seeds = [next(weights) if _is_smooth(result.type) else None for result in results]
        return gradients(results, seeds, [one for one in own if _is_smooth(one.type)])[0]

    return slopes_of


def slopes(function, arrays, weights, compiler="numba_cpu"):
    """The gradients by all arrays of floats."""
    given = [*arrays, *(weight for weight in weights if weight is not None)]
    graph = graph_of(gradient_of(function, len(arrays)), *given)
    return registry.get(compiler).compile(simplify(graph)).run(given) if graph.outputs else []


def close_to_wide(function, *arrays, type_="f32", rtol=1e-4):
    """Compare gradients in a narrow type with those in f64."""
    weights, own = _weights(function, arrays), types.normalize(type_)

    def narrow(*nodes):
        made = _several(function(*[convert(node, own) if _is_smooth(node.type) else node for node in nodes]))
        assert all(one.type is own for one in made)
        return [convert(one, types.f64) for one in made]

    for got, expected in zip(slopes(narrow, arrays, weights), slopes(function, arrays, weights), strict=True):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol * (1 + _size(expected)))


def _several(results):
    return list(results) if isinstance(results, tuple | list) else [results]


def _is_smooth(type_):
    return type_.is_float or type_.is_complex


def _active(arrays):
    return [place for place, array in enumerate(arrays) if array.dtype.kind in "fc"]


def _size(array):
    return float(np.abs(array).max(initial=0))


def _like(generator, array):
    way = generator.normal(size=array.shape)
    return way + 1j * generator.normal(size=array.shape) if np.iscomplexobj(array) else way


def _evaluator(graph):
    return registry.get("evaluator").compile(graph).run


def _weights(function, arrays):
    graph, generator = graph_of(function, *arrays), np.random.default_rng(2)
    made = []
    for output in graph.outputs:
        template = np.empty(output.shape, output.type.dtype) if _is_smooth(output.type) else None
        made.append(None if template is None else _like(generator, template).astype(template.dtype))
    return made
