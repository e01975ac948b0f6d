"""What a rule is: a pure function that yields proofs, with its documentation in its docstring.

It is asked of the evidence of a training, of the folder of a run, or of a profile; `needs` says of which, and when.
"""

from __future__ import annotations

import fnmatch
import importlib
import importlib.metadata
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.records import Finding, Related, Severity
from stepscope.records.place import Place
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.edits import Plan

    Where = Place | Site | tuple[str, int] | None
    """A place in the code (code, instruction), a site, or (file, line)."""

Device = Literal["any", "gpu", "cuda", "cpu"]


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a rule has found: the cause's place, what proves it, what fixes it. The engine makes a `Finding` of it."""

    where: Where
    message: str
    fix: str
    evidence: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    """The evidence in a few words; it is written under the expression."""
    related: Sequence[tuple[Where, str]] = ()
    severity: Severity | None = None
    """Instead of the rule's own, where this case is more or less certain."""
    edit: Plan | None = None
    """The fix as a change of text (`diagnose.edits`), where the evidence leaves no doubt about it."""
    trials: Sequence[tuple[str, Plan]] = ()
    """Edits among which only a trial can choose, each with what it tries: ("lr=0.01", ...)."""


Check = Callable[[Any], Iterator[Proof]]
"""Of the `Evidence`; of a `StoredRun` where the rule needs "stored" or "curves", of a `Measured` for "profile"."""


@dataclass(frozen=True)
class Rule:
    id: str
    severity: Severity
    needs: str
    check: Check
    follows: tuple[str, ...] = ()
    module: str = ""
    device: Device = "any"

    @property
    def group(self) -> str:
        return self.id.split(".")[0]

    def follows_any(self, found: Iterable[str]) -> bool:
        """Whether a finding of one of these rules explains this one away."""
        return any(explains(other, pattern) for pattern in self.follows for other in found)

    @property
    def summary(self) -> str:
        return (self.check.__doc__ or "").strip().split("\n")[0]


_rules: dict[str, Rule] = {}
_symptoms: set[str] = set()
"""Rules that a group (`num.*`) does not stand for."""
_loaded: set[str] = set()
_sought: set[tuple[str, ...]] = set()
"""What has been looked for, and in which folders: reading three hundred files again would find nothing new."""
_loading = threading.RLock()
_ENTRY_POINT = "stepscope.rules"

FOLDERS = ("stepscope.diagnose.rules", "stepscope.profile.advice.rules")
"""A file dropped into a group's folder of one of these is a rule. The second has those that read profiles."""
RUNNING = ("steps", "source", "end", "probe")
CRASHED = ("crash", "unexplained")
NEEDS = (*RUNNING, *CRASHED, "curves", "stored", "profile")
DEVICES = ("any", "gpu", "cuda", "cpu")
_NEEDS_GIVEN = re.compile(rb'needs="([a-z, ]+)"')


def rule(
    id: str,
    *,
    severity: Severity = "warning",
    needs: str = "steps",
    follows: Sequence[str] = (),
    device: Device = "any",
    is_symptom: bool = False,
) -> Callable[[Check], Check]:
    """Make a function a rule.

        @rule("opt.no-zero-grad", severity="error")
        def no_zero_grad(run: Evidence) -> Iterator[Proof]: ...

    `needs` says when it is asked: "steps" after the 3rd, 8th and 20th optimizer step, after each stretch of steps that
    was watched in detail and at the end; "source" once, when the script has begun to train (or has ended); "crash" when
    an exception ends the script, "unexplained" after that, when no error was found; "end" at the end only; "probe" only
    by `stepscope check`; "curves" of what `stepscope run` has recorded, at its end; "stored" of a run's folder,
    whenever somebody looks at it; "profile" of what a profile has measured; "crash, steps" at both.
    `follows` names rules (or groups, `num.*`) whose finding explains this one away: once one of those is found, this
    rule keeps silent. `is_symptom` is for rules that report an effect of many causes: a group does not include them, so
    they never hide a cause. `device` is for rules that need "profile": "gpu" is asked only when work ran on an
    accelerator, "cuda" on NVIDIA's, "cpu" when none did.
    """
    if not set(needs.split(", ")) <= set(NEEDS):
        raise UsageError(f"rule {id} needs {needs!r}; it can be one of {', '.join(NEEDS)}")
    if device not in DEVICES:
        raise UsageError(f"rule {id} is for the device {device!r}; it can be one of {', '.join(DEVICES)}")

    def register(check: Check) -> Check:
        if is_symptom:
            _symptoms.add(id)
        _rules[id] = Rule(id, severity, needs, check, tuple(follows), check.__module__, device)
        return check

    return register


