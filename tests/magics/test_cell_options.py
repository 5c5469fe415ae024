CELL = "%%defn --show {}\ndef f(x):\n    return x + 1.0\n"


def test_the_graph_is_shown_after_the_first_compilation_and_only_then(shell):
    assert shell.run(CELL.format("graph")).outputs == []
    ran = shell.run("_ = f(2.0)")
    (shown,) = ran.outputs
    assert shown.data["image/svg+xml"].startswith("<svg ")
    assert shown.data["text/plain"].splitlines()[0] == "f(x: f32)"
    assert shell.run("import numpy\n_ = f(numpy.ones(3))").outputs == []


def test_a_cell_that_calls_its_definition_shows_it_at_its_end(shell):
    assert len(shell.run(CELL.format("graph") + "_ = f(3.0)").outputs) == 1


def test_kernels_are_shown_as_lines(shell):
    shell.run(CELL.format("kernels"))
    lines = shell.run("_ = f(2.0)").out.splitlines()
    assert lines[0] == "f(x: f32)"
    assert lines[1].startswith("  kernel 1 · ")


def test_nothing_is_shown_by_default_or_when_taken_back(shell):
    shell.run(CELL.format("graph"))
    shell.run(CELL.format("none"))
    ran = shell.run("_ = f(2.0)")
    assert (ran.outputs, ran.out) == ([], "")
