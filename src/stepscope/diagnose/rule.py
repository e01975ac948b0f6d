"""What a rule is: a function of the evidence that yields proofs, with its documentation in its docstring."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.records import Severity

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.record.sites import Place
    from stepscope.records.step import Site

    Where = Place | Site | tuple[str, int] | None
    """A place in the code (code, instruction), a site, or (file, line)."""

__all__ = ["Proof", "Rule", "all_rules", "rule"]


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


Check = Callable[["Evidence"], Iterator[Proof]]


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
_loaded = False

NEEDS = ("steps", "source", "crash", "end", "probe")


def rule(
    id: str, *, severity: Severity = "warning", needs: str = "steps", follows: Sequence[str] = ()
) -> Callable[[Check], Check]:
    """Make a function a rule.

        @rule("opt.no-zero-grad", severity="error")
        def no_zero_grad(run: Evidence) -> Iterator[Proof]: ...

    `needs` says when it is asked: "steps" after the 3rd, 5th, 8th, 12th ... optimizer step, after each epoch and at the
    end; "source" once, when the script has begun to train (or has ended); "crash" when an exception ends the script;
    "end" at the end only; "probe" only by `stepscope check`; "crash, steps" at both. `follows` names rules (or groups,
    `num.*`) whose finding explains this one away: once one of those is found, this rule keeps silent.
    """
    if not set(needs.split(", ")) <= set(NEEDS):
        raise UsageError(f"rule {id} needs {needs!r}; it can be one of {', '.join(NEEDS)}")

    def register(check: Check) -> Check:
        _rules[id] = Rule(id, severity, needs, check, tuple(follows), check.__module__)
        return check

    return register


def all_rules() -> dict[str, Rule]:
    """Every rule by its id: those in the folder, and those of packages with an entry point `stepscope.rules`."""
    global _loaded
    if not _loaded:
        _loaded = True
        import stepscope.diagnose.rules as folder

        for found in pkgutil.walk_packages(folder.__path__, folder.__name__ + "."):
            if not found.ispkg:
                fence.fenced(f"loading the rule {found.name.rpartition('.')[2]}")(importlib.import_module)(found.name)
        for entry in importlib.metadata.entry_points(group="stepscope.rules"):
            fence.fenced(f"loading the rules of {entry.value}")(entry.load)()
    return dict(sorted(_rules.items()))
