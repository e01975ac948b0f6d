"""`stepscope tune-batch`: the largest batch that fits and the speed up to it, measured in the training itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from stepscope.cli._launch import LaunchCommand, report_json_option, script_named
from stepscope.common.units import parse_bytes


@click.command(name="tune-batch", cls=LaunchCommand, short_help="Find the largest batch that fits, and the fastest.")
@click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(2), help="Total time for all sizes.")
@click.option(
    "--batches", default=12, show_default=True, type=click.IntRange(2), help="Number of steps to measure per size."
)
@click.option("--max-memory", metavar="SIZE", help="Memory limit, for example 6GB; by default what is free.")
@click.option("--max-batch", type=click.IntRange(1), help="Largest batch size to try.")
@report_json_option
@click.option("--quiet", "-q", is_flag=True, help="Print only the report, without notices.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    seconds: float,
    batches: int,
    max_memory: str | None,
    max_batch: int | None,
    json_file: Path | None,
    quiet: bool,
) -> None:
    """Find the largest batch that fits into memory, and the training speed up to it, by trying.

    The script trains in a separate process with larger and larger batches. A batch that does not fit ends that process,
    and the next one continues with smaller sizes; nothing is saved and no run is stored. On a CPU memory is bounded by
    --max-memory, or by four fifths of what the machine has free: it never swaps.

    \b
        stepscope tune-batch train.py --epochs 3
        stepscope tune-batch --max-memory 6GB -m pkg.train
    """
    from stepscope.launch.tuning_batch import BatchLimits, tune_batch
    from stepscope.profile.batch.report import BatchReport

    script = script_named(ctx)
    limits = BatchLimits(
        seconds, batches, None if max_memory is None else parse_bytes(max_memory, "--max-memory"), max_batch
    )
    head = f"stepscope tune-batch {script.name}"
    say = _silent if quiet else _note
    tuned = tune_batch(script, limits, say)
    if tuned.search is None:
        click.echo(f"{head}: {tuned.why_not}", err=True)
        _write_json(json_file, {"script": script.path, "why_not": tuned.why_not})
        sys.exit(3)
    report = BatchReport(tuned.search, tuned.loader)
    _write_json(json_file, report.as_dict(script.path, tuned.notes))
    if str(json_file) != "-":
        from stepscope.launch.tuning import print_lines

        notes: list[Any] = [[(f"  {note}", "")] for note in tuned.notes]
        print_lines([[("", "")], [(head, "bold")], *report.lines(), *notes])
    if not report.curve:
        sys.exit(3)


def _note(text: str) -> None:
    click.echo(f"stepscope: {text}", err=True)


def _silent(text: str) -> None:
    pass


def _write_json(file: Path | None, document: dict[str, Any]) -> None:
    if file is None:
        return
    import msgspec

    text = msgspec.json.encode(document).decode() + "\n"
    if str(file) == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        file.write_text(text, encoding="utf-8")
