"""The panel's output: HTML for notebooks, one SVG for viewers without HTML, text for viewers with neither."""

from __future__ import annotations

import os
import time

from stepscope.common.units import duration, number
from stepscope.notebook.chart import HEIGHT, WIDTH, chart_group, chart_html
from stepscope.notebook.parts import SEVERITY, STATUS, box, pill, safe, soft, sparkline
from stepscope.notebook.run_overview import Glance
from stepscope.records import Finding

MOST_FINDINGS = 5


def bundle(seen: Glance, word: str = "", link: str | None = None) -> dict[str, str]:
    """The bundle for a notebook, which shows the richest form it supports. `word` is an extra line, `link` its page."""
    return {
        "text/plain": panel_text(seen),
        "text/html": panel_html(seen, word, source=seen.is_over, link=link),
        **({"image/svg+xml": panel_svg(seen)} if seen.is_over else {}),
    }


def panel_html(seen: Glance, word: str = "", source: bool = False, link: str | None = None) -> str:
    """The panel; with the source of findings once it is final."""
    charts = "".join(chart_html(one.title, one.lines) for one in seen.charts)
    return box(
        _head(seen),
        f'<div style="margin-top:8px">{charts}</div>' if charts else "",
        _values(seen),
        "".join(finding_html(one, source) for one in seen.findings[:MOST_FINDINGS]),
        _more_findings(seen),
        "".join(_note(one.level, f"<b>{safe(one.title)}</b> {safe(one.text)}") for one in seen.alerts),
        _note("error", safe(seen.detail, 600)) if seen.status in ("failed", "killed", "lost") else "",
        _note("warning", f"{seen.dropped:,} values could not be written") if seen.dropped else "",
        _foot(seen, word, link),
    )


def _head(seen: Glance) -> str:
    facts = [soft(safe(seen.project)), pill(seen.status, STATUS[seen.status])]
    facts += [f"step {seen.step:,}"] if seen.step is not None else []
    facts += [soft(f"{seen.rate:.3g} steps/s")] if seen.rate is not None else []
    facts.append(soft(duration(seen.duration_s)))
    return f'<div><b style="font-size:14px">{safe(seen.name, 80)}</b>&ensp;{"&ensp;".join(facts)}</div>'


def _values(seen: Glance) -> str:
    if not seen.values:
        return ""
    shown = [f"{soft(safe(key, 40))} {number(value)}" for key, value in seen.values.items()]
    shown += [soft(f"and {seen.more} more")] if seen.more else []
    return f'<div style="margin-top:6px;font-size:12px">{"&emsp;".join(shown)}</div>'


def finding_html(one: Finding, source: bool = False, top: int = 8) -> str:
    """A finding in a few lines: what, fix, where; optionally with its source."""
    where = safe(place(one))
    head = f'<b style="color:{SEVERITY[one.severity]}">{one.severity}</b> {safe(one.message, 500)}'
    tail = " · ".join(part for part in (where, rule_name(one.rule)) if part)
    fix = f"<div>fix: {safe(one.fix, 400)}</div>" if one.fix else ""
    return _note(one.severity, f"{head}{_source(one) if source else ''}{fix}<div>{soft(tail)}</div>", top)


def rule_name(rule: str) -> str:
    """In one piece, to be copied into `stepscope explain`."""
    return f'<code style="white-space:nowrap">{safe(rule)}</code>'


def _source(one: Finding) -> str:
    """The numbered lines around the location, the one in question marked, and the evidence."""
    if not one.source:
        return f"<div>{soft(safe(one.label, 400))}</div>" if one.label else ""
    colour, lines = SEVERITY[one.severity], []
    for number_, text in one.source[:12]:
        here = number_ == one.line
        mark = f";background:{colour}22" if here else ";opacity:.8"
        lines.append(f'<div style="white-space:pre{mark}">{number_:>4}  {safe(text, 400)}</div>')
        if here and one.label:
            indent = " " * (6 + len(text) - len(text.lstrip()))
            lines.append(f'<div style="white-space:pre-wrap;color:{colour}">{indent}↑ {safe(one.label, 300)}</div>')
    return f'<div style="font:12px/1.5 monospace;margin:4px 0;overflow-x:auto">{"".join(lines)}</div>'


