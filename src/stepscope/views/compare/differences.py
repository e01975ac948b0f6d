"""Every recorded difference between two sides, each one run or several: config, findings, code, data, environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope.common.units import counted
from stepscope.diagnose.show import place_of
from stepscope.records import Artifact, ArtifactUse, Finding, GitState
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.lineage import artifacts_of
from stepscope.runs.read.folder import RunFolder
from stepscope.views.compare.code import CodeFile, changed_files
from stepscope.views.compare.facts import Facts, environment_facts, said_value
from stepscope.views.compare.pair import is_broken
from stepscope.views.compare.reasons import Change, config_change, environment_change, package_change

Entries = Sequence[RunEntry]
Folders = Sequence[RunFolder]
MOST_PACKAGES = 40
MOST_VALUES = 3
LONGEST_VALUE = 40
_DATA = {"dataset", "data"}
"""Types of artifacts that a run logs because it trains on them."""


def differences(
    entries: tuple[Entries, Entries],
    folders: tuple[Folders, Folders],
    columns: Sequence[Entries],
    main: str | None,
) -> tuple[list[Change], list[str]]:
    """The differences, likeliest reason first, and in words what is equal. `columns` are all compared columns."""
    same: list[str] = []
    changes = _config(entries, same)
    for change in changes:
        _add_evidence(change, columns, main)
    changes += _findings(folders)
    changes += _code(folders, same)
    changes += _artifacts(folders, same)
    changes += _surroundings(folders, bool(changes), same)
    order = ["finding", "config", "code", "data", "package", "machine", "environment", "command"]
    return sorted(changes, key=lambda change: (-change.score, order.index(change.kind), change.key)), same


# -- config ----------------------------------------------------------------------------------------------------------


def _config(sides: tuple[Entries, Entries], same: list[str]) -> list[Change]:
    keys = list(dict.fromkeys(key for side in sides for entry in side for key in entry.config))
    found = []
    for key in keys:
        raw = [_distinct(entry.config.get(key) for entry in side) for side in sides]
        if set(raw[0]) == set(raw[1]):
            continue
        values = [next(iter(one.values())) if len(one) == 1 else None for one in raw]
        change = config_change(key, (_config_said(raw[0]), _config_said(raw[1])), (values[0], values[1]))
        if set(raw[0]) & set(raw[1]):
            change = Change.of("config", key, (change.a, change.b), change.score - 30, "varies inside the groups too")
        found.append(change)
    alike = len(keys) - len(found)
    if alike:
        same.append(f"{alike} config value{'s' if alike > 1 else ''}")
    return found


def _distinct(values: Iterable[Any]) -> dict[str | None, Any]:
    """The distinct values of a side by their text; None for unset values."""
    return {None if value is None else said_value(value): value for value in values}


def _config_said(values: Mapping[str | None, Any]) -> str | None:
    """Many different numbers by their range, others by the first few."""
    numbers = [value for value in values.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values) > MOST_VALUES:
        return f"{len(numbers)} values from {min(numbers):.4g} to {max(numbers):.4g}"
    return _said(values)


def _said(values: Iterable[str | None]) -> str | None:
    named = list(values)
    if named == [None]:
        return None
    words = [value if value is not None else "not set" for value in named[:MOST_VALUES]]
    return " | ".join(words) + (f" | {len(named) - MOST_VALUES} more" if len(named) > MOST_VALUES else "")


def _add_evidence(change: Change, columns: Sequence[Entries], main: str | None) -> None:
    """Raise a key whose value alone separates the compared runs that succeeded from those that failed."""
    entries = [entry for column in columns for entry in column]
    broken = [entry for entry in entries if is_broken(entry, main)]
    if not 2 <= len(broken) <= len(entries) - 2:
        return
    values: dict[str | None, list[bool]] = {}
    for entry in entries:
        value = entry.config.get(change.key)
        values.setdefault(None if value is None else said_value(value), []).append(is_broken(entry, main))
    if len(values) == len(entries) or any(len(set(ends)) > 1 for ends in values.values()):
        return
    bad = [value if value is not None else "not set" for value, ends in values.items() if ends[0]]
    has = " or ".join(value[:LONGEST_VALUE] for value in bad[:MOST_VALUES])
    words = f"all {len(broken)} that fail have {has}, and none of the {len(entries) - len(broken)} others"
    better = Change.of(change.kind, change.key, (change.a, change.b), max(change.score, 60) + 15, words)
    change.score, change.likely, change.why = better.score, better.likely, better.why


# -- findings, code, data --------------------------------------------------------------------------------------------


def _findings(sides: tuple[Folders, Folders]) -> list[Change]:
    """Findings that occur on one side only."""
    found = [_found(side) for side in sides]
    out = []
    for at, (mine, others) in enumerate(((found[0], found[1]), (found[1], found[0]))):
        for key, (finding, runs) in mine.items():
            if key in others:
                continue
            score = {"error": 97, "warning": 76, "info": 25}[finding.severity] - (0 if at else 30)
            seen = "" if len(sides[at]) == 1 else f" (in {runs} of {len(sides[at])} runs)"
            words = f"{finding.message}{seen}"
            change = Change.of("finding", finding.rule, (None, None), score, words)
            mark = finding.severity
            change.a, change.b = (mark, None) if at == 0 else (None, mark)
            change.place = key[1]
            out.append(change)
    return out


def _found(side: Folders) -> dict[tuple[str, str], tuple[Finding, int]]:
    found: dict[tuple[str, str], tuple[Finding, int]] = {}
    for folder in side:
        root = Path(folder.meta.cwd or "/")
        keys = {(one.rule, place_of(one.file, one.line, root) if one.file else ""): one for one in folder.findings}
        for key, one in keys.items():
            found[key] = (one, found[key][1] + 1 if key in found else 1)
    return found


def _code(sides: tuple[Folders, Folders], same: list[str]) -> list[Change]:
    if not sides[0] or not sides[1]:
        return []
    states = [[folder.meta.git for folder in side] for side in sides]
    commits = [list(dict.fromkeys(git.commit for git in side if git)) for side in states]
    if not commits[0] or not commits[1]:
        return []
    out = []
    if set(commits[0]) != set(commits[1]):
        short = [" | ".join(commit[:10] for commit in side[:MOST_VALUES]) for side in commits]
        out.append(Change.of("code", "commit", (short[0], short[1]), 58, "other committed code"))
    else:
        same.append(f"commit {commits[0][0][:10]}")
    return out + _uncommitted(sides, states[0][0], states[1][0], same)


def _uncommitted(
    sides: tuple[Folders, Folders], a: GitState | None, b: GitState | None, same: list[str]
) -> list[Change]:
    script = Path(sides[1][0].meta.script or "").name
    files = [file for file in changed_files(a, b) if not file.same]
    out = [_file_change(file, script) for file in files]
    if not files and a is not None and b is not None and (a.dirty or b.dirty):
        same.append("uncommitted changes")
    return out


def _file_change(file: CodeFile, script: str) -> Change:
    score = 70 if file.path.endswith((".py", ".yaml", ".yml", ".json", ".toml")) else 30
    why = "uncommitted changes"
    if not script or Path(file.path).name == script:
        score += 6
        why = "the script itself" if script else why
    return Change.of("code", file.path or "diff", (_changed_lines(file, 0), _changed_lines(file, 1)), score, why)


def _changed_lines(file: CodeFile, side: int) -> str:
    count = sum(1 for line in _side(file.lines, side) if line[:1] in "+-")
    return counted(count, "changed line") if count else "unchanged"


def _side(lines: Iterable[Any], at: int) -> list[str]:
    texts = [(line.a, line.b)[at] for line in lines if line.kind == "differs"]
    return [text for text in texts if text]


def _artifacts(sides: tuple[Folders, Folders], same: list[str]) -> list[Change]:
    """Input data and models. Outputs follow from the run and explain nothing."""
    inputs = [_inputs(side) for side in sides]
    out = []
    for name, kind in dict.fromkeys([*inputs[0], *inputs[1]]):
        left, right = (side.get((name, kind), {}) for side in inputs)
        if set(left) == set(right):
            same.append(f"{kind} {name}")
            continue
        words = [_said(side.values()) if side else None for side in (left, right)]
        out.append(Change.of("data", name, (words[0], words[1]), 70 if left and right else 45, f"a {kind}"))
    return out


def _inputs(side: Folders) -> dict[tuple[str, str], dict[str, str]]:
    """By name and type the contents that a side used, or logged as its data: their version by their digest."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for folder in side:
        both = artifacts_of(folder)
        inputs: list[Artifact | ArtifactUse] = [*both.used, *(one for one in both.logged if one.type in _DATA)]
        for one in inputs:
            found.setdefault((one.name, one.type), {})[one.digest] = f"v{one.version} ({one.digest[:8]})"
    return found


