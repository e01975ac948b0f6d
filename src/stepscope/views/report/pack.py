"""The data of a self-contained report: the API responses its panels need, within a byte budget.

Lines are fine enough to zoom into; media come at some of their steps. The file lists what did not fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

import stepscope
from stepscope.errors import StepscopeError
from stepscope.report.page import packed_bytes
from stepscope.views.context import Context
from stepscope.views.hues import hues_of
from stepscope.views.report.blocks import BoundReport, MarkdownBlock, PanelBlock
from stepscope.views.report.lines import LineWish, PackedLine, packed_lines
from stepscope.views.report.media import MediaWish, PackedMedia, packed_media
from stepscope.views.report.panel import Bound
from stepscope.views.report.pictures import CANNOT_DRAW
from stepscope.views.route import Route, all_routes
from stepscope.views.runs import RunRow

LINES_SHARE = 0.6
"""Fraction of the remaining budget for lines if there are media."""


class PackedAnswer(msgspec.Struct):
    """A route's response. A call matches if it agrees in every field of `request`."""

    route: str
    request: dict[str, Any]
    answer: msgspec.Raw


class Pack(msgspec.Struct):
    """Everything in a file."""

    title: str
    made: float
    version: int
    author: str
    project: str
    blocks: list[MarkdownBlock | PanelBlock]
    runs: list[RunRow]
    answers: list[PackedAnswer]
    lines: list[PackedLine]
    media: list[PackedMedia]
    blobs: dict[str, str]
    """The bytes of media as `data:` addresses, by `<run>/<hash>`."""
    left_out: list[str]
    """What is not in the file, in sentences."""
    format: int = 1
    stepscope: str = stepscope.__version__


class Packing:
    """Collects the data for the panels of one report."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.lines: dict[LineWish, None] = {}
        self.groups: list[PackedLine] = []
        """Lines of groups of runs."""
        self.media: dict[tuple[str, str], MediaWish] = {}
        self.left_out: list[str] = []
        self.faults: list[str] = []
        """Errors in full, for the author of the file, not its readers."""
        self._panel = ""
        self._answers: dict[tuple[str, bytes], PackedAnswer] = {}
        self._routes: dict[str, Route] = {route.name: route for route in all_routes()}

    def ask(
        self,
        route: str,
        request: msgspec.Struct,
        hide: Callable[[Any], Any] | None = None,
        fits: Collection[str] | None = None,
        needed: bool = True,
    ) -> Any:
        """Record a route's response; returns it, or None if it failed (the panel then says so in the file).

        `hide` removes private data: paths, hosts, users. `fits` names the fields a call must agree in; by default
        all that differ from their default. What is not `needed` may be missing.
        """
        about = (
            _given(request) if fits is None else {name: msgspec.to_builtins(getattr(request, name)) for name in fits}
        )
        key = (route, msgspec.json.encode(about, order="deterministic"))
        try:
            answer = self._routes[route].view(self.ctx, request)
        except StepscopeError as error:
            if needed:
                self.fail(self._panel, error)
            return None
        if hide is not None:
            answer = hide(answer)
        if key not in self._answers:
            self._answers[key] = PackedAnswer(route, about, msgspec.Raw(msgspec.json.encode(answer)))
        return answer

    def line(self, run: str, key: str, x: str = "step", smooth: str = "none") -> None:
        """Include a run's series."""
        axis = "step" if x in ("relative", "wall") else x
        self.lines[LineWish(run, key, axis, smooth)] = None

    def medium(self, run: str, key: str, step: int | None = None, steps: int = 12) -> None:
        """Include what a run logged under a key, at the step (default: the newest) and at some others."""
        known = self.media.get((run, key))
        wanted = {*(known.wanted if known else ()), step}
        self.media[run, key] = MediaWish(run, key, frozenset(wanted), max(steps, known.steps if known else 0))

    def panel(self, bound: Bound) -> None:
        """Collect what one panel needs."""
        self._panel = bound.kind.name
        try:
            bound.kind.pack(bound, self)
        except StepscopeError as error:
            self.fail(bound.kind.name, error)

    def fail(self, panel: str, error: StepscopeError) -> None:
        self.faults.append(f"{panel}: {str(error).splitlines()[0]}")
        self.leave_out(f"Something of a {panel} panel could not be read when this file was made.")

    def leave_out(self, sentence: str) -> None:
        if sentence not in self.left_out:
            self.left_out.append(sentence)

    @property
    def answers(self) -> list[PackedAnswer]:
        return list(self._answers.values())


def pack_report(
    ctx: Context, report: BoundReport, version: int, author: str, budget: int, packing: Packing | None = None
) -> Pack:
    """The data of a report, at most about `budget` bytes of the file."""
    packing = packing or Packing(ctx)
    for bound in report.bound.values():
        packing.panel(bound)
    pack = Pack(
        title=report.text.title,
        made=time.time(),
        version=version,
        author=author,
        project=report.project,
        blocks=[_public(block) for block in report.blocks],
        runs=_rows(ctx, (entry.id for entry in report.entries)),
        answers=packing.answers,
        lines=packing.groups,
        media=[],
        blobs={},
        left_out=packing.left_out,
    )
    left = max(0, budget - packed_bytes(pack))
    for_lines = int(left * LINES_SHARE) if packing.media else left
    pack.lines = packing.groups + packed_lines(ctx, list(packing.lines), for_lines, packing.leave_out)
    left = max(0, budget - packed_bytes(pack))
    pack.media, pack.blobs = packed_media(ctx, list(packing.media.values()), left, packing.leave_out)
    return pack


def _public(block: MarkdownBlock | PanelBlock) -> MarkdownBlock | PanelBlock:
    """A panel's error may name other runs, so only the author sees it."""
    if isinstance(block, PanelBlock) and block.error is not None:
        return replace(block, error=CANNOT_DRAW)
    return block


def _given(request: msgspec.Struct) -> dict[str, Any]:
    """The fields of a request that differ from their default."""
    found: dict[str, Any] = {}
    for one in msgspec.structs.fields(request):
        value = getattr(request, one.name)
        if one.required or value != one.default:
            found[one.encode_name] = msgspec.to_builtins(value)
    return {name: value for name, value in found.items() if value not in (None, [], "")}


def _rows(ctx: Context, ids: Iterable[str]) -> list[RunRow]:
    """Names, colors and sparklines of the runs; not their tags and notes, which may be private."""
    entries, found = [ctx.catalogue.entry(id) for id in ids], []
    of_run = hues_of(ctx, entries)
    for entry in entries:
        found.append(
            RunRow(
                id=entry.id,
                name=entry.name,
                project=entry.project,
                status=entry.status,
                created=entry.created,
                duration_s=entry.duration_s,
                tags=[],
                notes="",
                cells=[],
                spark=entry.spark,
                findings=entry.findings,
                version=0,
                hue=of_run.get(entry.id, 0),
            )
        )
    return found
