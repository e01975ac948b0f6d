"""`stepscope sweep`: many runs of one script with different parameters."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._sweep_progress import show_while_it_goes, signals_to, trials_of
from stepscope.cli._sweep_show import as_json as sweep_as_json, headline, table
from stepscope.cli._terminal import clean, console, number
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.sweep.runner import Runner
    from stepscope.sweep.spec import Sweep
    from stepscope.sweep.trials import Trial


@click.command(name="sweep", short_help="Run a script with many settings, side by side.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--runs", type=click.IntRange(1), help="Total number of runs; overrides the file.")
@click.option("--parallel", type=click.IntRange(1), help="Number of runs in parallel.")
@click.option("--seed", type=click.IntRange(0), help="Seed for the random and Optuna samplers.")
@click.option(
    "--dir",
    "store",
    type=click.Path(path_type=Path),
    help="Where to store the runs ($STEPSCOPE_DIR or stepscope-runs).",
)
@click.option("--dry-run", is_flag=True, help="Print the commands and start nothing.")
@click.option("--status", is_flag=True, help="Show the sweep's progress, during or after it, and start nothing.")
@click.option(
    "--storage",
    metavar="URL",
    help="Share the sweep with other workers: postgresql://..., sqlite:///file or journal. Needs Optuna.",
)
@click.option("--worker", is_flag=True, help="Only work on a shared sweep; do not submit workers.")
@click.option("--stop", is_flag=True, help="Let all workers of a shared sweep finish their current runs and end.")
@click.option("--resume", is_flag=True, help="Continue a shared sweep after --stop.")
@click.option("--fresh", is_flag=True, help="Start over; earlier runs stay on disk but do not count.")
@click.option("--retry-failed", is_flag=True, help="Run the crashed ones again.")
@json_option
def command(
    file: Path,
    runs: int | None,
    parallel: int | None,
    seed: int | None,
    store: Path | None,
    dry_run: bool,
    status: bool,
    storage: str | None,
    worker: bool,
    stop: bool,
    resume: bool,
    fresh: bool,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Run a script with many settings, side by side, and show which was best.

    FILE defines what to run, which parameters to try and the metric; docs/sweeps.md has the details. W&B sweep
    files work too. Running the same command again resumes a stopped sweep.

    \b
        stepscope sweep sweep.yaml
        stepscope sweep sweep.yaml --parallel 4 --runs 100
        stepscope sweep sweep.yaml --dry-run
        stepscope sweep sweep.yaml --status
        stepscope sweep sweep.yaml --storage postgresql://db/sweeps     # on as many machines as you like
    """
    from stepscope.sweep.opening import open_sweep, store_of
    from stepscope.sweep.spec import read_sweep

    sweep = read_sweep(file)
    given = {"runs": runs, "parallel": parallel, "seed": seed, "storage": storage}
    sweep = replace(sweep, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    folder = store_of(sweep, store)
    if sweep.storage is not None:
        from stepscope.cli._sweep_shared import shared

        shared(sweep, file, folder, what=_what(status, stop, resume, dry_run), worker=worker, as_json=as_json)
        return
    for name, asked in (("--worker", worker), ("--stop", stop), ("--resume", resume)):
        if asked:
            raise UsageError(f"{name} is for a shared sweep; add --storage, or `storage:` to the file")
    if sweep.backend != "local":
        raise UsageError(f"backend {sweep.backend} needs a storage that its workers share; add --storage")
    if dry_run:
        _print_commands(sweep, as_json)
        return
    if status:
        _print_status(sweep, folder, as_json)
        return
    runner = open_sweep(sweep, folder, fresh=fresh, retry_failed=retry_failed)
    out = console(stderr=as_json)
    _say_how_it_begins(out, runner)
    with signals_to(runner):
        show_while_it_goes(out, runner)
        _say_how_it_ended(out, runner, file)
        if as_json:
            print_json(sweep_as_json(runner.sweep, trials_of(runner), runner.best, runner.ending))
    runner.journal.close()
    _leave(runner)


def _what(status: bool, stop: bool, resume: bool, dry_run: bool) -> str:
    asked = {"status": status, "stop": stop, "resume": resume, "dry run": dry_run}
    return next((name for name, yes in asked.items() if yes), "work")


# -- while it goes ----------------------------------------------------------------------------------------------------


def _say_how_it_begins(out: Console, runner: Runner) -> None:
    past, sweep = runner.past, runner.sweep
    if not past.is_new:
        over = sum(trial.is_over for trial in runner.trials.values())
        out.print(f"{clean(sweep.name)} continues: {over} of its runs are done (--fresh starts over)", style="bold")
    for change in past.changes:
        out.print(f"  changed since the last start: {clean(change)}", style="yellow")
    outside = len(past.outside()) if past.changes else 0
    if outside:
        out.print(
            f"  {outside} earlier runs have settings that are no longer tried; they stay in the list", style="yellow"
        )
    if past.journal.torn:
        out.print(f"  {past.journal.torn} unreadable lines of the journal were skipped", style="yellow")
    if runner.total is None and sweep.budget_s is None:
        out.print("the file sets no number of runs: the sweep continues until Ctrl-C (--runs N sets one)", style="dim")


# -- when it is over --------------------------------------------------------------------------------------------------


def _say_how_it_ended(out: Console, runner: Runner, file: Path) -> None:
    sweep, trials, best = runner.sweep, trials_of(runner), runner.best
    if out.is_terminal:
        out.print(table(sweep, _ranked(sweep, trials)[:20], best))
        out.print()
    out.print(headline(sweep, trials, best, runner.total, runner.spent_s, None))
    if runner.ending is not None:
        out.print(f"ended early: {clean(runner.ending)}", style="yellow")
    finished = [trial for trial in trials if trial.state == "finished"]
    if best is not None:
        _say_best(out, runner, best)
    elif sweep.metric is not None and finished:
        reason = next((trial.reason for trial in finished if trial.reason), "no value")
        out.print(f"no run has a value to compare: {clean(reason)}", style="yellow")
    named = shlex.quote(str(file))
    failed = [trial for trial in trials if trial.state == "failed"]
    if failed:
        last = failed[-1]
        out.print(f"run {last.number} crashed: {clean(last.reason)}", style="red", soft_wrap=True)
        out.print(f"  its output: {last.output(runner.journal.folder)}", soft_wrap=True)
        out.print(f"  after fixing it: stepscope sweep {named} --retry-failed", soft_wrap=True)
    if runner.interrupts:
        out.print(f"stopped; resume with: stepscope sweep {named}", style="bold", soft_wrap=True)
    where = "" if runner.store == Path("stepscope-runs").absolute() else f" {shlex.quote(str(runner.store))}"
    out.print(f"compare the runs with: stepscope ui{where}", style="dim", soft_wrap=True)


def _say_best(out: Console, runner: Runner, best: Trial) -> None:
    from stepscope.sweep.commands import command_of

    sweep = runner.sweep
    metric = "" if sweep.metric is None else f"{clean(sweep.metric.name)} {number(best.value)}"
    settings = "  ".join(f"{clean(name)}={number(best.params.get(name))}" for name in sweep.space.varied)
    out.print(f"best: run {best.number}  {metric}  {settings}", style="bold green", soft_wrap=True)
    words = command_of(sweep, best.params, number=best.number)
    words[0] = "python" if words[0] == sys.executable else words[0]
    out.print(f"  again: {clean(shlex.join(words))}", soft_wrap=True)
    if best.run is not None:
        out.print(f"  run:   {clean(best.run)}", soft_wrap=True)


def _ranked(sweep: Sweep, trials: list[Trial]) -> list[Trial]:
    """The best first, then runs without a value."""
    sign = -1.0 if sweep.metric is not None and sweep.metric.goal == "max" else 1.0

    def place(trial: Trial) -> tuple[int, float, int]:
        counts = trial.state == "finished" and trial.value is not None and trial.value == trial.value
        return (0, sign * (trial.value or 0.0), trial.number) if counts else (1, 0.0, trial.number)

    return sorted(trials, key=place)


def _leave(runner: Runner) -> None:
    if runner.interrupts:
        sys.exit(130)
    states = [trial.state for trial in runner.trials.values()]
    if states and not any(state in ("finished", "pruned", "diverged", "timeout") for state in states):
        sys.exit(1)


# -- without running anything ---------------------------------------------------------------------------------------


def _print_commands(sweep: Sweep, as_json: bool) -> None:
    from stepscope.sweep.commands import command_of
    from stepscope.sweep.strategies import is_optunas, make_strategy

    strategy = make_strategy(sweep, seed=sweep.seed if sweep.seed is not None else Random().getrandbits(32))
    most = sweep.runs if sweep.runs is not None else (sweep.space.size if sweep.method == "grid" else 10)
    made = []
    for at in range(min(most or 10, 1000)):
        params = strategy.ask(at)
        if params is None:
            break
        made.append((params, command_of(sweep, params, number=at, slot=at % sweep.parallel)))
    if as_json:
        print_json([{"number": at, "params": params, "command": words} for at, (params, words) in enumerate(made)])
        return
    for _, words in made:
        words[0] = "python" if words[0] == sys.executable else words[0]
        click.echo(clean(shlex.join(words)))
    words_about = f"{len(made)} commands; {sweep.parallel} at a time; nothing was started"
    if is_optunas(sweep.method):
        words_about += f". {sweep.method} chooses as results come in, so that the real ones will differ"
    elif sweep.seed is None and sweep.method == "random":
        words_about += ". Without a seed the real ones will differ"
    click.echo(words_about, err=True)


def _print_status(sweep: Sweep, store: Path, as_json: bool) -> None:
    from stepscope.errors import NotFound
    from stepscope.sweep.journal import Journal, folder_of
    from stepscope.sweep.status import standing

    journal = Journal(folder_of(store, sweep.name))
    if not journal.exists:
        raise NotFound(f"the sweep {sweep.name!r} has not been started in {store}; use --dir to look elsewhere")
    now = standing(journal, sweep)
    if as_json:
        print_json(sweep_as_json(sweep, now.trials, now.best, None))
        return
    out = console()
    out.print(table(sweep, _ranked(sweep, now.trials), now.best))
    out.print()
    out.print(headline(sweep, now.trials, now.best, now.total, now.spent_s, None))
    if not now.is_running:
        left = 0 if now.total is None else now.total - sum(one.is_over for one in now.trials)
        said = f"; {left} runs are left; the command without --status resumes them" if left > 0 else ""
        out.print(f"no stepscope sweep is running it{said}", style="dim", soft_wrap=True)
