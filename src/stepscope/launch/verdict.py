"""The verdict of `stepscope check`: what was tried, what passed, what is suspicious, what could not be checked and why.

The questions are those a careful person asks by hand before a long training; each is answered by the rules that know.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from stepscope.launch.reporting import counted
from stepscope.records import Finding

if TYPE_CHECKING:
    from stepscope.launch.session import Session

__all__ = ["Answer", "answers", "verdict"]

# what must have been seen -> how to say that it was not
_UNSEEN = {
    "steps": "no optimizer step was seen",
    "loader": "the script uses no DataLoader",
    "evaluation": "nothing ran without gradients",
    "trail": "single operations were not followed",
}

# (question, rules that answer it, what must have been seen)
_RECIPE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("shapes, types and indices fit, on first and last batches", ("shape.*", "dtype.*", "index.*", "api.*"), ()),
    ("every tensor goes to the chosen device", ("device.*",), ("trail",)),
    ("the loss starts where chance would put it", ("init.*",), ("steps",)),
    ("the loss fits the output it is given", ("loss.*", "model.output*", "model.final*"), ("trail",)),
    ("one batch can be learnt by heart", ("*overfit*",), ("steps",)),
    ("samples of a batch do not mix", ("math.*",), ("trail",)),
    (
        "gradients reach all that should learn",
        ("grad.*", "opt.missing-params", "opt.stale-params", "model.*"),
        ("steps",),
    ),
    ("gradients are cleared, steps are taken, in the right order", ("opt.*",), ("steps",)),
    ("evaluation gives the same answer twice", ("mode.*",), ("evaluation",)),
    ("inputs are finite, scaled and in a sound order", ("data.*",), ("loader",)),
    (
        "training and evaluation data are apart",
        ("data.test-in-train", "data.overlap*", "data.target*"),
        ("evaluation",),
    ),
    ("all numbers stay finite", ("num.*",), ("steps",)),
    ("metrics measure what they say", ("metric.*", "eval.*"), ("evaluation",)),
    ("memory and random numbers are in order", ("mem.*", "perf.*", "repro.*"), ("steps",)),
)


@dataclass(frozen=True)
class Answer:
    """One question of the recipe, answered."""

    question: str
    state: str
    """passed, suspicious or not checked"""
    said: str = ""


def answers(session: Session) -> list[Answer]:
    """All questions, in the order a person would ask them; a finding counts for the first it answers."""
    left = [one for one in session.reporter.findings if one.severity != "info"]
    engine = session.engine
    known = [] if engine is None else [rule.id for rule in engine.rules]
    unchecked = {} if engine is None else dict(engine.evidence.not_checked)
    seen = _seen(session)
    given: list[Answer] = []
    for question, patterns, needs in _RECIPE:
        found = [one for one in left if _fits(one.rule, patterns)]
        left = [one for one in left if one not in found]
        if found:
            given.append(Answer(question, "suspicious", ", ".join(dict.fromkeys(one.rule for one in found))))
            continue
        asked = [rule for rule in known if _fits(rule, patterns)]
        missing = [need for need in needs if need not in seen]
        if not asked:
            given.append(Answer(question, "not checked", "no rule that answers it was asked"))
        elif missing:
            given.append(Answer(question, "not checked", _UNSEEN[missing[0]]))
        else:
            reasons = [why for rule, why in unchecked.items() if rule in asked or _fits(rule, patterns)]
            part = f"but not all of it: {reasons[0]}" if reasons else ""
            given.append(Answer(question, "passed", part))
    if left:
        given.append(Answer("anything else", "suspicious", ", ".join(dict.fromkeys(one.rule for one in left))))
    return given


def _fits(rule: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


def _seen(session: Session) -> set[str]:
    seen = set()
    if session.loop.steps:
        seen.add("steps")
    if session.loop.batches:
        seen.add("loader")
    watcher = session.watcher
    if watcher is not None:
        if watcher.trail.closed is None:
            seen.add("trail")
        if any(not visit.grad for visit in watcher.visits.roots):
            seen.add("evaluation")
    return seen


def verdict(session: Session, crashed: bool = False) -> str:
    """The whole verdict as text."""
    given = answers(session)
    lines = [f"stepscope check {session.script.name}: {_headline(session.reporter.findings, crashed)}"]
    lines.append(f"  tried        {_tried(session)}")
    for state in ("passed", "suspicious", "not checked"):
        for number, answer in enumerate(one for one in given if one.state == state):
            head = state if number == 0 else ""
            lines.append(f"  {head:<12} {answer.question}{f' ({answer.said})' if answer.said else ''}")
    hidden = [one for one in session.reporter.findings if one.severity == "info"]
    if hidden:
        names = ", ".join(dict.fromkeys(one.rule for one in hidden))
        lines.append(f"  hints        {names}; stepscope explain RULE tells more")
    return "\n".join(lines)


def _headline(findings: list[Finding], crashed: bool) -> str:
    shown = [one for one in findings if one.severity != "info"]
    if crashed:
        return f"it does not run; {counted(shown)}" if shown else "it does not run"
    return counted(shown) if shown else "nothing suspicious was found"


def _tried(session: Session) -> str:
    loop = session.loop
    parts = [_count(loop.steps, "training step")]
    if session.limiter.epochs:
        parts.append(_count(session.limiter.epochs, "epoch"))
    if loop.batches:
        parts.append(f"{_count(loop.batches, 'batch', 'batches')} of {_count(_loaders(session), 'loader')}")
    ended = f"; ended {session.limiter.stopped}" if session.limiter.stopped else "; the script came to its end"
    return ", ".join(parts) + ended


def _loaders(session: Session) -> int:
    watcher = session.watcher
    return 0 if watcher is None else sum(1 for loader in watcher.loaders.all if loader.epochs)


def _count(number: int, noun: str, many: str | None = None) -> str:
    return f"{number} {noun if number == 1 else many or noun + 's'}"