# -- environment -----------------------------------------------------------------------------------------------------


def _surroundings(sides: tuple[Folders, Folders], explained: bool, same: list[str]) -> list[Change]:
    facts = [[environment_facts(folder.meta) for folder in side] for side in sides]
    if not facts[0] or not facts[1]:
        return []

    def differing(section: str) -> list[tuple[str, str | None, str | None]]:
        return _section_changes([[one[section] for one in side] for side in facts])

    found = sorted((package_change(*one) for one in differing("Packages")), key=lambda change: -change.score)
    out = found[:MOST_PACKAGES]
    if not found and facts[0][0]["Packages"]:
        same.append(f"{len(facts[0][0]['Packages'])} packages")
    for section in ("Machine", "Environment"):
        out += [environment_change(section, *one) for one in differing(section)]
    score = 8 if explained else 35  # a flag that became a config value is already listed there
    commands = [(a, b) for name, a, b in differing("Code") if name == "command"]
    return out + [Change.of("command", "command", both, score, "how it was started") for both in commands]


def _section_changes(sides: Sequence[Sequence[Facts]]) -> list[tuple[str, str | None, str | None]]:
    """The keys whose values differ between the sides; values that vary inside a side do not count."""
    out = []
    for key in dict.fromkeys(key for side in sides for facts in side for key in facts):
        a, b = (dict.fromkeys(facts.get(key) for facts in side) for side in sides)
        if not set(a) & set(b):
            out.append((key, _said(a), _said(b)))
    return out
