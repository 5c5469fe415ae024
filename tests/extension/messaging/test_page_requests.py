import pytest

from nxkernel_lab.messaging.page_requests import (
    ChooseCompilation,
    CloseView,
    CompareCompilation,
    ExportPicture,
    FoldGroups,
    GroupNodes,
    MeasureKernels,
    OpenView,
    ReadCode,
    ShowStage,
    read_message,
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "open", "view": "v"}, OpenView("v")),
        ({"kind": "close", "view": "v"}, CloseView("v")),
        ({"kind": "choose", "view": "v", "index": 1}, ChooseCompilation("v", 1)),
        ({"kind": "fold", "view": "v", "side": 0, "groups": []}, FoldGroups("v", 0, ())),
        ({"kind": "compare", "view": "v", "index": -1}, CompareCompilation("v", -1)),
        ({"kind": "step", "view": "v", "name": "traced"}, ShowStage("v", "traced")),
        ({"kind": "together", "view": "v", "way": "modules"}, GroupNodes("v", "modules")),
        ({"kind": "measure", "view": "v"}, MeasureKernels("v")),
        ({"kind": "read", "view": "v", "side": 1, "kernel": 0, "form": "LLVM"}, ReadCode("v", 1, 0, "LLVM")),
        ({"kind": "export", "view": "v", "format": "dot"}, ExportPicture("v", "dot")),
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
