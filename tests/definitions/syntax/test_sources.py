"""The syntax tree of a function: the right one, at the lines where it stands."""

import ast
import linecache

import pytest

from nxkernel.definitions.syntax.sources import keep, tree_of

# ruff: noqa: E731, E702, E704


def text_of(function):
    tree = tree_of(function.__code__)
    return None if tree is None else ast.unparse(tree)


def mark(function):
    return function


# fmt: off
class Model:
    @mark
    @mark
    def step(self, x):
        """Text
with lines
    of its own."""
        # A comment,
    # and one further left.
        return (x,
    1)

    short = lambda self: self

    def one_line(self): return 1


# fmt: on
def test_a_method_stands_at_its_lines():
    tree = tree_of(Model.step.__code__)
    assert tree.name == "step"
    line = Model.step.__code__.co_firstlineno
    assert tree.decorator_list[0].lineno == line
    assert linecache.getline(__file__, tree.lineno).strip() == "def step(self, x):"
    assert linecache.getline(__file__, tree.body[-1].lineno).strip() == "return (x,"
    assert tree.body[-1].col_offset == 8
    assert text_of(Model.one_line) == "def one_line(self):\n    return 1"
    assert text_of(Model.short) == "lambda self: self"


def test_lambdas_on_one_line_are_told_apart():
    made = [lambda x: x + 1, lambda x: x + 2, (lambda x: lambda x: x + 3), lambda: 1, lambda: 1]  # fmt: skip
    assert [text_of(each) for each in made] == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda x: lambda x: x + 3",
        "lambda: 1",
        "lambda: 1",
    ]
    assert text_of(made[2](0)) == "lambda x: x + 3"


def test_lambdas_of_several_lines():
    made = sorted(
        [3],
        key=lambda x: (
            x
            if x
            else -x
        ),
    ), lambda a, *b, c=1, **d: (a, b,
                                c, d)  # fmt: skip
    assert text_of(made[1]) == "lambda a, *b, c=1, **d: (a, b, c, d)"
    keep = []
    _ = [keep.append(each) for each in [lambda v: v if v else -v]]
    assert text_of(keep[0]) == "lambda v: v if v else -v"


def test_functions_made_by_functions():
    def outer():
        if True:

            def inner(a, /, b, *, c):
                return a

        return inner  # fmt: skip

    assert text_of(outer()) == "def inner(a, /, b, *, c):\n    return a"
    a = 1; f = lambda: a  # fmt: skip
    assert text_of(f) == "lambda: a"


def test_nothing_is_found_where_there_is_no_source():
    space = {}
    exec("def f(x):\n    return 1\ng = lambda: 2", space)
    assert text_of(space["f"]) is None
    assert text_of(space["g"]) is None


@pytest.mark.parametrize(
    "other", ["", "x = 1\n", "def f(y):\n    return 1\n", "def f(x):\n    return 1\n", "def f(x:\n"]
)
def test_source_that_is_not_the_functions_is_not_taken(run, other):
    f = run("def f(x):\n    if x:\n        return 1\n    return 2", file="changes.py")["f"]
    assert text_of(f).startswith("def f(x):\n    if x:")
    linecache.cache["changes.py"] = (1, None, other.splitlines(keepends=True), "changes.py")
    assert text_of(f) is None


def test_a_file_that_changed_is_read_again(tmp_path):
    path = tmp_path / "module.py"
    for number in (1, 23):
        source = f"def f(x):\n    return x + {number}\n"
        path.write_text(source)
        space = {}
        exec(compile(source, str(path), "exec"), space)
        assert text_of(space["f"]) == source.rstrip()


def test_a_tree_that_is_kept_is_given_as_a_copy():
    tree = ast.parse("def whole(x):\n    y = x + 1\n    return y").body[0]
    space = {}
    exec(compile(ast.Module([tree], []), "<kept>", "exec"), space)
    code = space["whole"].__code__
    assert tree_of(code) is None
    keep(code, tree)
    found = tree_of(code)
    assert found is not tree
    assert ast.unparse(found) == ast.unparse(tree)
