"""The result of one fix, for the terminal: the diff, both versions side by side, and the values tried."""

from __future__ import annotations

import math
import os

from stepscope.cli._terminal import clean, sparkline
from stepscope.records.fix import FixOutcome, FixVersion


def outcome_text(outcome: FixOutcome) -> str:
    """The full report of one finding's fix."""
    where = f" ({_shown_path(outcome.file)}:{outcome.line})" if outcome.file else ""
    lines = [
        f"{outcome.rule}: {clean(outcome.message)}{clean(where)}",
        "",
        clean(outcome.diff, keep_newlines=True).rstrip(),
        "",
    ]
    lines += _tried(outcome.tried)
    if outcome.before is not None and outcome.after is not None:
        lines += _both(outcome.before, outcome.after)
    verdict = "proved" if outcome.proved else "not proved"
    told = f"the finding is {outcome.finding}" if outcome.finding != "not seen" else outcome.why_not
    told += f"; {outcome.why_not}" if outcome.why_not and outcome.why_not not in told else ""
    lines.append(f"  {verdict:<12} {told}")
    lines.append(f"  {'new':<12} {', '.join(outcome.new) or 'nothing'}")
    if outcome.uncovered:
        lines.append(f"  {'uncovered':<12} {', '.join(outcome.uncovered)}")
    return "\n".join(lines) + "\n"


def _shown_path(file: str) -> str:
    """The path relative to the current folder where possible, as in findings."""
    below = os.path.relpath(file)
    return file if below.startswith(os.pardir) else below


def _tried(versions: list[FixVersion]) -> list[str]:
    if not versions:
        return []
    wide = max(len(one.label) for one in versions)
    return [
        f"  tried        {one.label:<{wide}}  loss {_number(one.loss):>9}  {sparkline(one.losses, 24)}"
        for one in versions
    ] + [""]


def _both(before: FixVersion, after: FixVersion) -> list[str]:
    shared = [name for name in before.metrics if name in after.metrics and name not in ("epoch", "loss")]
    rows = [("", "before", "after"), ("steps", str(before.steps), str(after.steps))]
    rows.append((f"loss after {min(before.steps, after.steps)} steps", _number(before.loss), _number(after.loss)))
    rows += [(name, _number(before.metrics[name]), _number(after.metrics[name])) for name in shared[:4]]
    if before.step_ms is not None and after.step_ms is not None:
        rows.append(("time per step", f"{before.step_ms:.3g} ms", f"{after.step_ms:.3g} ms"))
    if before.exit_code or after.exit_code:
        rows.append(("it ends", _end(before), _end(after)))
    wide = max(len(row[0]) for row in rows)
    lines = [f"  {name:<{wide}}  {first:>12}  {second:>12}".rstrip() for name, first, second in rows]
    if before.losses and after.losses:
        lines.append(f"  {'curve':<{wide}}  {sparkline(before.losses, 12):>12}  {sparkline(after.losses, 12):>12}")
    return lines


def _end(version: FixVersion) -> str:
    return f"exit {version.exit_code}" if version.exit_code else "well"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if math.isfinite(value) else str(value)
