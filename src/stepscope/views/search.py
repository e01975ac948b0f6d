"""Search over everything: runs, metrics, findings, console output, artifacts, reports and projects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from stepscope.errors import StepscopeError
from stepscope.report.store import Found, read, reports_in
from stepscope.views.context import Context
from stepscope.views.route import route
from stepscope.views.search_index import Deep, Shallow, index_of

MOST = 50
MOST_WORDS = 8
MAX_TEXT = 200
DEEP_RUNS = 300
"""Maximum number of runs searched in depth: the newest of the project."""
DEEP_S = 0.6
MAX_LINE = 240
_SIGNS = re.compile(r"[*_`#>|]+")

HitKind = Literal["run", "metric", "finding", "console", "artifact", "report", "project"]


class SearchRequest(msgspec.Struct):
    text: str
    """Words; a match contains all of them."""
    project: str = ""
    """Only in this project; in all of them if empty."""
    limit: int = 8
    """Maximum matches of each kind."""
    deep: bool = False
    """Also search inside runs: their command, findings, artifacts and console."""


class Hit(msgspec.Struct):
    kind: HitKind
    title: str
    detail: str
    """Where the words were found, or what it is."""
    run: str = ""
    """The run it is in."""
    key: str = ""
    """Its identifier: a metric's key, a finding's id, a report's id, a project."""


class HitGroup(msgspec.Struct):
    kind: HitKind
    hits: list[Hit]
    count: int
    """Total number, shown or not."""


class SearchResult(msgspec.Struct):
    groups: list[HitGroup]
    unread: int = 0
    """Runs not searched for lack of time; repeat the request to continue with them."""


@route("POST", "/api/search")
def search(ctx: Context, request: SearchRequest) -> SearchResult:
    """Everything that contains all words of a text, best first."""
    words = request.text.lower()[:MAX_TEXT].split()[:MOST_WORDS]
    if not words:
        return SearchResult(groups=[])
    limit = min(max(1, request.limit), MOST)
    runs = index_of(ctx).shallow(ctx)
    if request.project:
        runs = [run for run in runs if run.entry.project == request.project]
    found: dict[HitKind, list[tuple[float, Hit]]] = {
        "run": list(_runs(runs, words)),
        "metric": list(_metrics(runs, words)),
        "project": list(_projects(ctx, words)),
        "report": list(_reports(ctx, words)),
    }
    unread = 0
    if request.deep:
        seen = {hit.run for _, hit in found["run"]}
        for run, deep in index_of(ctx).deep(ctx, runs[:DEEP_RUNS], DEEP_S):
            if deep is None:
                unread += 1
                continue
            for score, hit in _inside(run, deep, words):
                if hit.kind != "run" or hit.run not in seen:
                    found.setdefault(hit.kind, []).append((score, hit))
    groups = [_group(kind, hits, limit) for kind, hits in found.items() if hits]
    return SearchResult(groups=sorted(groups, key=lambda group: _RANK[group.kind]), unread=unread)


_RANK: dict[HitKind, int] = {
    "run": 0, "metric": 1, "finding": 2, "report": 3, "artifact": 4, "console": 5, "project": 6,
}  # fmt: skip


def _group(kind: HitKind, hits: list[tuple[float, Hit]], limit: int) -> HitGroup:
    best = sorted(hits, key=lambda one: -one[0])[:limit]  # stable: ties stay newest first
    return HitGroup(kind=kind, hits=[hit for _, hit in best], count=len(hits))


def score_of(text: str, words: Iterable[str]) -> float:
    """How well a lower-case text matches all words: 0 if not; exact, prefix and whole-word matches score higher.

    >>> [score_of("train/loss", [word]) for word in ("train/loss", "train", "loss", "rain", "x")]
    [8.0, 4.0, 3.0, 1.0, 0.0]
    """
    total = 0.0
    for word in words:
        at = text.find(word)
        if at < 0:
            return 0.0
        if len(word) == len(text):
            total += 8
        elif at == 0:
            total += 4
        else:
            total += 1 if text[at - 1].isalnum() else 3
    return total


def _runs(runs: list[Shallow], words: list[str]) -> Iterator[tuple[float, Hit]]:
    for run in runs:
        everything = f"{run.name}\n{run.entry.id.lower()}\n{run.tags}\n{run.notes}\n{run.rest}"
        if not all(word in everything for word in words):
            continue
        score = 4 * score_of(run.name, words) or 1.0
        yield score, Hit("run", run.entry.name, _why(run, words), run=run.entry.id)


