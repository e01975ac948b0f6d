"""Which rules speak, and how loudly: `[tool.stepscope]` in pyproject.toml, then the command line, then comments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from stepscope.diagnose.comments import Silenced, read_comments
from stepscope.diagnose.excerpt import lines_of
from stepscope.diagnose.patterns import check_patterns, closeness, split_patterns
from stepscope.diagnose.pyproject import FileSettings, find_settings
from stepscope.records import Finding, Severity


@dataclass(frozen=True)
class Settings:
    """What was asked for, in the file and on the command line."""

    file: FileSettings = field(default_factory=FileSettings)
    select: tuple[str, ...] = ()
    """From the command line; the file's own are in `file`."""
    ignore: tuple[str, ...] = ()
    strict: bool = False
    project: str | None = None
    dir: str | None = None
    _comments: dict[str, Silenced] = field(default_factory=dict, repr=False, compare=False)

    def is_wanted(self, rule: str) -> bool:
        """Whether a rule is asked for at all.

        The command line goes before the file, and a precise name before a wide one: `--select opt.no-zero-grad`
        brings back one rule of a group that the file ignores.
        """
        refused = closeness(self.ignore, rule)
        if refused >= 0 and refused >= closeness(self.select, rule):
            return False
        chosen = self.select or self.file.select or ("all",)
        return closeness(chosen, rule) > self._refused_by_file(rule)

    def is_silenced(self, finding: Finding) -> bool:
        """Whether the user has said that they do not want this one: by rule, by file, or by a comment at its place."""
        if not self.is_wanted(finding.rule):
            return True
        places = [(finding.file, finding.line), *((one.file, one.line) for one in finding.related)]
        if finding.file and closeness(self._ignored_in(finding.file), finding.rule) >= 0:
            return True
        return any(file and self._silenced(file).covers(finding.rule, line) for file, line in places)

    def with_severity(self, finding: Finding) -> Finding:
        """The finding at the severity the user gave its rule."""
        level = self._level(finding.rule)
        if level in (None, "off", finding.severity):
            return finding
        return replace(finding, severity=cast(Severity, level))

    def mistaken_comments(self, files: Sequence[str]) -> Iterator[str]:
        """Comments of these files that silence nothing because they name no rule."""
        for file in files:
            for line, words in self._silenced(file).mistakes():
                yield f"{file}:{line}: {words}"

    def _refused_by_file(self, rule: str) -> int:
        """How precisely the file turns a rule off; -1 when it does not."""
        off = closeness(self.file.severity, rule) if self._level(rule) == "off" else -1
        return max(off, closeness(self.file.ignore, rule))

    def _level(self, rule: str) -> str | None:
        best = max(self.file.severity, key=lambda pattern: closeness([pattern], rule), default="")
        return self.file.severity[best] if best and closeness([best], rule) >= 0 else None

    def _ignored_in(self, file: str) -> Iterator[str]:
        for pattern, rules in self.file.per_file_ignores.items():
            if _is_file(pattern, file, self.file.folder):
                yield from rules

    def _silenced(self, file: str) -> Silenced:
        known = self._comments.get(file)
        if known is None:
            known = self._comments[file] = read_comments(lines_of(file))
        return known


def _is_file(pattern: str, file: str, folder: Path | None) -> bool:
    """Whether a path fits a pattern, as seen from the settings' folder or by its name alone."""
    seen = os.path.relpath(file, folder) if folder is not None and os.path.isabs(file) else file
    path = seen.replace(os.sep, "/")
    wanted = pattern.removeprefix("./")
    fits = (wanted, f"{wanted.rstrip('/')}/*")
    return any(fnmatchcase(path, one) for one in fits) or fnmatchcase(Path(file).name, wanted)


def load_settings(
    script: str | os.PathLike[str] | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    strict: bool | None = None,
    project: str | None = None,
    dir: str | None = None,
) -> Settings:
    """The settings for a script: those of the nearest pyproject.toml that has any, under those given here."""
    file = find_settings(Path(script).absolute().parent if script is not None else Path.cwd())
    chosen, refused = split_patterns(select), split_patterns(ignore)
    check_patterns(chosen, "--select")
    check_patterns(refused, "--ignore")
    where = str(file.path) if file.path else "pyproject.toml"
    lists: Mapping[str, Sequence[str]] = {
        "select": file.select,
        "ignore": file.ignore,
        "severity": [*file.severity],
        "per-file-ignores": [one for rules in file.per_file_ignores.values() for one in rules],
    }
    for name, patterns in lists.items():
        check_patterns(patterns, f"{where}, {name}")
    return Settings(
        file=file,
        select=chosen,
        ignore=refused,
        strict=file.strict if strict is None else strict,
        project=project if project is not None else file.project,
        dir=dir if dir is not None else file.dir,
    )
