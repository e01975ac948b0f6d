"""`stepscope demo`: small real training runs, and the app on them."""

from __future__ import annotations

import threading
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json, print_json_line
from stepscope.cli._terminal import clean, console

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.demo.stage import Outcome, Stage
    from stepscope.demo.story import Act


@click.command(name="demo", short_help="Train a few small models and open the app on them.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="stepscope-demo",
    show_default=True,
    help="The folder for the demo's scripts and runs.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--no-ui", is_flag=True, help="Train only; do not start the browser app.")
@click.option("--dry-run", is_flag=True, help="Print the commands and start nothing.")
@click.option("--quick", is_flag=True, hidden=True, help="Only a few of the runs, for tests.")
@json_option
def command(
    folder: Path, port: int | None, open_browser: bool, no_ui: bool, dry_run: bool, quick: bool, as_json: bool
) -> None:
    """Train a few small models and open the app on them.

    Takes about a minute on two cores. The page opens at once and fills while the models train. The folder
    has the scripts, to read and change; run the command again to reopen it without retraining.

    \b
    stepscope demo
    stepscope demo --dir /tmp/demo --open
    """
    from stepscope.demo.stage import Stage
    from stepscope.demo.story import QUICK, STORY

    stage = Stage(folder)
    chains = stage.left_of(STORY)
    if dry_run:
        _print_commands(chains, as_json)
        return
    _check_packages()
    stage.set_up()
    if quick:
        chains = [[act for act in chain if act.title in QUICK] for chain in chains]
    if no_ui:
        _only_train(stage, chains, as_json)
        return
    training = threading.Thread(target=_train, args=(stage, chains), name="stepscope-demo")
    try:
        _serve(stage, port, open_browser, as_json, on_ready=training.start)
    finally:
        stage.stop()
        if training.ident is not None:
            training.join()


def _check_packages() -> None:
    from stepscope.errors import MissingExtra

    for package in ("torch", "sklearn", "matplotlib", "optuna"):
        if find_spec(package) is None:
            raise MissingExtra("the demo", package, extra="demo")


def _print_commands(chains: list[list[Act]], as_json: bool) -> None:
    commands = [["stepscope", *act.command] for chain in chains for act in chain]
    if as_json:
        print_json({"commands": commands})
        return
    for words in commands:
        click.echo(" ".join(words))


def _only_train(stage: Stage, chains: list[list[Act]], as_json: bool) -> None:
    outcomes = _train(stage, chains)
    troubles = [one for one in outcomes if one.trouble]
    if as_json:
        done = [{"title": one.act.title, "seconds": one.seconds, "trouble": one.trouble} for one in outcomes]
        print_json({"runs": stage.runs, "done": done})
    elif not troubles:
        click.echo(f"See the runs with: stepscope ui {stage.runs}")
    if troubles:
        raise SystemExit(1)


def _serve(stage: Stage, port: int | None, open_browser: bool, as_json: bool, on_ready: Callable[[], None]) -> None:
    from stepscope.server.serve import address, serve

    def ready(url: str, token: str | None) -> None:
        if as_json:
            print_json_line({"url": url, "token": token, "address": address(url, token)})
        on_ready()

    say = partial(click.echo, err=True) if as_json else click.echo
    serve([stage.runs], port=port, open_browser=open_browser, say=say, on_address=ready)


def _train(stage: Stage, chains: list[list[Act]]) -> list[Outcome]:
    """Run the remaining scripts with a progress bar on stderr; returns how each ended."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    acts = [act for chain in chains for act in chain]
    outcomes: list[Outcome] = []
    if not acts:
        return outcomes
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    running: list[str] = []
    with Progress(*columns, console=console(stderr=True)) as progress:
        task = progress.add_task("training", total=len(acts))

        def now(change: Callable[[str], None], act: Act) -> None:
            change(act.title)
            progress.update(task, description=" and ".join(running) or "training")

        def ended(outcome: Outcome) -> None:
            now(running.remove, outcome.act)
            progress.advance(task)
            progress.console.print(f"  {outcome.act.title:18} {_said(outcome)}")
            outcomes.append(outcome)

        stage.play(chains, lambda act: now(running.append, act), ended)
    return outcomes


def _said(outcome: Outcome) -> str:
    if outcome.trouble:
        return f"did not go as planned:\n{clean(outcome.trouble, keep_newlines=True)}"
    planned = "crashed, as planned, " if outcome.act.fails else ""
    return f"{planned}{outcome.seconds:.0f} s"
