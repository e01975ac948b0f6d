"""`stepscope sync`: send runs to a team's server, or bring them back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json_line
from stepscope.cli._terminal import clean
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.sync.push import Pushed

__all__ = ["command"]

_FOLLOW_S = 2.0


@click.command(name="sync")
@click.argument("place", type=click.Path(path_type=Path), required=False)
@click.option("--to", "to", metavar="URL", help="Send runs to this server; `stepscope server` prints its address.")
@click.option("--from", "origin", metavar="URL", help="Bring the runs of this server here instead.")
@click.option("--follow", is_flag=True, help="Keep sending what runs write, until Ctrl-C.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="A file that holds the server's token; else $STEPSCOPE_TOKEN."
)
@json_option
def command(
    place: Path | None, to: str | None, origin: str | None, follow: bool, token_file: Path | None, as_json: bool
) -> None:
    """Send runs to a server: those of a folder, or one run folder. Or bring the server's runs into a folder.

    Nothing is sent that is there already, and nothing that is there is changed. It can be interrupted and repeated at
    any time, runs at low priority, and keeps trying while the server is away.

    \b
    stepscope sync --to https://runs.example.org              # ./stepscope-runs
    stepscope sync runs/01JCQ4... --to http://127.0.0.1:7007
    stepscope sync --to https://runs.example.org --follow     # in the background, beside the training
    stepscope sync team-runs --from https://runs.example.org
    """
    from stepscope.errors import UsageError
    from stepscope.sync.pull import pull
    from stepscope.sync.push import patiently, push
    from stepscope.sync.remote import Remote

    url = to or origin
    if url is None or (to and origin):
        raise UsageError("say where to: give either --to URL or --from URL")
    where = place or usual_store()
    if to:
        _check(where)
    _be_nice()
    with Remote(url, _token(token_file)) as remote:
        done = patiently(
            (lambda: push(_runs(where), remote)) if to else (lambda: pull(remote, where)),
            follow_s=_FOLLOW_S if follow else None,
            tries=None if follow else 5,
            tell=lambda done: _tell(done, "sent" if to else "received", as_json, quiet=follow),
            say=lambda text: click.echo(clean(text), err=True),
        )
    if done.problems:
        raise SystemExit(3)


def _check(where: Path) -> None:
    from stepscope.errors import NotFound

    if not where.is_dir():
        raise NotFound(f"there is no folder {str(where)!r} to send runs from")


def _runs(where: Path) -> list[Path]:
    from stepscope.runs.format.layout import is_run_folder, run_folders

    return [where.resolve()] if is_run_folder(where) else run_folders(where)


def _token(file: Path | None) -> str:
    from stepscope.errors import ConfigError
    from stepscope.files.opening import read_text

    token = read_text(file, 4096).strip() if file is not None else os.environ.get("STEPSCOPE_TOKEN", "")
    if not token:
        raise ConfigError("no token for the server; set STEPSCOPE_TOKEN or give --token-file")
    return token


def _be_nice() -> None:
    if hasattr(os, "nice"):
        os.nice(10)  # the training beside us comes first


def _tell(done: Pushed, verb: str, as_json: bool, *, quiet: bool) -> None:
    if quiet and not done.bytes and not done.problems:
        return
    if as_json:
        print_json_line({"runs": done.runs, "bytes": done.bytes, "problems": done.problems})
        return
    click.echo(f"{verb} {done.bytes:,} bytes of {done.runs} run{'' if done.runs == 1 else 's'}")
    for name, reason in done.problems.items():
        click.echo(f"not {verb}: {clean(name)}: {clean(reason)}", err=True)