def _why(run: Shallow, words: list[str]) -> str:
    """What it is; and where the words are, if not in the name."""
    entry = run.entry
    facts = f"{entry.project} · {entry.status}"
    missing = [word for word in words if word not in run.name]
    if not missing:
        return facts
    word = missing[0]
    if any(word in tag.lower() for tag in entry.tags):
        return f"{facts} · tag {next(tag for tag in entry.tags if word in tag.lower())}"
    if word in entry.id.lower():
        return f"{facts} · {entry.id}"
    if word in run.notes:
        return f"{facts} · {_line(entry.notes, word)}"
    line = next((line for line in run.rest.splitlines() if word in line), "")
    return f"{facts} · {line.replace(' ', ' = ', 1)}"[:MAX_LINE]


def _metrics(runs: list[Shallow], words: list[str]) -> Iterator[tuple[float, Hit]]:
    """Runs of one script share one tuple of names, so ten thousand runs have few of them."""
    users: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], str] = {}
    for run in runs:
        names = run.entry.metrics.names
        users[names] += 1
        first.setdefault(names, run.entry.id)
    count: Counter[str] = Counter()
    newest: dict[str, str] = {}
    for names, many in users.items():
        for name in names:
            if all(word in name.lower() for word in words):
                count[name] += many
                newest.setdefault(name, first[names])
    for name, many in count.items():
        detail = f"metric of {many:,} {'run' if many == 1 else 'runs'}"
        yield score_of(name.lower(), words), Hit("metric", name, detail, run=newest[name], key=name)


def _projects(ctx: Context, words: list[str]) -> Iterator[tuple[float, Hit]]:
    for name in ctx.catalogue.projects():
        score = score_of(name.lower(), words)
        if score:
            yield score, Hit("project", name, "project", key=name)


def _reports(ctx: Context, words: list[str]) -> Iterator[tuple[float, Hit]]:
    for report in reports_in(ctx.catalogue.stores):
        text = _text(report)
        if text and all(word in text.lower() for word in words):
            title = _title(text) or report.id
            yield 1 + 4 * score_of(title.lower(), words), Hit("report", title, _line(text, words[0]), key=report.id)


def _text(report: Found) -> str:
    try:
        return read(report.version())
    except StepscopeError:  # deleted meanwhile, or damaged
        return ""


def _title(text: str) -> str:
    for line in text.splitlines():
        if line.startswith("title:"):
            return line[len("title:") :].strip().strip("\"'")
        if line.startswith("# "):
            return line[2:].strip()
    return ""


def _inside(run: Shallow, deep: Deep, words: list[str]) -> Iterator[tuple[float, Hit]]:
    entry = run.entry
    for text, score in ((deep.error, 0.8), (deep.command, 0.5)):
        if all(word in text.lower() for word in words):
            yield score, Hit("run", entry.name, _around(text, words[0]), run=entry.id)
            break
    seen: Counter[str] = Counter()
    for rule, message, place in deep.findings:
        seen[rule] += 1
        score = score_of(f"{rule} {message} {place}".lower(), words)
        if score:
            detail = " · ".join(part for part in (rule, place, entry.name) if part)
            yield score, Hit("finding", message[:MAX_LINE], detail, run=entry.id, key=f"{rule}:{seen[rule]}")
    for name, version, kind in deep.artifacts:
        score = score_of(f"{name}:v{version}".lower(), words)
        if score:
            detail = f"{kind} · {entry.name}"
            yield score, Hit("artifact", f"{name}:v{version}", detail, run=entry.id, key=f"{name}:{version}")
    for line in reversed(deep.console):
        if all(word in line.lower() for word in words):
            word = max(words, key=len)
            yield 1.0, Hit("console", _around(line, words[0]), entry.name, run=entry.id, key=word)
            break  # one line is enough; the run's console shows the others


def _line(text: str, word: str) -> str:
    """The line of a report or note that contains a word, preferably in prose, without Markdown syntax."""
    prose = text.split("```")[::2]
    lines = [line for part in (*prose, text) for line in part.splitlines() if word in line.lower()]
    return _around(_SIGNS.sub("", lines[0]).strip(), word) if lines else ""


def _around(text: str, word: str) -> str:
    """A long line, cropped around the word."""
    at = max(0, text.lower().find(word) - 60)
    cut = " ".join(text[at : at + MAX_LINE].split())
    return f"…{cut}" if at else cut
