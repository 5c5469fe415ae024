"""A compilation as a static SVG picture, readable on light and dark pages.

Every text stands on a filled shape of the picture's own, so that it can be read whatever the page's background is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html import escape
from typing import Any

from nxkernel.messages.grammar import counted
from nxkernel_lab.rendering.nested_layout import Line
from nxkernel_lab.rendering.scene import Scene, Shape, scene_of
from nxkernel_lab.rendering.viewed_nodes import all_nodes, view_of
from nxkernel_lab.text_escaping import visible

#: The looks of kernels by kind: a name for the style sheet.
KINDS = {
    "map": "map",
    "rows": "reduce",
    "columns": "reduce",
    "tiles": "reduce",
    "matrix product": "matrix",
    **dict.fromkeys(["loop", "choice", "condition", "then", "otherwise"], "loop"),
    **dict.fromkeys(["definition", "module"], "part"),
}

_MARGIN = 12.0

_STYLE = """
.nxg{--t:#1f2328;--s:#59636e;--e:#818b98;--b:#fff;--l:#afb8c1;--in:#2da44e;--out:#0969da;--map:#54aeff;--mapf:#eef7ff;
--red:#b87fff;--redf:#faf4ff;--loo:#d4a72c;--loof:#fffbeb;--mat:#e0823d;--matf:#fff5ec;--oth:#8c959f;--othf:#f6f8fa;
font:12px system-ui,-apple-system,"Segoe UI",sans-serif}
@media (prefers-color-scheme:dark){.nxg{--t:#e6edf3;--s:#9198a1;--e:#6e7681;--b:#161b22;--l:#4c5561;--in:#3fb950;
--out:#4493f8;--map:#1f6feb;--mapf:#0d1b2e;--red:#8957e5;--redf:#1b1527;--loo:#9e7a14;--loof:#1c190f;--mat:#bd561d;--matf:#241810;--oth:#656c76;
--othf:#12161c}}
.nxg rect{fill:var(--b);stroke:var(--l)}
.nxg .f rect{fill:var(--othf);stroke:var(--oth)}
.nxg .map rect{fill:var(--mapf);stroke:var(--map)}
.nxg .reduce rect{fill:var(--redf);stroke:var(--red)}
.nxg .loop rect{fill:var(--loof);stroke:var(--loo)}
.nxg .matrix rect{fill:var(--matf);stroke:var(--mat)}
.nxg .argument rect,.nxg .captured rect{stroke:var(--in);stroke-width:1.5}
.nxg .captured rect{stroke-dasharray:4 2}
.nxg .out rect{stroke:var(--out);stroke-width:2}
.nxg path{fill:none;stroke:var(--e)}
.nxg text{fill:var(--t);text-anchor:middle}
.nxg .s{fill:var(--s);font-size:11px}
.nxg .f text{text-anchor:start;font-size:11px;font-weight:600;paint-order:stroke;stroke:var(--othf);stroke-width:5px}
.nxg .map text{stroke:var(--mapf)}
.nxg .reduce text{stroke:var(--redf)}
.nxg .loop text{stroke:var(--loof)}
.nxg .matrix text{stroke:var(--matf)}
""".replace("\n", "")


def to_svg(subject: Any, folded: Collection[str] | None = None, way: str = "kernels") -> str:
    """Draw a compilation.

    Parameters
    ----------
    subject : definition or CompilationView
        A definition stands for its latest compilation.
    folded : collection of str, optional
        The groups to show as one box, such as ``"kernel 1"``; by default all of a large graph, almost none of a small
        one.
    way : str, optional
        What stands together: ``"kernels"``, ``"definitions"``, ``"modules"`` or ``"nothing"``.

    Returns
    -------
    str
        An ``<svg>`` element with its own style sheet.
    """
    view = view_of(subject)
    scene = scene_of(view, folded, way)
    width, height = scene.width + 2 * _MARGIN, scene.height + 2 * _MARGIN
    nodes, kernels = counted(len(view.nodes), "node"), counted(len(view.kernels), "kernel")
    title = f"The graph of {view.signature}: {nodes} in {kernels}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nxg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        *_elements(scene, {node.id: f"{node.label} {node.detail}".strip() for node in all_nodes(view.nodes)}),
        "</svg>",
    ]
    return "".join(parts)


def curve(line: Line) -> str:
    """A line as an SVG path.

    Parameters
    ----------
    line : Line
        A piece of a wire.

    Returns
    -------
    str
        The ``d`` of a ``<path>``.
    """
    x0, y0, x1, y1, y2 = line.points
    if abs(x0 - x1) < 0.5:
        return f"M{x0:.1f} {y0:.1f}V{y2:.1f}"
    middle = (y0 + y1) / 2
    down = f"V{y2:.1f}" if y2 != y1 else ""
    return f"M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}{down}"


def _elements(scene: Scene, tips: dict[str, str]) -> Iterator[str]:
    for frame in scene.frames:
        x, y, width, height = frame.area
        yield f'<g class="f {KINDS.get(frame.kind, "other")}">'
        yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="8"/></g>'
    yield f'<path d="{"".join(curve(line) for line in scene.lines)}"/>' if scene.lines else ""
    for frame in scene.frames:
        yield f'<g class="f {KINDS.get(frame.kind, "other")}"><text x="{frame.area.x + 12:.1f}" '
        yield f'y="{frame.area.y + 17:.1f}">{_text(frame.title)}</text></g>'
    for shape in scene.shapes:
        yield _box(shape, tips.get(shape.node, ""))


def _box(shape: Shape, tip: str) -> str:
    x, y, width, height = shape.area
    middle = x + width / 2
    return (
        f'<g class="{escape(_look(shape))}{" out" if shape.output else ""}"><title>{_text(tip or shape.label)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>'
        f'<text x="{middle:.1f}" y="{y + 17:.1f}">{_text(shape.label)}</text>'
        f'<text class="s" x="{middle:.1f}" y="{y + 32:.1f}">{_text(shape.sub)}</text></g>'
    )


def _look(shape: Shape) -> str:
    return f"group {KINDS.get(shape.kind, 'other')}" if shape.look == "group" else shape.look


def _text(text: str) -> str:
    # Characters that XML cannot say would leave no picture at all.
    return escape(visible(text))
