"""Long programs as a list of steps that one native loop interprets, instead of as code.

Written out one after the other, the steps of a deep network are a function that takes LLVM longer than all kernels do.
As a list they are scalar parameters: the text of the program is the loop and the names of its kernels, the same for
any number of layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.program.program_text import PARAMS, POINTERS
from nxkernel.compilers.numba_cpu.program.program_writer import KernelCall, NativeScope
from nxkernel.compilers.numba_cpu.routines.routine_table import Launch, launches_of
from nxkernel.compilers.plan.locations import MemoryKind
from nxkernel.compilers.plan.program_plan import OpaqueStep, ProgramPlan, Step
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.graph.expr import Expr

#: Steps from which a program is a list.
MANY = 24
#: 64-bit words for a value of one element, of any type.
_SLOT_WORDS = 2


def can_be_listed(plan: ProgramPlan) -> bool:
    """Whether a plan has many steps, all of them kernels that cannot fail."""
    return plan.graph is None and len(plan.steps) >= MANY and all(map(_is_kernel, plan.steps))


def _is_kernel(step: Step) -> bool:
    work = step.work
    if isinstance(work, BoundNest):
        return all(op.name != "njit" for op in work.nest.ops())
    if isinstance(work, OpaqueStep):
        return all(isinstance(launch, Launch) for launch in launches_of(work))
    return isinstance(work, Product)


class StepList(NativeScope):
    """Writes a plan's steps as a list; used like :class:`NativeScope`."""

    def run(self) -> None:
        """Write all steps, and the loop that interprets them."""
        self._kernels: dict[str, int] = {}
        self._scalar_slots: dict[int, int] = {}
        self._list: list[int] = []
        self._runs = self._most = 0
        super().run()
        w = self.w
        w.readable = 1  # so that the text does not depend on how long the list is
        state, runs, most = w.state, w.scalar(self._runs), w.scalar(self._most)
        numbers = (
            self.b.stack_slot("i64", _SLOT_WORDS * len(self._scalar_slots))
            if self._scalar_slots
            else IRValue("ptr", 1, "null")
        )
        first = self.b.offset(PARAMS, "i64", w.integer(len(w.scalars)))
        w.scalars += self._list
        w.module.declare("nxk_run", "void", ["ptr", "i64", "i64", "ptr", "ptr"])
        self.b.do(f"call void @nxk_steps({POINTERS}, {first}, {runs}, {most}, {numbers}, {state})")
        w.helpers.append(_text(list(self._kernels), blas=w.blas))

    def _run(self, run: KernelCall) -> None:
        """Append a run of a kernel to the list, in the layout that :func:`_text` reads."""
        self.w.blas |= run.blas
        if not run.in_text:
            self.w.module.declare(run.kernel, "void", ["ptr"] * 4)
        number = self._kernels.setdefault(run.kernel, len(self._kernels))
        self._list += [number, int(run.blas), run.count, run.grain, len(run.buffers), len(run.scalars)]
        for owner, offset in run.buffers:
            self._list += self._address_entry(owner, offset)
        self._list += run.scalars
        self._runs += 1
        self._most = max(self._most, len(run.buffers) + len(run.scalars))

    def _address_entry(self, node: Expr, offset: int) -> tuple[int, int]:
        """The index of a value's base address among the program's arrays, -1 for the stack, and the byte offset."""
        kind, where = self.plan.place[node]
        if kind is MemoryKind.SCALAR:
            return -1, 8 * _SLOT_WORDS * self._scalar_slots.setdefault(where, len(self._scalar_slots)) + offset
        if kind is MemoryKind.WORKSPACE:
            return len(self.inputs) + len(self.outputs), where + offset
        return (where if kind is MemoryKind.INPUT else len(self.inputs) + where), offset


def _text(kernels: Sequence[str], blas: bool) -> str:
    """LLVM IR of ``nxk_steps``, the interpreter, and of its table of kernels."""
    table = ", ".join(f"ptr @{kernel}" for kernel in kernels)
    run = "call void @nxk_run(ptr %kernel, i64 %count, i64 %grain, ptr %table, ptr %state)"
    single_threaded = f"""
  %alone = icmp ne i64 %blas, 0
  br i1 %alone, label %quiet, label %plain
quiet:
  call void @nxk_blas_alone(ptr %state)
  {run}
  call void @nxk_blas_back(ptr %state)
  br label %done
plain:"""
    fields = "\n".join(
        f"  %{name}_at = getelementptr i64, ptr %at, i64 {index}\n  %{name} = load i64, ptr %{name}_at, align 8"
        for index, name in enumerate(("number", "blas", "count", "grain", "buffers", "scalars"))
    )
    return f"""
@nxp_kernels = internal constant [{len(kernels)} x ptr] [{table}]

define internal void @nxk_steps(ptr %pointers, ptr %list, i64 %runs, i64 %most, ptr %numbers, ptr %state) noinline {{
entry:
  %table = alloca i64, i64 %most, align 64
  br label %head
head:
  %run = phi i64 [ 0, %entry ], [ %following, %done ]
  %at = phi ptr [ %list, %entry ], [ %behind, %done ]
  %more = icmp slt i64 %run, %runs
  br i1 %more, label %begin, label %end
begin:
  %following = add i64 %run, 1
{fields}
  %buffers_from = getelementptr i64, ptr %at, i64 6
  br label %buffer_head
buffer_head:
  %buffer = phi i64 [ 0, %begin ], [ %next_buffer, %buffer_body ]
  %more_buffers = icmp slt i64 %buffer, %buffers
  br i1 %more_buffers, label %buffer_body, label %copy
buffer_body:
  %pair = shl i64 %buffer, 1
  %index_at = getelementptr i64, ptr %buffers_from, i64 %pair
  %index = load i64, ptr %index_at, align 8
  %offset_at = getelementptr i64, ptr %index_at, i64 1
  %offset = load i64, ptr %offset_at, align 8
  %own = icmp slt i64 %index, 0
  %known = select i1 %own, i64 0, i64 %index
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %known
  %pointer = load ptr, ptr %pointer_at, align 8
  %base = select i1 %own, ptr %numbers, ptr %pointer
  %address = getelementptr i8, ptr %base, i64 %offset
  %slot = getelementptr i64, ptr %table, i64 %buffer
  store ptr %address, ptr %slot, align 8
  %next_buffer = add i64 %buffer, 1
  br label %buffer_head
copy:
  %pairs = shl i64 %buffers, 1
  %scalars_from = getelementptr i64, ptr %buffers_from, i64 %pairs
  %rest = getelementptr i64, ptr %table, i64 %buffers
  br label %scalar_head
scalar_head:
  %scalar = phi i64 [ 0, %copy ], [ %next_scalar, %scalar_body ]
  %more_scalars = icmp slt i64 %scalar, %scalars
  br i1 %more_scalars, label %scalar_body, label %ready
scalar_body:
  %scalar_at = getelementptr i64, ptr %scalars_from, i64 %scalar
  %value = load i64, ptr %scalar_at, align 8
  %scalar_slot = getelementptr i64, ptr %rest, i64 %scalar
  store i64 %value, ptr %scalar_slot, align 8
  %next_scalar = add i64 %scalar, 1
  br label %scalar_head
ready:
  %behind = getelementptr i64, ptr %scalars_from, i64 %scalars
  %kernel_at = getelementptr ptr, ptr @nxp_kernels, i64 %number
  %kernel = load ptr, ptr %kernel_at, align 8{single_threaded if blas else ""}
  {run}
  br label %done
done:
  br label %head
end:
  ret void
}}
"""