def explains(found: str, pattern: str) -> bool:
    """Whether a rule's finding is meant by a pattern of `follows`: its id, or a group it is a cause in."""
    return found == pattern or (found not in _symptoms and fnmatch.fnmatchcase(found, pattern))


def is_about_a_crash(id: str) -> bool:
    """Whether a rule, which has been asked, explains the exception that ended a script."""
    return id in _rules and _rules[id].needs in ("crash", "unexplained")


def all_rules() -> dict[str, Rule]:
    """Every rule by its id: those in the folders, and those of packages with an entry point `stepscope.rules`."""
    return rules_for(*NEEDS)


def running_rules() -> dict[str, Rule]:
    """Those that are asked while a script runs and at its end. Most scripts never need the ones for a crash."""
    return rules_for(*RUNNING)


def rules_for(*needs: str) -> dict[str, Rule]:
    """The rules that need one of these; only their files are imported."""
    _load(needs)
    wanted = set(needs)
    return {id: rule for id, rule in sorted(_rules.items()) if wanted.intersection(rule.needs.split(", "))}


def _load(needs: tuple[str, ...]) -> None:
    roots = [(package, root) for package in FOLDERS for root in importlib.import_module(package).__path__]
    sought = (*needs, *(root for _, root in roots))
    if sought in _sought:
        return
    with _loading:  # a second thread waits until all are there
        for package, root in roots:
            for name, path in _files_in(root, package):
                if name not in _loaded and _needed_in(path).intersection(needs):
                    fence.fenced(f"loading the rule {name.rpartition('.')[2]}")(importlib.import_module)(name)
                    _loaded.add(name)
        for entry in importlib.metadata.entry_points(group=_ENTRY_POINT):
            if entry.value not in _loaded:
                fence.fenced(f"loading the rules of {entry.value}")(_load_other)(entry)
                _loaded.add(entry.value)
        _sought.add(sought)


def _load_other(entry: importlib.metadata.EntryPoint) -> None:
    try:
        entry.load()
    except ModuleNotFoundError as error:
        if error.name != "torch":  # rules that watch a training, on a machine that only shows runs
            raise


def _files_in(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """Each rule's module and file."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name.isidentifier() and not entry.name.startswith("_"):
                yield from _files_in(entry.path, f"{package}.{entry.name}")
        elif entry.name.endswith(".py") and not entry.name.startswith("_"):
            yield f"{package}.{entry.name[:-3]}", entry.path


def _needed_in(path: str) -> set[str]:
    """What the rules of a file need, from its text: reading it takes a tenth of importing it."""
    with open(path, "rb") as file:
        text = file.read()
    given = _NEEDS_GIVEN.findall(text)
    unsaid = {"steps"} if text.count(b"@rule(") > len(given) else set()
    return {need for one in given for need in one.decode().split(", ")} | unsaid


def finding_of(rule: str, severity: Severity, proof: Proof, step: int | None = None) -> Finding:
    """The finding a proof makes."""
    site = site_of(proof.where)
    related = [(site_of(where), label) for where, label in proof.related]
    same_line = site is not None and site.end_line in (None, site.line)
    return Finding(
        rule=rule,
        severity=proof.severity or severity,
        message=proof.message,
        file=None if site is None else os.path.abspath(site.file),
        line=None if site is None else site.line,
        column=None if site is None else site.column,
        end_column=site.end_column if site is not None and same_line else None,
        function="" if site is None else site.function,
        evidence=proof.evidence,
        label=proof.label,
        fix=proof.fix,
        step=step,
        related=[
            Related(file=os.path.abspath(place.file), line=place.line, label=label)
            for place, label in related
            if place is not None
        ],
    )


def site_of(where: Any) -> Site | None:
    """A place, a site or (file, line) as a site."""
    if isinstance(where, Place):
        return where.site
    return where if where is None or isinstance(where, Site) else Site(file=where[0], line=where[1])
