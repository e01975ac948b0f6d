"""Color the items of a drawing by their cost or contents."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from stepscope.common.units import bytes_text, micros_text
from stepscope.inspect.figures import count
from stepscope.inspect.graph.data import GraphBox, GraphData, GraphNode
from stepscope.inspect.graph.families import family_of
from stepscope.inspect.graph.palette import CATEGORIES, HEAT_STEPS
from stepscope.inspect.graph.shown import Drawing
from stepscope.plain_text import clean

Colour = Literal["kind", "time", "memory", "flops", "dtype", "device", "nonfinite"]
Thing = GraphNode | GraphBox
_AMOUNTS: dict[str, tuple[Callable[[Thing], float | None], Callable[[float | None], str]]] = {
    "time": (lambda thing: thing.time_us, micros_text),
    "memory": (lambda thing: float(thing.saved_bytes), bytes_text),
    "flops": (lambda thing: thing.flops, count),
}


@dataclass
class Colouring:
    """The palette entry of each item (by its id), and what the colors mean."""

    entries: dict[int, str] = field(default_factory=dict)
    legend: list[tuple[str, str]] = field(default_factory=list)
    """(palette entry, words)"""

    def of(self, thing: Thing) -> str:
        return self.entries.get(id(thing), "none")


def colouring(drawing: Drawing, by: Colour) -> Colouring:
    """The color of each closed item of a drawing."""
    things = [item.thing for item in drawing.items if item.thing is not None and not item.open]
    if by == "kind":
        return Colouring({id(thing): family_of(thing, drawing.data) for thing in things})
    if by == "nonfinite":
        legend = [("bad", "wrote NaN or Inf")] if drawing.data.values else [("none", "values were not recorded")]
        return Colouring({id(thing): "bad" for thing in things if thing.nonfinite}, legend)
    if by in _AMOUNTS:
        return _by_amount(things, *_AMOUNTS[by])
    return _by_category(things, drawing.data, by)


def _by_amount(
    things: list[Thing], amount: Callable[[Thing], float | None], words: Callable[[float | None], str]
) -> Colouring:
    found = Colouring()
    most = max((amount(thing) or 0.0 for thing in things), default=0.0)
    if most <= 0:
        return Colouring(legend=[("none", "nothing was measured")])
    for thing in things:
        value = amount(thing)
        if value is not None:
            found.entries[id(thing)] = f"heat{round((HEAT_STEPS - 1) * math.sqrt(max(0.0, value) / most))}"
    found.legend = [
        (f"heat{step}", words(most * (step / (HEAT_STEPS - 1)) ** 2)) for step in (0, HEAT_STEPS // 2, HEAT_STEPS - 1)
    ]
    return found


def _by_category(things: list[Thing], data: GraphData, by: str) -> Colouring:
    names: dict[str, int] = {}
    found = Colouring()
    for thing in things:
        outputs = (
            thing.outputs
            or next(
                (
                    node.outputs
                    for node in reversed(data.nodes[thing.first : thing.first + thing.count])
                    if node.outputs
                ),
                [],
            )
            if isinstance(thing, GraphBox)
            else thing.outputs
        )
        if outputs:
            tensor = data.tensors[outputs[0]]
            number = names.setdefault(tensor.dtype if by == "dtype" else tensor.device, len(names))
            found.entries[id(thing)] = f"kind{min(number, CATEGORIES - 1)}"
    found.legend = [(f"kind{min(number, CATEGORIES - 1)}", clean(name)) for name, number in names.items()]
    return found
