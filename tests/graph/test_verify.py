"""Graphs that are damaged on purpose, and what is said of them."""

import pytest

from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import VerificationError
from nxkernel.graph.expr import Expr, Graph, constant
from nxkernel.graph.verify import verify, verify_outputs

X, Y = inputs(spec("f32", 2, 3), spec("f64", 4))
SUM = make(p.add, X, X)


def graph(*outputs, parameters=(X, Y), updates=()):
    """A graph of such outputs."""
    return Graph("f", list(parameters), list(outputs), list, updates)


def damaged(primitive, *operands, like=SUM, **params):
    """A node whose type and shape are those of another one, whatever its rule says."""
    return Expr(primitive, operands, params, like.spec)


def endless():
    """A node that is its own operand."""
    node = damaged(p.negate, X)
    node.operands = (node,)
    return node


def loop(condition, body):
    """A loop over one number."""
    number = constant(0, types.s64)
    params = {"condition": condition, "body": body, "state": 1}
    return make(p.elem, Expr(p.while_, (number,), params, (number.spec,)), index=0)


(N,) = inputs(spec("s64"))
ONCE = graph(make(p.less, N, N), parameters=[N])
WIDER = graph(make(p.as_type, N, type=types.f64), parameters=[N])

DAMAGE = {
    "type": (
        lambda: graph(damaged(p.exp, Y)),
        "exp of f64[4]: expected operands of shape [2][3], found [4]",
    ),
    "rule": (
        lambda: graph(damaged(p.sum_, X, axes=(0,), keep_axes=False)),
        "sum of f32[2][3]: expected f32[3] by its rule, found f32[2][3]",
    ),
    "mixed types": (
        lambda: graph(damaged(p.add, X, damaged(p.exp, X, like=make(p.as_type, X, type=types.f64)))),
        "exp of f32[2][3]: expected f32[2][3] by its rule, found f64[2][3]",
    ),
    "parameters of a primitive": (
        lambda: graph(damaged(p.transpose, X, axes=(0, 0))),
        "transpose of f32[2][3]: expected each axis once, found axes [0, 0]",
    ),
    "beyond the end": (
        lambda: graph(damaged(p.slice_, X, starts=(0, 2), lengths=(2, 3), strides=(1, 1))),
        "slice of f32[2][3]: expected elements of axis 1, of size 3, found those from 2 to 4",
    ),
    "elements": (
        lambda: graph(damaged(p.reshape, Y, shape=(2, 3), names=(None, None))),
        "reshape of f64[4]: expected 4 elements, found 6 elements",
    ),
    "no number": (
        lambda: graph(constant([1], types.u8)),
        "constant: expected a Python number, found list [1]",
    ),
    "a circle": (
        lambda: graph(endless()),
        "negate of f32[2][3]: expected operands that come before it, found that it is computed from itself",
    ),
    "another graph's parameter": (
        lambda: graph(SUM, parameters=()),
        "parameter 0 (x0) f32[2][3]: expected one of the graph's parameters, found a parameter of another graph",
    ),
    "updates": (
        lambda: graph(SUM, updates=((1, 0),)),
        "output 0 of f, which is put into parameter 1: expected f64[4], found f32[2][3]",
    ),
    "a body's parameters": (
        lambda: graph(loop(ONCE, graph(N, parameters=[N, X]))),
        "the body of while of s64: expected 1 parameters, found 2",
    ),
    "a body's results": (
        lambda: graph(loop(ONCE, WIDER)),
        "output 0 of the body of while of s64: expected s64, found f64",
    ),
    "a condition": (
        lambda: graph(loop(graph(X, parameters=[N]), graph(N, parameters=[N]))),
        "the condition of while of s64: expected a single number, found f32[2][3]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind):
    make_graph, text = DAMAGE[kind]
    with pytest.raises(VerificationError) as error:
        verify(make_graph(), "simplify")
    assert str(error.value) == (
        f"after the pass 'simplify': {text}.\n  This is a fault of nxkernel's: please report it, with the definition."
    )


def test_what_a_pass_takes_out_is_gone():
    verify(graph(SUM), "simplify", ("custom_grad",))
    with pytest.raises(VerificationError, match="expected no add any more, found one"):
        verify(graph(SUM), "simplify", ("add",))


def test_bodies_are_rewritten_later():
    body = graph(make(p.reverse, N, axes=()), parameters=[N])
    verify_outputs([loop(ONCE, body)], "loop nest rewrites", ("reverse",))
    with pytest.raises(VerificationError, match="reverse of s64: expected no reverse any more, found one"):
        verify(graph(loop(ONCE, body)), "simplify", ("reverse",))


def test_either_rules_of_types_will_do():
    verify(graph(damaged(p.equal, X, X, like=make(p.as_type, X, type=types.bool_))), "trace")
    verify(graph(make(p.equal, X, X)), "trace")
