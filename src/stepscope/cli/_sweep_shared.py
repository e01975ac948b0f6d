"""`stepscope sweep --storage`: a sweep that workers on several machines share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._json import print_json
from stepscope.cli._sweep_progress import show_while_it_goes, signals_to
from stepscope.cli._terminal import clean, console, number

if TYPE_CHECKING:
    from stepscope.sweep.shared_study import SharedStudy
    from stepscope.sweep.spec import Sweep

_SHOWN = 20


def shared(sweep: Sweep, file: Path, store: Path, *, what: str, worker: bool, as_json: bool) -> None:
    """Work on a shared sweep, submit its workers, or print its status."""
    from stepscope.sweep.backends import submission, submit, worker_command
    from stepscope.sweep.journal import folder_of
    from stepscope.sweep.pausing import set_paused
    from stepscope.sweep.shared_study import SharedStudy

    assert sweep.storage is not None
    folder = folder_of(store, sweep.name)
    if what == "work" and (worker or sweep.backend == "local"):
        _work(sweep, store, as_json)
        return
    # In a container, the code is where its image has it: at the same path from the working directory.
    path = file if sweep.backend == "kubernetes" else file.absolute()
    command = worker_command(path, sweep.storage, store)
    if what == "dry run":
        click.echo(submission(sweep, command, folder, store), nl=False)
    elif what == "work":
        click.echo(submission(sweep, command, folder, store), err=True)
        SharedStudy(sweep, sweep.storage, folder)  # created once, before the workers start
        click.echo(submit(sweep, command, folder, store))
    else:
        study = SharedStudy(sweep, sweep.storage, folder)
        if what != "status":
            study.stop(what == "stop")
        if what == "resume":
            set_paused(folder, False)
        _print_standing(sweep, study, as_json)


def _work(sweep: Sweep, store: Path, as_json: bool) -> None:
    from stepscope.sweep.worker import open_worker

    assert sweep.storage is not None
    runner = open_worker(sweep, store, sweep.storage)
    with signals_to(runner):
        show_while_it_goes(console(stderr=as_json), runner)
    runner.journal.close()
    _print_standing(sweep, runner.study, as_json)
    if runner.interrupts:
        raise SystemExit(130)


def _print_standing(sweep: Sweep, study: SharedStudy, as_json: bool) -> None:
    """Progress and the best run so far, over all workers."""
    counts, outcomes = study.counts(), study.outcomes()
    done = [one for one in outcomes if one[2] == "complete" and one[3] is not None]
    sign = -1.0 if sweep.metric is not None and sweep.metric.goal == "max" else 1.0
    done.sort(key=lambda one: sign * (one[3] or 0.0))
    if as_json:
        names = ("number", "params", "state", "value", "run", "host")
        rows = [dict(zip(names, one, strict=True)) for one in outcomes]
        summary: dict[str, Any] = {"total": study.total, "results": counts.results, "running": counts.running}
        print_json({"sweep": sweep.name, **summary, "stopped": study.is_stopped, "trials": rows})
        return
    of = "" if study.total is None else f" of {study.total}"
    stopped = "; stopped (--resume continues)" if study.is_stopped else ""
    out = console()
    out.print(f"{clean(sweep.name)}: {counts.results}{of} results, {counts.running} running{stopped}", style="bold")
    for place, (at, params, _, value, _, host) in enumerate(done[:_SHOWN]):
        settings = "  ".join(f"{clean(name)}={number(params.get(name))}" for name in sweep.space.varied)
        best = "  best" if place == 0 else ""
        out.print(f"  run {at}  {number(value)}  {settings}  {clean(host)}{best}", soft_wrap=True)
