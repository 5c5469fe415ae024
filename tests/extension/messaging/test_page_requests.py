import pytest

from nxkernel_lab.messaging.page_requests import (
    Choose,
    Close,
    Compare,
    Export,
    Fold,
    GroupNodes,
    Measure,
    Open,
    ReadCode,
    ShowStage,
    read_message,
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "open", "view": "v"}, Open("v")),
        ({"kind": "close", "view": "v"}, Close("v")),
        ({"kind": "choose", "view": "v", "index": 1}, Choose("v", 1)),
        ({"kind": "fold", "view": "v", "side": 0, "groups": []}, Fold("v", 0, ())),
        ({"kind": "compare", "view": "v", "index": -1}, Compare("v", -1)),
        ({"kind": "step", "view": "v", "name": "traced"}, ShowStage("v", "traced")),
        ({"kind": "together", "view": "v", "way": "modules"}, GroupNodes("v", "modules")),
        ({"kind": "measure", "view": "v"}, Measure("v")),
        ({"kind": "read", "view": "v", "side": 1, "kernel": 0, "form": "LLVM"}, ReadCode("v", 1, 0, "LLVM")),
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
        {"kind": "fold", "view": "v", "side": 0, "groups": "12"},
        {"kind": "fold", "view": "v", "side": 0, "groups": [1, "2"]},
        {"kind": "fold", "view": "v", "side": 2, "groups": ["kernel 1"]},
        {"kind": "fold", "view": "v", "side": 0, "groups": {"0": 1}},
        {"kind": "read", "view": "v", "side": 0, "kernel": 0},
        {"kind": "together", "view": "v", "way": "__class__"},
        {"kind": "step", "view": "v", "name": 3},
        {"kind": "compare", "view": "v", "index": "0"},
        {"kind": "export", "view": "v", "format": "exe"},
        {"kind": "run", "view": "v", "code": "1/0"},
    ],
)
def test_what_it_may_not_is_ignored(content):
    assert read_message(content) is None
