"""The text and files that `stepscope profile` writes for a profile from any source."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._terminal import clean
from stepscope.errors import NotFound, StorageError, UsageError

if TYPE_CHECKING:
    from stepscope.diagnose.settings import Settings
    from stepscope.profile.advice.verdict import Verdict
    from stepscope.profile.profile import Profile
    from stepscope.records.profile import ProfileMeta, Sheet, StepParts


@dataclass(frozen=True)
class Wanted:
    """Output files for the profile."""

    json_file: Path | None = None
    csv: Path | None = None
    exports: tuple[tuple[str, Path | None], ...] = ()
    tables: tuple[str, ...] = ()
    sort: str | None = None
    most: int = 20


def report(profile: Profile, wanted: Wanted, *, see: str = "", settings: Settings | None = None) -> Verdict:
    """Print the verdict, the steps and the requested tables; write the requested files.

    `settings` select and silence advice.
    """
    from stepscope.profile.advice.verdict import verdict

    found = verdict(profile, profile.ranks[0], settings)
    if wanted.json_file is not None and str(wanted.json_file) == "-":
        click.echo(_json(profile, found))
    else:
        _print(profile, found, wanted, see)
        if wanted.json_file is not None:
            _made_room(wanted.json_file).write_text(_json(profile, found) + "\n", encoding="utf-8")
    _write(profile, wanted)
    return found


def _made_room(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another place") from None
    return path


def _print(profile: Profile, found: Verdict, wanted: Wanted, see: str) -> None:
    from stepscope.diagnose.show import terminal_width, wants_color

    width = terminal_width(sys.stdout)
    texts = [*_steps(profile, width), *_tables(profile, wanted, width)]
    if not (found.headline.kind == "none" and texts):  # a .prof has no steps to judge
        texts.insert(0, found.text(color=wants_color(sys.stdout), width=width))
    click.echo("\n\n".join(texts))
    told = [*_recorded(profile.meta), *(f"note: {note}" for note in profile.meta.notes)]
    if told:
        click.echo()
    for note in told:
        click.echo(textwrap.fill(clean(note), max(40, width), subsequent_indent="      "))
    if see:
        click.echo(f"\n{see}")


def _recorded(meta: ProfileMeta) -> list[str]:
    """Which steps the window covers, and what was recorded."""
    if meta.kind != "pytorch" or meta.first_step is None or not meta.options:
        return []
    names = {"record_shapes": "shapes", "profile_memory": "allocations", "with_stack": "Python calls"}
    kept = [name for key, name in names.items() if meta.options.get(key)]
    steps = (
        f"step {meta.first_step}"
        if meta.first_step == meta.last_step
        else f"steps {meta.first_step} to {meta.last_step}"
    )
    overhead = f"; {meta.overhead}" if meta.overhead else ""
    return [f"window: {steps}, operators with {', '.join(kept) or 'nothing else'} ({meta.why}){overhead}"]


def _steps(profile: Profile, width: int) -> list[str]:
    """The typical step: on the device if there is one, and by phase on the host."""
    from stepscope.profile.show import parts_text

    rank = profile.ranks[0]
    trace = profile.trace(rank)
    texts = []
    on_device = trace is not None and trace.has_device
    if on_device and (parts := _parts(profile, "steps")) is not None:
        texts.append(parts_text(parts, width=width, what="on the device, a step takes"))
    host = _parts(profile, "run-phases") or _parts(profile, "phases")
    if host is not None:
        texts.append(parts_text(host, width=width, what="on the host, a step takes" if on_device else "a step takes"))
    return texts


def _parts(profile: Profile, id: str) -> StepParts | None:
    from stepscope.profile.analyses.analysis import analysis_named
    from stepscope.records.profile import StepParts

    answer = analysis_named(id)(profile, profile.ranks[0])
    return answer if isinstance(answer, StepParts) and answer.steps and sum(answer.typical_ns) else None


def _tables(profile: Profile, wanted: Wanted, width: int) -> list[str]:
    from stepscope.profile.analyses.analysis import all_analyses, analysis_named
    from stepscope.profile.show import parts_text, sheet_text
    from stepscope.records.profile import Sheet, StepParts

    texts = []
    for name in _table_names(profile, wanted):
        answer, sort = analysis_named(name)(profile, profile.ranks[0]), wanted.sort
        if name == "python-profile-functions" and (in_order := _in_order_of_pstats(profile, sort)) is not None:
            answer, sort = in_order, None
        if isinstance(answer, Sheet):
            texts.append(sheet_text(answer, width=width, most=wanted.most, sort=sort))
        elif isinstance(answer, StepParts):
            texts.append(parts_text(answer, width=width))
        elif answer is not None:
            sheets = ", ".join(id for id in all_analyses() if not id.endswith("curve"))
            raise UsageError(f"{name!r} is a chart; open it with: stepscope ui (tables are {sheets})")
        elif wanted.tables or wanted.sort is not None:
            raise NotFound(f"this profile has no data for the table {name!r}; record one with --profiler pytorch")
    return texts


def _table_names(profile: Profile, wanted: Wanted) -> list[str]:
    """The tables to print: those requested, else the one that --sort is about, else a choice by the profile's kind."""
    if wanted.tables:
        return list(wanted.tables)
    if wanted.sort is not None:
        return ["python-profile-functions" if profile.files("prof") else "operators"]
    return _tables_of_its_own(profile)


