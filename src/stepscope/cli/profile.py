"""`stepscope profile`: where the time and memory of a training go, and what to do about it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._launch import (
    LaunchCommand,
    limit_options,
    options_from,
    script_named,
    split_arguments,
    stdout_where_no_file,
)
from stepscope.errors import NotFound, UsageError
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.cli._profile_report import Wanted
    from stepscope.launch.options import Profiling
    from stepscope.launch.profiling.session import ProfileReport
    from stepscope.profile.profile import Profile

__all__ = ["command"]

_WITHOUT_SCRIPT = {"--open", "--diff", "--now"}
_EXPORTS = ("chrome", "speedscope", "prof", "csv", "parquet", "json")


class ProfileCommand(LaunchCommand):
    """`[OPTIONS] train.py ARGS...`, or with --open, --diff and --now: files and runs, and our options anywhere."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(word in _WITHOUT_SCRIPT for word in split_arguments(self, args)[0]):
            ctx.obj = (None, [])
            return click.Command.parse_args(self, ctx, stdout_where_no_file(args))
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "(SCRIPT | -m MODULE) [ARGS]..."]


@click.command(name="profile", cls=ProfileCommand, short_help="Show where time and memory go, and what to change.")
@click.option(
    "--profiler",
    type=click.Choice(["auto", "simple", "advanced", "pytorch"]),
    default="auto",
    help="simple: steps by phase. advanced: Python's functions (cProfile). pytorch: operators and kernels. "
    "auto, the default: phases, sampled Python, and a window of PyTorch's profiler.",
)
@click.option("--steps", metavar="A:B", help="Record these steps (20:25 is 20 to 24); chosen by itself by default.")
@click.option("--with-stack/--no-with-stack", default=None, help="Python calls with the operators, or not.")
@click.option("--profile-memory/--no-profile-memory", default=None, help="Allocations, or not.")
@click.option("--record-shapes/--no-record-shapes", default=None, help="Shapes of the operators' inputs, or not.")
@click.option(
    "--max-events",
    type=click.IntRange(1000),
    default=250_000,
    show_default=True,
    help="At most about so many events; fewer where memory is short.",
)
@click.option("--keep-running", is_flag=True, help="Let the script run to its end.")
@click.option("--on-signal", metavar="SIGNAL", help="Another window whenever the process gets this signal (USR2).")
@click.option(
    "--try/--no-try",
    "try_advice",
    default=None,
    help="Advice is tried in the running training where it can be switched there. --try: run the script again for the "
    "rest; --no-try: only estimate.",
)
@click.option("--select", multiple=True, metavar="RULE", help="Only this advice (perf.tensor-loop, perf.*).")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave this advice out.")
@click.option("--ideal-loader", is_flag=True, help="How fast would it be with free data? Repeats the first batches.")
@click.option("--open", "opens", is_flag=True, help="Analyse files of other profilers: traces, ranks, .prof, folders.")
@click.option("--diff", "diffs", is_flag=True, help="What got slower between two runs or files, beyond the noise.")
@click.option("--now", is_flag=True, help="Ask a running training for a window.")
@click.option(
    "--table", "tables", multiple=True, metavar="NAME", help="Print this table too (operators, kernels, ...)."
)
@click.option("--sort", help="Sort the table by this column; with --profiler advanced any order of pstats.")
@click.option("--rows", default=20, show_default=True, type=click.IntRange(1), help="Rows of a table.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), metavar="[FILE]", help="All answers; - is stdout."
)
@click.option("--csv", type=click.Path(path_type=Path), metavar="DIR", help="Every table as a CSV file.")
@click.option(
    "--export",
    "exports",
    multiple=True,
    metavar="KIND[=PATH]",
    help=f"The profile for other tools: {', '.join(_EXPORTS)}.",
)
@click.option("--ui", is_flag=True, help="Say how to see it in the browser.")
@click.option("--name", help="The run's name; one is made up by default.")
@click.option("--project", help="The project it belongs to.")
@click.option("--dir", "store", type=click.Path(path_type=Path), help="Where the run goes ($STEPSCOPE_DIR).")
@click.option("--no-run", is_flag=True, help="Keep nothing; only print. (with --open)")
@limit_options
@click.option(
    "--output",
    type=click.Choice(["full", "lines"]),
    default="full",
    help="lines: also one line for each place in the code, for an editor.",
)
@click.option("--quiet", "-q", is_flag=True, help="No notices; only the verdict.")
@click.option("--pdb", is_flag=True, help="After a crash, a debugger in the script's own frame.")
@click.option("--debugpy", type=int, metavar="[PORT]", help="Wait for an editor's debugger (port 5678).")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Say where the time and memory of a training go, and what to do about it.

    Runs a script, unchanged, until it has seen enough, and prints a verdict. Or reads what other tools recorded:

    \b
        stepscope profile train.py --epochs 5
        stepscope profile --profiler advanced --sort tottime train.py
        stepscope profile --open trace.json.gz rank*.json run.prof log_dir/
        stepscope profile --diff RUN_A RUN_B
        stepscope profile --now RUN
    """
    from stepscope.cli._profile_report import Wanted
    from stepscope.profile.analyses.analysis import analysis_named

    wanted = Wanted(
        json_file=_absolute(values.pop("json_file")),
        csv=_absolute(values.pop("csv")),
        exports=tuple(_export(text) for text in values.pop("exports")),
        tables=values.pop("tables"),
        sort=values.pop("sort"),
        most=values.pop("rows"),
    )
    paths, store = values.pop("paths"), values.pop("store")
    opens, diffs, now = values.pop("opens"), values.pop("diffs"), values.pop("now")
    for name in wanted.tables:
        analysis_named(name)  # said before the training, not after it
    if opens + diffs + now > 1:
        raise UsageError("--open, --diff and --now are three commands; give one of them")
    if opens:
        _open(paths, wanted, store, values)
    elif diffs:
        _diff(paths, store, wanted)
    elif now:
        _now(paths, store, wanted.json_file)
    else:
        _launch(ctx, values, wanted, store)


def _absolute(path: Path | None) -> Path | None:
    """The script may change the working directory."""
    return path if path is None or str(path) == "-" else path.absolute()


def _export(text: str) -> tuple[str, Path | None]:
    kind, _, path = text.partition("=")
    if kind not in _EXPORTS:
        raise UsageError(
            f"--export {kind!r} is not known; there are {', '.join(_EXPORTS)}: --export chrome=trace.json.gz"
        )
    return kind, Path(path).absolute() if path else None


# -- a script -------------------------------------------------------------------------------------------------------


def _launch(ctx: click.Context, values: dict[str, Any], wanted: Wanted, store: Path | None) -> None:
    from stepscope.launch.launch import launch
    from stepscope.launch.profiling.session import profile_session

    if values.pop("no_run"):
        raise UsageError("--no-run goes with --open; a script's profile needs its run folder (choose where with --dir)")
    script = script_named(ctx)
    profiling = _profiling(values)
    trying, ui = bool(values.pop("try_advice")), values.pop("ui")
    options = options_from({**values, "dir": store, "profiling": profiling, "diagnose": False, "capsule": False})
    if options.limits.fast_dev_run is not None:
        raise UsageError("--fast-dev-run saves nothing, and so leaves no profile; use --max-steps")
    show = partial(_show, wanted=wanted, trying=trying, ui=ui)
    to_stdout = str(wanted.json_file) == "-"
    launch(script, options, partial(profile_session, show=show, to_stdout=to_stdout))


def _profiling(values: dict[str, Any]) -> Profiling:
    from stepscope.launch.options import Profiling
    from stepscope.profile.collect.budget import Asked
    from stepscope.profile.collect.schedule import StepRange
    from stepscope.profile.collect.triggers import signal_named

    signal = values.pop("on_signal")
    if signal is not None:
        signal_named(signal)
    steps = values.pop("steps")
    names = ("record_shapes", "profile_memory", "with_stack", "max_events")
    return Profiling(
        profiler=values.pop("profiler"),
        steps=None if steps is None else StepRange.parse(steps),
        on=frozenset({"button"} | ({"signal"} if signal is not None else set())),
        signal=signal or "USR2",
        asked=Asked(**{name: values.pop(name) for name in names}),
        keep_running=values.pop("keep_running"),
        ideal=values.pop("ideal_loader"),
        tries=values["try_advice"] is not False,
    )


def _show(profile: Profile, shown: ProfileReport, *, wanted: Wanted, trying: bool, ui: bool) -> None:
    """The script is over: the verdict, and its findings into the run."""
    from stepscope.cli._profile_report import report
    from stepscope.diagnose.outputs.lines import line

    around = shown.around
    run = around.tracking.run
    see = f"see it with: stepscope ui{_in_store(around.options.dir)}"
    if run is not None and run.path is not None and profile.folder is not None:
        see += f"   (run {run.name}, {profile.folder})" if ui else f"   (run {run.name})"
    found = report(profile, wanted, see=see, settings=around.settings)
    findings = found.findings
    if trying:
        click.echo("", err=shown.to_stdout)
        findings = shown.tried(profile)
    for finding in findings:
        kept = around.reporter.keep(finding)
        if around.options.output == "lines":
            click.echo(line(kept, Path.cwd()), err=True)


# -- what is there already ------------------------------------------------------------------------------------------


def _open(paths: tuple[Path, ...], wanted: Wanted, store: Path | None, values: dict[str, Any]) -> None:
    from stepscope.cli._profile_report import report
    from stepscope.diagnose.settings import load_settings
    from stepscope.profile.open import open_profile

    see = ""
    if values["no_run"] or _is_ours(paths):
        profile = open_profile([_resolved(path, store) for path in paths])
    else:
        profile, see = _opened_in_a_run(paths, store, values)
    where = str(paths[0]) if paths else "."
    report(profile, wanted, see=see, settings=load_settings(where, select=values["select"], ignore=values["ignore"]))


def _is_ours(paths: tuple[Path, ...]) -> bool:
    from stepscope.profile.store import is_profile_folder
    from stepscope.runs.format.layout import is_run_folder

    return any(
        not path.exists() or is_run_folder(path) or (path.is_dir() and is_profile_folder(path)) for path in paths
    )


def _opened_in_a_run(paths: tuple[Path, ...], store: Path | None, values: dict[str, Any]) -> tuple[Profile, str]:
    """A run named after the file, so that the browser shows it."""
    import shutil

    import stepscope
    from stepscope.errors import StepscopeError
    from stepscope.profile.open import open_profile
    from stepscope.profile.store import new_folder

    name = values["name"] or (paths[0].name.split(".")[0] if paths else None)
    run = stepscope.init(
        project=values["project"] or "profiles", name=name, dir=store, console=False, system=False, git=False
    )
    assert run.path is not None
    try:
        profile = open_profile(list(paths), into=new_folder(run.path, "opened", 0))
    except StepscopeError:
        run.finish()
        shutil.rmtree(run.path, ignore_errors=True)  # made for this file alone
        raise
    run.finish()
    return profile, f"see it with: stepscope ui{_in_store(store)}   (run {run.name})"


def _in_store(store: Path | None) -> str:
    return "" if store is None else f" {store}"


def _resolved(path: Path, store: Path | None) -> Path:
    """A file, a folder, or the name of a run."""
    if path.exists():
        return path
    return _run_folder(str(path), store)


def _run_folder(ref: str, store: Path | None) -> Path:

    from stepscope.runs.catalogue.resolve import find_run

    folder = store or usual_store()
    if not folder.exists():
        raise NotFound(f"there is no file or run {ref!r} here, and no folder {str(folder)!r} with runs (see --dir)")
    try:
        return find_run(ref, folder)
    except NotFound as fault:
        raise NotFound(f"there is no file {ref!r}, and {fault}") from None


def _diff(paths: tuple[Path, ...], store: Path | None, wanted: Wanted) -> None:
    from stepscope.diagnose.show import terminal_width
    from stepscope.profile.diff import diff_profiles
    from stepscope.profile.open import open_profile
    from stepscope.profile.show import sheet_text

    if len(paths) != 2:
        raise UsageError("--diff needs two runs, profiles or traces: stepscope profile --diff RUN_A RUN_B")
    a, b = (open_profile([_resolved(path, store)]) for path in paths)
    found = diff_profiles(a, b, names=(paths[0].name, paths[1].name))
    if wanted.json_file is not None:
        _put_json(found, wanted.json_file)
        if str(wanted.json_file) == "-":
            return
    click.echo(found.headline)
    for sheet in found.sheets:
        click.echo("\n" + sheet_text(sheet, width=terminal_width(sys.stdout), most=wanted.most))
    for note in found.notes:
        click.echo(f"\nnote: {note}")


def _put_json(value: object, where: Path) -> None:
    from stepscope.cli._json import json_text
    from stepscope.diagnose.outputs.write_output import place

    place(json_text(value) + "\n", where)


def _now(paths: tuple[Path, ...], store: Path | None, json_file: Path | None) -> None:
    from stepscope.profile.store import request_window
    from stepscope.runs.read.folder import open_run

    if len(paths) != 1:
        raise UsageError("--now needs the run that is to be profiled: stepscope profile --now last")
    folder = _run_folder(str(paths[0]), store) if not paths[0].exists() else paths[0]
    run = open_run(folder)
    if run.status != "running":
        raise UsageError(f"the run {run.name!r} is not running any more ({run.status})")
    request_window(folder)
    if json_file is not None:
        _put_json({"id": run.id, "name": run.name, "asked": True}, json_file)
    click.echo(
        f"asked {run.name} for a window of its next steps; scripts under stepscope run or stepscope profile take it "
        "within a second or so",
        err=json_file is not None,
    )
