"""Where programs are checked: in blocks, in decorated functions, for a session; and that others are as they were."""

import pytest

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError

X = nx.tensor([1.0, 2.0])


@nx.defn
def at(x, place):
    return x[place]


def is_checked():
    try:
        at(X, nx.tensor(5))
    except NxIndexError:
        return True
    return False


def test_blocks_and_functions():
    decorated = nx.checked()(is_checked)
    assert (is_checked(), decorated(), is_checked()) == (False, True, False)
    with nx.checked():
        with nx.checked(False):
            assert not is_checked()
        assert is_checked()
        assert nx.default_options() == {"checked": True}
    block = nx.checked()
    with block, block:
        assert is_checked()
    assert (is_checked(), nx.default_options()) == (False, {})
    assert (decorated.__name__, repr(block)) == ("is_checked", "checked(True)")


def test_an_error_ends_the_block():
    with pytest.raises(KeyError), nx.checked():
        raise KeyError
    assert not is_checked()


def test_options_of_the_process():
    with nx.global_default_options(checked=True):
        assert is_checked()
        assert not nx.checked(False)(is_checked)()
    assert not is_checked()


def test_programs_are_others_and_those_of_before_stay():
    at(X, nx.tensor(1))
    with nx.checked():
        assert at.why(X, nx.tensor(1)).difference == ("checked: absent → on",)
        at(X, nx.tensor(1))
    with nx.no_compile():
        at(X, nx.tensor(0))
        with nx.checked():
            at(X, nx.tensor(0))
    assert at.cache_info().misses == 2


def test_what_is_no_setting():
    for call, text in (
        (lambda: nx.checked("on"), "checked takes True or False, got 'on'.\n  Write `with nx.checked():`."),
        (lambda: nx.checked()(3), "checked() takes a function, got 3.\n  Write it above one: @nx.checked()."),
        (lambda: nx.default_options(checked=1), "checked is True or False, got 1.\n  See nx.checked()."),
    ):
        with pytest.raises(NxTypeError) as caught:
            call()
        assert str(caught.value) == text
