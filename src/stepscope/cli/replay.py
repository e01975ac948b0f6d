"""`stepscope replay`: repeat a failed step from its capsule."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import clean

if TYPE_CHECKING:
    from stepscope.launch.capsule.load import Capsule
    from stepscope.launch.replay.replay import Outcome
    from stepscope.runs.read.folder import RunFolder

_LOOKED_AT = 50


@click.command(name="replay", short_help="Repeat a failing step from its capsule.")
@click.argument("run", required=False)
@store_option
@click.option("--step", type=int, help="Use the capsule of this step; the newest by default.")
@click.option("--rank", type=int, help="Use the capsule of this rank of a distributed run.")
@click.option("--current", is_flag=True, help="Run the current files, to see whether the step is fixed.")
@click.option("--pdb", "debug", is_flag=True, help="Open a debugger where the step failed.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the recorded step; stepscope.Step.load reads it.")
@click.option("--trust", is_flag=True, help="Run the capsule's code without asking.")
@json_option
def command(
    run: str | None,
    store: Path,
    step: int | None,
    rank: int | None,
    current: bool,
    debug: bool,
    save: Path | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Repeat the failing step of RUN, with its batch, parameters and random numbers, and trace every value.

    RUN is a run (id, name, path, `last`) or the folder of a capsule copied from another machine; without it, the latest
    run with a saved step. The script runs up to its first step, which gets the saved state. Exits with 0 when the step
    succeeds, with 1 when it fails.

    \b
    stepscope replay
    stepscope replay --pdb              # and debug it where it failed
    stepscope replay --current          # after a change: does it still fail?
    stepscope replay brave-otter --step 120
    """
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as fault:
        from stepscope.errors import MissingExtra

        MissingExtra.if_torch("replay", fault)
        raise
    with _opened(run, store, step, rank) as capsule:
        with _script_prints_aside(as_json):
            outcome = _replay(capsule, current=current, trust=trust, as_json=as_json)
        if as_json:
            print_json(_as_json(outcome))
        else:
            _tell(outcome)
        if save is not None:
            _save(outcome, save)
        if debug:
            _debug(outcome)
    sys.exit(1 if not outcome.reached or outcome.failed_again else 0)


def _opened(run: str | None, store: Path, step: int | None, rank: int | None) -> Capsule:
    from stepscope.launch.capsule.load import open_capsule, open_folder

    if run is None:
        return open_capsule(_latest_with_one(store), step=step, rank=rank)
    folder = Path(run).expanduser()
    if (folder / "capsule.json").is_file():
        return open_folder(folder)
    return open_capsule(open_named(run, store), step=step, rank=rank)


def _latest_with_one(store: Path) -> RunFolder:
    from itertools import islice

    from stepscope.errors import NotFound
    from stepscope.launch.capsule.load import capsules_of
    from stepscope.runs.catalogue.run_list import runs

    for run in islice(runs(store), _LOOKED_AT):
        if capsules_of(run):
            return run
    raise NotFound(
        f"none of the latest runs in '{store}' has a saved step; `stepscope run` saves one when it "
        "raises an error or its loss or gradient is not finite"
    )


@contextlib.contextmanager
def _script_prints_aside(aside: bool) -> Iterator[None]:
    """With --json, stdout has only the document; the script's output goes to stderr."""
    if not aside:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _replay(capsule: Capsule, *, current: bool, trust: bool, as_json: bool = False) -> Outcome:
    from stepscope.launch.replay.replay import replay
    from stepscope.launch.replay.replay_report import what_failed
    from stepscope.launch.replay.source_selection import compare_sources
    from stepscope.launch.replay_consent import ask_for_trust

    click.echo(clean(what_failed(capsule.manifest)), err=as_json)
    ask_for_trust(
        capsule.manifest,
        compare_sources(capsule.manifest),
        trusted=trust,
        current=current,
        is_terminal=sys.stdin is not None and sys.stdin.isatty(),
        say=_say,
        confirm=lambda question: click.confirm(question, err=True),
    )
    return replay(capsule, current=current)


def _tell(outcome: Outcome) -> None:
    import traceback

    from stepscope.diagnose.show import terminal_width, wants_color
    from stepscope.launch.replay.replay_report import told

    if outcome.error is not None:
        error = outcome.error
        _say("".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip())
    color, width = wants_color(sys.stdout), terminal_width(sys.stdout)
    for line in told(outcome, color=color, width=width, root=Path.cwd()):
        click.echo(line)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    from stepscope.diagnose.outputs.json import as_json
    from stepscope.launch.replay.replay import said
    from stepscope.launch.replay.replay_report import what_failed

    manifest = outcome.manifest
    return {
        "step": manifest.step,
        "rank": manifest.rank,
        "why": manifest.why,
        "recorded": what_failed(manifest),
        "reached": outcome.reached,
        "failed_again": outcome.failed_again,
        "loss": outcome.loss,
        "same_loss": outcome.same_loss,
        "grad_norm": outcome.grad_norm,
        "error": None if outcome.error is None else said(outcome.error),
        "same_error": outcome.same_error,
        "report": None if outcome.report is None else str(outcome.report),
        "findings": [as_json(one) for one in outcome.findings],
        "seconds": outcome.seconds,
    }


def _save(outcome: Outcome, path: Path) -> None:
    from stepscope.inspect.step import Step

    if outcome.report is not None:
        _say(f"the recorded step is in {Step(outcome.report.record).save(path.absolute())}")


def _debug(outcome: Outcome) -> None:
    from stepscope.launch.debugger import post_mortem

    where = outcome.error or outcome.stopped_at
    if where is not None:
        post_mortem(where)


def _say(text: str) -> None:
    click.echo(clean(text, keep_newlines=True), err=True)
