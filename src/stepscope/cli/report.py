"""`stepscope report`: write runs or a Markdown text as a file to share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import catalogue_of, json_option, print_json, store_option
from stepscope.cli._terminal import clean
from stepscope.common.units import bytes_text

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.views.context import Context

_SUFFIXES = (".html", ".pdf", ".zip", ".md")


@click.command(name="report", short_help="Write a report: one file that shows runs to others.")
@click.argument("what", nargs=-1)
@store_option
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="The file to write: .html, .pdf, .zip (Markdown with images) or .md (with a folder of images).",
)
@click.option("--query", "-q", default="", help="Use the runs that match this query.")
@click.option("--title", default="", help="The report's title.")
@click.option("--template", default="", help="Template to start from: runs, blank, ablation, weekly or failure.")
@click.option("--new", is_flag=True, help="Print the Markdown to start from.")
@click.option("--save", is_flag=True, help="Store the report with the runs, for the browser app.")
@click.option("--list", "listed", is_flag=True, help="List the stored reports.")
@click.option(
    "--max-mb", type=click.FloatRange(0.5, 500), default=5.0, show_default=True, help="Maximum size of the .html file."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def command(
    what: tuple[str, ...],
    store: Path,
    out: Path | None,
    query: str,
    title: str,
    template: str,
    new: bool,
    save: bool,
    listed: bool,
    max_mb: float,
    force: bool,
    as_json: bool,
) -> None:
    """Make a report: one file that shows runs to others.

    WHAT is runs (by id, the beginning of one, name, or `last`), a Markdown file with panels, or the id of a report
    that was made in the browser app.

    \b
    stepscope report last -o report.html             # one file, works without a network
    stepscope report first second -o compare.pdf
    stepscope report --query 'project = "vae"' -o vae.html
    stepscope report --new last > my.md              # edit this, then
    stepscope report my.md -o my.html
    stepscope report --list
    """
    from stepscope.errors import UsageError

    if out is not None:
        _check_target(out, force)
    with catalogue_of(store) as catalogue:
        ctx = _context(catalogue)
        if listed:
            _list(ctx, as_json)
            return
        if not what and not query:
            raise UsageError("name one or more runs, a Markdown file or a report, or give --query")
        text = _text(ctx, what, query, title, template)
        if not (save or new or out is not None):
            raise UsageError("give a file with -o report.html (or .pdf, .zip, .md), or store it with --save")
        told: dict[str, Any] = {"saved": _save(ctx, text) if save else None, "text": None, "written": None}
        if new:
            told["text"] = text
            if not as_json:
                click.echo(text, nl=False)
        elif out is not None:
            told["written"] = _write(ctx, text, out, max_mb)
        if as_json:
            print_json(told)


def _context(catalogue: Catalogue) -> Context:
    """The state the server's views need, without a server."""
    from stepscope.views.context import Context
    from stepscope.views.live import Hub
    from stepscope.views.open_runs import OpenRuns
    from stepscope.views.series import LineCache

    catalogue.refresh()
    return Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub())


def _check_target(out: Path, force: bool) -> None:
    from stepscope.errors import NotFound, UsageError

    if out.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"cannot write a report as {out.name!r}; the name must end in {', '.join(_SUFFIXES)}")
    if out.suffix.lower() == ".pdf":
        from stepscope.report.pdf import NoBrowser, find_browser

        if find_browser() is None:
            raise NoBrowser()
    if not out.parent.is_dir():
        raise NotFound(f"there is no folder {str(out.parent)!r} to write to; create it, or choose another")
    if out.exists() and not force:
        raise UsageError(f"{out} already exists; give another name, or overwrite it with --force")
    if out.suffix.lower() == ".md" and _pictures_of(out).exists() and not force:
        raise UsageError(f"{_pictures_of(out)} already exists; give another name, or add to it with --force")


