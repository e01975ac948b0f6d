"""A profile as files of other tools, by one call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stepscope.errors import NotFound, UsageError
from stepscope.profile.analyses.analysis import Answer, all_analyses
from stepscope.profile.export.chrome import write_chrome
from stepscope.profile.export.sheets import write_sheet
from stepscope.profile.profile import Profile
from stepscope.records.profile import Stack
from stepscope.runs.format.layout import write_file

KINDS = {
    "chrome": "the timeline, for Perfetto and chrome://tracing",
    "speedscope": "the Python call tree, for speedscope.app",
    "prof": "cProfile's statistics, for pstats and snakeviz",
    "csv": "every table, a file each, in a folder",
    "parquet": "the same as Parquet",
    "json": "the same as JSON, with what each column means",
}


def export(profile: Profile, kind: str, path: str | Path, rank: int = 0) -> list[Path]:
    """Write it, and say which files that made. `path` is a file, and a folder for csv, parquet and json.

    export(profile, "chrome", "trace.json.gz")
    """
    path = Path(path)
    if kind not in KINDS:
        raise UsageError(f"a profile is exported as {', '.join(KINDS)}, not as {kind!r}")
    if kind == "chrome":
        return [_chrome(profile, path, rank)]
    if kind == "speedscope":
        return [_speedscope(profile, path, rank)]
    if kind == "prof":
        return [_prof(profile, path, rank)]
    path.mkdir(parents=True, exist_ok=True)
    written = []
    for id, answer in answers(profile, rank):
        written.append(path / f"{id}.{kind}")
        write_sheet(answer, written[-1])
    if not written:
        raise NotFound(f"the profile {profile.meta.id!r} has no table to write")
    return written


def answers(profile: Profile, rank: int = 0) -> Iterator[tuple[str, Answer]]:
    """The result of every analysis of the profile, by its id."""
    for id, analysis in all_analyses().items():
        found = analysis(profile, rank)
        if found is not None:
            yield id, found


def _chrome(profile: Profile, path: Path, rank: int) -> Path:
    trace = profile.trace(rank)
    if trace is None:
        raise NotFound(f"the profile {profile.meta.id!r} has no events of rank {rank} to draw a timeline of")
    write_chrome(trace.events, path)
    return path


def _speedscope(profile: Profile, path: Path, rank: int) -> Path:
    from stepscope.profile.python.speedscope import write_speedscope

    stack = profile.stacks(rank)
    if stack is None:  # the call tree in a trace with stacks
        found = [answer for _, answer in answers(profile, rank) if isinstance(answer, Stack)]
        if not found:
            raise NotFound(
                f"the profile {profile.meta.id!r} has no Python call tree; record one with "
                "stepscope profile --profiler advanced or --with-stack"
            )
        stack = found[0]
    write_speedscope(stack, path)
    return path


def _prof(profile: Profile, path: Path, rank: int) -> Path:
    raw = profile.read("prof", rank)
    if raw is None:
        raise NotFound(
            f"the profile {profile.meta.id!r} has no statistics of cProfile; record them with "
            "stepscope profile --profiler advanced"
        )
    write_file(path, raw)
    return path
