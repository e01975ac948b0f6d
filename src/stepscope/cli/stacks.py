"""`stepscope stacks`: what every rank of a live run is doing right now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean

if TYPE_CHECKING:
    from stepscope.records.hang import Hang, RankState

_LOOK_S = 0.1


@click.command(name="stacks", short_help="Show what every rank of a live run is doing.")
@click.argument("run", default="last")
@store_option
@click.option("--wait", "wait_s", default=15.0, show_default=True, help="Seconds to wait for the run to answer.")
@json_option
def command(run: str, store: Path, wait_s: float, as_json: bool) -> None:
    """Print the Python stacks of all ranks of a live run.

    Asks a run started with `stepscope run`, without stopping it. Ranks with the same stack are printed once.

    \b
    stepscope stacks last
    """
    import msgspec

    from stepscope.errors import Conflict

    folder = open_named(run, store)
    if folder.status != "running":
        raise Conflict(f"run {folder.name} is {folder.status}; only a live run has stacks to show")
    found = _ask(folder.path, wait_s)
    if found is None:
        raise Conflict(
            f"run {folder.name} did not answer within {wait_s:g} s; it must have been started with `stepscope run`, "
            "on a machine that shares this folder"
        )
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    _show(found)


def _ask(run: Path, wait_s: float) -> Hang | None:
    """Write a request into the run's folder and return the answer, if one comes."""
    import msgspec

    from stepscope.diagnose.hangs import ANSWERED, ASKED, FOLDER
    from stepscope.files.opening import read_file
    from stepscope.records.hang import Hang
    from stepscope.runs.format.ids import new_run_id
    from stepscope.runs.format.layout import write_file

    folder, name = run / FOLDER, new_run_id()
    folder.mkdir(exist_ok=True)
    write_file(folder / f"{name}{ASKED}", b"")
    answer, deadline = folder / f"{name}{ANSWERED}", time.monotonic() + wait_s
    try:
        while time.monotonic() < deadline:
            if answer.exists():
                return msgspec.json.decode(read_file(answer, 64 << 20, within=run), type=Hang)
            time.sleep(_LOOK_S)
        return None
    finally:
        answer.unlink(missing_ok=True)
        (folder / f"{name}{ASKED}").unlink(missing_ok=True)


def _show(found: Hang) -> None:
    from stepscope.diagnose.hangs import explain, rank_names

    click.echo(clean(explain(found)))
    groups: dict[tuple[tuple[str, int, str], ...], list[RankState]] = {}
    for one in found.ranks:
        groups.setdefault(one.stack, []).append(one)
    for stack, ranks in groups.items():
        where = f"step {ranks[0].step}" if len(ranks) == 1 else f"steps {min(r.step for r in ranks)} and on"
        click.echo(f"\n{rank_names(one.rank for one in ranks)} ({where})")
        for file, line, function in stack:
            click.echo(f"  {clean(file)}:{line} in {clean(function)}")
