"""Grouping of nodes in a picture: by kernel, function, module, or body of a loop.

Every node is a member of groups, from the outermost to the innermost. A group is a frame while it is open, and one box
while it is folded.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nxkernel.definitions.observe.compilation_report import CompilationView, NodeView
from nxkernel.messages.grammar import counted
from nxkernel_lab.rendering.viewed_nodes import constants_of

#: The ways to put nodes together.
WAYS = ("kernels", "definitions", "modules", "nothing")


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that can be folded into one box.

    Parameters
    ----------
    id : str
        Such as ``"kernel 1"`` or ``"loop b"``.
    kind : str
        The kernel's kind, or ``"loop"``, ``"choice"``, ``"definition"``, ``"module"``.
    title : str
        What stands on its frame.
    label : str
        What stands on its box.
    kernel : int
        The index of the kernel that it is; -1 for none.
    around : str
        The group that it is in; empty for none.
    node : str
        The node that it is the inside of; empty for none.
    """

    id: str
    kind: str
    title: str
    label: str
    kernel: int = -1
    around: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A node at one position; a node computed by several kernels has several.

    Parameters
    ----------
    node : NodeView
    group : str
        The innermost group that it is in; empty for none.
    kernel : int
        The kernel that computes it here; -1 for none.
    id : str
        Its name in the picture: the node's, with ``@2`` for kernel 2 where several compute it.
    """

    node: NodeView
    group: str
    kernel: int
    id: str


@dataclass(frozen=True)
class NodeGroups:
    """All members and groups of a picture, and the edges between members.

    Parameters
    ----------
    groups : dict
        By id; groups come after those that they are in.
    members : list of Member
        Operands before their readers.
    links : list of (str, str)
        By the ids of members.
    constants : dict
        The constants that are written into their readers, by id.
    """

    groups: dict[str, Group] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)

    def chain(self, group: str) -> list[str]:
        """A group and its enclosing groups, outermost first."""
        found = []
        while group:
            found.append(group)
            group = self.groups[group].around
        return found[::-1]


def grouped(view: CompilationView, way: str = "kernels") -> NodeGroups:
    """Group the nodes of a compilation.

    Parameters
    ----------
    view : CompilationView
    way : str
        One of `WAYS`. Loops and choices are groups in any way.

    Returns
    -------
    NodeGroups
    """
    builder = _Builder(view, way)
    builder.add(view.nodes, "", {})
    if way == "kernels":
        for kernel in view.kernels:
            if not any(group.kernel == kernel.index for group in builder.made.groups.values()):
                builder.group((kernel.index, kernel.index), "")
    return builder.made


#: What a node's group is known by, None for none, and the kernel that computes it there.
_Home = tuple[Hashable, int]


class _Builder:
    def __init__(self, view: CompilationView, way: str) -> None:
        self.made, self.way = NodeGroups(), way
        self.kernels = {kernel.index: kernel for kernel in view.kernels}
        self._ends: dict[str, list[tuple[int, str]]] = {}
        self._results: dict[tuple[str, int], list[str]] = {}
        self._known: dict[tuple[Hashable, str], str] = {}

    def add(self, nodes: Sequence[NodeView], around: str, inputs: Mapping[str, str]) -> None:
        """Add nodes to a group; some of them stand for values from outside."""
        constants = constants_of(nodes)
        self.made.constants.update(constants)
        shown = [node for node in nodes if node.id not in constants]
        homes = self._homes(shown)
        for node in shown:
            places_of_node = homes.get(node.id) or [(None, -1)]
            if node.parts:
                self._open(node, self.group(places_of_node[0], around))
                continue
            self._ends[node.id] = []
            for home in places_of_node:
                name = node.id if len(places_of_node) == 1 else f"{node.id}@{home[1] + 1}"
                self.made.members.append(Member(node, self.group(home, around), home[1], name))
                self._ends[node.id].append((home[1], name))
                for operand in self._given(node, inputs):
                    self._link(operand, home[1], name)

    def _open(self, node: NodeView, around: str) -> None:
        """Add a loop or branch with its bodies, each in a group of its own if there are several."""
        loop = node.label == "while"
        whole = f"{node.label} {node.id}"
        number = len(node.parts[1].outputs)
        title = f"{counted(number, 'value')} {'goes' if number == 1 else 'go'} round"
        title = f"loop · {title}" if loop else f"choice of {counted(number, 'value')}"
        kind = "loop" if loop else "choice"
        self.made.groups[whole] = Group(whole, kind, title, kind, -1, around, node.id)
        for part in node.parts:
            inside = whole
            if part.name != "body":
                inside = f"{part.name} {node.id}"
                title = "goes on while" if part.name == "condition" else part.name
                self.made.groups[inside] = Group(inside, part.name, title, title, -1, whole)
            self.add(part.nodes, inside, part.inputs)
            if part.name != "condition":
                for index, output in enumerate(part.outputs):
                    self._results.setdefault((node.id, index), []).append(output)

    def _given(self, node: NodeView, inputs: Mapping[str, str]) -> list[str]:
        """The inputs of a node, with body parameters and loop results replaced by what they stand for."""
        if node.id in inputs:
            return [inputs[node.id]]
        if node.label == "elem" and node.operands:
            result = (node.operands[0], int(node.detail.removeprefix("index=") or 0))
            return self._results.get(result, list(node.operands))
        return list(dict.fromkeys(node.operands))

    def _link(self, operand: str, kernel: int, name: str) -> None:
        ends = self._ends.get(operand)
        if ends:
            earlier = [end for other, end in ends if other <= kernel] if len(ends) > 1 else ()
            self.made.links.append((earlier[-1] if earlier else ends[0][1], name))

    def group(self, home: _Home, around: str) -> str:
        """The group of this key within another, created if new."""
        key, kernel = home
        if key is None:
            return around
        if (key, around) not in self._known:
            if self.way == "kernels":
                record = self.kernels[kernel]
                name, title = f"kernel {kernel + 1}", record.title or record.kind
                group = Group(name, record.kind, f"{name} · {title}", f"{name} · {record.kind}", kernel, around)
            else:
                kind = self.way.removesuffix("s")
                text = str(key[0])
                number = sum(isinstance(known, tuple) and known[0] == key[0] for known, _ in self._known)
                group = Group(f"{kind} {text} {number + 1}", kind, text, text, -1, around)
            if group.id in self.made.groups:
                group = replace(group, id=f"{group.id} in {around or 'the program'}")
            self.made.groups[group.id] = group
            self._known[key, around] = group.id
        return self._known[key, around]

    def _homes(self, nodes: Sequence[NodeView]) -> dict[str, list[_Home]]:
        if self.way == "kernels":
            return {node.id: [(index, index) for index in node.kernels if index in self.kernels] for node in nodes}
        if self.way == "nothing":
            return {}
        names = {node.id: node.function if self.way == "definitions" else node.module for node in nodes}
        return {name: [(key, -1)] for name, key in clusters(nodes, names).items()}


def clusters(nodes: Sequence[NodeView], names: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Nodes of one name that can share a frame: no path leaves it and comes back.

    Parameters
    ----------
    nodes : sequence of NodeView
        Operands before their readers.
    names : mapping
        Of each node by its id; empty for none.

    Returns
    -------
    dict
        Of nodes that have a name, by id, the name and a number that is another one for each frame.
    """
    level: dict[str, int] = {}
    above: dict[str, str] = {}

    def top(node: str) -> str:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for node in nodes:
        operands = [operand for operand in node.operands if operand in level]
        level[node.id] = max((level[operand] + (names[operand] != names[node.id]) for operand in operands), default=0)
        above[node.id] = node.id
        for operand in operands:
            if names[operand] == names[node.id] and level[operand] == level[node.id]:
                above[top(node.id)] = top(operand)
    numbers: dict[str, int] = {}
    return {
        node.id: (names[node.id], numbers.setdefault(top(node.id), len(numbers)))
        for node in nodes
        if names[node.id] and node.role == "operation"
    }
