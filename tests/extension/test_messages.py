import pytest

from nxkernel_lab.messages import Choose, Close, Export, Fold, Open, Read, read_message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "open", "view": "v"}, Open("v")),
        ({"kind": "close", "view": "v"}, Close("v")),
        ({"kind": "choose", "view": "v", "index": 1}, Choose("v", 1)),
        ({"kind": "fold", "view": "v", "kernels": []}, Fold("v", ())),
        ({"kind": "read", "view": "v", "kernel": 0, "form": "LLVM"}, Read("v", 0, "LLVM")),
        ({"kind": "export", "view": "v", "format": "dot"}, Export("v", "dot")),
    ],
)
def test_what_a_page_may_ask(content, message):
    assert read_message(content) == message


@pytest.mark.parametrize(
    "content",
    [
        None,
        "open",
        [],
        {},
        {"kind": "open"},
        {"kind": "open", "view": 1},
        {"kind": "choose", "view": "v", "index": "1"},
        {"kind": "choose", "view": "v", "index": 1.5},
        {"kind": "fold", "view": "v", "kernels": "12"},
        {"kind": "fold", "view": "v", "kernels": [1, "2"]},
        {"kind": "fold", "view": "v", "kernels": [True]},
        {"kind": "fold", "view": "v", "kernels": {"0": 1}},
        {"kind": "read", "view": "v", "kernel": 0},
        {"kind": "export", "view": "v", "format": "exe"},
        {"kind": "run", "view": "v", "code": "1/0"},
    ],
)
def test_what_it_may_not_is_ignored(content):
    assert read_message(content) is None