def _text(ctx: Context, what: tuple[str, ...], query: str, title: str, template: str) -> str:
    """The report's Markdown: from a file, a stored report, or drafted from runs."""
    from stepscope.report import store as kept
    from stepscope.runs.catalogue.resolve import choose
    from stepscope.views.report.draft import draft_text

    if len(what) == 1 and not query:
        if what[0].lower().endswith((".md", ".markdown")) or Path(what[0]).is_file():
            return _from_file(Path(what[0]))
        known = {one.id: one for one in kept.reports_in(ctx.catalogue.stores)}
        if what[0] in known:
            return kept.read(known[what[0]].version())
    entries = ctx.catalogue.entries()
    runs = [choose(_as_id(name), entries).id for name in what]
    if query and not ctx.catalogue.entries(query):
        from stepscope.errors import NotFound

        raise NotFound(f"no run matches {query!r}; `stepscope runs` lists them")
    return draft_text(ctx, runs, query, template, title).text


def _as_id(name: str) -> str:
    """A run can also be given by its folder."""
    from stepscope.runs.format.layout import is_run_folder

    return Path(name).resolve().name if os.sep in name and is_run_folder(Path(name)) else name


def _from_file(path: Path) -> str:
    from stepscope.errors import NotFound
    from stepscope.files.opening import read_file
    from stepscope.report.store import MAX_BYTES

    try:
        data = read_file(path, MAX_BYTES)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}; check the path") from None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _write(ctx: Context, text: str, out: Path, max_mb: float) -> dict[str, Any]:
    from stepscope.report.text import cut
    from stepscope.views.report.blocks import bind
    from stepscope.views.report.file import made_page, made_pictures, made_zip

    click.echo("reading the runs ...", err=True)
    report = bind(ctx, cut(text))
    missed: list[str] = []
    for problem in report.problems:
        click.echo(f"line {problem.line + 1}: {clean(problem.text)}", err=True)
    suffix = out.suffix.lower()
    if suffix in (".html", ".pdf"):
        made = made_page(ctx, report, most=int(max_mb * 1e6))
        missed = [*made.faults, *made.left_out]
        for sentence in made.faults:
            click.echo(f"could not be read: {clean(sentence)}", err=True)
        for sentence in made.left_out:
            click.echo(f"left out: {clean(sentence)}", err=True)
        data = made.data
        if suffix == ".pdf":
            from stepscope.report.pdf import print_pdf

            click.echo("printing ...", err=True)
            data = print_pdf(data)
    elif suffix == ".zip":
        data = made_zip(report)
    else:
        pictures = made_pictures(report)
        folder = _pictures_of(out)
        for name, content in pictures.files.items():
            _put(folder / Path(name).name, content)
        data = pictures.text.replace("](images/", f"]({_in_link(folder.name)}/").encode("utf-8", "replace")
    _put(out, data)
    panels, runs = len(report.bound), len(report.entries)
    click.echo(
        f"{out}: {bytes_text(len(data))}, {panels} panel{'s' * (panels != 1)}, {runs} run{'s' * (runs != 1)}", err=True
    )
    problems = [{"line": one.line + 1, "text": one.text} for one in report.problems]
    return {
        "path": str(out),
        "bytes": len(data),
        "panels": panels,
        "runs": runs,
        "problems": problems,
        "left_out": missed,
    }


def _in_link(name: str) -> str:
    from urllib.parse import quote

    return quote(name)


def _pictures_of(out: Path) -> Path:
    return out.with_name(f"{out.stem}-images")


def _put(path: Path, data: bytes) -> None:
    """Write the file atomically, so that readers never see half of it."""
    from stepscope.errors import StorageError

    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"cannot write {path}: {error.strerror}; choose another place") from error


def _save(ctx: Context, text: str) -> dict[str, Any]:
    from stepscope.report import store as kept
    from stepscope.report.text import cut

    found, _ = kept.save(ctx.catalogue.stores, text, cut(text).title)
    click.echo(f"kept as {found.id} in {found.path}", err=True)
    return {"id": found.id, "path": str(found.path)}


def _list(ctx: Context, as_json: bool) -> None:
    import time

    from stepscope.common.units import ago
    from stepscope.views.report.reports import ReportsRequest, reports

    found = reports(ctx, ReportsRequest()).reports
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(found))
        return
    if not found:
        click.echo("no reports yet; make one with `stepscope report RUN --save`, or in the browser app", err=True)
    for row in found:
        links = f"  {row.shares} link{'s' * (row.shares != 1)}" if row.shares else ""
        when = ago(time.time() - row.changed)
        click.echo(f"{row.id}  {clean(row.title)}  version {row.version}, {when}, {clean(row.author)}{links}")
