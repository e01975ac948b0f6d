"""`stepscope scrub`: remove a secret from a run that recorded it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean
from stepscope.common.units import counted


@click.command(name="scrub", short_help="Remove a secret from everything a run recorded.")
@click.argument("run")
@click.argument("pattern", required=False)
@store_option
@click.option("--regex", is_flag=True, help="PATTERN is a regular expression.")
@click.option("--dry-run", is_flag=True, help="Only print where it occurs.")
@click.option("--force", is_flag=True, help="Also scrub a run whose host cannot confirm that it has ended.")
@json_option
def command(run: str, pattern: str | None, store: Path, regex: bool, dry_run: bool, force: bool, as_json: bool) -> None:
    """Remove a secret from everything a run recorded.

    Searches logs, console, config, notes, media, artifacts, capsules, the folder's reports and your caches, finds the
    text in plain form and as encoded in URLs, JSON and base64, and replaces it with ***. No point is lost, and the
    result is verified.

    Without PATTERN you are prompted, so the secret stays out of the shell's history.

    \b
    stepscope scrub last                          # prompts for the secret
    stepscope scrub 01JCQ4 hunter2 --dry-run
    stepscope scrub last 'sk-[A-Za-z0-9]+' --regex
    """
    from stepscope.runs.scrub.needle import Needle
    from stepscope.runs.scrub.scrub import scrub_beside, scrub_run

    path = open_named(run, store).path
    wanted = pattern if pattern is not None else click.prompt("The text to remove", hide_input=True, err=True)
    needle = Needle(wanted, regex)
    result = scrub_run(path, needle, dry_run=dry_run, force=force)
    scrub_beside(_reports(path.parent), needle, result, dry_run=dry_run, disposable=False)
    scrub_beside(_caches(), needle, result, dry_run=dry_run, disposable=True)
    if as_json:
        print_json({"found": result.found, "matches": result.matches, "unread": result.unread, "changed": not dry_run})
        return
    for name, count in result.found.items():
        click.echo(f"{count:6}  {clean(name)}")
    for name, why in result.unread.items():
        click.echo(f"not checked: {clean(name)} ({clean(why)})", err=True)
    click.echo(_summary(len(result.found), result.matches, dry_run), err=True)


def _summary(files: int, matches: int, dry_run: bool) -> str:
    if not files:
        return "it does not occur in this run"
    found = f"{counted(matches, 'match', 'matches')} in {counted(files, 'file')}"
    if dry_run:
        return f"{found}; nothing was changed (--dry-run)"
    return f"{found} replaced by ***, and verified. Change the secret all the same: copies may be elsewhere."


def _reports(store: Path) -> Iterator[Path]:
    return (path for path in sorted((store / "reports").rglob("*.md")) if path.is_file())


def _caches() -> Iterator[Path]:
    from stepscope.runs.catalogue.index import cache_folder

    return (path for path in sorted(cache_folder().rglob("*")) if path.is_file())
