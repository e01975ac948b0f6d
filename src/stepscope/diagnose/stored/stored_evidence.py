"""The evidence that the processes of a run have kept, and what the rules of today find in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.errors import StepscopeError
from stepscope.evidence.bundle import FOLDER, MOST_BYTES, Bundle, unpack
from stepscope.files.opening import read_file

if TYPE_CHECKING:
    from stepscope.diagnose.settings import Settings
    from stepscope.records import Finding

_MOST_FILES = 64


@dataclass
class AskedAgain:
    """What came of asking all rules again."""

    findings: list[Finding] = field(default_factory=list)
    rules: int = 0
    """How many were asked; 0 for a run that has kept nothing."""
    not_seen: dict[str, str] = field(default_factory=dict)
    """Rules that could not be asked, and the table of evidence that this run does not have."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read."""


def kept_evidence(run: Path, problems: list[str] | None = None) -> list[Bundle]:
    """The last of each rank, rank 0 first; after each, that of the processes which the script started there itself."""
    newest: dict[int, list[str]] = {}
    try:
        names = sorted(path.name for path in (run / FOLDER).iterdir() if path.suffix == ".gz")
    except OSError:
        return []
    for name in names:  # each begins with the rank; the ids that follow are in the order of time
        rank, *rest = name.split(".")
        if rank.isdecimal() and len(rest) > 1:
            last = newest.setdefault(int(rank), [])
            if last and not last[0].startswith(f"{rank}.{rest[0]}."):  # of an earlier attempt
                last.clear()
            last.append(name)
    chosen = [name for _, names in sorted(newest.items()) for name in sorted(names, key=_own_first)]
    found: list[Bundle] = []
    for path in [run / FOLDER / name for name in chosen[:_MOST_FILES]]:
        try:
            found.append(unpack(read_file(path, MOST_BYTES, within=run)))
        except (OSError, StepscopeError) as fault:
            if problems is not None:
                problems.append(f"{path.name}: {fault} (a new `stepscope run` of the script keeps it again)")
    return found


def _own_first(name: str) -> tuple[int, str]:
    """`0.ID.gz` is that of the script itself, `0.ID.ID.gz` that of a process it started."""
    return name.count("."), name


def ask_kept(run: Path, settings: Settings | None = None) -> AskedAgain:
    """Ask every rule of what each rank has kept; a finding of several ranks is one."""
    from stepscope.diagnose.rediagnose import asked_again, found_together

    result = AskedAgain()
    engines = []
    for bundle in kept_evidence(run, result.problems):
        if bundle.left_out:
            result.problems.append(f"what rank {bundle.rank} saw was not kept: {bundle.left_out}")
            continue
        engine = fence.call("asking the rules again", asked_again, bundle, settings)
        if engine is None:
            continue
        result.rules = max(result.rules, len(engine.rules) - len(engine.not_seen))
        result.not_seen.update(engine.not_seen)
        engines.append(engine)
    result.findings = found_together(engines)
    return result
