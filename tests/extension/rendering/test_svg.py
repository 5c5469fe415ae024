import re
import xml.etree.ElementTree as ElementTree

from nxkernel_lab.rendering.nested_layout import Line
from nxkernel_lab.rendering.svg import curve, to_svg

NS = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{NS}text")]


def test_the_picture_has_the_labels_and_titles(definition):
    found = texts(to_svg(definition))
    assert found[:2] == ["kernel 1 · rows · 1 read 2 writes · 4 × 10", "kernel 2 · map · 3 reads 1 write · 4 × 10"]
    assert found[2:6] == ["t", "f32[4][10]", "reduce_max", "f32[4][1]"]
    assert found[-2:] == ["divide", "f32[4][10]"]


def test_the_picture_tells_what_it_shows_to_those_who_do_not_see_it(view):
    root = ElementTree.fromstring(to_svg(view))
    assert root.get("role") == "img"
    assert root.find(f"{NS}title").text == "The graph of softmax(t: f32[4][10], axis=-1): 8 nodes in 2 kernels"


def test_everything_lies_within_the_picture(view):
    root = ElementTree.fromstring(to_svg(view))
    left, top, width, height = map(float, root.get("viewBox").split())
    for rect in root.iter(f"{NS}rect"):
        x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert left <= x <= x + w <= left + width
        assert top <= y <= y + h <= top + height


def test_it_has_colours_for_light_and_dark(view):
    assert "@media (prefers-color-scheme:dark)" in to_svg(view)


def test_markup_in_names_stays_text(named):
    name = "<script>alert('1')</script>&\""
    svg = to_svg(named(name))
    assert "<script" not in svg
    assert texts(svg)[0] == "<script>alert('1')</script>&\""[:29] + "…" * (len(name) > 30)


def test_characters_that_xml_cannot_say_are_written_out(named):
    assert texts(to_svg(named("\x00\x1b\ud800\u202e")))[0] == "\\x00\\x1b\\ud800\\u202e"


def test_it_asks_for_nothing_from_elsewhere(view):
    svg = to_svg(view).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert re.findall(r"(?:https?:)?//|url\(|href", svg) == []


def test_it_is_the_same_from_run_to_run(view, softmax):
    assert to_svg(view) == to_svg(softmax(calls=99))


def test_curves():
    assert curve(Line("a", "b", -1, (10.0, 0.0, 10.2, 30.0, 30.0))) == "M10.0 0.0V30.0"
    assert curve(Line("a", "b", -1, (0.0, 0.0, 20.0, 30.0, 70.0))) == "M0.0 0.0C0.0 15.0 20.0 15.0 20.0 30.0V70.0"
