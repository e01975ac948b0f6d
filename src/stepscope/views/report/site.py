"""A project as a folder of static pages: runs, charts, a page per run, its reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import NotFound, StepscopeError
from stepscope.report import store as kept
from stepscope.report.site_index import SiteReport, SiteRun, site_index
from stepscope.report.text import cut
from stepscope.runs.catalogue.columns import default_columns, run_columns
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.selection import ARCHIVED
from stepscope.runs.query.query import parse_field
from stepscope.views.context import Context
from stepscope.views.report.blocks import bind
from stepscope.views.report.draft import draft_text
from stepscope.views.report.file import made_page, page_of
from stepscope.views.runs import cell

MOST_COLUMNS = 12
CHARTED = 20
"""Number of runs on the charts page: the newest."""


@dataclass
class Site:
    """What a site is built from, and what could not be included."""

    title: str
    entries: list[RunEntry]
    most_runs: int
    most_bytes: int
    left_out: list[str] = field(default_factory=list)


def site_of(ctx: Context, query: str, title: str, most_runs: int, most_bytes: int) -> Site:
    """The runs that match, newest first."""
    entries = [entry for entry in ctx.catalogue.entries(query) if ARCHIVED not in entry.tags]
    if not entries:
        raise NotFound(f"no run matches {query!r}; `stepscope runs` lists them" if query else "there are no runs yet")
    projects = sorted({entry.project for entry in entries})
    site = Site(title or ", ".join(projects[:3]), entries, most_runs, most_bytes)
    if len(entries) > most_runs:
        site.left_out.append(f"The newest {most_runs} of {len(entries)} runs have their own page.")
    return site


def site_pages(ctx: Context, site: Site, told: Callable[[str], None] = lambda _: None) -> Iterator[tuple[str, bytes]]:
    """Every file of the site, by path; the index page comes last, after everything it links to."""
    pages: dict[str, str] = {}
    for entry in site.entries[: site.most_runs]:
        told(entry.name)
        made = _run_page(ctx, site, entry)
        if made is not None:
            pages[entry.id] = f"runs/{entry.id}.html"
            yield pages[entry.id], made
    reports: list[SiteReport] = []
    for found in kept.reports_in(ctx.catalogue.stores):
        try:
            title = cut(kept.read(found.version())).title
            told(title)
            yield f"reports/{found.id}.html", page_of(ctx, found, most=site.most_bytes).data
            reports.append(SiteReport(title, f"reports/{found.id}.html"))
        except StepscopeError as error:
            site.left_out.append(f"The report {found.id} could not be written: {error}")
    newest = [entry.id for entry in site.entries[:CHARTED]]
    yield "charts.html", _page(ctx, site, draft_text(ctx, newest, title=f"{site.title}: charts").text)
    yield ".nojekyll", b""
    yield "index.html", _index(site, pages, reports)


def _run_page(ctx: Context, site: Site, entry: RunEntry) -> bytes | None:
    try:
        return _page(ctx, site, draft_text(ctx, [entry.id], title=entry.name or entry.id).text)
    except StepscopeError as error:
        site.left_out.append(f"The page of {entry.name} could not be written: {str(error).splitlines()[0]}")
        return None


def _page(ctx: Context, site: Site, text: str) -> bytes:
    return made_page(ctx, bind(ctx, cut(text)), most=site.most_bytes).data


def _index(site: Site, pages: dict[str, str], reports: list[SiteReport]) -> bytes:
    columns = [key for key in default_columns(run_columns(site.entries), site.entries) if key not in _OWN][
        :MOST_COLUMNS
    ]
    fields = [parse_field(key) for key in columns]
    now = time.time()
    runs = [
        SiteRun(
            entry.name,
            entry.status,
            entry.created,
            pages.get(entry.id),
            [_shown(entry.value(field, now)) for field in fields],
            entry.findings,
        )
        for entry in site.entries
    ]
    labels = [key.removeprefix("config.") for key in columns]
    return site_index(site.title, labels, runs, reports, site.left_out)


_OWN = frozenset(("name", "status", "created", "tags", "findings"))


def _shown(value: Any) -> str:
    """
    >>> [_shown(one) for one in (0.25, 3, None, "adam", True)]
    ['0.25', '3', '', 'adam', 'true']
    """
    found = cell(value)
    if found is None:
        return ""
    if isinstance(found, bool):
        return str(found).lower()
    return f"{found:.4g}" if isinstance(found, float) else str(found)
