"""`stepscope demo`: small real trainings, and the app on them."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stepscope.cli._terminal import clean, console

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.demo.stage import Outcome, Stage
    from stepscope.demo.story import Act

__all__ = ["command"]


@click.command(name="demo")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="stepscope-demo",
    show_default=True,
    help="The folder for its scripts and runs.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--no-ui", is_flag=True, help="Train only; do not start the browser app.")
@click.option("--quick", is_flag=True, hidden=True, help="A few of the runs only, for tests.")
def command(folder: Path, port: int | None, open_browser: bool, no_ui: bool, quick: bool) -> None:
    """Train a few small models and open the app on them.

    Takes about a minute on two cores. The page is there at once and fills while the models train. FOLDER keeps the
    scripts, to read and to change; the same command opens it again without training twice.

    \b
    stepscope demo
    stepscope demo --dir /tmp/demo --open
    """
    from stepscope.demo.stage import Stage
    from stepscope.demo.story import QUICK, STORY

    _check_packages()
    stage = Stage(folder)
    stage.set_up()
    chains = stage.left_of(STORY)
    if quick:
        chains = [[act for act in chain if act.title in QUICK] for chain in chains]
    if no_ui:
        if _train(stage, chains):
            raise SystemExit(1)
        click.echo(f"See the runs with: stepscope ui {stage.runs}")
        return
    training = threading.Thread(target=_train, args=(stage, chains), name="stepscope-demo")
    try:
        _serve(stage, port, open_browser, on_ready=training.start)
    finally:
        stage.stop()
        if training.ident is not None:
            training.join()


def _check_packages() -> None:
    from stepscope.errors import MissingExtra

    for package in ("torch", "sklearn", "matplotlib"):
        if find_spec(package) is None:
            raise MissingExtra("the demo", package, extra="demo")


def _serve(stage: Stage, port: int | None, open_browser: bool, on_ready: Callable[[], None]) -> None:
    from stepscope.server.serve import serve

    serve([stage.runs], port=port, open_browser=open_browser, say=click.echo, on_address=lambda *_: on_ready())


def _train(stage: Stage, chains: list[list[Act]]) -> bool:
    """Play what is left, with a progress bar; whether anything went wrong."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    acts = [act for chain in chains for act in chain]
    if not acts:
        return False
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    running: list[str] = []
    troubles: list[Outcome] = []
    with Progress(*columns, console=console()) as progress:
        task = progress.add_task("training", total=len(acts))

        def now(change: Callable[[str], None], act: Act) -> None:
            change(act.title)
            progress.update(task, description=" and ".join(running) or "training")

        def ended(outcome: Outcome) -> None:
            now(running.remove, outcome.act)
            progress.advance(task)
            progress.console.print(f"  {outcome.act.title:18} {_said(outcome)}")
            if outcome.trouble:
                troubles.append(outcome)

        stage.play(chains, lambda act: now(running.append, act), ended)
    return bool(troubles)


def _said(outcome: Outcome) -> str:
    if outcome.trouble:
        return f"did not go as planned:\n{clean(outcome.trouble, keep_newlines=True)}"
    planned = "crashed, as planned, " if outcome.act.fails else ""
    return f"{planned}{outcome.seconds:.0f} s"
