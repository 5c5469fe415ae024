"""``nxk_run``, the native function that shares a kernel's steps among threads, and the threads' main loop.

Each thread is given pieces of the range of a kernel's steps. On Linux the threads are our own: the caller publishes a
job, wakes them, and takes pieces from the front, they from the back, until none is left. It waits for pieces that were
taken, never for a thread that has not come: where another process has its processor, the caller does all by itself. The
barrier of an OpenMP loop waits for every thread, which then takes half a millisecond instead of ten microseconds.
Elsewhere it is Numba's pool, with one piece a thread.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import sys
import threading

from nxkernel.compilers.numba_cpu.runtime import code_store

#: Places in what native code shares, in words: number of threads, whether the pool is taken, whether there is one (our
#: own, or the address of Numba's ``parallel_for``).
THREADS, TAKEN, POOL = range(3)
#: What only our own pool uses, a line of the cache each for what is written by several threads: the pieces that nobody
#: has taken (first in the low half, end in the high half), how many are not done, and of the job the kernel, the table,
#: the number of steps, of pieces and of threads that may help; a number that changes with each job, and the sleepers.
CLAIM, LEFT, JOB, TURN, SLEEPERS = 8, 16, 24, 32, 40
#: All of it.
WORDS = 48

#: Pieces for each thread, so that those of one that comes late are done by others.
PIECES = 4
#: How often a thread that waits looks before it sleeps, and before it lets others have the processor: microseconds.
LOOKS = 600

_FUTEX = {"x86_64": 202, "aarch64": 98}
_PAUSE = {"x86_64": ("llvm.x86.sse2.pause", ""), "aarch64": ("llvm.aarch64.hint", "i32 1")}
#: Whether the threads are our own.
OWN = sys.platform.startswith("linux") and platform.machine() in _FUTEX

_HEAD = f"""
define void @nxk_run(ptr %kernel, i64 %count, i64 %grain, ptr %table, ptr %state) nounwind {{
entry:
  %args = alloca i64, align 8
  %dims = alloca i64, align 8
  %steps = alloca i64, align 8
  store i64 0, ptr %args
  store i64 %count, ptr %dims
  store i64 1, ptr %steps
  %threads = load i64, ptr %state
  %grained = add i64 %count, %grain
  %grained1 = sub i64 %grained, 1
  %parts = udiv i64 %grained1, %grain
  %fewer = icmp slt i64 %parts, %threads
  %workers = select i1 %fewer, i64 %parts, i64 %threads
  %several = icmp sgt i64 %workers, 1
  br i1 %several, label %try, label %serial
try:
  %pool_at = getelementptr i64, ptr %state, i64 {POOL}
  %pool = load ptr, ptr %pool_at
  %none = icmp eq ptr %pool, null
  br i1 %none, label %serial, label %take
take:
  %taken_at = getelementptr i64, ptr %state, i64 {TAKEN}
  %pair = cmpxchg ptr %taken_at, i64 0, i64 1 seq_cst seq_cst
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %parallel, label %serial
serial:
  call void %kernel(ptr %args, ptr %dims, ptr %steps, ptr %table)
  ret void
"""

_PIECE = """
define internal void @nxk_piece(ptr %kernel, ptr %table, i64 %count, i64 %pieces, i64 %first, i64 %many) nounwind {
entry:
  %args = alloca i64, align 8
  %dims = alloca i64, align 8
  %steps = alloca i64, align 8
  %last = add i64 %first, %many
  %from0 = mul i64 %first, %count
  %from = udiv i64 %from0, %pieces
  %to0 = mul i64 %last, %count
  %to = udiv i64 %to0, %pieces
  %length = sub i64 %to, %from
  store i64 %from, ptr %args
  store i64 %length, ptr %dims
  store i64 1, ptr %steps
  call void %kernel(ptr %args, ptr %dims, ptr %steps, ptr %table)
  ret void
}
"""

_OWN = (
    _HEAD
    + f"""
parallel:
  %share = mul i64 %workers, {PIECES}
  %coarse = icmp slt i64 %parts, %share
  %pieces = select i1 %coarse, i64 %parts, i64 %share
  %helpers = sub i64 %workers, 1
  %kernel_at = getelementptr i64, ptr %state, i64 {JOB}
  store ptr %kernel, ptr %kernel_at
  %table_at = getelementptr i64, ptr %state, i64 {JOB + 1}
  store ptr %table, ptr %table_at
  %count_at = getelementptr i64, ptr %state, i64 {JOB + 2}
  store i64 %count, ptr %count_at
  %pieces_at = getelementptr i64, ptr %state, i64 {JOB + 3}
  store i64 %pieces, ptr %pieces_at
  %helpers_at = getelementptr i64, ptr %state, i64 {JOB + 4}
  store atomic i64 %helpers, ptr %helpers_at seq_cst, align 8
  %left_at = getelementptr i64, ptr %state, i64 {LEFT}
  store atomic i64 %pieces, ptr %left_at seq_cst, align 8
  %claim_at = getelementptr i64, ptr %state, i64 {CLAIM}
  %all = shl i64 %pieces, 32
  store atomic i64 %all, ptr %claim_at seq_cst, align 8
  %turn_at = getelementptr i64, ptr %state, i64 {TURN}
  %turn = atomicrmw add ptr %turn_at, i32 1 seq_cst
  %sleepers_at = getelementptr i64, ptr %state, i64 {SLEEPERS}
  %sleepers = load atomic i64, ptr %sleepers_at seq_cst, align 8
  %asleep = icmp sgt i64 %sleepers, 0
  br i1 %asleep, label %wake, label %work
wake:
  %wanted = trunc i64 %helpers to i32
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %turn_at, i32 129, i32 %wanted)
  br label %work
work:
  call void @nxk_work(ptr %state, i64 1)
  br label %wait
wait:
  %looks = phi i64 [ 0, %work ], [ %more, %again ], [ 0, %yield ]
  %left = load atomic i64, ptr %left_at seq_cst, align 8
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %again
again:
  call void @PAUSE(PAUSED)
  %more = add i64 %looks, 1
  %long = icmp sgt i64 %more, {LOOKS}
  br i1 %long, label %yield, label %wait
yield:
  %yielded = call i32 @sched_yield()
  br label %wait
end:
  store atomic i64 0, ptr %taken_at seq_cst, align 8
  ret void
}}

