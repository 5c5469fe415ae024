"""The identity of code is its content."""

from nxkernel.definitions.keys import code_fingerprint


def code_of(source, file="cell.py"):
    space = {}
    exec(compile(source, file, "exec"), space)
    return space["f"].__code__


SOURCE = "def f(x, k=1):\n    def inner(y):\n        return y in {'a', 'b'}\n    return x * 2.0 + k\n"


def test_place_and_comments_do_not_count():
    there = code_of("\n\n# why\n" + SOURCE.replace("x * 2.0 + k", "x  *  2.0 +  k  # more"), "other.py")
    assert code_fingerprint.of_code(code_of(SOURCE)) == code_fingerprint.of_code(there)


def test_whatever_it_does_counts():
    variants = [
        SOURCE,
        SOURCE.replace("2.0", "2"),
        SOURCE.replace("2.0", "-0.0"),
        SOURCE.replace("2.0", "0.0"),
        SOURCE.replace("* 2", "+ 2"),
        SOURCE.replace("'b'", "'c'"),
        SOURCE.replace("y in", "y not in"),
        SOURCE.replace("k=1", "*, k=1"),
        SOURCE.replace("x * 2.0", "y * 2.0"),
        SOURCE.replace("def f(x", "def f(x, /"),
    ]
    assert len({code_fingerprint.of_code(code_of(source)) for source in variants}) == len(variants)


def test_it_is_the_same_in_every_process():
    assert code_fingerprint.of_code(code_of("f = lambda: {'a', 'b', 'c'} == x")) == code_fingerprint.of_code(
        code_of("f = lambda: {'c', 'b', 'a'} == x")
    )
    assert len(code_fingerprint.of_code(code_of(SOURCE))) == 32
