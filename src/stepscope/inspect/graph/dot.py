"""A drawing in the DOT language, for Graphviz and other layout tools."""

from __future__ import annotations

from stepscope.inspect.graph.colouring import Colouring
from stepscope.inspect.graph.data import GraphBox
from stepscope.inspect.graph.labels import Labels
from stepscope.inspect.graph.palette import LIGHT
from stepscope.inspect.graph.shown import Drawing, Item


def dot(drawing: Drawing, colours: Colouring) -> str:
    """The visible items as nodes, open boxes as clusters, flows as edges with their shapes."""
    labels = Labels(drawing.data)
    lines = [
        "digraph step {",
        '  graph [rankdir=TB, fontname="Helvetica", compound=true];',
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=9, color="#8b8d99"];',
    ]
    lines += _content(drawing.root, labels, colours)
    for flow in drawing.flows:
        words = labels.flow_tip(flow.tensors)
        label = words.partition("\n")[0] if len(flow.tensors) == 1 else f"{len(flow.tensors)} tensors"
        lines.append(
            f"  {_name(flow.source)} -> {_name(flow.target)} [label={quoted(label)}, tooltip={quoted(words)}];"
        )
    return "\n".join([*lines, "}", ""])


def _content(root: Item, labels: Labels, colours: Colouring) -> list[str]:
    lines: list[str] = []
    stack: list[tuple[Item | None, int]] = [(item, 1) for item in reversed(root.children)]
    while stack:
        item, level = stack.pop()
        indent = "  " * level
        if item is None:
            lines.append(f"{indent}}}")
        elif item.thing is None:
            continue
        elif item.open:
            label = labels.of(item.thing)
            lines.append(f"{indent}subgraph cluster_{_name(item)} {{")
            lines.append(f"{indent}  label={quoted(' '.join(filter(None, (label.title, label.kind, label.badge))))};")
            stack.append((None, level))
            stack += [(child, level + 1) for child in reversed(item.children)]
        else:
            label = labels.of(item.thing)
            words = " ".join(filter(None, (label.title, label.kind, label.badge)))
            text = "\n".join(filter(None, (words, label.detail)))
            fill = LIGHT[colours.of(item.thing)]
            tip = quoted(labels.tip(item.thing))
            lines.append(f'{indent}{_name(item)} [label={quoted(text)}, fillcolor="{fill}", tooltip={tip}];')
    return lines


def _name(item: Item) -> str:
    thing = item.thing
    return "step" if thing is None else f"b{thing.id}" if isinstance(thing, GraphBox) else f"n{thing.id}"


def quoted(text: str) -> str:
    """A DOT string; a backslash is doubled, or `\\N` in a name would be expanded.

    >>> quoted('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{safe}"'
