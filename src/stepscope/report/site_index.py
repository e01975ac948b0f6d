"""The index page of a static site: its runs in a table, its reports, and links to each. Plain HTML, no script."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from stepscope.plain_text import clean

_STYLE = """
:root { color-scheme: light dark; --text: #17181c; --quiet: #686a73; --line: #e8e8ec; --link: #4257d6;
  --bg: #fff; --bad: #c4302f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececef; --quiet: #8f929d; --line: #26282e; --link: #8a9bff; --bg: #121316; --bad: #ff7a78; }
}
body { margin: 0 auto; max-width: 1600px; padding: 32px 24px; background: var(--bg); color: var(--text);
  font: 14px/1.5 Inter, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 28px 0 8px; }
p, .quiet { color: var(--quiet); }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { font-weight: 500; color: var(--quiet); } .number { text-align: right; }
.failed, .killed, .lost { color: var(--bad); }
"""


class SiteRun(NamedTuple):
    """One row of the table."""

    name: str
    status: str
    created: float
    page: str | None
    """Its page; None if it was omitted."""
    cells: Sequence[str]
    findings: int = 0


class SiteReport(NamedTuple):
    title: str
    page: str


def site_index(
    title: str, columns: Sequence[str], runs: Sequence[SiteRun], reports: Sequence[SiteReport], notes: Sequence[str]
) -> bytes:
    """The page. Text from runs and people is escaped, never markup."""
    parts = [
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{_text(title)}</title>",
        "<meta name=viewport content='width=device-width'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style></head><body><h1>{_text(title)}</h1>",
        f"<p>{len(runs)} run{'s' * (len(runs) != 1)} · <a href='charts.html'>Charts</a> · {_made()}</p>",
        *(f"<p>{_text(note)}</p>" for note in notes),
        _reports(reports),
        _table(columns, runs),
        "</body></html>",
    ]
    return "\n".join(parts).encode("utf-8", "replace")


def _made() -> str:
    return f"made with Stepscope, {_day(time.time())}"


def _text(value: str) -> str:
    return escape(clean(value))


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def _reports(reports: Sequence[SiteReport]) -> str:
    if not reports:
        return ""
    items = "".join(f"<li><a href='{escape(one.page)}'>{_text(one.title)}</a></li>" for one in reports)
    return f"<h2>Reports</h2><ul>{items}</ul>"


def _table(columns: Sequence[str], runs: Sequence[SiteRun]) -> str:
    head = "".join(f"<th scope=col class=number>{_text(name)}</th>" for name in columns)
    rows = "".join(_row(run) for run in runs)
    return (
        "<h2>Runs</h2><div class=scroll><table><thead><tr><th scope=col>Name</th><th scope=col>Status</th>"
        f"<th scope=col>Created</th><th scope=col class=number>Findings</th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(run: SiteRun) -> str:
    name = _text(run.name).strip() or "(no name)"
    link = f"<a href='{escape(run.page)}'>{name}</a>" if run.page else name
    cells = "".join(f"<td class=number>{_text(cell)}</td>" for cell in run.cells)
    return (
        f"<tr><th scope=row>{link}</th><td class='{escape(run.status)}'>{escape(run.status)}</td>"
        f"<td class=quiet>{_day(run.created)}</td><td class=number>{run.findings or ''}</td>{cells}</tr>"
    )
