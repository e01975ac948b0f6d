"""A report as a file to store or send: one HTML page, Markdown with images, or PDF."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from typing import Literal

import msgspec

from stepscope.errors import UsageError
from stepscope.report import store
from stepscope.report.page import page, template_bytes
from stepscope.report.text import cut
from stepscope.views.context import Context
from stepscope.views.report.blocks import BoundReport, bind
from stepscope.views.report.pack import Packing, pack_report
from stepscope.views.report.pictures import Pictures, write_markdown
from stepscope.views.route import Download, route

FileFormat = Literal["html", "zip", "md", "pdf"]
MAX_BYTES = 5_000_000
"""Default maximum size of a page."""
LEAST_MB, MOST_MB = 0.5, 500.0
_MIME = {"html": "text/html", "zip": "application/zip", "pdf": "application/pdf", "md": "text/markdown"}


class ReportFileRequest(msgspec.Struct):
    id: str
    format: FileFormat = "html"
    version: int | None = None
    max_mb: float = MAX_BYTES / 1e6


@dataclass(frozen=True)
class MadePage:
    """A self-contained page, and what it had to omit."""

    data: bytes
    left_out: list[str]
    faults: list[str]
    """What went wrong, for its author."""


@route("GET", "/api/report/file")
def report_file(ctx: Context, request: ReportFileRequest) -> Download:
    """A report as a file."""
    if not LEAST_MB <= request.max_mb <= MOST_MB:
        raise UsageError(f"max_mb must be {LEAST_MB:g} to {MOST_MB:g}, not {request.max_mb:g}")
    found = store.find(ctx.catalogue.stores, request.id)
    name = f"{_file_name(found.id)}.{request.format}"
    if request.format in ("html", "pdf"):
        data = page_of(ctx, found, request.version, int(request.max_mb * 1e6)).data
        if request.format == "pdf":
            from stepscope.report.pdf import print_pdf

            data = print_pdf(data)
        return Download(_MIME[request.format], body=data, filename=name)
    report = bind(ctx, cut(store.read(found.version(request.version))))
    if request.format == "md":
        return Download(_MIME["md"], body=report.text.text.encode("utf-8", "replace"), filename=name)
    return Download(_MIME["zip"], body=made_zip(report), filename=name)


def page_of(ctx: Context, found: store.Found, number: int | None = None, most: int = MAX_BYTES) -> MadePage:
    """A stored report as a page."""
    version = found.version(number)
    report = bind(ctx, cut(store.read(version)))
    return made_page(ctx, report, version.number, most)


def made_page(ctx: Context, report: BoundReport, version: int = 0, most: int = MAX_BYTES) -> MadePage:
    """A report as one HTML file of at most about `most` bytes. It names an author only if the text does."""
    author = str(report.text.front.get("author") or "")
    packing = Packing(ctx)
    pack = pack_report(ctx, report, version, author, max(0, most - template_bytes()), packing)
    return MadePage(page(pack, f"{report.text.title} · Stepscope"), pack.left_out, packing.faults)


def made_pictures(report: BoundReport) -> Pictures:
    """A report as Markdown with its files."""
    return write_markdown(report)


def made_zip(report: BoundReport) -> bytes:
    """The same in one file. Its timestamps are fixed: the same report gives the same bytes."""
    made = made_pictures(report)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {"report.md": made.text.encode("utf-8", "replace"), **made.files}.items():
            about = zipfile.ZipInfo(name)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, data)
    return out.getvalue()


def _file_name(id: str) -> str:
    """The report's name without its unique suffix."""
    return re.sub(r"-[a-z0-9]{6}$", "", id) or id
