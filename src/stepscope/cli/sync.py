"""`stepscope sync`: send runs to a team's server, or fetch them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json_line
from stepscope.cli._terminal import clean
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.importers.lock import ImportLock
    from stepscope.sync.push import Pushed
    from stepscope.sync.wire import Fate


_TRIES, _TRIES_BESIDE = 5, 200
_LAST_PASSES = 50


@click.command(name="sync", short_help="Send runs to a server, or fetch them.")
@click.argument("place", type=click.Path(path_type=Path), required=False)
@click.option("--to", "to", metavar="URL", help="Send runs to this server; the last `stepscope login` by default.")
@click.option("--from", "origin", metavar="URL", help="Fetch the runs of this server instead.")
@click.option("--follow", is_flag=True, help="Keep sending new data until Ctrl-C.")
@click.option(
    "--every", type=click.FloatRange(0.05), default=2.0, show_default=True, help="Seconds between polls with --follow."
)
@click.option("--beside", is_flag=True, hidden=True, help="Used by runs: --follow until all have ended and are sent.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="A file with a token; else $STEPSCOPE_TOKEN or that of `stepscope login`.",
)
@json_option
def command(
    place: Path | None,
    to: str | None,
    origin: str | None,
    follow: bool,
    every: float,
    beside: bool,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Send runs to a server: a folder of runs, or one run folder. Or fetch the server's runs into a folder.

    Only what the server lacks is sent, and nothing there is changed. You can interrupt and repeat it at any time; it
    runs at low priority and retries while the server is unreachable.

    \b
    stepscope sync                                            # ./stepscope-runs to where you are logged in
    stepscope sync runs/01JCQ4... --to http://127.0.0.1:7007
    stepscope sync --to https://runs.example.org --follow     # in the background, beside the training
    stepscope sync team-runs --from https://runs.example.org
    """
    from stepscope.errors import UsageError
    from stepscope.sync.pull import Fetched, pull
    from stepscope.sync.push import patiently, push
    from stepscope.sync.remote import Remote, check_address
    from stepscope.sync.sent import Sent

    if to and origin:
        raise UsageError("give either --to URL or --from URL, not both")
    url = origin or to or _usual_server()
    check_address(url)
    where = place or usual_store()
    if not origin:
        _check(where)
    _be_nice()
    if beside and not _first_beside(where):
        return
    token, renew = _token(token_file, url)
    sent, fetched = Sent(), Fetched(where)
    keeps_going = follow or beside

    def send() -> Pushed:
        pending = sent.pending(_runs(where))
        return push(pending, remote, sent.untold(_fates(where, pending)), sent)

    tries = _TRIES_BESIDE if beside else _TRIES
    with Remote(url, token, renew=renew) as remote:
        done = patiently(
            (lambda: pull(remote, fetched)) if origin else send,
            follow_s=every if keeps_going else None,
            tries=None if follow else tries,
            until=_ended(lambda: sent.pending(_runs(where))) if beside else lambda done: False,
            tell=_Teller("received" if origin else "sent", as_json, quiet=keeps_going),
            say=lambda text: click.echo(clean(text), err=True),
        )
    if done.problems:
        raise SystemExit(3)


def _check(where: Path) -> None:
    from stepscope.errors import NotFound

    if not where.is_dir():
        raise NotFound(
            f"there is no folder {str(where)!r} to send runs from; give one, or make a first run with stepscope.init()"
        )


def _runs(where: Path) -> list[Path]:
    from stepscope.runs.format.layout import is_run_folder, run_folders

    return [where.resolve()] if is_run_folder(where) else run_folders(where)


def _first_beside(where: Path) -> bool:
    """Whether no other process follows this store; the system releases the lock when this one ends."""
    from stepscope.importers.lock import ImportLock

    return _beside.setdefault(str(where), ImportLock(where, "sync-beside")).take()


_beside: dict[str, ImportLock] = {}


def _ended(pending: Callable[[], list[Path]]) -> Callable[[Pushed], bool]:
    """Whether all runs have ended and been sent. A server that forgets what it took is not sent the same endlessly."""
    passes = 0

    def ended(done: Pushed) -> bool:
        nonlocal passes
        if _going_on(pending()):
            return False
        passes += 1
        return not done.bytes or passes >= _LAST_PASSES

    return ended


def _going_on(runs: list[Path]) -> bool:
    from stepscope.errors import StepscopeError
    from stepscope.runs.read.folder import open_run

    for run in runs:
        try:
            if open_run(run).status == "running":
                return True
        except StepscopeError:
            continue
    return False


def _fates(where: Path, runs: list[Path]) -> dict[str, Fate]:
    """Runs deleted here, and those of `runs` that were restored; nothing if a single run is named."""
    from stepscope.runs.format.layout import is_run_folder
    from stepscope.sync.fates import local_fates

    return {} if is_run_folder(where) else local_fates(where, runs)


def _usual_server() -> str:
    from stepscope.errors import UsageError
    from stepscope.sync.servers import login_for

    login = login_for(None)
    if login is None:
        raise UsageError("no server given: pass --to URL or --from URL, or log in once with `stepscope login URL`")
    return login.url


def _token(file: Path | None, url: str) -> tuple[str, str]:
    """The token from the file, the environment, or the login at this server; and where a new one would go."""
    from stepscope.errors import ConfigError
    from stepscope.files.opening import read_text
    from stepscope.sync.servers import login_for

    if file is not None:
        token, renew = read_text(file, 4096).strip(), f"and put it into {file}"
        if not token:
            raise ConfigError(f"the token file {str(file)!r} is empty; put a token for {url} into it")
        return token, renew
    if token := os.environ.get("STEPSCOPE_TOKEN", ""):
        return token, "and set STEPSCOPE_TOKEN to it"
    login = login_for(url)
    if login is None:
        raise ConfigError(f"no token for {url}; run `stepscope login {url}`, or set STEPSCOPE_TOKEN")
    return login.token, ""


def _be_nice() -> None:
    if hasattr(os, "nice"):
        os.nice(10)  # the training has priority


class _Teller:
    """Prints what each pass did, and each problem only once."""

    def __init__(self, verb: str, as_json: bool, *, quiet: bool) -> None:
        self._verb, self._as_json, self._quiet = verb, as_json, quiet
        self._said: dict[str, str] = {}

    def __call__(self, done: Pushed) -> None:
        new = {name: why for name, why in done.problems.items() if name not in self._said}
        self._said = {name: self._said.get(name, why) for name, why in done.problems.items()}
        if self._quiet and not done.bytes and not new:
            return
        if self._as_json:
            print_json_line({"runs": done.runs, "bytes": done.bytes, "problems": new})
            return
        click.echo(f"{self._verb} {done.bytes:,} bytes of {done.runs} run{'' if done.runs == 1 else 's'}")
        for name, reason in new.items():
            click.echo(f"not {self._verb}: {clean(name)}: {clean(reason)}", err=True)
