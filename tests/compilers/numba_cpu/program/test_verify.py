"""Programs in the making that are damaged on purpose, and what is said of them."""

import dataclasses

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, spec
from nxkernel import passes
from nxkernel.compilers.numba_cpu.program import saved_programs
from nxkernel.compilers.numba_cpu.program.verify import verify_kernels, verify_program, verify_text
from nxkernel.errors import VerificationError


@pytest.fixture
def compilation(monkeypatch):
    """A program of one kernel, linked."""
    monkeypatch.setattr(saved_programs, "name_of", lambda graph: None)
    made = []
    with passes.watched(lambda one, form: made.append(form) if one.name == "link" else None):
        compiled(nx.exp, spec("f32", 1000))
    return made[-1]


def name_of_kernel(compilation):
    (name,) = compilation.text.kernels.values()
    return name


def with_text(**changes):
    def damage(compilation):
        compilation.text = dataclasses.replace(compilation.text, **changes)

    return damage


def cut(compilation):
    with_text(text=compilation.text.text[:-100])(compilation)


def renamed(compilation):
    with_text(symbol="nxp_another")(compilation)


def no_terminator(compilation):
    text = "define i64 @f(i64 %x) {\n  %y = add i64 %x, %z\n  %z = add i64 %y, 1\n  ret i64 %z\n}\n"
    with_text(text=text, symbol="f")(compilation)


def parameter_of_a_kernel(position):
    return lambda compilation: with_text(kernels={position: name_of_kernel(compilation)})(compilation)


def an_address(compilation):
    (position,) = compilation.text.kernels
    scalars = compilation.text.params.copy()
    scalars[position] = 4096
    with_text(params=scalars)(compilation)


def no_kernel(compilation):
    compilation.uses = {}


def kernel_at_nothing(compilation):
    name = name_of_kernel(compilation)
    compilation.uses = {name: dataclasses.replace(compilation.uses[name], address=0)}


def program_at_nothing(compilation):
    code = compilation.code
    compilation.code = dataclasses.replace(code, code=dataclasses.replace(code.code, address=0))


def other_kernel(compilation):
    name = name_of_kernel(compilation)
    compilation.uses = {name: dataclasses.replace(compilation.uses[name])}


DAMAGE = {
    "text that ends too soon": (verify_text, cut, "expected text that LLVM takes, found "),
    "a value that is used before it is there": (
        verify_text, no_terminator, "the program f: expected text that LLVM takes, found ",
    ),
    "another function": (verify_text, renamed, "the program nxp_another: expected a function of that name, found nxp_"),
    "a parameter beyond the table": (verify_text, parameter_of_a_kernel(10**6), "found parameter 1000000"),
    "an address of this process": (
        verify_text, an_address, "expected 0, since it is another one in each process, found an address",
    ),
    "a kernel that is not called": (verify_text, with_text(kernels={}), "expected a call of the kernel nxk_"),
    "a kernel that is not loaded": (verify_kernels, no_kernel, "expected native code with an address, found none"),
    "a kernel at address 0": (verify_kernels, kernel_at_nothing, "expected native code with an address, found none"),
    "a program at address 0": (
        verify_program, program_at_nothing, "expected native code with an address, found none",
    ),
    "a program with other kernels": (
        verify_program, other_kernel, "expected the code that was loaded for it, found other code, or none",
    ),
}  # fmt: skip


def test_programs_as_they_are_made_are_well_formed(compilation):
    for check in (verify_text, verify_kernels, verify_program):
        check(compilation, "a pass")
    assert np.all(compilation.text.params[list(compilation.text.kernels)] == 0)


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told(kind, compilation):
    check, damage, text = DAMAGE[kind]
    damage(compilation)
    with pytest.raises(VerificationError) as error:
        check(compilation, "a pass")
    assert str(error.value).startswith("after the pass 'a pass': the ")
    assert text in str(error.value)