define internal void @nxk_work(ptr %state, i64 %front) nounwind {{
entry:
  %claim_at = getelementptr i64, ptr %state, i64 {CLAIM}
  %left_at = getelementptr i64, ptr %state, i64 {LEFT}
  %is_front = icmp ne i64 %front, 0
  br label %look
look:
  %claim = load atomic i64, ptr %claim_at seq_cst, align 8
  %first = and i64 %claim, 4294967295
  %end = lshr i64 %claim, 32
  %some = icmp ult i64 %first, %end
  br i1 %some, label %try, label %none
try:
  %before = add i64 %claim, 1
  %behind = sub i64 %claim, 4294967296
  %rest = select i1 %is_front, i64 %before, i64 %behind
  %last = sub i64 %end, 1
  %piece = select i1 %is_front, i64 %first, i64 %last
  %pair = cmpxchg ptr %claim_at, i64 %claim, i64 %rest seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %mine, label %run, label %look
run:
  ; The job stays what it is until this piece is done.
  %kernel_at = getelementptr i64, ptr %state, i64 {JOB}
  %kernel = load ptr, ptr %kernel_at
  %table_at = getelementptr i64, ptr %state, i64 {JOB + 1}
  %table = load ptr, ptr %table_at
  %count_at = getelementptr i64, ptr %state, i64 {JOB + 2}
  %count = load i64, ptr %count_at
  %pieces_at = getelementptr i64, ptr %state, i64 {JOB + 3}
  %pieces = load i64, ptr %pieces_at
  call void @nxk_piece(ptr %kernel, ptr %table, i64 %count, i64 %pieces, i64 %piece, i64 1)
  %left = atomicrmw sub ptr %left_at, i64 1 seq_cst
  br label %look
none:
  ret void
}}

