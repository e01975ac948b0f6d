"""Why a run failed: all relevant evidence, in one answer."""

from __future__ import annotations

from typing import Any

from stepscope.agents.recorded_source import own_frames, short_traceback
from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.tools.get_console import console_text
from stepscope.agents.tools.get_findings import finding_data, finding_text
from stepscope.agents.tools.get_series import not_finite
from stepscope.agents.words import block, name
from stepscope.common.units import duration, number
from stepscope.runs.read.folder import RunFolder
from stepscope.views.finding_evidence import TellingMetrics
from stepscope.views.findings import ShownFinding, findings_of
from stepscope.views.panel_order import metrics_in_order

MOST_FINDINGS = 4
MOST_ODD = 8
MOST_METRICS = 2000
CONSOLE_LINES = 15
SLOW = "perf."
"""The group of performance advice: useful, but never why a run failed."""
BESIDE = ("time/", "memory/", "speed/")
BAD = ("failed", "killed", "lost", "preempted", "stopped")


@tool("Why did it fail")
def why_did_it_fail(desk: Desk, run: RunRef = "last") -> Answer:
    """The evidence on why a run crashed, died, diverged or went NaN: the cause with its line, the error explained,
    where values stopped being finite, the last values, and the last printed lines.

    Call this first when somebody asks what is wrong with a run. It also reports when nothing is wrong.
    """
    folder = desk.open(run)
    shown = [one for one in findings_of(folder) if one.severity != "info"]
    grave = [one for one in shown if not one.rule.startswith(SLOW)]
    odd = _odd_metrics(folder)
    verdict = _verdict(folder, grave, odd)
    printed = console_text(desk, folder, CONSOLE_LINES)
    lines = [verdict, *_found(grave), *_error(folder), _values(folder, odd), *_alerts(folder)]
    lines += ["## The last lines it printed\n" + printed] if printed else []
    after = _next(desk, folder, grave, slow=len(grave) < len(shown))
    lines += ["## Next\n" + "\n".join(f"- {one}" for one in after)] if after else []
    return Answer(
        "\n\n".join(lines), {"verdict": verdict, **_data(folder, grave, odd), "console": printed, "next": after}
    )


def _verdict(folder: RunFolder, grave: list[ShownFinding], odd: dict[str, str]) -> str:
    """The answer in two sentences; the rest is its evidence."""
    standing = folder.standing
    head = f"Run {name(folder.name)} ({folder.id}) is **{standing.status}** after {duration(folder.duration_s)}"
    head += f": {name(standing.error or standing.detail, 400)}." if standing.status in BAD else "."
    if grave:
        one = grave[0]
        place = f" at {name(one.place, 300)}" if one.place else ""
        fix = f" Fix: {name(one.fix, 400)}." if one.fix else ""
        word = "Seen in its folder" if one.rule.startswith("run.") else "Cause"
        return f"{head}\n{word} ({one.severity}, rule {one.rule}){place}: {name(one.message, 500)}.{fix}"
    if odd:
        key, words = next(iter(odd.items()))
        return f"{head}\nNo finding names a line, but {name(key)} is not finite: {words}."
    if standing.status in BAD:
        return f"{head}\nNo finding explains it; the error and the last lines below are what is known."
    return f"{head}\nNothing is known to be wrong with it: no findings, no error, and all metrics are finite."


def _found(grave: list[ShownFinding]) -> list[str]:
    if not grave:
        return []
    lines = ["## What was found", *(finding_text(one, place) for place, one in enumerate(grave[:MOST_FINDINGS], 1))]
    if len(grave) > MOST_FINDINGS:
        lines.append(f"and {len(grave) - MOST_FINDINGS} more: get_findings with offset={MOST_FINDINGS}")
    return lines


def _error(folder: RunFolder) -> list[str]:
    standing = folder.standing
    if not (standing.traceback or standing.error):
        return []
    text = standing.traceback or standing.error or ""
    frames = own_frames(text, folder.meta.cwd)
    own = f"\nframes in the script's own folder: {', '.join(name(one, 200) for one in frames)}" if frames else ""
    return ["## The error" + own + "\n" + block("traceback", short_traceback(text))]


def _odd_metrics(folder: RunFolder) -> dict[str, str]:
    """The metrics that stopped being finite, the loss first, each with its first such step."""
    names = [one for one in folder.metrics() if not one.startswith("system/")][:MOST_METRICS]
    telling = TellingMetrics.among(names)
    first = [one for one in (telling.loss, telling.grad_norm) if one]
    found: dict[str, str] = {}
    for key in dict.fromkeys([*first, *names]):
        one = folder.metric_summary(key)
        if one.nan or one.inf:
            found[key] = not_finite(folder.series(key))
        if len(found) >= MOST_ODD:
            break
    return found


def _values(folder: RunFolder, odd: dict[str, str]) -> str:
    names = [one for one in folder.metrics() if not one.startswith("system/")]
    if not names:
        return "## Values\nIt ended before any metric was logged."
    lines = [f"- {name(key)}: {words}" for key, words in odd.items()]
    rest = [key for key in metrics_in_order(names) if key not in odd and not key.startswith(BESIDE)]
    for key in rest[:8]:
        one = folder.metric_summary(key)
        best = f", min {number(one.min)} at step {one.min_step}, max {number(one.max)} at step {one.max_step}"
        lines.append(f"- {name(key)}: last {number(one.last)} at step {one.last_step}{best if one.finite else ''}")
    return "## Values\n" + "\n".join(lines)


def _alerts(folder: RunFolder) -> list[str]:
    if not folder.alerts:
        return []
    rows = [f"- {one.level}, step {one.step}: {name(one.title)} {name(one.text, 300)}" for one in folder.alerts[-5:]]
    return ["## Alerts\n" + "\n".join(rows)]


def _next(desk: Desk, folder: RunFolder, grave: list[ShownFinding], slow: bool) -> list[str]:
    """What to ask or do next; only what this run supports."""
    lines = []
    if any(one.type == "capsule" for one in folder.artifacts):
        lines.append(f"the failing step is saved: `stepscope replay {folder.id}` repeats it; read_source has its files")
    if grave:
        lines.append(f"explain_rule(rule={grave[0].rule!r}) describes the rule")
        good = _good_one(desk, folder)
        if good is not None:
            lines.append(f"run {name(good[1])} ({good[0]}) of the same script has no findings: compare_runs with it")
    if slow:
        lines.append("there is advice on its speed: get_profile")
    if not grave and not folder.findings and folder.meta.script:
        lines.append("`stepscope check SCRIPT` runs a few batches of it with every check on")
    return lines


def _good_one(desk: Desk, folder: RunFolder) -> tuple[str, str] | None:
    """The newest run of the same project that finished without findings."""
    for entry in sorted(desk.ctx.catalogue.every(), key=lambda one: one.created, reverse=True)[:200]:
        if entry.id == folder.id or entry.project != folder.project or entry.status != "finished" or entry.findings:
            continue
        if desk.ctx.runs.get(entry.id).meta.script == folder.meta.script:
            return entry.id, entry.name
    return None


def _data(folder: RunFolder, grave: list[ShownFinding], odd: dict[str, str]) -> dict[str, Any]:
    standing = folder.standing
    return {
        "run": folder.id,
        "name": folder.name,
        "status": standing.status,
        "detail": standing.detail,
        "error": standing.error,
        "traceback": short_traceback(standing.traceback or "", 1800),
        "exit_code": standing.exit_code,
        "findings": [finding_data(one) for one in grave[:MOST_FINDINGS]],
        "not_finite": odd,
    }
