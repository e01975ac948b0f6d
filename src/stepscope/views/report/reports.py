"""The *Reports* page: the list, one report with its versions, and saving. `report/store.py` stores them."""

from __future__ import annotations

import msgspec

from stepscope.errors import Forbidden, StepscopeError
from stepscope.report import store
from stepscope.report.shares import active_shares
from stepscope.report.text import cut
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.track.secrets import refuse_secret
from stepscope.views.context import Context
from stepscope.views.report.blocks import MarkdownBlock, PanelBlock, ReportProblem, bind, project_of
from stepscope.views.route import route


class ReportsRequest(msgspec.Struct):
    deleted: bool = False
    """The deleted ones instead; each can be restored."""


class ReportRow(msgspec.Struct):
    id: str
    title: str
    project: str
    changed: float
    version: int
    """The newest."""
    author: str
    shares: int
    """Number of view-only links to it."""
    error: str | None = None
    """Why its text cannot be read."""


class ReportTemplate(msgspec.Struct):
    """A template for a new report."""

    name: str
    title: str
    about: str


class Reports(msgspec.Struct):
    reports: list[ReportRow]
    """Last changed first."""
    templates: list[ReportTemplate]
    read_only: bool
    """Nothing can be saved, deleted or shared."""
    pdf: bool
    """A browser for PDF export is available."""


class ReportRequest(msgspec.Struct):
    id: str
    version: int | None = None
    """None: the newest."""


class ReportVersion(msgspec.Struct):
    version: int
    time: float
    author: str
    bytes: int


class ReportPage(msgspec.Struct):
    id: str
    title: str
    project: str
    version: int
    newest: int
    author: str
    changed: float
    text: str
    blocks: list[MarkdownBlock | PanelBlock]
    problems: list[ReportProblem]
    versions: list[ReportVersion]
    """Oldest first."""
    shares: int
    editable: bool


class SaveReportRequest(msgspec.Struct):
    text: str
    id: str | None = None
    """None: a new report."""
    base: int = 0
    """The version the text is based on. If there is a newer one, nothing is written: status 409."""


class SavedReport(msgspec.Struct):
    id: str
    version: int


class ReportIdRequest(msgspec.Struct):
    id: str


class ReportMoved(msgspec.Struct):
    id: str


@route("POST", "/api/reports")
def reports(ctx: Context, request: ReportsRequest) -> Reports:
    """All reports of the stores."""
    from stepscope.report.pdf import find_browser
    from stepscope.views.report.draft import TEMPLATES

    found = store.reports_in(ctx.catalogue.stores, request.deleted)
    known = {entry.id: entry for entry in ctx.catalogue.every()}
    rows = [_row(known, one) for one in found]
    return Reports(
        reports=sorted(rows, key=lambda row: (-row.changed, row.id)),
        templates=[ReportTemplate(one.name, one.title, one.about) for one in TEMPLATES],
        read_only=ctx.read_only or not store.writable(ctx.catalogue.stores),
        pdf=find_browser() is not None,
    )


@route("POST", "/api/report")
def report(ctx: Context, request: ReportRequest) -> ReportPage:
    """One report: its text, and the blocks it is made of."""
    found = store.find(ctx.catalogue.stores, request.id)
    version = found.version(request.version)
    text = store.read(version)
    bound = bind(ctx, cut(text))
    versions = found.versions()
    return ReportPage(
        id=found.id,
        title=bound.text.title,
        project=bound.project,
        version=version.number,
        newest=versions[-1].number,
        author=str(bound.text.front.get("author") or version.author),
        changed=version.time,
        text=text,
        blocks=bound.blocks,
        problems=bound.problems,
        versions=[ReportVersion(one.number, one.time, one.author, one.bytes) for one in versions],
        shares=len(active_shares(found)),
        editable=not ctx.read_only and store.can_change(found),
    )


@route("POST", "/api/report/save")
def save_report(ctx: Context, request: SaveReportRequest) -> SavedReport:
    """Save a text as the next version, or as a new report."""
    refuse_read_only(ctx)
    refuse_secret("the report", request.text, "reword it")
    found, version = store.save(ctx.catalogue.stores, request.text, cut(request.text).title, request.id, request.base)
    return SavedReport(id=found.id, version=version.number)


@route("POST", "/api/report/delete")
def delete_report(ctx: Context, request: ReportIdRequest) -> ReportMoved:
    """Delete a report so that it can be restored. Links to it stop working at once."""
    refuse_read_only(ctx)
    return ReportMoved(id=store.delete(ctx.catalogue.stores, request.id).id)


@route("POST", "/api/report/restore")
def restore_report(ctx: Context, request: ReportIdRequest) -> ReportMoved:
    """Restore a deleted report."""
    refuse_read_only(ctx)
    return ReportMoved(id=store.restore(ctx.catalogue.stores, request.id).id)


def refuse_read_only(ctx: Context) -> None:
    if ctx.read_only:
        raise Forbidden("this server was started read-only")


def _row(known: dict[str, RunEntry], found: store.Found) -> ReportRow:
    """From the newest text, without binding its panels: a list of reports reads no run except for its project."""
    version = found.version()
    row = ReportRow(
        id=found.id,
        title=found.id,
        project="",
        changed=version.time,
        version=version.number,
        author=version.author,
        shares=len(active_shares(found)),
    )
    try:
        text = cut(store.read(version))
    except StepscopeError as error:
        row.error = str(error)
        return row
    runs = text.front.get("runs")
    named = runs.split(",") if isinstance(runs, str) else [str(one) for one in runs] if isinstance(runs, list) else []
    row.title = text.title
    row.project = project_of(text, [known[name.strip()] for name in named if name.strip() in known])
    row.author = str(text.front.get("author") or version.author)
    return row
