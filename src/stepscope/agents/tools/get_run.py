"""One run: its description and status."""

from __future__ import annotations

import shlex
import time
from typing import Any

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import block, cut, name, table
from stepscope.common.units import ago, duration, number
from stepscope.views.run import RunDetail, RunRequest, run as run_page

MOST_CONFIG = 60
MOST_METRICS = 30


@tool("One run")
def get_run(desk: Desk, run: RunRef = "last") -> Answer:
    """A run's status, command, config, metrics, error, findings in a line each, and what else it has.

    For the cause of a failure with all evidence, call why_did_it_fail instead.
    """
    found = run_page(desk.ctx, RunRequest(run=desk.id_of(run), brief=True))
    parts = [_head(found), _trouble(found), _metrics(found), _config(found), _contents(found)]
    return Answer("\n".join(part for part in parts if part), _data(found))


def _head(found: RunDetail) -> str:
    lines = [
        f"Run {name(found.name)} ({found.id}), project {name(found.project)}: **{found.status}**"
        + (f", {name(found.status_detail, 300)}" if found.status_detail and found.status != "finished" else ""),
        f"started {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(found.created))} "
        f"({ago(time.time() - found.created)}), "
        f"{'took' if found.ended else 'so far'} {duration(found.duration_s)}, folder {name(found.path, 300)}",
    ]
    if found.command:
        lines.append(f"command: {name(shlex.join(found.command), 400)}")
    if found.environment.script:
        lines.append(f"script: {name(found.environment.script, 300)}")
    if found.git is not None:
        dirty = ", with uncommitted changes" if found.git.dirty else ""
        lines.append(f"git: {name(found.git.commit[:12])} on {name(found.git.branch or '-')}{dirty}")
    if found.tags:
        lines.append("tags: " + ", ".join(name(tag) for tag in found.tags))
    if found.notes:
        lines.append("notes:\n" + block("notes", found.notes, 1000))
    attempts = len({one.attempt for one in found.attempts})
    if attempts > 1:
        lines.append(f"{attempts} attempts: it was resumed")
    return "\n".join(lines)


def _trouble(found: RunDetail) -> str:
    lines = []
    if found.error or found.traceback:
        lines.append("error:\n" + block("traceback", found.traceback or found.error or "", 3000, keep="end"))
    if found.findings:
        lines.append(f"findings ({len(found.findings)}); get_findings has source and evidence:")
        for one in found.findings[:10]:
            place = f" at {name(one.place)}" if one.place else ""
            lines.append(f"- {one.severity} {name(one.rule)}{place}: {name(one.message, 300)}")
    for alert in found.alerts[-5:]:
        lines.append(f"alert, {alert.level}: {name(alert.title)} {name(alert.text, 300)}")
    if found.dropped:
        lines.append(f"{found.dropped} values could not be written: {name('; '.join(found.dropped_reasons), 300)}")
    if found.holes:
        lines.append(f"{found.holes} damaged sections of its files were skipped")
    lines += [f"Stepscope raised an internal error in {name(one, 300)}" for one in found.faults[:5]]
    return "\n".join(lines)


def _metrics(found: RunDetail) -> str:
    own = [one for one in found.summary if not one.key.startswith("system/")]
    if not own:
        return "metrics: none"
    rows = [
        [name(one.key), *(number(v) for v in (one.last, one.min, one.max)), str(one.points), str(one.nonfinite or "")]
        for one in own[:MOST_METRICS]
    ]
    more = f"\nand {len(own) - MOST_METRICS} more metrics" if len(own) > MOST_METRICS else ""
    return table(["metric", "last", "min", "max", "points", "not finite"], rows) + more


def _config(found: RunDetail) -> str:
    if not found.config:
        return ""
    pairs = [f"{name(key, 60)}={name(value, 80)}" for key, value in list(found.config.items())[:MOST_CONFIG]]
    more = f" and {len(found.config) - MOST_CONFIG} more" if len(found.config) > MOST_CONFIG else ""
    return "config: " + ", ".join(pairs) + more


def _contents(found: RunDetail) -> str:
    counts = {
        "keys of media": found.parts.media,
        "recorded steps": found.parts.recordings,
        "profiles": found.parts.profiles,
        "pieces of console": found.parts.console,
        "artifacts": found.parts.artifacts,
    }
    has = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"also holds: {has}" if has else ""


def _data(found: RunDetail) -> dict[str, Any]:
    kept = (
        "id", "name", "project", "status", "status_detail", "created", "ended", "duration_s", "tags", "notes", "path",
        "command", "error", "exit_code", "dropped",
    )  # fmt: skip
    data: dict[str, Any] = {key: getattr(found, key) for key in kept}
    data["config"] = dict(list(found.config.items())[:MOST_CONFIG])
    data["metrics"] = {
        one.key: {"last": one.last, "min": one.min, "max": one.max, "points": one.points, "nonfinite": one.nonfinite}
        for one in found.summary[: 2 * MOST_METRICS]
        if not one.key.startswith("system/")
    }
    data["traceback"] = cut(found.traceback or "", 2000, keep="end")
    data["findings"] = [
        {"id": one.id, "rule": one.rule, "severity": one.severity, "message": one.message, "place": one.place}
        for one in found.findings[:20]
    ]
    return data
