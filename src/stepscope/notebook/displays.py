"""Rich displays of Stepscope's objects in notebooks, registered with IPython by type name: nothing is imported.

Tables, steps, graphs and series have their own; here are those of records and stored objects.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.common.units import duration, number
from stepscope.notebook.parts import SEVERITY, STATUS, box, pill, safe, soft, table

if TYPE_CHECKING:
    from stepscope.inspect.diff import Diff
    from stepscope.inspect.graph.graph import Graph
    from stepscope.profile.advice.verdict import Verdict
    from stepscope.profile.collect.api import Profiler
    from stepscope.profile.profile import Profile
    from stepscope.records import Finding
    from stepscope.records.profile import ProfileDiff, Sheet, StepParts
    from stepscope.records.verdict import ScriptVerdict
    from stepscope.runs.catalogue.run_list import RunList
    from stepscope.runs.points.series import Series
    from stepscope.runs.read.folder import RunFolder
    from stepscope.track.run import Run

MOST_ROWS = 50
_CELL = re.compile(r"\S*ipykernel_\d+[/\\]\d+\.py:(\d+)")
MOST_LINES = 20
"""Maximum rows of a profile's table."""
MOST_PICTURE = 200_000
"""Maximum size of a drawing that is stored beside its frame."""


def install(shell: Any) -> None:
    """Register the displays with the shell; idempotent."""
    html = shell.display_formatter.formatters["text/html"]
    text = shell.display_formatter.formatters["text/plain"]
    for (module, name), show in HTML.items():
        html.for_type_by_name(module, name, show)
    for (module, name), write in TEXT.items():
        text.for_type_by_name(module, name, write)


