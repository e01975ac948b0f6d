"""A report's text with its panels bound to runs, for the page, the file and the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from stepscope.errors import Ambiguous, NotFound, QueryError, StepscopeError, UsageError
from stepscope.records import Status
from stepscope.report.text import Fault, Piece, ReportText
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.resolve import choose
from stepscope.runs.catalogue.selection import ARCHIVED
from stepscope.views.context import Context
from stepscope.views.hues import hues_of
from stepscope.views.plain import plain
from stepscope.views.report.panel import MOST_RUNS, USUAL_RUNS, Bound, PanelKind, names_of, panel_named, read_options
from stepscope.views.route import route


class ReportRun(msgspec.Struct):
    """A run that a panel shows."""

    id: str
    name: str
    project: str
    status: Status
    hue: int
    created: float


class MarkdownBlock(msgspec.Struct, tag_field="kind", tag="markdown"):
    text: str
    line: int
    """Its first line in the whole text, counted from 0."""
    end: int
    """The line after its last."""


class PanelBlock(msgspec.Struct, tag_field="kind", tag="panel"):
    panel: str
    options: dict[str, Any]
    runs: list[ReportRun]
    line: int
    end: int
    error: str | None = None
    """Why it cannot be drawn, and what to do about it."""


class ReportProblem(msgspec.Struct):
    line: int
    text: str


class ReportPreviewRequest(msgspec.Struct):
    text: str
    runs: list[str] = []
    """For panels, if neither they nor the front matter name any."""


class ReportPreview(msgspec.Struct):
    title: str
    project: str
    blocks: list[MarkdownBlock | PanelBlock]
    problems: list[ReportProblem]


@dataclass(frozen=True)
class BoundReport:
    """A report with its panels bound to runs."""

    text: ReportText
    blocks: list[MarkdownBlock | PanelBlock]
    bound: dict[int, Bound]
    """The panels that can be drawn, by their index among the blocks."""
    problems: list[ReportProblem]
    entries: list[RunEntry]
    """The runs of all panels, each once."""

    @property
    def project(self) -> str:
        return project_of(self.text, self.entries)


@route("POST", "/api/report/preview")
def preview(ctx: Context, request: ReportPreviewRequest) -> ReportPreview:
    """A text as it would be shown."""
    from stepscope.report.store import MAX_BYTES
    from stepscope.report.text import cut

    if len(request.text) > MAX_BYTES:
        raise UsageError(f"the text has {len(request.text):,} characters; the maximum is {MAX_BYTES:,}")
    found = bind(ctx, cut(request.text), request.runs)
    return ReportPreview(title=found.text.title, project=found.project, blocks=found.blocks, problems=found.problems)


def project_of(text: ReportText, entries: Sequence[RunEntry]) -> str:
    """The project in the front matter, else the one that all its runs share."""
    said = str(text.front.get("project") or "").strip()
    projects = {entry.project for entry in entries}
    return said or (projects.pop() if len(projects) == 1 else "")


def bind(ctx: Context, text: ReportText, runs: Sequence[str] = ()) -> BoundReport:
    """Find the runs of every panel and check its options. A panel that cannot be drawn shows the reason instead."""
    binder = _Binder(ctx, text, runs)
    blocks: list[MarkdownBlock | PanelBlock] = []
    bound: dict[int, Bound] = {}
    for piece in text.pieces:
        if piece.kind == "markdown":
            blocks.append(MarkdownBlock(text=piece.text, line=piece.line, end=piece.end))
        elif piece.kind == "panel":
            found = binder.panel(piece)
            if isinstance(found, Bound):
                bound[len(blocks)] = found
            blocks.append(binder.block(piece, found))
    return BoundReport(text, blocks, bound, binder.problems, list(binder.seen.values()))


class _Binder:
    def __init__(self, ctx: Context, text: ReportText, runs: Sequence[str]) -> None:
        self.ctx = ctx
        self.front = text.front
        self.given = list(runs)
        self.seen: dict[str, RunEntry] = {}
        self.problems: list[ReportProblem] = [_problem(fault) for fault in text.faults]
        self._line = 0
        self._every = {entry.id: entry for entry in ctx.catalogue.every()}
        self._kept: dict[tuple[str, str, int], list[RunEntry]] = {}

    def panel(self, piece: Piece) -> Bound | str:
        """The panel, or what is wrong with it."""
        self._line = piece.line
        if piece.faults:
            return "; ".join(fault.text for fault in piece.faults)
        try:
            kind = panel_named(piece.panel)
            options = read_options(kind, piece.options)
            entries = self._entries(kind, options.runs, options.query, options.most)
            found = Bound(self.ctx, kind, options, entries)
            kind.check(found)
        except QueryError as error:
            return self._wrong(f"the query cannot be read: {error.message} (character {error.position + 1})")
        except StepscopeError as error:
            return self._wrong(str(error))
        self.seen.update((entry.id, entry) for entry in entries)
        return found

    def block(self, piece: Piece, found: Bound | str) -> PanelBlock:
        entries = found.entries if isinstance(found, Bound) else []
        return PanelBlock(
            panel=piece.panel,
            options=plain(piece.options),
            runs=[self._run(entry) for entry in entries],
            line=piece.line,
            end=piece.end,
            error=None if isinstance(found, Bound) else found,
        )

    def _run(self, entry: RunEntry) -> ReportRun:
        return ReportRun(
            id=entry.id,
            name=entry.name,
            project=entry.project,
            status=entry.status,
            hue=hues_of(self.ctx, [entry]).get(entry.id, 0),
            created=entry.created,
        )

    def _wrong(self, text: str) -> str:
        self.problems.append(ReportProblem(line=self._line, text=text))
        return text

    def _entries(self, kind: PanelKind, runs: str | list[str], query: str, most: int | None) -> list[RunEntry]:
        """The panel's own runs or query, else the report's, else those the page is about."""
        said = self.front.get("most", USUAL_RUNS) if most is None else most
        if not isinstance(said, int) or not 1 <= said <= MOST_RUNS:
            raise UsageError(f"most must be 1 to {MOST_RUNS}, not {said}")
        most = said
        found: list[RunEntry] = []
        front_runs, front_query = self.front.get("runs") or "", str(self.front.get("query") or "")
        if runs or query:
            found = self._found(runs, query, most)
        elif front_runs or front_query:
            found = self._found(front_runs if isinstance(front_runs, list) else str(front_runs), front_query, most)
        elif self.given:
            found = self._named(self.given)
        if len(found) < kind.needs_runs:
            few = "no run" if not found else f"only {len(found)}"
            wanted = "one" if kind.needs_runs == 1 else f"{kind.needs_runs}"
            raise UsageError(f"{kind.name} needs {wanted} and has {few}; name them with `runs:` or `query:`")
        return found

    def _found(self, runs: str | list[str], query: str, most: int) -> list[RunEntry]:
        named = self._named(names_of(runs if isinstance(runs, str) else [str(one) for one in runs]))
        return named + [one for one in self._queried(query, most) if one not in named]

    def _queried(self, query: str, most: int) -> list[RunEntry]:
        if not query.strip():
            return []
        if ("query", query, most) not in self._kept:
            found = [one for one in self.ctx.catalogue.entries(query) if ARCHIVED not in one.tags]
            self._kept["query", query, most] = found[:most]
        return self._kept["query", query, most]

    def _named(self, names: Sequence[str]) -> list[RunEntry]:
        """Runs by id or name. Deleted ones are reported and skipped; if all are, the panel cannot be drawn."""
        found: dict[str, RunEntry] = {}
        wrong = []
        every = self._every
        for name in list(dict.fromkeys(names))[:MOST_RUNS]:
            try:
                entry = every.get(name) or choose(name, list(every.values()))
                found[entry.id] = entry
            except (NotFound, Ambiguous) as error:
                wrong.append(str(error).split("\n")[0])
        if wrong and not found:
            raise UsageError("; ".join(wrong[:3]))
        for text in wrong:
            self._wrong(text)
        return list(found.values())


def _problem(fault: Fault) -> ReportProblem:
    return ReportProblem(line=fault.line, text=fault.text)
