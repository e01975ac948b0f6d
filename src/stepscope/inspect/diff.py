"""`stepscope.diff`: what changed between two steps, two models, or two checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import UsageError
from stepscope.inspect.changes import Change
from stepscope.inspect.step import Step
from stepscope.inspect.summary import Summary
from stepscope.inspect.table import deliver, finite_json
from stepscope.plain_text import clean
from stepscope.records.step import StepRecord

_MOST_LINES = 60
_ALIKE = 5


@dataclass
class Diff:
    """The differences, most general first. Falsy if there are none: `if stepscope.diff(a, b): ...`"""

    before: str
    after: str
    changes: list[Change]
    compared: int = 0
    """Number of modules, tensors or ops in both."""

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def about(self, what: str) -> list[Change]:
        """Only differences of one kind: `module`, `tensor`, `op` or `cost`."""
        return [change for change in self.changes if change.about == what]

    def __str__(self) -> str:
        head = f"{clean(self.before)} -> {clean(self.after)}: "
        if not self.changes:
            return f"{head}no difference in {self.compared} compared"
        lines = [f"{head}{len(self.changes)} difference{'s' if len(self.changes) > 1 else ''}"]
        for what in ("cost", "module", "tensor", "op"):
            found, alike = _told_together(self.about(what))
            lines += alike
            lines += [f"  {change}" for change in found[:_MOST_LINES]]
            if len(found) > _MOST_LINES:
                lines.append(f"  ... {len(found) - _MOST_LINES} more about {what}s")
        return "\n".join(lines)

    __repr__ = __str__

    def print(self) -> None:
        from rich.console import Console

        console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        colours = {"+": "green", "-": "red", "~": "yellow", ">": "cyan"}
        for line in str(self).split("\n"):
            console.print(line, style=colours.get(line.strip()[:1], "") if line.startswith("  ") else "bold")

    def to_json(self, path: str | Path | None = None) -> str:
        whole: dict[str, Any] = {"before": self.before, "after": self.after, "compared": self.compared}
        whole["changes"] = [asdict(change) for change in self.changes]
        return deliver(msgspec.json.encode(finite_json(whole)).decode(), path)


def _told_together(changes: list[Change]) -> tuple[list[Change], list[str]]:
    """Another batch size changes every op: many that differ in the same size alone become one line."""
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.details.get("size", "") if change.about == "op" else "", []).append(change)
    many = {size: group for size, group in groups.items() if size and len(group) > _ALIKE}
    lines = [
        f"  ~ {len(group)} ops differ only in a size, {size}; first {clean(str(group[0].name))}  "
        f"{clean(str(group[0].before))} -> {clean(str(group[0].after))}"
        for size, group in many.items()
    ]
    return [change for change in changes if change.details.get("size") not in many], lines


def diff(before: Any, after: Any) -> Diff:
    """What changed from `before` to `after`: steps, models, state dicts, or paths of checkpoints and saved steps.

    >>> print(stepscope.diff(step_a, step_b))                       # doctest: +SKIP
    >>> print(stepscope.diff(model, finetuned))                     # doctest: +SKIP
    >>> print(stepscope.diff("epoch-1.pt", "epoch-2.safetensors"))  # doctest: +SKIP
    """
    left, right = _opened(before), _opened(after)
    if isinstance(left, StepRecord) and isinstance(right, StepRecord):
        from stepscope.inspect.diff_steps import step_changes

        changes, compared = step_changes(left, right)
        return Diff(_name(before, left), _name(after, right), changes, compared)
    if isinstance(left, StepRecord) or isinstance(right, StepRecord):
        raise UsageError(
            f"cannot compare a {_kind(left)} with a {_kind(right)}; give two steps, or two sets of weights"
        )
    from stepscope.inspect.diff_models import weight_changes

    changes, compared = weight_changes(left, right)
    return Diff(_name(before, left), _name(after, right), changes, compared)


def _opened(value: Any) -> Any:
    """A step's record, a model, or the tensors of a checkpoint."""
    if isinstance(value, (Step, Summary)):
        return value.record if isinstance(value, Step) else value.step.record
    if isinstance(value, StepRecord):
        return value
    if isinstance(value, (str, Path)):
        if Path(value).suffix == ".step":
            return Step.load(value).record
        from stepscope.inspect.checkpoint import read_checkpoint

        return read_checkpoint(value, statistics=False)
    if isinstance(value, Mapping) or hasattr(value, "named_modules"):
        return value
    raise UsageError(
        f"diff() cannot compare {type(value).__name__} objects; expected a step, a model, a state dict or a path"
    )


def _kind(value: Any) -> str:
    if isinstance(value, StepRecord):
        return "step"
    return "model" if hasattr(value, "named_modules") else "checkpoint"


def _name(given: Any, opened: Any) -> str:
    if isinstance(given, (str, Path)):
        return Path(given).name
    if isinstance(opened, StepRecord):
        return f"step of {opened.model or 'plain code'}"
    return "state dict" if isinstance(given, Mapping) else type(given).__name__
