"""`stepscope show`: one run in the terminal."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, open_named, print_json, store_option
from stepscope.cli._terminal import SEVERITY_STYLE, STATUS_STYLE, clean, console, number, sparkline
from stepscope.common.units import ago, counted, duration
from stepscope.errors import NotFound

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.runs.read.folder import RunFolder

_LONGEST_VALUE = 200
"""Characters of a value that are shown; `--json` has all of them."""


@click.command(name="show", short_help="Show one run: overview, metrics, config, findings.")
@click.argument("run", default="last")
@store_option
@click.option("--packages", is_flag=True, help="Also list the installed packages.")
@click.option("--diff", is_flag=True, help="Also print the uncommitted changes the run was made with.")
@click.option(
    "--rank", type=click.IntRange(0), help="Show the metrics of this rank; by default the lowest rank that has them."
)
@click.option(
    "--ranks", "over_ranks", is_flag=True, help="Show the metrics over all ranks: mean, extremes and their ranks."
)
@click.option("--console", "printed", is_flag=True, help="Show only what the script printed, in full.")
@json_option
def command(
    run: str,
    store: Path,
    packages: bool,
    diff: bool,
    rank: int | None,
    over_ranks: bool,
    printed: bool,
    as_json: bool,
) -> None:
    """Show one run: overview, metrics, config, findings.

    RUN is a path, an id or the beginning of one, a name, or `last` (the newest run, the default).

    \b
    stepscope show last
    stepscope show "first try" --diff
    stepscope show last --console > train.log
    """
    folder = open_named(run, store)
    if rank is not None and rank not in folder.ranks:
        raise NotFound(f"run {folder.name} has no rank {rank}; it has ranks {', '.join(map(str, folder.ranks[:20]))}")
    if as_json:
        print_json(_as_json(folder))
        return
    if printed:
        for piece in folder.console():
            click.echo(clean(piece.text, keep_newlines=True), nl=False, err=piece.stream == "stderr")
        return
    out = console()
    _overview(out, folder)
    _stuck(out, folder)
    _troubles(out, folder)
    if over_ranks and len(folder.ranks) > 1:
        from stepscope.cli._show_ranks import show_ranks

        out.print()
        show_ranks(out, folder)
    else:
        _slow_ranks(out, folder)
        _metrics(out, folder, rank)
    _pairs(out, "config", folder.config, folder.config_origins)
    _pairs(out, "summary", _set_by_hand(folder))
    _contents(out, folder)
    _environment(out, folder, packages)
    if diff and folder.meta.git and folder.meta.git.diff:
        _heading(out, "uncommitted changes")
        out.print(clean(folder.meta.git.diff, keep_newlines=True))


def _slow_ranks(out: Console, folder: RunFolder) -> None:
    """The ranks that all others wait for."""
    if len(folder.ranks) > 1:
        from stepscope.runs.read.slow_ranks import slow_ranks

        said = [clean(slow.words()) for slow in slow_ranks(folder)]
        if said:
            out.print()
            out.print("\n".join(said), style="yellow", highlight=False)


def _heading(out: Console, title: str) -> None:
    out.print()
    out.print(title, style="bold")


def _overview(out: Console, run: RunFolder) -> None:
    from rich.text import Text

    out.print(
        Text.assemble((clean(run.name), "bold"), "  ", (run.status, STATUS_STYLE[run.status]), "  ", (run.id, "dim"))
    )
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.created))
    facts = [f"project {clean(run.project)}", f"started {when} ({ago(time.time() - run.created)})"]
    facts.append(f"took {duration(run.duration_s)}" if run.ended else f"{duration(run.duration_s)} so far")
    attempts = len({one.attempt for one in run.attempts})
    if attempts > 1:
        facts.append(f"{attempts} attempts")
    if len(run.ranks) > 1:
        facts.append(f"{len(run.ranks)} ranks")
    out.print("  ".join(facts))
    if run.tags:
        out.print("tags    " + "  ".join(clean(tag) for tag in run.tags))
    if run.meta.command:
        out.print("command " + clean(shlex.join(run.meta.command)))
    if run.notes:
        out.print("notes   " + clean(run.notes, keep_newlines=True))


def _stuck(out: Console, run: RunFolder) -> None:
    """A job whose ranks are waiting for each other right now."""
    from stepscope.diagnose.hangs import read_hang, waiting_words

    hang = read_hang(run.path)
    words = waiting_words(hang, run.status, time.time())
    if hang is not None and words:
        out.print(clean(words), style="red" if hang.is_sure else "yellow", highlight=False)


def _troubles(out: Console, run: RunFolder) -> None:
    """What went wrong, printed before the numbers."""
    from stepscope.launch.coverage import coverage_text, unproven_text

    standing = run.standing
    if standing.error or standing.traceback:
        _heading(out, "error")
        out.print(clean(standing.traceback or standing.error or "", keep_newlines=True).rstrip(), style="red")
    elif run.status in ("killed", "lost", "preempted"):
        out.print(clean(standing.detail), style="yellow")
    _findings(out, run)
    if run.alerts:
        _heading(out, "alerts")
        for alert in run.alerts:
            out.print(f"{alert.level}: {clean(alert.title)}  {clean(alert.text)}")
    if run.coverage is not None:
        watched = coverage_text(run.coverage)
        if watched:
            out.print(f"\n{watched}")
        for line in unproven_text(run.coverage):
            out.print(line, style="dim")
    _gaps(out, run)


def _gaps(out: Console, run: RunFolder) -> None:
    """What is missing in the recording itself."""
    if run.dropped:
        out.print(f"\n{run.dropped} values could not be written and are missing", style="yellow")
    if run.holes:
        out.print(f"\n{run.holes} damaged sections of the logs were skipped", style="yellow")
    for fault in run.faults:
        said = f"Stepscope raised an internal error in {clean(fault.where)}: {clean(fault.error)}"
        out.print(f"\n{said}", style="yellow")


def _findings(out: Console, run: RunFolder) -> None:
    """Findings of the run and of its folder, most severe first; notes take one line each."""
    from stepscope.diagnose.show import place_of, render
    from stepscope.diagnose.stored.engine import diagnose_run

    findings = diagnose_run(run).findings
    if not findings:
        return

    _heading(out, "findings")
    root = Path(run.meta.cwd or "/")
    colored = out.color_system is not None
    found = sorted(findings, key=lambda one: list(SEVERITY_STYLE).index(one.severity))
    for finding in found:
        if finding.severity == "info":
            place = f" ({place_of(finding.file, finding.line, root)})" if finding.file else ""
            out.print(f"info[{clean(finding.rule)}]: {clean(finding.message)}{place}", style="dim")
            continue
        shown = render(finding, color=colored, width=min(out.width, 120), root=root)
        click.echo(shown + "\n" * (finding is not found[-1]), color=colored)


def _metrics(out: Console, run: RunFolder, rank: int | None) -> None:
    from rich.table import Table

    known = run.metrics() if rank is None else run.summaries(rank)
    names = [name for name in known if not name.startswith("system/")]
    if not names:
        return
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric" if rank is None else f"metric of rank {rank}", overflow="fold", max_width=40)
    for title in ("last", "min", "at step", "max", "mean", "points"):
        table.add_column(title, justify="right")
    table.add_column("")
    for name in names:
        one = run.metric_summary(name, rank)
        spark = run.series(name, rank).downsample(24).value.tolist()
        extremes = (one.min, one.min_step, one.max, one.mean) if one.finite else (None, None, None, None)
        cells = [number(v) for v in (one.last, *extremes, one.count)]
        bad = f" {one.nan + one.inf} not finite" if one.nan + one.inf else ""
        table.add_row(clean(name), *cells, sparkline(spark, 24) + bad)
    out.print(table)


def _pairs(out: Console, title: str, values: dict[str, Any], origins: dict[str, str] | None = None) -> None:
    """Names and values, and the source of each if known."""
    from rich.text import Text

    if not values:
        return
    _heading(out, title)
    said = origins or {}
    width = min(max(len(clean(key)) for key in values), 32)
    shown = {key: _cut(number(value)) for key, value in values.items()}
    wide = min(max((len(shown[key]) for key in said if key in shown), default=0), 32)
    for key, text in sorted(shown.items()):
        line = f"{clean(key):<{width}}  {text}"
        if key in said:
            line = f"{line:<{width + 2 + wide}}  "
        out.print(Text.assemble(line, (clean(said.get(key, "")), "dim")), highlight=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}... ({counted(len(text), 'character')})"


def _set_by_hand(run: RunFolder) -> dict[str, Any]:
    metrics = set(run.metrics())
    return {name: value for name, value in run.summary.items() if name not in metrics}


def _contents(out: Console, run: RunFolder) -> None:
    kinds: dict[str, int] = {}
    for media in run.media():
        kinds[media.kind] = kinds.get(media.kind, 0) + 1
    parts = [f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in sorted(kinds.items())]
    parts += [f"artifact {clean(one.name)} v{one.version}" for one in run.artifacts]
    if parts:
        _heading(out, "also logged")
        out.print("  ".join(parts))


def _environment(out: Console, run: RunFolder, packages: bool) -> None:
    meta = run.meta
    _heading(out, "environment")
    hardware = meta.hardware
    gpus = [str(gpu.get("name", "GPU")) for gpu in hardware.get("gpus", []) if isinstance(gpu, dict)]
    facts = [("host", meta.host), ("python", meta.python), ("platform", meta.platform)]
    facts += [("gpus", ", ".join(gpus)), ("torch", meta.packages.get("torch", ""))]
    if meta.git:
        dirty = " with uncommitted changes" if meta.git.dirty else ""
        facts.append(("git", f"{meta.git.commit[:12]} {meta.git.branch or ''}{dirty}"))
    facts.append(("folder", str(run.path)))
    for key, value in facts:
        if value:
            out.print(f"{key:<8}  {clean(str(value))}")
    if packages:
        for name, version in sorted(meta.packages.items()):
            out.print(f"          {clean(name)} {clean(version)}")


def _as_json(run: RunFolder) -> dict[str, Any]:
    import msgspec

    return {
        **msgspec.to_builtins(run.meta),
        "name": run.name,
        "tags": run.tags,
        "notes": run.notes,
        "config": run.config,
        "config_origins": run.config_origins,
        "status": run.status,
        "ended": run.ended,
        "duration_s": run.duration_s,
        "path": str(run.path),
        "summary": run.summary,
        "metrics": {name: msgspec.to_builtins(run.metric_summary(name)) for name in run.metrics()},
        "findings": msgspec.to_builtins(run.findings),
        "alerts": msgspec.to_builtins(run.alerts),
        "artifacts": msgspec.to_builtins(run.artifacts),
        "coverage": msgspec.to_builtins(run.coverage),
        "dropped": run.dropped,
    }