@fence.fenced("preparing displays")
def install_here() -> None:
    """The same for the current shell, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        install(shell)


def remove(shell: Any) -> None:
    """Unregister them."""
    for kind, known in (("text/html", HTML), ("text/plain", TEXT)):
        formatter = shell.display_formatter.formatters[kind]
        for key in known:
            formatter.deferred_printers.pop(key, None)
        for one in [one for one in formatter.type_printers if (one.__module__, one.__name__) in known]:
            formatter.type_printers.pop(one, None)


# -- runs ------------------------------------------------------------------------------------------------------------


def run_folder(run: RunFolder) -> str:
    from stepscope.notebook.panel_html import panel_html
    from stepscope.notebook.run_overview import glance

    run.refresh()
    return panel_html(glance(run), source=True)


def open_run(run: Run) -> str:
    """A script's or cell's run: as its folder has it; without one, its own description."""
    if run.path is None:
        return run._repr_html_()
    from stepscope.runs.read.folder import RunFolder

    return run_folder(RunFolder(run.path))


def run_list(runs: RunList) -> str:
    from stepscope.runs.catalogue.columns import default_columns, run_columns
    from stepscope.runs.query.query import parse_field

    shown = runs.entries[:MOST_ROWS]
    names = default_columns(run_columns(shown), shown)[:8] if shown else []
    fields = [parse_field(name) for name in names]
    heads = ["run", "status", "took", *(safe(name.removeprefix("config."), 40) for name in names), "", "findings"]
    rows = [
        [
            f'<b title="{safe(one.id)}">{safe(one.name, 60)}</b> {soft(safe(one.project, 40))}',
            pill(one.status, STATUS[one.status]),
            duration(one.duration_s),
            *(_cell(one.value(field)) for field in fields),
            _spark(one.spark),
            f'<span style="color:{SEVERITY["warning"]}">{one.findings}</span>' if one.findings else "",
        ]
        for one in shown
    ]
    more = soft(f"{len(shown)} of {len(runs)} runs") if len(runs) > len(shown) else ""
    right = [False, False, True, *(True for _ in names), False, True]
    head = f"<div><b>{len(runs)} run{'' if len(runs) == 1 else 's'}</b></div>"
    return box(head, table(heads, rows, right) if rows else "", more)


def _cell(value: Any) -> str:
    return safe(number(value) if value is None or isinstance(value, (bool, int, float)) else value, 40)


def _spark(values: list[float | None]) -> str:
    from stepscope.notebook.chart import spark_html

    return spark_html(values)


def framed(thing: Any) -> str:
    """Objects with their own table or drawing, in the common frame."""
    return box(thing._repr_html_())


def graph(found: Graph) -> str:
    """The viewer in a frame; below it the same as an image, for untrusted notebooks."""
    from stepscope.notebook.chart import image

    drawn = found.svg()
    picture = image(drawn, repr(found)) if len(drawn) < MOST_PICTURE else soft("too large for an image in a notebook")
    return f"{found._repr_html_()}<details><summary>{soft('as a picture')}</summary>{picture}</details>"


def series(one: Series) -> str:
    from stepscope.notebook.chart import WIDE, chart_html
    from stepscope.notebook.run_overview import line_of

    if not len(one):
        return box(f"<b>{safe(one.name)}</b> {soft('no points')}")
    return box(
        f"<div><b>{safe(one.name)}</b> {soft(safe(one._in_words()))}</div>", chart_html("", [line_of("", one)], WIDE)
    )


# -- findings --------------------------------------------------------------------------------------------------------


def finding(one: Finding) -> str:
    from stepscope.notebook.panel_html import finding_html

    return box(finding_html(one, source=True, top=0))


def finding_text(one: Finding, printer: Any, cycle: bool) -> None:
    from stepscope.diagnose.show import render

    printer.text(render(one, color=False, width=100, root=Path.cwd()))


# -- checks ----------------------------------------------------------------------------------------------------------


def checked(judged: ScriptVerdict) -> str:
    """The verdict of a check: a headline, and every question with its answer."""
    colours = {"passed": STATUS["finished"], "suspicious": SEVERITY["error"], "not checked": STATUS["stopped"]}
    colours |= {"failed": SEVERITY["error"], "running": STATUS["running"]}
    state = f"<div>{pill(judged.verdict, colours[judged.verdict])}&ensp;<b>{safe(judged.headline)}</b></div>"
    rows = []
    for wanted in ("suspicious", "passed", "not checked"):
        for one in judged.answers:
            if one.state == wanted:
                mark = f'<span style="color:{colours[wanted]};white-space:nowrap">{wanted}</span>'
                rows.append([mark, safe(one.question), soft(safe(one.said))])
    return box(state, f"<div>{soft(safe(judged.tried))}</div>", table(["", "", ""], rows, [False] * 3, head=False))


def checked_words(judged: ScriptVerdict, printer: Any, cycle: bool) -> None:
    from stepscope.launch.verdict import verdict_text

    printer.text(verdict_text(judged, "of this cell", []))


# -- profiles --------------------------------------------------------------------------------------------------------


def verdict(found: Verdict) -> str:
    from stepscope.notebook.panel_html import place, rule_name
    from stepscope.profile.advice.verdict import gain_in_words

    lines = []
    for at, one in enumerate(found.findings[:8], 1):
        gain = gain_in_words(one.evidence, found.step_ns)
        where = soft(safe(place(one)))
        lines.append(
            f'<div style="margin-top:6px">{at}. {safe(one.message)} {where}<br>'
            f"&emsp;{safe(one.fix)}{': ' + safe(gain) if gain else ''} {soft(rule_name(one.rule))}</div>"
        )
    notes = "".join(f"<div>{soft(safe(note))}</div>" for note in found.notes)
    return box(f"<b>{safe(found.headline.text)}</b>", *lines, notes)


def profile(found: Profile) -> str:
    from stepscope.profile.advice.verdict import verdict as judge

    phases = found.phases(found.ranks[0])
    told = f"{found.meta.kind} profile, steps {found.meta.first_step} to {found.meta.last_step}"
    head = f"<div>{soft(safe(told))}</div>"
    return head + (step_parts(phases) if phases is not None else "") + verdict(judge(found, found.ranks[0]))


def profiler(found: Profiler) -> str:
    if not found.profiles:
        return box(soft("nothing is recorded yet"))
    return verdict(found.verdict())


def sheet(found: Sheet) -> str:
    from stepscope.profile.show import cell_text

    places = [at for at, column in enumerate(found.columns) if not column.hidden]
    columns = [found.columns[at] for at in places]
    right = [column.unit not in ("text", "line", "flag") for column in columns]
    heads = [f'<span title="{safe(column.help)}">{safe(column.label)}</span>' for column in columns]
    rows = []
    for number_, row in enumerate(found.rows[:MOST_LINES]):
        cells = [safe(in_cells(cell_text(row[at], found.columns[at].unit)), 90) for at in places]
        if found.levels and cells:
            cells[0] = "&emsp;" * found.levels[number_] + cells[0]
        rows.append(cells)
    left = len(found.rows) - len(rows)
    notes = [*([f"and {left:,} more rows"] if left > 0 else []), *found.notes]
    below = "".join(f"<div>{soft(safe(note))}</div>" for note in notes)
    return box(f"<b>{safe(found.title)}</b>", table(heads, rows, right), below)


def in_cells(text: str) -> str:
    """A location in a cell, in words.

    >>> in_cells("/tmp/ipykernel_17172/3563385665.py:4"), in_cells("train.py:4")
    ('a cell, line 4', 'train.py:4')
    """
    return _CELL.sub(r"a cell, line \1", text)


def step_parts(found: StepParts) -> str:
    from stepscope.notebook.parts import COLOURS
    from stepscope.profile.show import cell_text

    whole = sum(found.typical_ns) or 1
    bars, keys = [], []
    for at, (part, spent) in enumerate(zip(found.parts, found.typical_ns, strict=False)):
        colour = COLOURS[at % len(COLOURS)]
        share = 100 * spent / whole
        style = f"display:inline-block;height:14px;background:{colour};width:{share:.2f}%"
        bars.append(f'<span style="{style}" title="{safe(part.label)}"></span>')
        if spent:
            words = f"{safe(part.label)} {cell_text(spent, 'ns')} ({share:.0f}%)"
            keys.append(f'<span style="white-space:nowrap"><span style="color:{colour}">■</span> {words}</span>')
    told = f"{len(found.steps)} steps, a step takes {cell_text(whole, 'ns')}"
    head = f"<b>{safe(found.title)}</b> {soft(told)}"
    bar = f'<div style="margin:6px 0;line-height:0;font-size:0;width:100%">{"".join(bars)}</div>'
    return box(head, bar, f"<div>{'&emsp;'.join(keys)}</div>")


def sheet_words(found: Sheet, printer: Any, cycle: bool) -> None:
    from stepscope.profile.show import sheet_text

    printer.text(sheet_text(found, most=MOST_LINES))


def parts_words(found: StepParts, printer: Any, cycle: bool) -> None:
    from stepscope.profile.show import parts_text

    printer.text(parts_text(found))


def verdict_words(found: Verdict, printer: Any, cycle: bool) -> None:
    printer.text(found.text())


def profile_diff(found: ProfileDiff) -> str:
    head = box(f"<b>{safe(found.a)} → {safe(found.b)}</b>", f"<div>{safe(found.headline, 600)}</div>")
    return head + "".join(sheet(one) for one in found.sheets[:4])


def diff(found: Diff) -> str:
    colours = {"+": STATUS["finished"], "-": STATUS["failed"], "~": STATUS["stopped"], ">": STATUS["running"]}
    lines = []
    for line in str(found).splitlines():
        colour = colours.get(line.strip()[:1], "inherit") if line.startswith("  ") else "inherit"
        lines.append(f'<div style="color:{colour};white-space:pre">{safe(line)}</div>')
    return box(f'<div style="font-family:monospace;font-size:12px;overflow-x:auto">{"".join(lines)}</div>')


HTML: dict[tuple[str, str], Callable[[Any], str]] = {
    ("stepscope.runs.read.folder", "RunFolder"): run_folder,
    ("stepscope.track.run", "Run"): open_run,
    ("stepscope.runs.catalogue.run_list", "RunList"): run_list,
    ("stepscope.runs.points.series", "Series"): series,
    ("stepscope.records.finding", "Finding"): finding,
    ("stepscope.records.verdict", "ScriptVerdict"): checked,
    ("stepscope.profile.advice.verdict", "Verdict"): verdict,
    ("stepscope.profile.profile", "Profile"): profile,
    ("stepscope.profile.collect.api", "Profiler"): profiler,
    ("stepscope.records.profile", "Sheet"): sheet,
    ("stepscope.records.profile", "StepParts"): step_parts,
    ("stepscope.records.profile", "ProfileDiff"): profile_diff,
    ("stepscope.inspect.diff", "Diff"): diff,
    ("stepscope.inspect.graph.graph", "Graph"): graph,
    ("stepscope.inspect.step", "Step"): framed,
    ("stepscope.inspect.table", "Table"): framed,
    ("stepscope.inspect.summary", "Summary"): framed,
    ("stepscope.inspect.checkpoint", "Checkpoint"): framed,
    ("stepscope.inspect.layers", "LayerProfile"): framed,
    ("stepscope.inspect.time_steps", "StepTimes"): framed,
}
TEXT: dict[tuple[str, str], Callable[[Any, Any, bool], None]] = {
    ("stepscope.records.finding", "Finding"): finding_text,
    ("stepscope.records.verdict", "ScriptVerdict"): checked_words,
    ("stepscope.records.profile", "Sheet"): sheet_words,
    ("stepscope.records.profile", "StepParts"): parts_words,
    ("stepscope.profile.advice.verdict", "Verdict"): verdict_words,
}
