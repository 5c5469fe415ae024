import dataclasses

from nxkernel_lab.rendering.text import kernel_lines, to_text

SOFTMAX = """\
softmax(t: f32[4][10], axis=-1)
  compiled by numba_cpu in cell 4 · trace 1.4 ms, lowering 2.0 ms, native code 22 ms · answered 12 calls
  first call
  arguments
    a = t   f32[4][10]
  kernel 1 · rows · 1 read 2 writes · 4 × 10 · compiled in 21 ms · 320 B moved · 200 flop
    c = reduce_max a, axes=[1]   f32[4][1]    cell 4, line 3: m = nx.reduce_max(t, axes=[axis], keep_axes=True)
    d = subtract a, c            f32[4][10]   cell 4, line 4: e = nx.exp(t - m) * 2.0
    e = exp d                    f32[4][10]   cell 4, line 4: e = nx.exp(t - m) * 2.0
    f = multiply e, 2.0          f32[4][10]   cell 4, line 4: e = nx.exp(t - m) * 2.0
    g = sum f, axes=[1]          f32[4][1]    cell 4, line 5: return e / nx.sum(e, axes=[axis], keep_axes=True)
  kernel 2 · map · 3 reads 1 write · 4 × 10 · loaded from disk in 1.5 ms · 480 B moved · 160 flop
    d = subtract a, c     f32[4][10]              cell 4, line 4: e = nx.exp(t - m) * 2.0
    e = exp d             f32[4][10]              cell 4, line 4: e = nx.exp(t - m) * 2.0
    f = multiply e, 2.0   f32[4][10]              cell 4, line 4: e = nx.exp(t - m) * 2.0
    h = divide f, g       f32[4][10] → returned   cell 4, line 5: return e / nx.sum(e, axes=[axis], keep_axes=True)"""

PLAIN = """\
f(x: f32[3])
  compiled by evaluator in cell 4 · trace 500 µs, lowering 0 µs, native code 0 µs · answered 1 call
  arguments
    a = x   f32[3]
  captured values
    b = w   f32[3]
  constants
    1.0   f32 → returned
  computed one by one
    c = add a, b   f32[3] → returned   cell 4, line 2: return x + w, 1.0"""

LIBRARY = """\
f(x: f32[9][9])
  arguments
    a = x   f32[9][9]
  computed outside kernels
    e = elem d, index=1   f32[9] → returned
  kernel 1 · rows of 9 x 9
    b = reduce a, axes=[1]   f32[9]
        a = element   f32
        c = a * a   f32
  kernel 2 · sort of 9 by 3 digits, 3 steps · 72 B moved
    c = sort b, axis=0   f32[9] → returned
  kernel 3 · svd of f32[9][9] by a library · 700 B moved
    d = svd a   (f32[9][9], f32[9])"""


def test_a_compilation_reads_from_arguments_to_kernels(definition):
    assert to_text(definition) == SOFTMAX


def test_without_kernels_the_nodes_are_computed_one_by_one(plain):
    assert to_text(plain) == PLAIN


def test_what_differs_from_run_to_run_can_be_left_out(view, softmax):
    text = to_text(view, times=False)
    assert text.splitlines()[1] == "  first call"
    assert "  kernel 2 · map · 3 reads 1 write · 4 × 10 · 480 B moved · 160 flop" in text.splitlines()
    assert text == to_text(softmax(calls=99), times=False)


def test_kernels_in_one_line_each(view, plain):
    assert kernel_lines(view)[1].startswith("  kernel 2 · map · 3 reads 1 write · 4 × 10 · loaded from disk in 1.5 ms")
    assert kernel_lines(plain) == ["  no kernels: evaluator computes node by node"]
    assert kernel_lines(dataclasses.replace(plain, compiler="numba_cpu")) == [
        "  no kernels: all that it computes is in the loops and choices of the program"
    ]


def test_folds_have_their_function_and_whole_operations_one_kernel(library):
    assert to_text(library, times=False) == LIBRARY


def test_library_code_was_not_compiled(library):
    assert [line.split(" · ")[2] for line in kernel_lines(library)] == [
        "reused from memory in 100 µs",
        "compiled in 4.5 ms",
        "library code",
    ]


def test_what_is_baked_in_stands_apart_from_what_is_captured(view):
    changed = dataclasses.replace(view, baked=("captured rate = 0.1", "option axis = -1"))
    assert to_text(changed, times=False).splitlines()[2:7] == [
        "  arguments",
        "    a = t   f32[4][10]",
        "  baked in: another value is another program",
        "    captured rate = 0.1",
        "    option axis = -1",
    ]