def _tables_of_its_own(profile: Profile) -> list[str]:
    """Print a profile that has no steps."""
    if (
        profile.files("events")
        or profile.files("trace")
        or (profile.files("phases") and profile.meta.kind != "advanced")
    ):
        return []
    if profile.files("prof") or profile.files("stacks"):
        return ["python-profile-functions"]
    return ["memory-cuda", "memory-lines"] if profile.files("memory") else []


def _in_order_of_pstats(profile: Profile, sort: str | None) -> Sheet | None:
    """Functions sorted as `pstats` would, if it supports the order."""
    from stepscope.profile.analyses.python_profile import functions_of_prof
    from stepscope.profile.python.prof_file import stats_in
    from stepscope.profile.python.stats import sort_order

    raw = profile.read("prof", profile.ranks[0])
    if sort is None or raw is None:
        return None
    try:
        order = sort_order(sort)
    except UsageError:  # perhaps one of the table's own columns
        return None
    return functions_of_prof(stats_in(raw), order)


def _json(profile: Profile, found: Verdict) -> str:
    import msgspec

    from stepscope.export.as_json import jsonable
    from stepscope.profile.export.export import answers

    whole: dict[str, Any] = {
        "profile": msgspec.to_builtins(profile.meta),
        "headline": msgspec.to_builtins(found.headline.text),
        "step_ns": found.step_ns,
        "advice": msgspec.to_builtins(found.findings),
        "answers": {id: msgspec.to_builtins(answer) for id, answer in answers(profile, profile.ranks[0])},
    }
    return msgspec.json.encode(jsonable(whole)).decode()


def _write(profile: Profile, wanted: Wanted) -> None:
    from stepscope.profile.export.export import export

    quiet = str(wanted.json_file) == "-"
    for kind, path in [*wanted.exports, *([] if wanted.csv is None else [("csv", wanted.csv)])]:
        for rank in profile.ranks:
            place = _made_room(_of_rank(path or _default(kind), rank, profile))
            for made in export(profile, kind, place, rank):
                click.echo(f"wrote {made}", err=quiet)


def _default(kind: str) -> Path:
    names = {"chrome": "trace.json.gz", "speedscope": "profile.speedscope.json", "prof": "profile.prof"}
    return Path(names.get(kind, f"profile-{kind}"))


def _of_rank(path: Path, rank: int, profile: Profile) -> Path:
    if len(profile.ranks) == 1:
        return path
    name, dot, suffix = path.name.partition(".")
    return path.with_name(f"{name}-rank{rank}{dot}{suffix}")
