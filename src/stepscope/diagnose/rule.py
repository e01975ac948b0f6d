"""What a rule is: a function of the evidence that yields proofs, with its documentation in its docstring."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.records import Severity

if TYPE_CHECKING:
    from stepscope.records.place import Place
    from stepscope.records.step import Site

    Where = Place | Site | tuple[str, int] | None
    """A place in the code (code, instruction), a site, or (file, line)."""

__all__ = ["Proof", "Rule", "all_rules", "rule", "running_rules", "stored_rules"]


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a rule has found: the cause's place, what proves it, what mends it. The engine makes a `Finding` of it."""

    where: Where
    message: str
    fix: str
    evidence: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    """The evidence in a few words; it is written under the expression."""
    related: Sequence[tuple[Where, str]] = ()
    severity: Severity | None = None
    """Instead of the rule's own, where this case is more or less certain."""


Check = Callable[[Any], Iterator[Proof]]
"""Of the `Evidence`; of a `StoredRun` where the rule needs "stored"."""


@dataclass(frozen=True)
class Rule:
    id: str
    severity: Severity
    needs: str
    check: Check
    follows: tuple[str, ...] = ()
    module: str = ""

    @property
    def group(self) -> str:
        return self.id.split(".")[0]

    @property
    def summary(self) -> str:
        return (self.check.__doc__ or "").strip().split("\n")[0]


_rules: dict[str, Rule] = {}
_loaded: set[str] = set()
_sought: set[tuple[Any, ...]] = set()
"""What has been looked for, and in which folders: reading three hundred files again would find nothing new."""
_loading = threading.RLock()
_ENTRY_POINT = "stepscope.rules"

NEEDS = ("steps", "source", "crash", "end", "probe", "stored")


def rule(
    id: str, *, severity: Severity = "warning", needs: str = "steps", follows: Sequence[str] = ()
) -> Callable[[Check], Check]:
    """Make a function a rule.

        @rule("opt.no-zero-grad", severity="error")
        def no_zero_grad(run: Evidence) -> Iterator[Proof]: ...

    `needs` says when it is asked: "steps" after the 3rd, 8th and 20th optimizer step, after each stretch of steps that
    was watched closely and at the end; "source" once, when the script has begun to train (or has ended); "crash" when
    an exception ends the script; "end" at the end only; "probe" only by `stepscope check`; "stored" of a
    run's folder, whenever somebody looks at it; "crash, steps" at both.
    `follows` names rules (or groups, `num.*`) whose finding explains this one away: once one of those is found, this
    rule keeps silent.
    """
    if not set(needs.split(", ")) <= set(NEEDS):
        raise UsageError(f"rule {id} needs {needs!r}; it can be one of {', '.join(NEEDS)}")

    def register(check: Check) -> Check:
        _rules[id] = Rule(id, severity, needs, check, tuple(follows), check.__module__)
        return check

    return register


def all_rules() -> dict[str, Rule]:
    """Every rule by its id: those in the folder, and those of packages with an entry point `stepscope.rules`."""
    _load(_is_any)
    return dict(sorted(_rules.items()))


def running_rules() -> dict[str, Rule]:
    """Those that are asked while a script runs and at its end. Most scripts never need the ones for a crash."""
    _load(_is_for_now)
    return {id: rule for id, rule in sorted(_rules.items()) if rule.needs not in ("crash", "stored")}


def stored_rules() -> dict[str, Rule]:
    """Those for stored runs. Nothing of them needs torch."""
    _load(_is_for_stored)
    return {id: rule for id, rule in sorted(_rules.items()) if rule.needs == "stored"}


def _load(is_wanted: Callable[[str], bool]) -> None:
    import stepscope.diagnose.rules as folder

    sought = (is_wanted, *folder.__path__)
    if sought in _sought:
        return
    with _loading:  # a second thread waits until all are there
        for root in folder.__path__:
            for name, path in _files_in(root, folder.__name__):
                if name not in _loaded and is_wanted(path):
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


def _is_any(path: str) -> bool:
    return True


def _is_for_now(path: str) -> bool:
    """Whether a file has rules that are not only for a crash or for stored runs."""
    text = _text(path)
    return text.count(b"@rule(") != text.count(b'needs="crash"') + text.count(b'needs="stored"')


def _is_for_stored(path: str) -> bool:
    return b'needs="stored"' in _text(path)


def _text(path: str) -> bytes:
    """What is in a rule's file: reading it takes a tenth of importing it."""
    with open(path, "rb") as file:
        return file.read()
