"""What stands beside a widget in an output."""

from nxkernel_lab.twins import MARK, with_twins


def test_twins_take_the_place_of_what_stood_there_and_leave_the_rest():
    widget = ({"text/plain": "Timeline()", "view": {"model_id": "1"}}, {"colab": 1})
    assert with_twins(widget, {"text/plain": "told", "text/html": "<table>", "image/svg+xml": ""}) == (
        {"text/plain": "told", "view": {"model_id": "1"}, "text/html": "<table>"},
        {"colab": 1, MARK: True},
    )
    assert widget[1] == {"colab": 1}


def test_no_widget_no_twin():
    assert with_twins(None, {"text/plain": "told"}) is None


def test_the_page_looks_for_the_same_mark(request):
    source = request.config.rootpath / "extension" / "lab" / "src" / "twins.ts"
    assert f"const TWIN = '{MARK}';" in source.read_text("utf-8")