def place(one: Finding) -> str:
    """A short location; a cell has no name that users know."""
    if not one.file:
        return ""
    folder, name = os.path.split(one.file)
    inside = "ipykernel_" in os.path.basename(folder) or one.file.startswith("<ipython-input")
    return f"this notebook, line {one.line} of the cell" if inside else f"{name}:{one.line}"


def _more_findings(seen: Glance) -> str:
    left = len(seen.findings) - MOST_FINDINGS
    return _note("info", soft(f"and {left} more findings")) if left > 0 else ""


def _note(level: str, inner: str, top: int = 8) -> str:
    colour = SEVERITY.get(level, SEVERITY["info"])  # type: ignore[call-overload]
    style = f"margin-top:{top}px;border-left:3px solid {colour};padding-left:8px;font-size:12.5px"
    return f'<div style="{style}">{inner}</div>'


def _foot(seen: Glance, word: str, link: str | None) -> str:
    store, run = os.path.split(seen.folder)
    near = _near(store)
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seen.taken))  # a saved notebook may be read years later
    words = [safe(word)] if word else []
    if link is not None and not seen.is_over:  # a permanent image must not link to a temporary server
        words.append(f'<a href="{safe(link)}" target="_blank" rel="noopener">open the run in the app</a>')
    else:
        words.append(f"all of it: <code>%stepscope ui</code>, or <code>stepscope ui {safe(near)}</code> in a terminal")
    words.append(safe(run))
    words += [] if seen.is_over else [f"as of {when}"]
    return f'<div style="margin-top:8px;font-size:11.5px">{soft(" · ".join(words))}</div>'


def _near(store: str) -> str:
    try:
        short = os.path.relpath(store)
    except (OSError, ValueError):
        return store
    return store if short.startswith(os.pardir) else short


def panel_text(seen: Glance) -> str:
    lines = [f"{seen.name} ({seen.project}): {seen.status}, {duration(seen.duration_s)}"]
    if seen.step is not None:
        lines[0] += f", step {seen.step:,}"
    for chart in seen.charts:
        for line in chart.lines:
            name = chart.title if len(chart.lines) == 1 else f"{line.name}/{chart.title}"
            lines.append(f"  {name}  {number(line.last)}  {sparkline(line.value)}")
    lines += [f"  {key}  {number(value)}" for key, value in seen.values.items()]
    lines += [f"  {one.severity}: {one.message} ({place(one)}) fix: {one.fix}" for one in seen.findings[:MOST_FINDINGS]]
    return "\n".join(safe_text(line) for line in lines)


def safe_text(line: str) -> str:
    from stepscope.plain_text import clean

    return clean(line)


def panel_svg(seen: Glance) -> str:
    """The whole panel as one image that adapts to light and dark."""
    columns = max(1, min(len(seen.charts), 4))
    width, top = max(520, 12 + columns * (WIDTH + 12)), 46
    rows = -(-len(seen.charts) // columns) if seen.charts else 0
    notes = [f"{one.severity}: {one.message}" for one in seen.findings[:MOST_FINDINGS]]
    height = top + rows * (HEIGHT + 8) + 18 * len(notes) + 10
    facts = [seen.project, seen.status, *([f"step {seen.step:,}"] if seen.step is not None else [])]
    facts.append(duration(seen.duration_s))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" font-family="system-ui,sans-serif">',
        "<style>svg{color:#17181c}.page{fill:#fff}"
        "@media (prefers-color-scheme:dark){svg{color:#ececef}.page{fill:#121316}}</style>",
        '<rect class="page" width="100%" height="100%" rx="8"/>',
        f'<text x="14" y="22" font-size="14" font-weight="600" fill="currentColor">{safe(seen.name, 60)}</text>',
        f'<text x="14" y="39" font-size="12" fill="currentColor" fill-opacity=".75">{safe(" · ".join(facts))}</text>',
    ]
    for at, one in enumerate(seen.charts):
        parts.append(
            chart_group(one.title, one.lines, 12 + at % columns * (WIDTH + 12), top + at // columns * (HEIGHT + 8))
        )
    for at, note in enumerate(notes):
        y = top + rows * (HEIGHT + 8) + 18 * at + 12
        parts.append(f'<text x="14" y="{y}" font-size="12" fill="#e0444b">{safe(note, 110)}</text>')
    return "".join(parts) + "</svg>"
