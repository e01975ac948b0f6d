"""`stepscope import`: bring in runs that other tools recorded."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, print_json
from stepscope.cli._terminal import clean
from stepscope.common.units import counted
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.importers.import_writer import Landed, Landing

_LOOK_S = 1.0
_SHOWN = 10


@click.command(name="import", short_help="Import runs from TensorBoard, W&B, MLflow and others.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    default=usual_store,
    show_default="$STEPSCOPE_DIR or stepscope-runs",
    help="The folder to import into.",
)
@click.option("--project", help="The project of the runs; by default their tool's project or the folder's name.")
@click.option(
    "--from",
    "kind",
    metavar="KIND",
    help="The tool to import from, if a folder has runs from several: tensorboard, wandb, mlflow, trackio or aim.",
)
@click.option("--follow", is_flag=True, help="Keep importing new data until Ctrl-C.")
@json_option
def command(
    paths: tuple[str, ...], into: Path, project: str | None, kind: str | None, follow: bool, as_json: bool
) -> None:
    """Import runs recorded by TensorBoard, W&B, MLflow, trackio or Aim.

    The source files are only read. Importing again adds only what is new.

    \b
    stepscope import logs/                      # then: stepscope ui
    stepscope import base:logs/a,wide:logs/b    # with names, as in TensorBoard
    stepscope import mlruns/ wandb/ --into all-runs
    stepscope import logs/ --follow             # while the training runs
    """
    from stepscope.importers.detect import find_sources
    from stepscope.importers.import_writer import Landing

    landings = [Landing(source, into, project=project) for text in paths for source in find_sources(text, kind)]
    told = _Told(into, as_json)
    try:
        for landing in landings:
            told.about(landing, landing.look(follow=follow))
        told.summary()
        while follow:
            time.sleep(_LOOK_S)
            for landing in landings:
                told.news(landing, landing.look(follow=True))
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
    finally:
        for landing in landings:
            landing.close()


class _Told:
    """The printed report: one line per source, what could not be read, and what to do next."""

    def __init__(self, into: Path, as_json: bool) -> None:
        self._into = into
        self._json = as_json
        self._found: list[dict[str, Any]] = []
        self._began = time.perf_counter()

    def about(self, landing: Landing, landed: Landed) -> None:
        self._found.append(_as_dict(landing, landed))
        if self._json:
            return
        source = landing.source
        name = _NAMES.get(source.kind, source.kind)
        click.echo(clean(f"{name} in {source.path}: {_in_words(landed)}"))
        _troubles(landed)

    def summary(self) -> None:
        if self._json:
            print_json({"into": str(self._into), "sources": self._found})
            return
        if any(one["runs"] for one in self._found):
            took = time.perf_counter() - self._began
            click.echo(f"Stored in {clean(str(self._into))}, in {took:.1f} s.")
            click.echo(f"Look at them with: stepscope ui {_quoted(self._into)}")

    def news(self, landing: Landing, landed: Landed) -> None:
        """Report a later pass only if it imported something."""
        if self._json:
            if landed.points or landed.media or landed.new_runs:
                import msgspec

                from stepscope.export.as_json import jsonable

                click.echo(msgspec.json.encode(jsonable(_as_dict(landing, landed))).decode())
            return
        if landed.new_runs or landed.points or landed.media:
            clock = time.strftime("%H:%M:%S")
            names = f"{counted(landed.new_runs, 'new run')}, " if landed.new_runs else ""
            media = f", {counted(landed.media, 'medium', 'media')}" if landed.media else ""
            click.echo(f"{clock}  {names}{counted(landed.points, 'point')}{media}")
        _troubles(landed)


_NAMES = {"tensorboard": "TensorBoard", "wandb": "W&B", "mlflow": "MLflow", "trackio": "trackio", "aim": "Aim"}


def _as_dict(landing: Landing, landed: Landed) -> dict[str, Any]:
    return {
        "kind": landing.source.kind,
        "path": str(landing.source.path),
        "runs": [{"id": path.name, "path": str(path)} for path in landed.runs],
        "new_runs": landed.new_runs,
        "points": landed.points,
        "media": landed.media,
        "troubles": landed.troubles,
    }


def _in_words(landed: Landed) -> str:
    """3 new runs, 1 run that grew, 410 points, 34 media."""
    if not landed.runs:
        return "nothing new"
    grown = len(landed.runs) - landed.new_runs
    said = [counted(landed.new_runs, "new run")] if landed.new_runs else []
    said += [f"{counted(grown, 'run')} that grew"] if grown > 0 else []
    said += [counted(landed.points, "point")]
    said += [counted(landed.media, "medium", "media")] if landed.media else []
    return ", ".join(said)


def _troubles(landed: Landed) -> None:
    for trouble in landed.troubles[:_SHOWN]:
        click.echo(f"  {click.style('note:', fg='yellow')} {clean(trouble)}", err=True)
    if len(landed.troubles) > _SHOWN:
        click.echo(f"  and {len(landed.troubles) - _SHOWN} more", err=True)


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(clean(str(path)))
