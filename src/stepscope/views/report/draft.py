"""A draft for a report: the interesting facts about some runs, as blocks to edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from stepscope.common.units import duration, listed
from stepscope.errors import NotFound, StepscopeError, UsageError
from stepscope.plain_text import clean
from stepscope.report.text import panel_text
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.selection import ARCHIVED
from stepscope.runs.read.folder import RunFolder
from stepscope.views.charts import PanelInfo, PanelsRequest, panels
from stepscope.views.context import Context
from stepscope.views.panel_order import metrics_in_order
from stepscope.views.profile.profile import ProfilesRequest, profiles
from stepscope.views.report.panel import USUAL_RUNS
from stepscope.views.report.pictures import markdown_text
from stepscope.views.route import route
from stepscope.views.step.model import StepsRequest, steps

MOST_RUNS = 50
MOST_NAMED = 6
MOST_LETTERS = 60
_CHARTS = 4
_COUNTERS = {"epoch", "step", "global_step", "iteration", "batch"}
_MEDIA_KINDS = ("image", "figure")


class DraftRequest(msgspec.Struct):
    runs: list[str] = []
    query: str = ""
    template: str = ""
    title: str = ""


class ReportDraft(msgspec.Struct):
    title: str
    text: str


@dataclass(frozen=True)
class Template:
    """A template."""

    name: str
    title: str
    about: str
    write: Callable[[_About], str]


@dataclass(frozen=True)
class _About:
    """The runs of a draft, and what they have."""

    ctx: Context
    entries: list[RunEntry]
    query: str
    panels: list[PanelInfo] = field(default_factory=list)

    @property
    def folders(self) -> list[RunFolder]:
        found = []
        for entry in self.entries:
            try:
                found.append(self.ctx.runs.get(entry.id))
            except NotFound:
                continue
        return found

    def scalars(self, most: int) -> list[str]:
        """The most important metrics. A counter is drawn only if there is nothing else."""
        goals = {name for entry in self.entries for name in entry.goals}
        found = metrics_in_order(
            (one.key for one in self.panels if one.kind == "scalar" and one.section != "system"), goals
        )
        telling = [key for key in found if key.rpartition("/")[2].lower() not in _COUNTERS]
        return (telling or found)[:most]


@route("POST", "/api/report/draft")
def draft(ctx: Context, request: DraftRequest) -> ReportDraft:
    """A draft about some runs or the runs of a query."""
    return draft_text(ctx, request.runs, request.query, request.template, request.title)


def draft_text(
    ctx: Context, runs: Sequence[str] = (), query: str = "", template: str = "", title: str = ""
) -> ReportDraft:
    """The same, for the command."""
    chosen = next((one for one in TEMPLATES if one.name == (template or "runs")), None)
    if chosen is None:
        names = ", ".join(one.name for one in TEMPLATES)
        raise UsageError(f"there is no template {template[:60]!r}; there are {names}")
    entries = _entries(ctx, runs, query)
    shown = panels(ctx, PanelsRequest(runs=[entry.id for entry in entries])).panels if entries else []
    about = _About(ctx, entries, query.strip(), shown)
    name = title.strip() or _title(about, chosen)
    front = {"title": name, **_binding(about)}
    head = "\n".join(["---", *(f"{key}: {_front_value(value)}" for key, value in front.items()), "---", "", ""])
    return ReportDraft(title=name, text=head + chosen.write(about).strip("\n") + "\n")


def _entries(ctx: Context, runs: Sequence[str], query: str) -> list[RunEntry]:
    if runs:
        every = {entry.id: entry for entry in ctx.catalogue.every()}
        return [every[run] for run in dict.fromkeys(runs) if run in every][:MOST_RUNS]
    if query.strip():
        return [entry for entry in ctx.catalogue.entries(query) if ARCHIVED not in entry.tags][:MOST_RUNS]
    return []


def _binding(about: _About) -> dict[str, str]:
    if about.query:
        most = {"most": str(len(about.entries))} if len(about.entries) > USUAL_RUNS else {}
        return {"query": about.query, **most}
    return {"runs": ", ".join(entry.id for entry in about.entries)} if about.entries else {}


def _front_value(value: str) -> str:
    if value.isdecimal():
        return value
    return panel_text("x", {"a": value}).split("\n")[1].removeprefix("a: ")


def _title(about: _About, chosen: Template) -> str:
    names = [_name(entry) for entry in about.entries]
    if not names:
        return chosen.title
    if len(names) == 1:
        return f"{names[0]}: a report"
    if len(names) == 2:
        return f"{names[0]} against {names[1]}"
    projects = {entry.project for entry in about.entries}
    return f"{clean(projects.pop())}: {len(names)} runs" if len(projects) == 1 else f"{len(names)} runs"


def _name(entry: RunEntry) -> str:
    """A run's name, shortened if necessary."""
    name = clean(entry.name).strip() or entry.id
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"


# -- the parts of a draft ---------------------------------------------------------------------------------------


def _of_runs(about: _About) -> str:
    if not about.entries:
        return _blank(about)
    parts = [_summary(about), _section("Runs", _block("table"))]
    if len(about.entries) == 2:
        parts.append(_section("What changed", _block("changed")))
    parts += [
        _charts(about),
        _findings(about),
        _last_words(about),
        _pictures(about),
        _distributions(about),
        _model(about),
        _profile(about),
    ]
    return "".join(parts)


def _blank(about: _About) -> str:
    key = next(iter(about.scalars(1)), "train/loss")
    return f"Write what you want to tell. A panel is a block like this one:\n\n{_block('chart', key=key)}"


