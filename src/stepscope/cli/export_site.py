"""`stepscope export-site`: a project as a folder that any web server can serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import catalogue_of, json_option, print_json, store_option
from stepscope.cli._terminal import clean
from stepscope.common.units import bytes_text

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.views.context import Context


@click.command(name="export-site", short_help="Write a project as a static site.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@store_option
@click.option("--query", "-q", default="", help="Only the runs that match this query: 'project = \"vae\"'.")
@click.option("--title", default="", help="The title of the first page; by default the project's name.")
@click.option(
    "--most",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="Maximum number of runs with their own page.",
)
@click.option(
    "--max-mb", type=click.FloatRange(0.5, 100), default=3.0, show_default=True, help="Maximum size of a page."
)
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@json_option
def command(
    folder: Path, store: Path, query: str, title: str, most: int, max_mb: float, force: bool, as_json: bool
) -> None:
    """Write runs, charts, findings and reports as a static site.

    FOLDER can go to GitHub Pages, a Hugging Face static Space or any web server. Its pages work without Stepscope and
    without a network; they are read-only. Host names, user names and paths are removed.

    \b
    stepscope export-site site
    stepscope export-site site --query 'project = "vae" and tags = paper' --title "Our VAE"
    """
    from stepscope.errors import UsageError
    from stepscope.views.report.site import site_of, site_pages

    if folder.exists() and any(folder.iterdir()) and not force:
        raise UsageError(f"{folder} is not empty; name another folder, or write into it with --force")
    with catalogue_of(store) as catalogue:
        ctx = _context(catalogue)
        site = site_of(ctx, query, title, most, int(max_mb * 1e6))
        written = 0
        for path, data in site_pages(ctx, site, lambda name: click.echo(f"  {clean(name)}", err=True)):
            written += len(data)
            _put(folder / path, data)
        for sentence in site.left_out:
            click.echo(clean(sentence), err=True)
        first = folder / "index.html"
        if as_json:
            told = {"path": str(first), "runs": len(site.entries), "bytes": written, "left_out": site.left_out}
            print_json(told)
        else:
            click.echo(f"{first}: {len(site.entries)} runs, {bytes_text(written)}")


def _context(catalogue: Catalogue) -> Context:
    """The state the server's views need, without a server."""
    from stepscope.views.context import Context
    from stepscope.views.live import Hub
    from stepscope.views.open_runs import OpenRuns
    from stepscope.views.series import LineCache

    catalogue.refresh()
    return Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub())


def _put(path: Path, data: bytes) -> None:
    from stepscope.errors import StorageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; choose another folder") from error