define void @SYMBOL(ptr %state, i64 %index) nounwind {{
entry:
  %turn_at = getelementptr i64, ptr %state, i64 {TURN}
  %helpers_at = getelementptr i64, ptr %state, i64 {JOB + 4}
  %sleepers_at = getelementptr i64, ptr %state, i64 {SLEEPERS}
  br label %begin
begin:
  %seen = load atomic i32, ptr %turn_at seq_cst, align 4
  %helpers = load atomic i64, ptr %helpers_at seq_cst, align 8
  %asked = icmp slt i64 %index, %helpers
  br i1 %asked, label %work, label %wait
work:
  call void @nxk_work(ptr %state, i64 0)
  br label %wait
wait:
  %looks = phi i64 [ 0, %begin ], [ 0, %work ], [ %more, %again ]
  %now = load atomic i32, ptr %turn_at seq_cst, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %again, label %begin
again:
  call void @PAUSE(PAUSED)
  %more = add i64 %looks, 1
  %long = icmp sgt i64 %more, {LOOKS}
  br i1 %long, label %sleep, label %wait
sleep:
  %one = atomicrmw add ptr %sleepers_at, i64 1 seq_cst
  %slept = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %turn_at, i32 128, i32 %seen, ptr null)
  %other = atomicrmw sub ptr %sleepers_at, i64 1 seq_cst
  br label %begin
}}

declare i64 @syscall(i64, ...)
declare i32 @sched_yield()
declare void @PAUSE(PAUSE_TYPE)
"""
    + _PIECE
)

_NUMBA = (
    _HEAD
    + """
parallel:
  %job = alloca [4 x i64], align 8
  %workers32 = trunc i64 %workers to i32
  store ptr %kernel, ptr %job
  %job_table = getelementptr i64, ptr %job, i64 1
  store ptr %table, ptr %job_table
  %job_count = getelementptr i64, ptr %job, i64 2
  store i64 %count, ptr %job_count
  %job_pieces = getelementptr i64, ptr %job, i64 3
  store i64 %workers, ptr %job_pieces
  store i64 %workers, ptr %dims
  call void %pool(ptr @nxk_pieces, ptr %args, ptr %dims, ptr %steps, ptr %job, i64 0, i64 1, i32 %workers32)
  store atomic i64 0, ptr %taken_at seq_cst, align 8
  ret void
}

define internal void @nxk_pieces(ptr %args, ptr %dims, ptr %steps, ptr %job) nounwind {
entry:
  %kernel = load ptr, ptr %job
  %table_at = getelementptr i64, ptr %job, i64 1
  %table = load ptr, ptr %table_at
  %count_at = getelementptr i64, ptr %job, i64 2
  %count = load i64, ptr %count_at
  %pieces_at = getelementptr i64, ptr %job, i64 3
  %pieces = load i64, ptr %pieces_at
  %first = load i64, ptr %args
  %many = load i64, ptr %dims
  call void @nxk_piece(ptr %kernel, ptr %table, i64 %count, i64 %pieces, i64 %first, i64 %many)
  ret void
}

define void @SYMBOL(ptr %state, i64 %index) nounwind {
  ret void
}
"""
    + _PIECE
)


def _text() -> str:
    if not OWN:
        return _NUMBA
    machine = platform.machine()
    name, pause_type = _PAUSE[machine]
    text = _OWN.replace("FUTEX", str(_FUTEX[machine])).replace("PAUSE_TYPE", pause_type.split(" ")[0])
    return text.replace("@PAUSE(PAUSED)", f"@{name}({pause_type})").replace("@PAUSE", f"@{name}")


_TEXT = _text()
#: The name of what a thread of the pool does.
SYMBOL = "nxk_runtime_pool_" + hashlib.sha256(_TEXT.encode()).hexdigest()[:24]


def load() -> int:
    """Define the symbol ``nxk_run``; the address of the main function of our own threads."""
    code, _ = code_store.native(SYMBOL, lambda: _TEXT.replace("@SYMBOL", "@" + SYMBOL), also=["nxk_run"])
    code.last()
    return code.address


def begin(count: int, state: int) -> None:
    """Start `count` threads of our own pool, which work beside the calling one.

    Parameters
    ----------
    count : int
    state : int
        The address of what they share.
    """
    work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(load())
    for index in range(count):
        threading.Thread(target=work, args=(state, index), name=f"nxkernel-{index}", daemon=True).start()