def _ablation(about: _About) -> str:
    keys = about.scalars(_CHARTS)
    key = keys[0] if keys else "val/loss"
    differing = _differing(about)
    group = differing[0] if differing else "lr"
    return "".join(
        [
            "## Question\n\nWhat was left out or changed, and what we expected.\n\n",
            _section("Runs", _block("table")),
            _section("Results", _block("bars", key=key) + "\n" + _block("band", key=key, group=group)),
            _section("What differs", _block("diff")),
            "## Conclusion\n\nWhat we keep.\n",
        ]
    )


def _weekly(about: _About) -> str:
    charts = "\n".join(_block("chart", key=key, smooth="ema:0.6") for key in about.scalars(2))
    return "".join(
        [
            "## This week\n\n- \n\n",
            _section("Runs", _block("table")),
            _section("Curves", charts) if charts else "",
            _findings(about),
            "## Next\n\n- \n",
        ]
    )


def _failure(about: _About) -> str:
    key = next(iter(about.scalars(1)), None)
    return "".join(
        [
            "## What happened\n\n\n",
            _section("Curve", _block("chart", key=key)) if key else "",
            _section("Findings", _block("finding")),
            _section("Last words", _block("console", lines=40)),
            "## What we change\n\n- \n",
        ]
    )


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}\n" if body else ""


def _block(panel: str, **options: Any) -> str:
    return panel_text(panel, {name: value for name, value in options.items() if value not in (None, "")})


def _summary(about: _About) -> str:
    names = [f"**{markdown_text(_name(entry))}**" for entry in about.entries]
    shown = listed(names, MOST_NAMED)
    projects = sorted({entry.project for entry in about.entries})
    where = f" of {markdown_text(projects[0])}" if len(projects) == 1 else ""
    text = f"{len(names)} runs{where}: {shown}." if len(names) > 1 else f"One run{where}: {shown}."
    states = [f"{count} {status}" for status, count in _counted(entry.status for entry in about.entries)]
    if len(names) > 1 and states != [f"{len(names)} finished"]:
        text += f" Of these, {', '.join(states)}."
    elif len(names) == 1:
        text += f" It {_how(about.entries[0])}."
    return text + "\n\n"


def _how(entry: RunEntry) -> str:
    words = {"finished": "finished", "failed": "failed", "running": "is still running"}.get(entry.status, entry.status)
    return f"{words} after {duration(entry.duration_s)}" if entry.status != "running" else words


def _counted(values: Any) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts.items(), key=lambda pair: -pair[1])


def _charts(about: _About) -> str:
    keys = about.scalars(_CHARTS)
    pairs = [keys[at : at + 2] for at in range(0, len(keys), 2)]
    return _section("Curves", "\n".join(_block("chart", key=pair if len(pair) > 1 else pair[0]) for pair in pairs))


def _findings(about: _About) -> str:
    grave = [entry for entry in about.entries if entry.findings]
    if not grave:
        return ""
    runs = ", ".join(entry.id for entry in grave[:5])
    return _section("Findings", _block("finding", runs=None if len(grave) == len(about.entries) else runs))


def _last_words(about: _About) -> str:
    """The last output of a run that ended abnormally."""
    broken = about.entries[0].status in ("failed", "killed", "lost")
    return _section("Last words", _block("console", lines=30)) if len(about.entries) == 1 and broken else ""


def _pictures(about: _About) -> str:
    keys = [one.key for one in about.panels if one.kind in _MEDIA_KINDS][:2]
    return _section("Pictures", "\n".join(_block("image", key=key) for key in keys))


def _distributions(about: _About) -> str:
    keys = [one.key for one in about.panels if one.kind == "histogram"][:1]
    first = about.entries[0].id if len(about.entries) > 1 else None
    return _section("Distributions", "\n".join(_block("distribution", key=key, runs=first) for key in keys))


def _model(about: _About) -> str:
    for entry in about.entries:
        if _has(lambda run=entry.id: bool(steps(about.ctx, StepsRequest(run=run)).steps)):  # type: ignore[misc]
            return _section("Model", _block("graph", runs=entry.id if len(about.entries) > 1 else None))
    return ""


def _profile(about: _About) -> str:
    for entry in about.entries:
        if _has(lambda run=entry.id: bool(profiles(about.ctx, ProfilesRequest(run=run)).profiles)):  # type: ignore[misc]
            return _section("Where the time goes", _block("profile", runs=entry.id if len(about.entries) > 1 else None))
    return ""


def _has(look: Callable[[], bool]) -> bool:
    """An unreadable run has nothing to show."""
    try:
        return look()
    except StepscopeError:
        return False


def _differing(about: _About) -> list[str]:
    """Config keys in which the runs differ."""
    values: dict[str, set[str]] = {}
    for entry in about.entries:
        for key, value in entry.config.items():
            values.setdefault(key, set()).add(repr(value))
    return [key for key, seen in values.items() if len(seen) > 1 and "seed" not in key.lower()]


TEMPLATES = [
    Template("runs", "Report", "Table, curves, findings, pictures, model and profile of the runs", _of_runs),
    Template("blank", "Untitled report", "An empty page with one panel to show how", _blank),
    Template("ablation", "Ablation", "A question, bars and bands by what differs, a conclusion", _ablation),
    Template("weekly", "This week", "Runs, curves and findings of the week", _weekly),
    Template("failure", "What went wrong", "Curve, findings and last words of a run that failed", _failure),
]
