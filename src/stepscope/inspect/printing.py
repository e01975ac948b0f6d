"""Tables as lines of text that fit a width, and a step printed op by op."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from stepscope.inspect.columns import COLUMNS
from stepscope.plain_text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stepscope.inspect.table import Row, Table

_GAP = 2
_LIFTED = ("dtype", "device")

Line = list[tuple[str, str]]
"""Pieces of (text, style)."""


def terminal_width() -> int | None:
    """The terminal's width; None, for no limit, if the output is piped."""
    try:
        if sys.stdout.isatty():
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, 20)
    except (OSError, ValueError, AttributeError):  # a notebook's or a test's own stdout
        pass
    return None


def as_text(table: Table, width: int | None = None) -> str:
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lay_out(table, width))


def as_rich(table: Table, width: int | None) -> Iterator[Any]:
    from rich.text import Text

    for line in lay_out(table, width):
        yield Text.assemble(*line, no_wrap=True, overflow="ellipsis")


def print_table(table: Table, width: int | None = None) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.file.write(as_text(table, width) + "\n")
        return
    for line in as_rich(table, width or console.width):
        console.print(line, no_wrap=True, overflow="ellipsis")


def shown_columns(table: Table) -> tuple[list[str], str]:
    """The columns worth showing, and a description of constant ones."""
    if table.chosen:
        return table.columns, ""
    shown, said = [], []
    for name in table.columns:
        if name in table.hidden:
            continue
        values = {str(v) for row in table.rows if (v := row.cells.get(name)) not in (None, "", 0)}
        if name == table.columns[0] or len(values) > 1:
            shown.append(name)
        elif values and name in _LIFTED:
            said.append(values.pop())
        elif values:
            shown.append(name)
    return shown, f"all {' on '.join(map(clean, said))}" if said else ""


def _texts(table: Table, names: list[str]) -> tuple[list[list[str]], list[list[str]]]:
    """The cells of all rows, and of the row of totals if there is one."""
    body = []
    for label, row in zip(tree_labels(table.rows), table.rows, strict=True):
        body.append([label, *(cell_text(row, name) for name in names[1:])])
    if not table.totals:
        return body, []
    return body, [[table.foot, *(cell_text(table.total_row, name, "") for name in names[1:])]]


def lay_out(table: Table, width: int | None) -> list[Line]:
    names, same = shown_columns(table)
    body, foot = _texts(table, names)
    titles = [COLUMNS[name].title for name in names]
    natural = {name: max(len(line[i]) for line in (titles, *body, *foot)) for i, name in enumerate(names)}
    widths = fit(names, natural, width)
    keep = [i for i, name in enumerate(names) if name in widths]
    sizes = [widths[names[i]] for i in keep]
    right = [COLUMNS[names[i]].numeric for i in keep]

    def line(cells: Sequence[str], style: str) -> Line:
        return [(_join([cells[i] for i in keep], sizes, right), style)]

    lines: list[Line] = []
    if table.title:
        lines += _head(clean(table.title), same, width)
    lines.append(line(titles, "bold"))
    rule = [("─" * min(sum(sizes) + _GAP * (len(sizes) - 1), width or 10**6), "dim")]
    lines.append(rule)
    first = sizes[0] + _GAP
    for row, cells in zip(table.rows, body, strict=True):
        text = line(cells, "")[0][0]
        lines.append([(text[:first], row.style or "cyan"), (text[first:], row.style)])
    if foot:
        lines += [rule, line(foot[0], "bold")]
    omitted = [COLUMNS[name].title for name in names if name not in widths]
    return lines + _notes(table, omitted, width)


def _notes(table: Table, omitted: list[str], width: int | None) -> list[Line]:
    notes = list(table.notes)
    if omitted:
        notes.append(f"omitted to fit the width: {', '.join(omitted)}")
    return [[(part, "dim")] for note in notes for part in _wrap(note, width)]


def _head(title: str, same: str, width: int | None) -> list[Line]:
    if width is None or len(title) + len(same) + _GAP <= width:
        return [[(title, "bold"), (f"  {same}" if same else "", "dim")]]
    return [[(part, "bold")] for part in _wrap(title, width)] + [[(part, "dim")] for part in _wrap(same, width) if same]


def cell_text(row: Row, name: str, missing: str | None = None) -> str:
    value = row.cells.get(name)
    if value is None and missing is not None:
        return missing
    if name in ("params", "trainable", "saved_bytes") and value == 0 and not row.cells.get("params"):
        return "-"
    if name == "trainable" and value is not None:
        params = row.cells.get("params")
        return "yes" if value == params else "no" if not value else COLUMNS[name].show(value)
    return COLUMNS[name].show(value)


def fit(names: Sequence[str], natural: dict[str, int], width: int | None) -> dict[str, int]:
    """The width of each column that is kept: cut text first, then omit the least important columns."""
    if width is None:
        return {name: natural[name] for name in names}
    kept = list(names)

    def least(name: str) -> int:
        limit = COLUMNS[name].least
        return natural[name] if limit is None else min(natural[name], limit)

    while len(kept) > 1 and sum(map(least, kept)) + _GAP * (len(kept) - 1) > width:
        kept.remove(max(kept[1:], key=lambda name: COLUMNS[name].rank))
    widths = {name: natural[name] for name in kept}
    excess = sum(widths.values()) + _GAP * (len(kept) - 1) - width
    while excess > 0:
        cuttable = [name for name in kept if widths[name] > (least(name) if len(kept) > 1 else 4)]
        if not cuttable:
            break
        widest = max(cuttable, key=lambda name: widths[name])
        widths[widest] -= 1
        excess -= 1
    return widths


def _join(cells: Sequence[str], sizes: Sequence[int], right: Sequence[bool]) -> str:
    parts = []
    for cell, size, numeric in zip(cells, sizes, right, strict=True):
        text = cell if len(cell) <= size else cell[: size - 1] + "…"
        parts.append(text.rjust(size) if numeric else text.ljust(size))
    return (" " * _GAP).join(parts)


def _wrap(text: str, width: int | None) -> list[str]:
    import textwrap

    lines = [clean(line) if not line.startswith(" ") else "  " + clean(line) for line in text.split("\n")]
    if width is None:
        return lines
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ") or [""]]


def tree_labels(rows: Sequence[Row]) -> list[str]:
    """Each row's label with its tree branches."""
    labels: list[str] = []
    open_levels: set[int] = set()
    for row in reversed(rows):
        open_levels = {level for level in open_levels if level <= row.level}
        branch = ""
        if row.level:
            stems = "".join("│  " if level in open_levels else "   " for level in range(1, row.level))
            branch = stems + ("├─ " if row.level in open_levels else "└─ ")
        open_levels.add(row.level)
        mark = f" ({clean(row.mark)})" if row.mark else ""
        labels.append(branch + clean(row.label) + mark)
    return labels[::-1]
