"""The first step of a script: its loss against chance, and the shapes on the way through its model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.inspect.figures import count
from stepscope.launch.data.show import Line, laid_out
from stepscope.plain_text import clean
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tape import Tapes
    from stepscope.record.observers.watcher import Watcher

MOST_ROWS = 40


@dataclass
class Layer:
    """One module on the way, as it ran."""

    path: str
    type: str
    depth: int
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]]
    parameters: int


@dataclass
class _Seen:
    model: str = ""
    layers: list[Layer] = field(default_factory=list)
    loss: float | None = None


class FirstStep(Observer):
    """Notes the first call of the model, and the first loss."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.seen = _Seen()
        self.metrics: dict[str, float] = {}
        self.call: tuple[Any, Any] | None = None
        """The arguments of the model's first call."""

    def root_done(self, visit: Visit, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        from stepscope.record.observers.module_records import live

        seen = self.seen
        if seen.layers or not any(True for _ in module.parameters()):
            return
        seen.model, self.call = visit.type, (args, kwargs)
        latest = self.watcher.visits.latest
        visits = latest if latest and latest[0] is visit else [visit]
        for each in visits:
            part = live(each.module)
            parameters = 0 if part is None else sum(p.numel() for p in part.parameters())
            seen.layers.append(Layer(each.path, each.type, each.depth, each.shapes_in, each.shapes_out, parameters))

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if self.seen.loss is None and backward.accumulates:
            self.seen.loss = backward.loss

    # What is reported

    def start(self, tapes: Tapes | None) -> dict[str, Any]:
        """The first loss and what chance would give, as far as they are known."""
        from stepscope.experiments.loss_at_start import start_of

        found: dict[str, Any] = {"loss": self.seen.loss}
        start = start_of(tapes.all[0]) if tapes is not None and tapes.all and not tapes.all[0].step else None
        if start is not None:
            found.update(kind=start.kind, value=start.value, chance=start.chance, said=start.said, high=start.is_high)
        return found

    def lines(self, tapes: Tapes | None) -> list[Line]:
        """Loss, metrics and layers, for a person."""
        lines: list[Line] = [*self._loss_lines(self.start(tapes))]
        if self.metrics:
            said = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
            lines.append([("  metrics the script computes: ", "dim"), (said, "")])
        return lines + self._layer_lines()

    def _loss_lines(self, start: dict[str, Any]) -> list[Line]:
        loss = start["loss"]
        if loss is None:
            return [[("  backward was not reached", "dim")]]
        line: Line = [("  loss ", "dim"), (f"{loss:.4g}", "bold")]
        if "chance" in start:
            own = start["value"]
            part = "" if math.isclose(own, loss, rel_tol=1e-3) else f", {own:.4g} of it"
            line.append((f"  ({start['kind']}{part}; chance is {start['said']})", ""))
        high: Line = [
            ("  ! ", "bold yellow"),
            ("the loss starts far above chance: are weights and inputs scaled?", "yellow"),
        ]
        return [line, high] if start.get("high") else [line]

    def _layer_lines(self) -> list[Line]:
        seen = self.seen
        if not seen.layers:
            return [[("  no model was called", "dim")]]
        rows = [
            (
                "  " * min(layer.depth, 6) + (layer.path.rpartition(".")[2] or layer.type),
                layer.type,
                _shapes(layer.inputs),
                _shapes(layer.outputs),
                count(layer.parameters) if layer.parameters else "",
            )
            for layer in seen.layers[:MOST_ROWS]
        ]
        lines = laid_out(("layer", "type", "input", "output", "parameters"), [tuple(map(clean_kept, r)) for r in rows])
        if len(seen.layers) > MOST_ROWS:
            lines.append([(f"    and {len(seen.layers) - MOST_ROWS} more", "dim")])
        return lines


def clean_kept(text: str) -> str:
    """Cleaned, with the indentation that shows the tree."""
    bare = text.lstrip(" ")
    return " " * (len(text) - len(bare)) + clean(bare)


def _shapes(shapes: list[tuple[int, ...]]) -> str:
    shown = ", ".join("x".join(map(str, shape)) or "scalar" for shape in shapes[:3])
    return shown + (" ..." if len(shapes) > 3 else "")
